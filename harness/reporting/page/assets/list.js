// The list of the browser of examples and its controls.
Object.assign(Browser.prototype, {
  build() {
    this.search = element("input", { type: "search", placeholder: "Search captions, references, ids  ( / )", "aria-label": "Search captions, references and ids" });
    this.search.addEventListener("input", () => {
      this.terms = searchTerms(this.search.value);
      this.refresh();
      this.select(this.visible.includes(this.selected) ? this.selected : this.visible[0]);
    });
    this.count = element("span", { class: "count", role: "status" });
    this.status = element("span", { class: "soft" });
    this.viewport = element("div", { class: "list", tabindex: 0, role: "listbox", "aria-label": "Examples" });
    this.sizer = element("div", { class: "sizer" });
    this.viewport.append(this.sizer);
    this.detail = element("article", { class: "detail", tabindex: 0, "aria-label": "Selected example" });
    const marks = element("input", { type: "checkbox", checked: true });
    marks.addEventListener("change", () => {
      this.marksWords = marks.checked;
      this.select(this.selected);
    });
    this.node.replaceChildren(
      element("div", { class: "toolbar" }, this.search, this.sortControls(), element("label", {}, marks, "Mark words of the references")),
      element("p", { class: "counts" }, this.count, " ", this.status, element("span", { class: "soft keys" }, " Keys: j, k next and previous; / search")),
      element("div", { class: "panes" }, this.viewport, this.detail),
    );
  },

  /** Return the controls of the quantity that orders and filters the list. */
  sortControls() {
    const { metrics, systems } = this.index;
    if (!metrics.length) return null;
    const option = (value, label) => element("option", { value }, label);
    const quantity = element("select", {}, option("", "order of the run"), metrics.flatMap((metric, k) => [option(`score-${k}`, metric.name), ...(metric.p ? [option(`p-${k}`, `p of ${metric.name}`)] : [])]));
    const names = systems.map((system) => (system.run ? `${system.label} (${system.run})` : system.label));
    const system = element("select", {}, names.map((label, k) => option(k, label)));
    const other = element("select", {}, option(-1, "–"), names.map((label, k) => option(k, label)));
    const direction = element("button", { type: "button" }, "largest first");
    const low = element("input", { type: "text", inputmode: "decimal", size: 5, "aria-label": "Smallest value" });
    const high = element("input", { type: "text", inputmode: "decimal", size: 5, "aria-label": "Largest value" });
    const label = (text, ...nodes) => element("label", {}, text, ...nodes);
    const rest = [label("of", system), systems.length > 1 ? label("minus", other) : null, direction, element("span", { class: "range" }, "from ", low, " to ", high)].filter(Boolean);
    const change = (defaultDirection) => {
      const [kind, metric] = quantity.value ? quantity.value.split("-") : ["", "-1"];
      Object.assign(this.sort, { kind, metric: Number(metric), system: Number(system.value), other: Number(other.value), low: bound(low, -Infinity), high: bound(high, Infinity) });
      if (defaultDirection && kind) this.sort.descending = kind === "score" && metrics[this.sort.metric].higher !== false;
      direction.textContent = this.sort.descending ? "largest first" : "smallest first";
      for (const node of rest) node.hidden = this.sort.metric < 0;
      return this.resort();
    };
    quantity.addEventListener("change", () => change(true));
    for (const node of [system, other, low, high]) node.addEventListener("change", () => change(false));
    for (const node of [low, high]) node.addEventListener("input", () => change(false));
    direction.addEventListener("click", () => {
      this.sort.descending = !this.sort.descending;
      change(false);
    });
    for (const node of rest) node.hidden = true;
    return element("div", { class: "sorting" }, label("Sort by", quantity), rest);
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
      if (!(event.key in steps)) return;
      event.preventDefault();
      this.move(steps[event.key]);
    });
    this.sizer.addEventListener("click", (event) => {
      const row = event.target.closest("[data-example]");
      if (row) this.select(Number(row.dataset.example));
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
    const value = this.values ? element("span", { class: "number" }, numberText(this.values[example])) : null;
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
      (await this.part(`refs-${k}`)).forEach((texts, place) => (this.firsts[k * part + place] = (texts[0] ?? "").slice(0, 200)));
    }
    for (const row of all("[data-example]", this.sizer)) row.querySelector(".first").textContent = this.firsts[row.dataset.example] ?? "";
  },
});

/** Return the terms of a search, in lower case: words, and phrases in quotation marks. */
function searchTerms(text) {
  return [...text.toLowerCase().matchAll(/"([^"]+)"?|(\S+)/g)].map(([, phrase, word]) => phrase ?? word).filter((term) => term !== '"');
}

/** Return the number in a field; an empty or other text is no bound. */
function bound(field, none) {
  const value = Number(field.value.replace(",", "."));
  const valid = field.value.trim() !== "" && Number.isFinite(value);
  field.toggleAttribute("aria-invalid", field.value.trim() !== "" && !valid);
  return valid ? value : none;
}
