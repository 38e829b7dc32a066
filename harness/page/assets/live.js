// The page of a run that goes on: it asks for the state every second, and loads itself again when the report is there.
const EVERY = 1000; // milliseconds
const place = (name) => document.querySelector(name);
let lost = 0;

async function follow() {
  try {
    const state = await (await fetch("state.json", { cache: "no-store" })).json();
    if (state.finished) return location.reload();
    lost = 0;
    show(state);
  } catch {
    lost += 1;
  }
  const gone = place(".lost");
  gone.hidden = lost < 3;
  gone.textContent = "The run does not answer: its report lies in its folder, or it was stopped; the terminal says which.";
  setTimeout(follow, lost < 3 ? EVERY : 10 * EVERY);
  return undefined;
}

function show(state) {
  document.title = `${state.task || "Run"}: in progress`;
  place(".task").textContent = state.task || "Run in progress";
  const work = state.work[0];
  place(".work").textContent = work ? `${work.name}: ${work.text}` : "preparing";
  const bar = place("progress");
  if (work?.total) Object.assign(bar, { max: work.total, value: work.done });
  else bar.removeAttribute("value");
  place(".estimates").replaceChildren(state.estimates.length ? estimateTable(state) : element("p", { class: "soft" }, "No scores yet."));
  place(".latest").replaceChildren(...(state.latest.length ? state.latest.map(captionCard) : [element("p", { class: "soft" }, "No captions yet.")]));
}

function estimateTable({ systems, metrics, estimates, examples }) {
  const cells = new Map(estimates.map(([system, metric, ...numbers]) => [`${system}-${metric}`, numbers]));
  const arrow = (higher) => (higher === null ? "" : higher ? " ↑" : " ↓");
  const head = metrics.map(([name, higher]) => element("th", { scope: "col", class: "number" }, name, element("span", { class: "arrow", "aria-hidden": "true" }, arrow(higher))));
  const rows = systems.map((label, system) => {
    const values = metrics.map((_, metric) => {
      const numbers = cells.get(`${system}-${metric}`);
      if (!numbers) return element("td", { class: "number soft" }, "–");
      const [value, half, n] = numbers;
      return element("td", { class: "number" }, `${numberText(value)} ± ${numberText(half)}`, element("span", { class: "interval" }, `${n.toLocaleString("en")} of ${examples.toLocaleString("en")}, not final`));
    });
    return element("tr", {}, element("th", { scope: "row", dir: "auto" }, label), values);
  });
  return element("table", { class: "matrix" }, element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "model"), head)), element("tbody", {}, rows));
}

function captionCard({ model, id, references, candidates, failure }) {
  const known = wordsOf(references);
  const body = failure ? element("p", { class: "soft" }, `failed: ${failure}`) : textList(candidates ?? [], { known });
  return element("article", { class: "card" }, element("div", {}, element("p", { class: "card-head" }, element("strong", { dir: "auto" }, id), element("span", { class: "soft" }, ` ${model}`)), body, element("p", { class: "reference", dir: "auto" }, references[0] ?? "")));
}

follow();
