// The browser of examples: a virtual list, search, filter and sort, and the selected example beside it.
const ROW_HEIGHT = 58;
const narrowWindow = matchMedia("(max-width: 860px)");
const browsers = new Map();

function startExamples() {
  listeners.tab.push((name) => {
    if (name === "examples") startBrowsers();
  });
}

/** Start the browsers of all groups; those that run already are left as they are. */
function startBrowsers() {
  for (const node of all("[data-browser]")) {
    if (!browsers.has(node.dataset.browser)) browsers.set(node.dataset.browser, startBrowser(node));
  }
  return Promise.all(browsers.values());
}

async function startBrowser(node) {
  node.append(element("p", { class: "soft" }, "Reading the examples …"));
  const browser = new Browser(node, await examplesOf(node.dataset.browser));
  await browser.start();
  return browser;
}

/** Open the tab of examples at one of a group. */
async function openExample(group, example) {
  showTab("examples");
  await startBrowsers();
  const browser = await browsers.get(group);
  browser.reach(example);
  scrollTo(0, 0);
}

class Browser {
  constructor(node, examples) {
    Object.assign(this, { node, examples, index: examples.index, name: examples.name, state: examples.state, selected: -1, ticket: 0, filterTicket: 0 });
    this.order = Array.from(this.index.ids.keys());
    this.visible = this.order;
    Object.assign(this, { values: null, texts: null, filter: null });
    this.terms = searchTerms(this.state.read("search"));
    const marks = this.state.read("marks", "words,differences").split(",");
    this.marks = { words: marks.includes("words"), differences: marks.includes("differences") };
    const [kind, of, direction, ...label] = this.state.read("sort").split(":");
    const metric = this.index.metrics.findIndex((entry) => entry.label === label.join(":"));
    const valid = metric >= 0 && ["score", "p"].includes(kind);
    this.sort = { kind: valid ? kind : "", metric: valid ? metric : -1, of: SORTED[of] ? of : "a", descending: direction !== "asc" };
  }

  async start() {
    const wanted = address.group === this.name && address.example !== undefined ? this.index.ids.indexOf(address.example) : -1;
    const pictures = await this.examples.pictures();
    Object.assign(this, { images: pictures.data, links: pictures.links, explained: await this.examples.explained() });
    this.build();
    this.startList();
    await this.setFilter(this.state.read("filter"), false);
    await this.resort(false);
    const first = wanted >= 0 ? wanted : await this.mostTelling();
    await this.select(first, wanted >= 0);
    if (first !== this.visible[0]) this.show(this.visible.indexOf(first));
    this.examples.changed.push(() => this.followPair());
    this.loadTexts();
    this.node.classList.add("started");
  }

  /** Return the example on which A and B differ most by the first metric; the first of the list where it was sorted, searched or filtered. */
  async mostTelling() {
    const [first] = this.visible;
    const { a, b } = this.examples;
    if (this.sort.kind || this.filter || this.terms.length || a === b || !this.index.metrics.length) return first;
    const values = await SORTED.distance.values(this.examples, "score", 0);
    return this.visible.reduce((best, example) => (values[example] > (values[best] || 0) ? example : best), first);
  }

