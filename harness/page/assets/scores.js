// Examples of one group of runs: texts and numbers of its systems, and the pair of systems in view.
const CACHED_PARTS = 64;

class Examples {
  constructor(name, index) {
    this.name = name;
    this.index = index;
    this.count = index.ids.length;
    this.state = new GroupState(name);
    this.labels = index.systems.map((system) => (system.run ? `${system.label} (${system.run})` : system.label));
    this.numbers = cached((block) => blockNumbers(`${name}-${block}`));
    this.part = cached((block) => blockJson(`${name}-${block}`), CACHED_PARTS);
    this.rows = cached(async (system) => (hasBlock(`${name}-rows-${system}`) ? new Int32Array((await blockBytes(`${name}-rows-${system}`)).buffer) : null));
    this.lengths = cached((system) => this.measure(system));
    this.pictures = cached(async () => (hasBlock(`${name}-images`) ? blockJson(`${name}-images`) : { data: {}, links: {} }));
    this.explained = cached(async () => (hasBlock(`${name}-explain`) ? blockJson(`${name}-explain`) : {}));
    this.frequent = cached(async () => commonWords(await this.part("refs-0")));
    this.changed = [];
  }

  // -------------------------------------------------------------- pair and metric in view
  /** Set the systems A and B and the metric in view from the address; without them the two best by the metric. */
  async start() {
    const { metrics } = this.index;
    const place = (name, list) => list.indexOf(this.state.read(name));
    this.metric = place("metric", metrics.map((metric) => (metric.higher === null ? null : metric.label)));
    if (this.metric < 0) this.metric = Math.max(0, metrics.findIndex((metric) => metric.higher !== null));
    this.a = place("a", this.labels);
    this.b = place("b", this.labels);
    if (this.a < 0 || this.b < 0 || this.a === this.b) {
      const order = await this.systemsByMean();
      if (this.a < 0) this.a = order.find((system) => system !== this.b);
      if (this.b < 0 || this.b === this.a) this.b = order.find((system) => system !== this.a) ?? -1;
    }
    return this;
  }

  async systemsByMean() {
    const systems = Array.from(this.labels.keys());
    if (!this.index.metrics.length) return systems;
    const numbers = await this.numbers(`score-${this.metric}`);
    const sign = this.index.metrics[this.metric].higher === false ? 1 : -1;
    const means = systems.map((system) => {
      const defined = numbers.subarray(system * this.count, (system + 1) * this.count).filter((value) => !Number.isNaN(value));
      return defined.reduce((sum, value) => sum + value, 0) / defined.length;
    });
    return orderBy(means.map((value) => sign * value), false);
  }

  /** Change A, B or the metric in view; the views of the group are told. A system that is the other one already changes places with it. */
  view(change) {
    if (change.a === this.b && change.a !== undefined) change = { ...change, b: this.a };
    else if (change.b === this.a && change.b !== undefined) change = { ...change, a: this.b };
    Object.assign(this, change);
    this.state.write({ a: this.labels[this.a], b: this.labels[this.b], metric: this.index.metrics[this.metric]?.label });
    for (const listener of this.changed) listener();
  }

  /** Return the number of a system by its label, A or B; -1 where there is none. */
  system(text) {
    if (text === "A" || text === "a") return this.a;
    if (text === "B" || text === "b") return this.b;
    const exact = this.labels.indexOf(text);
    return exact >= 0 ? exact : this.labels.findIndex((label) => label.toLowerCase() === text.toLowerCase());
  }

  // -------------------------------------------------------------- numbers
  /** Return numbers (examples) of one system: score or p of a metric, words per candidate, or number of references. */
  async column({ kind, metric, system }) {
    if (kind === "length") return this.lengths(system);
    if (kind === "references") return this.referenceCounts();
    const numbers = await this.numbers(`${kind}-${metric}`);
    return numbers.subarray(system * this.count, (system + 1) * this.count);
  }

  /** Return the differences A - B (examples) of a metric. */
  async differences(metric) {
    const [x, y] = await Promise.all([this.a, this.b].map((system) => this.column({ kind: "score", metric, system })));
    return x.map((value, k) => value - y[k]);
  }

  /** Return the scores and p-values of one example for all systems: metric -> [system -> number]. */
  async ofExample(example) {
    const read = async (kind, metric) => {
      const numbers = await this.numbers(`${kind}-${metric}`);
      return this.labels.map((_, system) => numbers[system * this.count + example]);
    };
    return Promise.all(
      this.index.metrics.map(async ({ name, higher, p }, metric) => ({ name, higher, scores: await read("score", metric), p: p ? await read("p", metric) : null })),
    );
  }

