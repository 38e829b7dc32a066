// The list of the browser of examples and its controls.
const FILTER_HELP = "cider < .3 and length > 12, diff(cider) > .5, cider[B] >= 1, p(trm) < .05; see the documentation of the report page";

/** What the list is sorted by: text of the choice, and its values (examples). */
const SORTED = {
  a: { text: "of A", values: (examples, kind, metric) => examples.column({ kind, metric, system: examples.a }) },
  b: { text: "of B", values: (examples, kind, metric) => examples.column({ kind, metric, system: examples.b }) },
  "a-b": { text: "A − B", values: (examples, kind, metric) => differenceOf(examples, kind, metric, (x, y) => x - y) },
  distance: { text: "|A − B|", values: (examples, kind, metric) => differenceOf(examples, kind, metric, (x, y) => Math.abs(x - y)) },
};

async function differenceOf(examples, kind, metric, combine) {
  const [x, y] = await Promise.all([examples.a, examples.b].map((system) => examples.column({ kind, metric, system })));
  return x.map((value, k) => combine(value, y[k]));
}

Object.assign(Browser.prototype, {
  build() {
    this.search = element("input", { type: "search", placeholder: "Search captions, references, ids  ( / )", "aria-label": "Search captions, references and ids", value: this.state.read("search") });
    this.search.addEventListener("input", () => {
      this.setSearch(this.search.value);
      this.reselect();
    });
    this.count = element("span", { class: "count", role: "status" });
    this.status = element("span", { class: "soft" });
    this.viewport = element("div", { class: "list", tabindex: 0, role: "listbox", "aria-label": "Examples" });
    this.sizer = element("div", { class: "sizer" });
    this.viewport.append(this.sizer);
    this.detail = element("article", { class: "detail", tabindex: 0, "aria-label": "Selected example" });
    const controls = pairControls(this.examples);
    this.node.replaceChildren(
      element("div", { class: "toolbar" }, this.search, this.filterControls()),
      element("div", { class: "toolbar second" }, controls, this.sortControls(), this.markControls()),
      element("p", { class: "counts" }, this.count, " ", this.status, element("span", { class: "soft keys" }, " Keys: j, k next and previous; / search; Esc leaves a field")),
      element("div", { class: "panes" }, this.viewport, this.detail),
    );
  },

  setSearch(text) {
    this.terms = searchTerms(text);
    this.state.write({ search: text.trim() });
    this.refresh();
  },

  filterControls() {
    const id = `${this.name}-filter-error`;
    this.filterField = element("input", { type: "text", class: "filter", placeholder: "Filter: cider < .3 and length > 12", "aria-label": "Filter by an expression", "aria-describedby": id, spellcheck: "false", autocomplete: "off", title: FILTER_HELP, value: this.state.read("filter") });
    this.filterField.addEventListener("input", () => this.setFilter(this.filterField.value));
    this.filterError = element("span", { class: "filter-error", id, role: "status" });
    return element("div", { class: "filtering" }, this.filterField, this.filterError);
  },

  markControls() {
    const texts = { words: "Mark words of the references", differences: "Mark words of A or B alone" };
    const names = this.examples.b >= 0 ? ["words", "differences"] : ["words"];
    const boxes = names.map((name) => {
      const box = element("input", { type: "checkbox", checked: this.marks[name] });
      box.addEventListener("change", () => {
        this.marks[name] = box.checked;
        const on = Object.keys(this.marks).filter((key) => this.marks[key]).join(",");
        this.state.write({ marks: on === "words,differences" ? "" : on || "none" });
        this.select(this.selected);
      });
      return element("label", {}, box, element("span", { class: `key-${name}` }, texts[name]));
    });
    return element("div", { class: "marking" }, boxes);
  },

  /** Return the controls of the quantity that orders the list. */
  sortControls() {
    const { metrics } = this.index;
    if (!metrics.length) return null;
    const option = (value, label) => element("option", { value }, label);
    const quantity = element("select", {}, option("", "order of the run"), metrics.flatMap((metric, k) => [option(`score-${k}`, metric.name), ...(metric.p ? [option(`p-${k}`, `p of ${metric.name}`)] : [])]));
    const of = element("select", { "aria-label": "Of which system" }, Object.entries(SORTED).map(([value, { text }]) => option(value, text)));
    const direction = element("button", { type: "button" });
    const rest = this.examples.b >= 0 ? [of, direction] : [direction];
    const show = () => {
      quantity.value = this.sort.kind ? `${this.sort.kind}-${this.sort.metric}` : "";
      of.value = this.sort.of;
      direction.textContent = this.sort.descending ? "largest first" : "smallest first";
      for (const node of rest) node.hidden = !this.sort.kind;
    };
    const change = (values) => {
      Object.assign(this.sort, values);
      show();
      return this.resort();
    };
    quantity.addEventListener("change", () => {
      const [kind, metric] = quantity.value ? quantity.value.split("-") : ["", "-1"];
      change({ kind, metric: Number(metric), descending: kind !== "p" && metrics[metric]?.higher !== false });
    });
    of.addEventListener("change", () => change({ of: of.value }));
    direction.addEventListener("click", () => change({ descending: !this.sort.descending }));
    show();
    return element("div", { class: "sorting" }, element("label", {}, "Sort by", quantity), rest);
  },

  startList() {
    this.virtual = new Tables.Virtualizer({
      count: this.visible.length,
      getScrollElement: () => this.viewport,
      estimateSize: () => ROW_HEIGHT,
      overscan: 8,
      observeElementRect: Tables.observeElementRect,
      observeElementOffset: Tables.observeElementOffset,
      scrollToFn: Tables.elementScroll,
      onChange: () => this.drawList(false),
    });
    this.virtual._didMount();
    this.virtual._willUpdate();
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9 };
    this.viewport.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && narrowWindow.matches) this.open();
      if (!(event.key in steps)) return;
      event.preventDefault();
      this.move(steps[event.key]);
    });
    this.sizer.addEventListener("click", (event) => {
      const row = event.target.closest("[data-example]");
      if (row) this.select(Number(row.dataset.example), true);
    });
  },

  drawList(fromTop) {
    if (!this.virtual) return;
    this.virtual.setOptions({ ...this.virtual.options, count: this.visible.length });
    this.virtual._willUpdate();
    if (fromTop) this.viewport.scrollTop = 0;
    this.sizer.style.height = `${this.virtual.getTotalSize()}px`;
    const items = this.virtual.getVirtualItems();
    this.sizer.replaceChildren(...items.map((item) => this.listRow(item)));
    const selected = this.sizer.querySelector('[aria-selected="true"]');
    if (selected) this.viewport.setAttribute("aria-activedescendant", selected.id);
    else this.viewport.removeAttribute("aria-activedescendant");
    this.fillRows(items.map((item) => this.visible[item.index]));
  },

  listRow(item) {
    const example = this.visible[item.index];
    const id = this.index.ids[example];
    const value = this.values ? element("span", { class: "number" }, this.sort.kind === "p" ? numberText(this.values[example]) : scoreText(this.values[example])) : null;
    const picture = this.images?.[id] ? element("img", { src: this.images[id], alt: "" }) : null;
    return element(
      "div",
      {
        role: "option", id: `${this.name}-option-${example}`, class: "row", "data-example": example, style: `top:${item.start}px`,
        "aria-selected": String(example === this.selected), "aria-posinset": item.index + 1, "aria-setsize": this.visible.length,
      },
      picture,
      element("span", { class: "words" }, element("span", { class: "id", dir: "auto" }, id), element("span", { class: "soft first", dir: "auto" }, this.firsts?.[example] ?? " ")),
      value,
    );
  },

  /** Fill in the first reference of the rows that are shown. */
  async fillRows(examples) {
    this.firsts ??= {};
    const missing = examples.filter((example) => !(example in this.firsts));
    if (!missing.length) return;
    const { part } = this.index;
    for (const k of new Set(missing.map((example) => Math.floor(example / part)))) {
      (await this.examples.part(`refs-${k}`)).forEach((texts, place) => (this.firsts[k * part + place] = (texts[0] ?? "").slice(0, 200)));
    }
    for (const row of all("[data-example]", this.sizer)) row.querySelector(".first").textContent = this.firsts[row.dataset.example] ?? "";
  },
});

/** Return the terms of a search, in lower case: words, and phrases in quotation marks. */
function searchTerms(text) {
  return [...text.toLowerCase().matchAll(/"([^"]+)"?|(\S+)/g)].map(([, phrase, word]) => phrase ?? word).filter((term) => term !== '"');
}
