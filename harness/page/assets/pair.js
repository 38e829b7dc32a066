// The pair of systems in view on the overview: differences, wins, ties and losses by metric, and the examples that tell most.
const TELLING = 5; // examples in each direction
const pairViews = new Map();

function startPairs() {
  for (const node of all("[data-pair]")) pairViews.set(node.dataset.pair, startPair(node));
}

async function startPair(node) {
  await breath(); // the matrix is painted first
  const examples = await examplesOf(node.dataset.pair);
  if (examples.b < 0 || !examples.index.metrics.some((metric) => metric.higher !== null)) return;
  const stored = hasBlock(`${examples.name}-pairs`) ? await blockJson(`${examples.name}-pairs`) : [];
  const view = new PairView(node, examples, stored);
  examples.changed.push(() => view.draw());
  await view.draw();
  node.classList.add("started");
}

class PairView {
  constructor(node, examples, stored) {
    Object.assign(this, { node, examples, stored, ticket: 0 });
    this.table = element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Wins, ties and losses: ${node.ariaLabel}` });
    this.telling = element("div", { class: "telling" });
    this.remark = element("p", { class: "soft legend" });
    this.title = element("h4");
    node.replaceChildren(
      element("h3", {}, "Two systems, example by example"),
      element("div", { class: "toolbar" }, pairControls(examples), this.metricControl()),
      this.table, this.remark, element("p", { class: "soft legend" }, "Coloured differences are significant (p Holm ≤ 0.05) in favour of the system of that colour. The choice of a metric chooses the examples below."),
      this.title, this.telling,
      element("p", { class: "soft legend" }, "Yellow: words of the references. Underlined: words that A (solid) or B (dashed) alone says."),
    );
  }

  metricControl() {
    const { metrics } = this.examples.index;
    const ranked = metrics.flatMap((metric, k) => (metric.higher === null ? [] : [element("option", { value: k }, metric.name)]));
    const select = element("select", {}, ranked);
    select.addEventListener("change", () => this.examples.view({ metric: Number(select.value) }));
    this.showMetric = () => (select.value = this.examples.metric);
    return element("label", {}, "Examples by", select);
  }

  async draw() {
    const ticket = ++this.ticket;
    const { examples } = this;
    const rows = [];
    for (const [metric, entry] of examples.index.metrics.entries()) {
      if (entry.higher === null || this.sizesDiffer(metric)) continue;
      rows.push({ metric, entry, ...tally(await examples.differences(metric), entry.higher) });
      await breath();
    }
    const best = this.sizesDiffer(examples.metric) ? [] : await this.tellingCards();
    if (ticket !== this.ticket) return;
    this.showMetric();
    this.table.replaceChildren(this.winsTable(rows.filter((row) => row.n)));
    this.title.textContent = `The most telling examples by ${examples.index.metrics[examples.metric].name}`;
    this.telling.replaceChildren(...best);
    const apart = examples.index.metrics.filter((entry, metric) => entry.higher !== null && this.sizesDiffer(metric)).map((entry) => entry.name);
    this.remark.textContent = apart.length ? `Not compared, because the sets of A and B have other sizes: ${apart.join(", ")}.` : "";
  }

  /** Return the stored comparison of the pair by a metric as difference A - B, interval and p; undefined without one. */
  comparison(metric) {
    const { a, b, index } = this.examples;
    const { label } = index.metrics[metric];
    for (const [name, x, y, difference, low, high, p] of this.stored) {
      if (name === label && difference === null && [x, y].sort().join() === [a, b].sort().join()) return { difference };
      if (name === label && x === a && y === b) return { difference, low, high, p };
      if (name === label && x === b && y === a) return { difference: -difference, low: low === null ? null : -high, high: low === null ? null : -low, p };
    }
    return undefined;
  }

  /** Return true for a metric whose numbers of A and B do not compare, because their sets have other sizes. */
  sizesDiffer(metric) {
    return this.comparison(metric)?.difference === null;
  }

  winsTable(rows) {
    const { examples } = this;
    const tested = this.stored.length > 0;
    const heads = ["Metric", "Examples: A better, tie, B better", ...(tested ? ["A − B", "95 % interval", "p Holm"] : [])];
    const body = rows.map(({ metric, entry, wins, ties, losses, n }) => {
      const row = this.comparison(metric);
      const interval = row && row.low !== null ? `${signedText(row.low)} to ${signedText(row.high)}` : "–";
      const numbers = row ? [signedText(row.difference), interval, row.p === null ? "–" : numberText(row.p)] : ["–", "–", "–"];
      const verdict = row && row.p !== null && row.p <= 0.05 ? (row.difference > 0 === entry.higher ? "a" : "b") : "";
      const choose = element("button", { type: "button", class: "plain", "aria-pressed": String(metric === examples.metric), title: "Show the examples by this metric", onclick: () => examples.view({ metric }) }, entry.name);
      return element(
        "tr", { class: metric === examples.metric ? "active" : "" },
        element("th", { scope: "row" }, choose, element("span", { class: "arrow", "aria-hidden": "true" }, entry.higher ? " ↑" : " ↓")),
        element("td", { class: "wins" }, winsBar(wins, ties, losses, n)),
        tested ? numbers.map((text, k) => element("td", { class: k === 0 && verdict ? `number verdict-${verdict}` : "number" }, text)) : [],
      );
    });
    const head = heads.map((text, k) => element("th", { scope: "col", class: k > 1 ? "number" : "" }, text));
    return element("table", { class: "pair-table" }, element("thead", {}, element("tr", {}, head)), element("tbody", {}, body));
  }

  /** Return the cards of the largest differences in favour of A, and of those in favour of B. */
  async tellingCards() {
    const { examples } = this;
    const { higher } = examples.index.metrics[examples.metric];
    const gains = (await examples.differences(examples.metric)).map((value) => (higher === false ? -value : value));
    const order = orderBy(gains, true).filter((k) => !Number.isNaN(gains[k]) && gains[k] !== 0);
    const [pictures, best, worst] = [await examples.pictures(), order.filter((k) => gains[k] > 0).slice(0, TELLING), order.filter((k) => gains[k] < 0).reverse().slice(0, TELLING)];
    const column = async (side, list) => {
      const cards = await Promise.all(list.map((example) => this.card(example, pictures)));
      const name = examples.labels[side === "a" ? examples.a : examples.b];
      return element("section", { class: side }, element("h5", { dir: "auto" }, badge(side), ` ${name} is better`), cards.length ? cards : element("p", { class: "soft" }, "On no example."));
    };
    return Promise.all([column("a", best), column("b", worst)]);
  }

  async card(example, pictures) {
    const { examples } = this;
    const id = examples.index.ids[example];
    const texts = await examples.textsOf(example, [examples.a, examples.b]);
    const line = async (side, system) => {
      const value = (await examples.column({ kind: "score", metric: examples.metric, system }))[example];
      const caption = texts.systems[system].candidates[0] ?? "";
      const more = texts.systems[system].candidates.length - 1;
      const body = element("span", { class: "caption", dir: "auto" }, caption ? markedText(caption.slice(0, LONG), await examples.marking(system, texts)) : "(empty)");
      return element("p", { class: "said" }, badge(side), body, more > 0 ? element("span", { class: "soft" }, ` + ${more}`) : null, element("span", { class: "number" }, scoreText(value)));
    };
    const link = { ...address, tab: "examples", group: examples.name, example: id };
    const open = element("a", { class: "example-link", href: addressText(link) }, id);
    open.addEventListener("click", (event) => {
      event.preventDefault();
      openExample(examples.name, example);
    });
    const reference = element("p", { class: "reference", dir: "auto" }, markedText((texts.references[0] ?? "").slice(0, LONG), await examples.referenceMarking(texts)));
    const picture = pictures.data[id] ? pictureNode(pictures.data[id], pictures.links[id], `Image of example ${id}`) : null;
    return element("article", { class: "card" }, picture, element("div", {}, element("p", { class: "card-head" }, open), await line("a", examples.a), await line("b", examples.b), reference));
  }
}

/** Return the numbers of examples on which A is better, equal and worse, by differences A - B. */
function tally(differences, higher) {
  let [wins, ties, losses] = [0, 0, 0];
  for (const value of differences) {
    if (value === 0) ties += 1;
    else if (value > 0 === higher && !Number.isNaN(value)) wins += 1;
    else if (!Number.isNaN(value)) losses += 1;
  }
  return { wins, ties, losses, n: wins + ties + losses };
}

function winsBar(wins, ties, losses, n) {
  const part = (name, count, words) => element("span", { class: name, style: `flex-grow:${count}`, title: `${words}: ${count.toLocaleString("en")} of ${n.toLocaleString("en")}` });
  const text = (name, count) => element("span", { class: `tally ${name}` }, count.toLocaleString("en"));
  return element(
    "span", { class: "wins-bar" },
    text("a", wins), element("span", { class: "shares", "aria-hidden": "true" }, part("a", wins, "A better"), part("tie", ties, "tie"), part("b", losses, "B better")), text("b", losses),
    element("span", { class: "soft ties" }, ties ? `${ties.toLocaleString("en")} ${ties === 1 ? "tie" : "ties"}` : ""),
  );
}
