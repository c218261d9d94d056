// One arm: its detail, and going there and back. The address names it, so it can be linked and "back" works.

// ---- one arm

function folded(title, open, ...children) {
  const details = make("details", open ? { open: "" } : {}, make("summary", {}, title));
  details.append(...children.filter(Boolean));
  return details;
}

function facts(pairs) {
  const list = make("dl", { class: "facts" });
  for (const [name, value] of pairs) {
    if (value === "" || value === null) continue;
    list.append(make("div", {}, make("dt", {}, name), make("dd", {}, String(value))));
  }
  return list;
}

function listed(items, build) {
  return make("ul", { class: "plain" }, ...items.map(build));
}

function block(label, kind, ...children) {
  const node = make("pre", { class: kind, tabindex: "0", role: "group", "aria-label": label }, ...children);
  regions.observe(node);
  return node;
}

const remark = (found) => found.note && make("p", { class: "note" }, found.note);

function diffOf(label, found) {
  const node = block(label, "text diff");
  const lines = found.text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  for (const line of lines) {
    const head = /^(\+\+\+|---|diff |index |@@)/.test(line);
    const tag = head ? "span" : line.startsWith("+") ? "ins" : line.startsWith("-") ? "del" : "span";
    node.append(make(tag, { class: head ? "line head" : "line" }, line + "\n"));
  }
  return node;
}

const CHECKS = { ok: ["✓", "held"], missed: ["✗", "required and missing"], seen: ["!", "forbidden and seen"] };

function endingOf([reader, outcome, cause, boundary, checks, fates, paths]) {
  const node = make("section", { class: "ending" });
  node.append(make("h3", {}, (levels(reader) ? `Ending, ${reader} reader: ` : "Ending: ") + outcome));
  node.append(facts([["cause", cause], ["boundary", boundary]]));
  if (checks.length) {
    node.append(make("h4", {}, "Checks"), listed(checks, ([mark, text, detail]) => {
      const [sign, says] = CHECKS[mark] || ["?", mark];
      return make("li", { class: "check " + (CHECKS[mark] ? mark : "") },
        make("span", { class: "mark" }, sign + " " + says), " " + text,
        detail && make("code", { class: "detail" }, detail));
    }));
  }
  if (fates.length) node.append(make("h4", {}, "Facts"), listed(fates, (fate) => make("li", {}, fate)));
  if (paths.length) {
    node.append(make("h4", {}, "Changed paths"),
      listed(paths, ([kind, path]) => make("li", {}, kind + " ", make("code", {}, path))));
  }
  return node;
}

async function itemsOf(title, items, table) {
  const list = make("ol", { class: "items" });
  for (const [place, role, type, scope, state, date, why] of items.map((number) => table[number])) {
    const found = await textOf(place);
    const li = make("li", {}, why && make("p", { class: "why" }, "refused: " + why));
    if (found) li.append(make("div", { class: "text" }, found.text), remark(found) || "");
    const told = [role, type, scope, state, date].filter(Boolean).join(" · ");
    if (told) li.append(make("p", { class: "told" }, told));
    list.append(li);
  }
  return folded(`${title} (${items.length})`, true, items.length ? list : make("p", { class: "note" }, "None."));
}

async function sessionOf(s, tables) {
  const named = `Session ${s.number}` + (levels(s.reader) ? `, ${s.reader} reader` : "");
  const node = make("section", { class: "session" }, make("h3", {}, named));
  node.append(facts([
    ["public check", s.check || "none ran"],
    ["memory in prompt", `${s.bytes.toLocaleString("en")} bytes`],
    ["items considered", s.considered.toLocaleString("en")],
  ]));
  for (const note of s.notes) node.append(make("p", { class: "note" }, note));
  const [prompt, diff, transcript] = await Promise.all([s.prompt, s.diff, s.transcript].map(textOf));
  if (prompt) node.append(folded("Prompt", true, block(named + ": prompt", "text", prompt.text), remark(prompt)));
  node.append(await itemsOf("View: admitted items", s.admitted, tables.items));
  if (s.rejected.length) node.append(await itemsOf("View: refused items", s.rejected, tables.items));
  if (diff) node.append(folded("Diff", true, diff.text ? diffOf(named + ": diff", diff) : null, remark(diff)));
  else node.append(make("p", { class: "note" }, "No diff: nothing was changed, or it was not captured."));
  if (s.carried.length) {
    const entries = s.carried.map((number) => tables.carried[number]);
    node.append(folded(`Carry manifest (${entries.length})`, false, listed(entries, ([name, bytes, sha256]) =>
      make("li", {}, name + `, ${bytes.toLocaleString("en")} bytes, `, make("code", {}, sha256)))));
  }
  if (transcript) {
    node.append(folded("Transcript", false, block(named + ": transcript", "text", transcript.text), remark(transcript)));
  }
  return node;
}