  async measure(system) {
    const lengths = new Float32Array(this.count).fill(NaN);
    const rows = await this.rows(system);
    const example = rows ? inverse(rows) : null;
    const words = (text) => (text.trim() ? text.trim().split(/\s+/).length : 0);
    await this.eachPart(`caps-${system}`, ({ c }, start) =>
      c.forEach((texts, k) => (lengths[example ? example[start + k] : start + k] = texts.reduce((sum, text) => sum + words(text), 0) / texts.length)),
    );
    return lengths;
  }

  async referenceCounts() {
    const counts = new Float32Array(this.count);
    await this.eachPart("refs", (lists, start) => lists.forEach((texts, k) => (counts[start + k] = texts.length)));
    return counts;
  }

  // -------------------------------------------------------------- texts
  /** Call a function with every block of a kind and the place of its first row; the page stays usable in between. */
  async eachPart(kind, use) {
    const { part } = this.index;
    for (let start = 0; start < this.count; start += part) {
      const block = `${this.name}-${kind}-${start / part}`;
      if (hasBlock(block)) use(await blockJson(block), start);
      await breath();
    }
  }

  /** Return references and captions of one example: those of some systems, default all; null for a system without the example. */
  async textsOf(example, systems = Array.from(this.labels.keys())) {
    const { part } = this.index;
    const references = (await this.part(`refs-${Math.floor(example / part)}`))[example % part];
    const own = [];
    await Promise.all(
      systems.map(async (system) => {
        const rows = await this.rows(system);
        const row = rows ? rows[example] : example;
        const block = row < 0 ? null : await this.part(`caps-${system}-${Math.floor(row / part)}`);
        own[system] = block && { candidates: block.c[row % part], references: block.r?.[row % part] ?? null };
      }),
    );
    return { references, systems: own };
  }

  /** Return the marking of the candidates of A or B: words of the references, and words that the other one lacks. */
  async marking(system, texts, { words = true, differences = true, terms = [] } = {}) {
    const own = texts.systems[system];
    const known = words ? wordsOf(own.references ?? texts.references) : null;
    if (known) known.frequent = await this.frequent();
    const other = system === this.a ? this.b : system === this.b ? this.a : -1;
    const others = differences && other >= 0 && texts.systems[other] ? [...new Set(texts.systems[other].candidates)] : null;
    const alone = new Set(own.candidates).size === 1;
    const compared = others && (alone ? others : [others.join("\n"), ""]);
    return { known, terms, extra: compared && ((text) => differenceMarks(text, compared, system === this.a ? "only-a" : "only-b")) };
  }

  /** Return the marking of references: words that only A or only B says. */
  async referenceMarking(texts, { differences = true, terms = [] } = {}) {
    const [a, b] = [this.a, this.b].map((system) => (system >= 0 && texts.systems[system] ? wordsOf(texts.systems[system].candidates) : null));
    if (!differences || !a || !b) return { terms };
    const frequent = await this.frequent();
    const extra = (text) =>
      [...text.matchAll(WORD)].flatMap((match) => {
        const word = match[0].toLowerCase();
        if (frequent.has(word) || a.has(word) === b.has(word)) return [];
        return [{ start: match.index, end: match.index + match[0].length, name: a.has(word) ? "only-a" : "only-b" }];
      });
    return { terms, extra };
  }
}

const examplesOf = cached(async (name) => new Examples(name, await blockJson(`${name}-index`)).start());

/** Return the two selects of the pair in view, with a button that swaps them; none for one system. */
function pairControls(examples) {
  if (examples.labels.length < 2) return null;
  const selects = ["a", "b"].map((side) => {
    const select = element("select", { "aria-label": `System ${side.toUpperCase()}` }, examples.labels.map((label, k) => element("option", { value: k }, label)));
    select.addEventListener("change", () => examples.view({ [side]: Number(select.value) }));
    return select;
  });
  const show = () => selects.forEach((select, k) => (select.value = k ? examples.b : examples.a));
  examples.changed.push(show);
  show();
  const swap = element("button", { type: "button", title: "Swap A and B", "aria-label": "Swap A and B", onclick: () => examples.view({ a: examples.b, b: examples.a }) }, "⇄");
  return element("div", { class: "pair-controls" }, side("a", selects[0]), swap, side("b", selects[1]));
}

/** Return a select with its badge, which a narrow window does not part. */
function side(name, select) {
  return element("span", { class: "side" }, badge(name), select);
}

function badge(side) {
  return element("span", { class: `badge ${side}` }, side.toUpperCase());
}

function inverse(rows) {
  const examples = [];
  rows.forEach((row, example) => {
    if (row >= 0) examples[row] = example;
  });
  return examples;
}

/** Return the order of examples by some values; undefined ones are last. */
function orderBy(values, descending) {
  const order = Array.from(values.keys());
  const sign = descending ? -1 : 1;
  return order.sort((a, b) => {
    const x = values[a];
    const y = values[b];
    const missing = Number.isNaN(x) - Number.isNaN(y);
    return missing || (Number.isNaN(x) ? a - b : sign * (x - y) || a - b);
  });
}
