// First part of the page's script (data.js, arm.js and page.js in one function): elements, embedded data, list of arms.
// Data of a run is hostile. It reaches the page as text nodes and as values of href after "#arm-", never as markup.
"use strict";

const byId = (id) => document.getElementById(id);
const PAGE = 50; // rows of the list of arms that are added at a time
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;

// ---- elements and texts

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  for (const child of children) {
    if (typeof child === "string") write(node, child);
    else if (child) node.append(child);
  }
  return node;
}

// Appends a text; characters that nobody can see, and those that reorder a line, are shown by a mark.
function write(node, text) {
  let from = 0;
  for (const hit of text.matchAll(HIDDEN)) {
    if (hit[0] === "\n" || hit[0] === "\t") continue;
    if (hit.index > from) node.append(text.slice(from, hit.index));
    const code = hit[0].codePointAt(0);
    const named = "U+" + code.toString(16).toUpperCase().padStart(4, "0");
    const mark = code < 0x20 ? String.fromCodePoint(0x2400 + code) : named;
    const span = document.createElement("span");
    span.className = "hidden-char";
    span.textContent = mark;
    node.append(span);
    from = hit.index + hit[0].length;
  }
  if (from < text.length) node.append(text.slice(from));
}

// ---- embedded data

const chunks = new Map();
let index = null; // {arms: rows, starts}
const byKey = new Map();

async function unpack(id) {
  const bytes = Uint8Array.from(atob(byId(id).textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

function chunk(number) {
  if (!chunks.has(number)) chunks.set(number, unpack("pack-" + number));
  return chunks.get(number);
}

async function textOf(place) {
  if (place === null) return null;
  if (place < 0) return { text: "", note: "This text was not kept." };
  let number = index.starts.length - 1;
  while (index.starts[number] > place) number -= 1;
  const found = (await chunk(number)).texts[place - index.starts[number]];
  if (typeof found === "string") return { text: found, note: "" };
  const said = (n) => n.toLocaleString("en");
  return { text: found[0], note: `Cut to ${said(found[0].length)} of ${said(found[1])} characters.` };
}

function row(raw) {
  const [key, arm, trap, construct, condition, seed, history, part, endings] = raw;
  return { key, arm, trap, construct, condition, seed, history, part, endings };
}

const levels = (reader) => reader !== "" && reader !== "-"; // "-": the agent has no reader levels
const ended = (of) => of.endings.map(([reader, outcome]) => (levels(reader) ? `${reader}: ${outcome}` : outcome)).join(", ");
const armLink = (of, text) => make("a", { href: "#arm-" + of.key }, text);

// ---- list of arms

let matching = [];
let shown = 0;

function fill(select, values) {
  for (const value of values) select.append(make("option", { value }, value));
}

function filter() {
  const [trap, condition, outcome] = ["trap", "condition", "outcome"].map((name) => byId("filter-" + name).value);
  matching = index.arms.filter(
    (a) => (!trap || a.trap === trap) && (!condition || a.condition === condition) &&
      (!outcome || a.endings.some((ending) => ending[1] === outcome)));
  shown = 0;
  byId("arm-list").tBodies[0].replaceChildren();
  showMore();
}

function showMore() {
  const body = byId("arm-list").tBodies[0];
  const next = matching.slice(shown, shown + PAGE);
  for (const a of next) {
    body.append(make("tr", {}, make("th", { scope: "row" }, armLink(a, a.arm)), make("td", {}, a.construct),
      make("td", {}, a.condition), make("td", { class: "n" }, String(a.seed)), make("td", {}, a.history),
      make("td", {}, ended(a))));
  }
  shown += next.length;
  byId("more").hidden = shown >= matching.length;
  const [found, all, here] = [matching.length, index.arms.length, shown].map((n) => n.toLocaleString("en"));
  const rest = shown < matching.length ? `; the first ${here} are listed.` : ".";
  byId("matches").textContent = `${found} of ${all} arms match${rest}`;
  return next.length;
}

function setUpList() {
  const unique = (values) => [...new Set(values)];
  fill(byId("filter-trap"), unique(index.arms.map((a) => a.trap)));
  fill(byId("filter-condition"), unique(index.arms.map((a) => a.condition)));
  fill(byId("filter-outcome"), unique(index.arms.flatMap((a) => a.endings.map((ending) => ending[1]))));
  byId("filters").addEventListener("change", filter);
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("filters").addEventListener("reset", () => setTimeout(filter));
  byId("more").addEventListener("click", () => {
    const first = shown;
    if (showMore()) byId("arm-list").tBodies[0].rows[first].querySelector("a").focus();
  });
  filter();
  byId("browse").hidden = false;
}
