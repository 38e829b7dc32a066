// The browser of examples: a virtual list, search, filter and sort, and the selected example beside it.
const ROW_HEIGHT = 58;
const CACHED_PARTS = 64;

function startExamples() {
  const nodes = all("[data-browser]");
  if (!nodes.length) return;
  const browsers = new Map();
  listeners.tab.push(async (name) => {
    if (name !== "examples") return;
    for (const node of nodes) {
      if (!browsers.has(node)) browsers.set(node, startBrowser(node));
    }
  });
  document.addEventListener("keydown", async (event) => {
    const tab = document.getElementById("examples");
    if (!tab.classList.contains("current") || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    const [first] = browsers.values();
    if (!first || !["j", "k", "/"].includes(event.key)) return;
    event.preventDefault();
    const browser = await first;
    if (event.key === "/") browser.search.focus();
    else browser.move(event.key === "j" ? 1 : -1);
  });
}

async function startBrowser(node) {
  const name = node.dataset.browser;
  node.append(element("p", { class: "soft" }, "Reading the examples …"));
  const browser = new Browser(node, name, await blockJson(`${name}-index`));
  await browser.start();
  return browser;
}

class Browser {
  constructor(node, name, index) {
    Object.assign(this, { node, name, index, terms: [], marksWords: true, selected: -1, ticket: 0, images: null, explained: null });
    this.scores = new Scores(name, index);
    this.part = cached((block) => blockJson(`${name}-${block}`), CACHED_PARTS);
    this.rows = cached(async (system) => (hasBlock(`${name}-rows-${system}`) ? new Int32Array((await blockBytes(`${name}-rows-${system}`)).buffer) : null));
    this.order = Array.from(index.ids.keys());
    this.visible = this.order;
    this.values = null;
    this.texts = null;
    this.sort = { kind: "", metric: -1, system: 0, other: -1, descending: true, low: -Infinity, high: Infinity };
  }

  async start() {
    this.build();
    this.startList();
    const [, , wanted] = location.hash.split("/");
    const linked = wanted === undefined ? -1 : this.index.ids.indexOf(decodeURIComponent(wanted));
    if (hasBlock(`${this.name}-images`)) ({ data: this.images, links: this.links } = await blockJson(`${this.name}-images`));
    if (hasBlock(`${this.name}-explain`)) this.explained = await blockJson(`${this.name}-explain`);
    this.frequent = commonWords(await this.part("refs-0"));
    this.refresh();
    await this.select(linked >= 0 ? linked : this.visible[0]);
    this.loadTexts();
  }

  // -------------------------------------------------------------- texts
  async read(system, row) {
    const { part } = this.index;
    const block = await this.part(`caps-${system}-${Math.floor(row / part)}`);
    return { candidates: block.c[row % part], references: block.r?.[row % part] ?? null };
  }

  async textsOf(example) {
    const { part, systems } = this.index;
    const references = (await this.part(`refs-${Math.floor(example / part)}`))[example % part];
    const own = await Promise.all(
      systems.map(async (_, system) => {
        const rows = await this.rows(system);
        const row = rows ? rows[example] : example;
        return row < 0 ? null : this.read(system, row);
      }),
    );
    return { references, systems: own };
  }

  /** Read all captions for the search, part by part, so that the page stays usable. */
  async loadTexts() {
    const { ids, part, systems } = this.index;
    const pieces = ids.map((id) => [id]);
    const blocksOf = (system) => Math.ceil(ids.length / part);
    const total = (systems.length + 1) * blocksOf();
    let done = 0;
    const step = async (block, add) => {
      if (hasBlock(`${this.name}-${block}`)) add(await blockJson(`${this.name}-${block}`));
      done += 1;
      if (done % 8 === 0) this.say(`Reading captions for the search: ${Math.round((100 * done) / total)} %`);
      await breath();
    };
    for (let k = 0; k < blocksOf(); k++) {
      await step(`refs-${k}`, (texts) => texts.forEach((list, place) => pieces[k * part + place].push(...list)));
    }
    for (let system = 0; system < systems.length; system++) {
      const rows = await this.rows(system);
      const example = rows ? inverse(rows) : null;
      for (let k = 0; k < blocksOf(); k++) {
        await step(`caps-${system}-${k}`, ({ c }) => c.forEach((list, place) => pieces[example ? example[k * part + place] : k * part + place].push(...list)));
      }
    }
    this.texts = pieces.map((list) => list.join("\n").toLowerCase());
    this.say("");
    if (this.terms.length) this.refresh();
    this.node.dataset.ready = "yes";
  }

  say(text) {
    this.status.textContent = text;
  }

  // -------------------------------------------------------------- order and filter
  sortedMetric() {
    return this.sort.metric >= 0 ? this.index.metrics[this.sort.metric].name : "";
  }

  systemOrder() {
    const order = Array.from(this.index.systems.keys());
    if (this.sort.metric < 0) return order;
    const first = [this.sort.system, this.sort.other].filter((system) => system >= 0);
    return [...first, ...order.filter((system) => !first.includes(system))];
  }

  async resort() {
    const ticket = ++this.ticket;
    const values = this.sort.metric < 0 ? null : await this.scores.values(this.sort);
    if (ticket !== this.ticket) return;
    this.values = values;
    this.order = values ? orderBy(values, this.sort.descending) : Array.from(this.index.ids.keys());
    this.refresh();
    await this.select(this.visible.includes(this.selected) ? this.selected : this.visible[0]);
  }

  refresh() {
    const { terms, texts, values } = this;
    const { low, high } = this.sort;
    const bounded = values && (low > -Infinity || high < Infinity);
    const passes = (example) =>
      (!bounded || (values[example] >= low && values[example] <= high)) && (!texts || terms.every((term) => texts[example].includes(term)));
    this.visible = terms.length || bounded ? this.order.filter(passes) : this.order;
    const shown = this.visible.length;
    const all = this.index.ids.length;
    const sample = this.index.total > all ? ` (of ${this.index.total.toLocaleString("en")}; the report was written with fewer)` : "";
    this.count.textContent = shown === all ? `${all.toLocaleString("en")} examples${sample}` : `${shown.toLocaleString("en")} of ${all.toLocaleString("en")} examples${sample}`;
    this.drawList(true);
  }

  // -------------------------------------------------------------- selection
  async select(example) {
    if (example === undefined || example < 0) {
      this.selected = -1;
      this.detail.replaceChildren(element("p", { class: "soft" }, "No example matches."));
      return;
    }
    this.selected = example;
    this.drawList(false);
    const [texts, scores] = await Promise.all([this.textsOf(example), this.scores.ofExample(example)]);
    if (this.selected !== example) return;
    this.detail.replaceChildren(...detailNodes(this, example, texts, scores, this.explained?.[this.index.ids[example]]));
    if (document.getElementById("examples").classList.contains("current")) {
      history.replaceState(null, "", `#examples/${this.name}/${encodeURIComponent(this.index.ids[example])}`);
    }
  }

  move(step) {
    if (!this.visible.length) return;
    const place = this.visible.indexOf(this.selected);
    const next = Math.min(this.visible.length - 1, Math.max(0, place + step));
    this.virtual.scrollToIndex(next);
    this.select(this.visible[next]);
    this.detail.scrollTop = 0;
  }
}

function inverse(rows) {
  const examples = [];
  rows.forEach((row, example) => {
    if (row >= 0) examples[row] = example;
  });
  return examples;
}