function neighbours(of) {
  const groups = [
    ["Same trap and condition", ["trap", "condition"], (a) => `seed ${a.seed}, ${a.history}`],
    ["Same trap, seed and history", ["trap", "seed", "history"], (a) => a.condition],
  ];
  return groups.map(([title, same, name]) => {
    const found = index.arms.filter((a) => same.every((field) => a[field] === of[field]));
    if (found.length < 2) return null;
    return make("nav", { class: "neighbours", "aria-label": title }, make("span", { class: "label" }, title + ": "),
      make("ul", {}, ...found.map((a) => {
        const link = armLink(a, name(a));
        if (a === of) link.setAttribute("aria-current", "page");
        return make("li", {}, link, make("span", { class: "told" }, " " + ended(a)));
      })));
  }).filter(Boolean);
}

async function armOf(of) {
  const tables = await chunk(of.part);
  const detail = tables.details.find((d) => d.arm === of.arm);
  const nodes = [...neighbours(of), facts([
    ["trap", of.trap], ["construct", of.construct], ["condition", of.condition], ["seed", of.seed],
    ["history", of.history], ["expected of memory", detail.expect], ["attempt", detail.attempt],
  ])];
  nodes.push(...detail.endings.map(endingOf));
  for (const session of detail.sessions) nodes.push(await sessionOf(session, tables));
  return nodes;
}

// ---- going to an arm and back

const title = document.title;
let origin = null; // the link that was last followed from the report
let scrolled = 0;
let ticket = 0;

const open = () => !byId("arm").hidden;

function leave() {
  const depth = history.state && history.state.depth;
  if (depth > 0) history.go(-depth);
  else location.hash = "arms";
}

// The arm of a fragment, also of one that another program has encoded further.
function armAt(key) {
  if (byKey.has(key)) return byKey.get(key);
  try {
    const arm = decodeURIComponent(key);
    return index.arms.find((a) => a.arm === arm);
  } catch {
    return undefined;
  }
}

async function enter(key, direct) {
  const mine = ++ticket;
  const article = byId("arm");
  const known = history.state && history.state.depth;
  if (known === null || known === undefined) {
    history.replaceState({ depth: direct || (open() && depthNow === 0) ? 0 : depthNow + 1 }, "");
  }
  depthNow = history.state.depth;
  const of = armAt(key);
  const back = make("a", { href: "#arms", class: "back", id: "back" }, "← Back to the report");
  back.addEventListener("click", (event) => { event.preventDefault(); leave(); });
  const heading = make("h2", { id: "arm-title", tabindex: "-1" }, of ? "Arm " + of.arm : "No such arm in this report");
  let nodes;
  try {
    nodes = of ? await armOf(of) : [make("p", {}, "The address names an arm that this report does not hold.")];
  } catch (error) {
    nodes = [make("p", {}, `This arm could not be unpacked (${error}). "dreambench show RUN ARM" prints it.`)];
  }
  if (mine !== ticket) return;
  article.replaceChildren(make("p", { class: "screen-only" }, back), heading, ...nodes);
  byId("report").hidden = byId("contents").hidden = true;
  article.setAttribute("aria-labelledby", "arm-title");
  article.hidden = false;
  document.body.classList.add("reading");
  document.title = heading.textContent + " – " + title;
  window.scrollTo(0, 0);
  heading.focus({ preventScroll: true });
}

let depthNow = 0;

function close() {
  ticket += 1;
  if (!open()) return;
  byId("arm").hidden = true;
  byId("arm").replaceChildren();
  byId("arm").removeAttribute("aria-labelledby");
  byId("report").hidden = byId("contents").hidden = false;
  document.body.classList.remove("reading");
  document.title = title;
  depthNow = 0;
  if (origin && origin.isConnected) {
    window.scrollTo(0, scrolled);
    origin.focus({ preventScroll: true });
  } else {
    const target = byId(location.hash.slice(1)) || byId("arms");
    target.scrollIntoView();
    (target.querySelector("[tabindex='-1']") || byId("main")).focus({ preventScroll: true });
  }
}

function route(direct) {
  if (location.hash.startsWith("#arm-")) enter(location.hash.slice(5), direct);
  else close();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest && event.target.closest("a");
  if (!link) return;
  if (link.id === "skip" && open()) {
    event.preventDefault();
    byId("arm-title").focus();
  } else if ((link.getAttribute("href") || "").startsWith("#arm-") && !open()) {
    origin = link;
    scrolled = window.scrollY;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && open()) leave();
});
