// The page around the arms: heat maps by arrow keys, theme, printing, start.

// ---- heat maps: one stop for the tabulator key, arrows inside

function setUpHeatMap(svg) {
  const cells = [...svg.querySelectorAll("a.cell")];
  const at = (cell) => [cell.firstElementChild.x.baseVal.value, cell.firstElementChild.y.baseVal.value];
  cells.forEach((cell, number) => cell.setAttribute("tabindex", number ? "-1" : "0"));
  svg.addEventListener("focusin", (event) => {
    const cell = event.target.closest("a.cell");
    if (cell) cells.forEach((other) => other.setAttribute("tabindex", other === cell ? "0" : "-1"));
  });
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const cell = event.target.closest("a.cell");
    if (!step || !cell) return;
    event.preventDefault();
    const [x, y] = at(cell);
    const ahead = cells.map((other) => [other, ...at(other)]).filter(([, ox, oy]) =>
      step[0] ? oy === y && (ox - x) * step[0] > 0 : ox === x && (oy - y) * step[1] > 0);
    ahead.sort((a, b) => Math.abs(a[1] - x) + Math.abs(a[2] - y) - Math.abs(b[1] - x) - Math.abs(b[2] - y));
    if (ahead.length) ahead[0][0].focus();
  });
}

// ---- theme, printing, start

function setUpTheme() {
  const button = byId("theme");
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const tell = () => {
    button.textContent = dark() ? "Light" : "Dark";
    button.setAttribute("aria-label", dark() ? "Use the light theme" : "Use the dark theme");
  };
  button.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; tell(); });
  system.addEventListener("change", tell);
  tell();
  button.hidden = false;
}

let unfolded = [];
window.addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll("details:not([open])")];
  for (const details of unfolded) details.open = true;
});
window.addEventListener("afterprint", () => { for (const details of unfolded) details.open = false; });

// A region that has nothing to scroll is no stop for the tabulator key.
const regions = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const more = target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight;
    if (more) target.setAttribute("tabindex", "0");
    else target.removeAttribute("tabindex");
  }
});

async function start() {
  setUpTheme();
  document.querySelectorAll(".scroll").forEach((region) => regions.observe(region));
  document.querySelectorAll("svg[role=group]").forEach(setUpHeatMap);
  if (!byId("pack-index")) return;
  try {
    index = await unpack("pack-index");
    index.arms = index.arms.map(row);
    for (const a of index.arms) byKey.set(a.key, a);
    setUpList();
  } catch (error) {
    const says = `This browser cannot unpack the arms (${error}). "dreambench show RUN ARM" prints one.`;
    byId("arms").append(make("p", { id: "unpack-failed" }, says));
    return;
  }
  window.addEventListener("hashchange", () => route(false));
  route(true);
}

start();