  /** Read all captions for the search, part by part, so that the page stays usable. */
  async loadTexts() {
    const { ids, systems, part } = this.index;
    const pieces = ids.map((id) => [id]);
    const total = (systems.length + 1) * Math.ceil(ids.length / part);
    let done = 0;
    const step = () => {
      done += 1;
      if (done % 8 === 0) this.say(`Reading captions for the search: ${Math.round((100 * done) / total)} %`);
    };
    await this.examples.eachPart("refs", (lists, start) => {
      lists.forEach((texts, k) => pieces[start + k].push(...texts));
      step();
    });
    for (let system = 0; system < systems.length; system++) {
      const rows = await this.examples.rows(system);
      const example = rows ? inverse(rows) : null;
      await this.examples.eachPart(`caps-${system}`, ({ c }, start) => {
        c.forEach((texts, k) => pieces[example ? example[start + k] : start + k].push(...texts));
        step();
      });
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

  async followPair() {
    await this.setFilter(this.filterField.value, false);
    await this.resort();
  }

  /** Order the list anew, and keep the selected example where it is still there. */
  async resort(reselect = true) {
    const ticket = ++this.ticket;
    const { kind, metric, of, descending } = this.sort;
    const values = kind ? await SORTED[of].values(this.examples, kind, metric) : null;
    if (ticket !== this.ticket) return;
    this.values = values;
    this.order = values ? orderBy(values, descending) : Array.from(this.index.ids.keys());
    this.state.write({ sort: kind ? `${kind}:${of}:${descending ? "desc" : "asc"}:${this.index.metrics[metric].label}` : "" });
    this.refresh();
    if (reselect) await this.reselect();
  }

  /** Apply a filter; a bad one is one line under the field, and the list is that without a filter. */
  async setFilter(text, reselect = true) {
    const ticket = ++this.filterTicket;
    this.state.write({ filter: text.trim() });
    try {
      const filter = text.trim() ? await this.passing(text) : null;
      if (ticket !== this.filterTicket) return;
      this.filter = filter;
      this.filterError.textContent = "";
    } catch (error) {
      if (!(error instanceof FilterError || error instanceof RangeError)) throw error;
      this.filter = null;
      this.filterError.textContent = error instanceof FilterError ? error.message : "the filter is nested too deeply";
    }
    this.filterField.toggleAttribute("aria-invalid", this.filterError.textContent !== "");
    this.refresh();
    if (reselect) await this.reselect();
  }

  /** Return 1 for every example (examples) that a filter lets pass. */
  async passing(text) {
    const { metrics } = this.index;
    const find = (name) => metrics.findIndex((metric) => [metric.label, metric.name].some((known) => known.toLowerCase() === name.toLowerCase()));
    const names = {
      metric: find,
      tested: (metric) => metrics[metric].p,
      system: (label) => this.examples.system(label),
      metrics: [...new Set([...metrics.map((metric) => metric.label), "length", "references"])].join(", "),
      systems: this.examples.labels.map((label) => `"${label}"`).join(", "),
    };
    const { columns, test } = parseFilter(text, names);
    const numbers = new Map();
    for (const [key, { label, ...wanted }] of columns) numbers.set(key, await this.examples.column({ ...wanted, system: this.examples.system(label) }));
    return Uint8Array.from(this.index.ids, (_, example) => (test(example, numbers) ? 1 : 0));
  }

  refresh() {
    const { terms, texts, filter } = this;
    const searched = texts && terms.length;
    const passes = (example) => (!filter || filter[example]) && (!searched || terms.every((term) => texts[example].includes(term)));
    this.visible = searched || filter ? this.order.filter(passes) : this.order;
    const shown = this.visible.length;
    const total = this.index.ids.length;
    const sample = this.index.total > total ? ` (of ${this.index.total.toLocaleString("en")}; the report was written with fewer)` : "";
    const count = shown === total ? total.toLocaleString("en") : `${shown.toLocaleString("en")} of ${total.toLocaleString("en")}`;
    const broken = this.filterError.textContent ? "; the filter has a mistake and is not applied" : "";
    this.count.textContent = `${count} examples${sample}${broken}`;
    this.drawList(true);
  }

  // -------------------------------------------------------------- selection
  reselect() {
    return this.select(this.visible.includes(this.selected) ? this.selected : this.visible[0]);
  }

  /** Select an example; `open` shows it over the list in a narrow window. */
  async select(example, open = false) {
    if (example === undefined || example < 0) {
      this.selected = -1;
      this.detail.replaceChildren(element("p", { class: "soft" }, "No example matches."));
      return;
    }
    this.selected = example;
    this.drawList(false);
    const [texts, scores] = await Promise.all([this.examples.textsOf(example), this.examples.ofExample(example)]);
    if (this.selected !== example) return;
    this.detail.replaceChildren(...(await detailNodes(this, example, texts, scores)));
    if (open && narrowWindow.matches) this.open();
    if (document.getElementById("examples").classList.contains("current")) {
      const linked = !narrowWindow.matches || this.detail.classList.contains("open");
      Object.assign(address, { group: this.name, example: linked ? this.index.ids[example] : undefined });
      writeAddress();
    }
  }

  open() {
    this.detail.classList.add("open");
    root.classList.add("covered");
    this.detail.scrollTop = 0;
    this.detail.focus();
  }

  close() {
    if (!this.detail.classList.contains("open")) return false;
    this.detail.classList.remove("open");
    root.classList.remove("covered");
    address.example = undefined;
    writeAddress();
    this.viewport.focus();
    return true;
  }

  /** Select an example wherever it is; search and filter are emptied where they hide it. */
  async reach(example) {
    if (!this.visible.includes(example)) {
      this.search.value = this.filterField.value = "";
      this.setSearch("");
      await this.setFilter("", false);
    }
    await this.select(example, true);
    this.show(this.visible.indexOf(example));
  }

  show(place) {
    if (place >= 0) this.virtual.scrollToIndex(place);
  }

  move(step) {
    if (!this.visible.length) return;
    const place = this.visible.indexOf(this.selected);
    const next = Math.min(this.visible.length - 1, Math.max(0, place + step));
    this.show(next);
    this.select(this.visible[next]);
    this.detail.scrollTop = 0;
  }
}
