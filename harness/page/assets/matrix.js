// The matrix: sorting, hiding, pinning and grouping by TanStack Table on the rows of the static table.
function startMatrix(group) {
  const table = group.querySelector("table.matrix");
  if (!table) return;
  const body = table.tBodies[0];
  const heads = all("tr.heads th", table);
  const rows = all("tr[data-row]", body).map((node) => matrixRow(node, heads));
  const facets = new Set(rows.map((row) => row.facet));
  const state = { sorting: [], grouping: [], columnVisibility: {}, rowPinning: { top: [], bottom: [] }, globalFilter: "" };
  const model = Tables.createTable({
    data: rows,
    columns: [
      ...heads.map((head) => matrixColumn(head, head.cellIndex)),
      { id: "facet", accessorFn: (row) => row.facet },
    ],
    state,
    onStateChange: () => {},
    renderFallbackValue: null,
    getRowId: (row, index) => String(index),
    globalFilterFn: (row, column, text) => row.original.search.includes(text.toLowerCase()),
    getColumnCanGlobalFilter: (column) => column.id === "model",
    getCoreRowModel: Tables.getCoreRowModel(),
    getFilteredRowModel: Tables.getFilteredRowModel(),
    getGroupedRowModel: Tables.getGroupedRowModel(),
    getSortedRowModel: Tables.getSortedRowModel(),
    sortDescFirst: false,
    enableMultiSort: true,
    groupedColumnMode: false,
    autoResetAll: false,
  });
  const kept = new GroupState(group.dataset.group);
  const update = (updater) => {
    view.state = typeof updater === "function" ? updater(view.state) : updater;
    model.setOptions((options) => ({ ...options, state: view.state, onStateChange: update }));
    drawMatrix(view);
    keepMatrix(view);
  };
  const view = { table, body, heads, rows, facets, model, update, kept, state: { ...model.initialState, ...state, ...keptState(kept, heads, rows) } };
  model.setOptions((options) => ({ ...options, state: view.state, onStateChange: update }));
  startHeads(view);
  startPins(view);
  startHints(body);
  matrixToolbar(group.querySelector(".toolbar"), view);
  if (facets.size > 1 && !view.state.grouping.length) model.setGrouping(["facet"]);
  else drawMatrix(view);
}

// ---------------------------------------------------------------- state in the address
const nameOfHead = (head) => head.dataset.metric ?? head.dataset.column;

/** Return the part of the table's state that the address has: order, hidden columns, pinned rows, search and groups. */
function keptState(kept, heads, rows) {
  const list = (name) => kept.read(name).split("|").filter(Boolean);
  const column = (name) => heads.find((head) => nameOfHead(head) === name)?.dataset.column;
  const sorting = list("order").map((text) => ({ id: column(text.replace(/:(asc|desc)$/, "")), desc: text.endsWith(":desc") }));
  const pinned = list("pin").map((name) => String(rows.findIndex((row) => rowName(row) === name)));
  return {
    sorting: sorting.filter(({ id }) => id),
    columnVisibility: Object.fromEntries(list("hide").map(column).filter(Boolean).map((id) => [id, false])),
    rowPinning: { top: pinned.filter((id) => id !== "-1"), bottom: [] },
    globalFilter: kept.read("find"),
    grouping: list("rows").filter((id) => id === "facet" || column(id)),
  };
}

function rowName({ values }) {
  return [values.model, values.run, values.decoding].filter(Boolean).join(" ");
}

function keepMatrix({ state, heads, rows, kept, facets }) {
  const name = (id) => nameOfHead(heads.find((head) => head.dataset.column === id));
  const hidden = heads.filter((head) => state.columnVisibility[head.dataset.column] === false).map(nameOfHead);
  const alone = facets.size > 1 ? "facet" : "";
  const grouping = state.grouping.join("|");
  kept.write({
    order: state.sorting.map(({ id, desc }) => `${name(id)}:${desc ? "desc" : "asc"}`).join("|"),
    hide: hidden.join("|"),
    pin: state.rowPinning.top.map((id) => rowName(rows[id])).join("|"),
    find: state.globalFilter,
    rows: grouping === alone ? "" : grouping,
  });
}

function matrixRow(node, heads) {
  const values = {};
  for (const head of heads) {
    const cell = node.cells[head.cellIndex];
    const isNumber = head.classList.contains("number");
    const number = parseFloat(cell.dataset.value);
    values[head.dataset.column] = isNumber ? (Number.isNaN(number) ? undefined : number) : (cell.querySelector(".label") ?? cell).textContent.trim();
  }
  return { node, values, facet: node.dataset.facet, search: `${values.model} ${values.run ?? ""} ${values.decoding ?? ""}`.toLowerCase() };
}

function matrixColumn(head) {
  const id = head.dataset.column;
  const isNumber = head.classList.contains("number");
  return {
    id,
    accessorFn: (row) => row.values[id],
    sortingFn: isNumber ? "basic" : "alphanumeric",
    sortDescFirst: head.dataset.higher === "yes",
    sortUndefined: "last",
    aggregationFn: isNumber ? (head.dataset.higher === "no" ? "min" : "max") : undefined,
    enableGlobalFilter: id === "model",
  };
}

function startHeads(view) {
  for (const head of view.heads) {
    const column = view.model.getColumn(head.dataset.column);
    const button = element("button", { type: "button" });
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", (event) => column.toggleSorting(undefined, event.shiftKey));
    button.title = `${head.title ? `${head.title} · ` : ""}sort (shift: also by this)`;
    head.removeAttribute("title");
  }
}

function startPins(view) {
  view.rows.forEach((row, index) => {
    const button = element("button", { type: "button", class: "pin", "aria-pressed": "false", title: "Keep this row on top", "aria-label": `Pin ${row.values.model}` }, "pin");
    button.addEventListener("click", () => {
      const tableRow = view.model.getRow(String(index), true);
      tableRow.pin(tableRow.getIsPinned() ? false : "top");
    });
    row.node.cells[0].append(button);
    row.pin = button;
  });
}

function startHints(body) {
  body.addEventListener("click", (event) => {
    const cell = event.target.closest("td[title]");
    if (cell) showHint(cell.title);
    else hideHint();
  });
}

// ---------------------------------------------------------------- drawing
function drawMatrix(view) {
  const { model, body } = view;
  const pinned = model.getTopRows();
  const isPinned = new Set(pinned.map((row) => row.id));
  const fragment = document.createDocumentFragment();
  for (const row of pinned) fragment.append(row.original.node);
  appendRows(fragment, model.getSortedRowModel().rows, isPinned, view);
  body.replaceChildren(fragment);
  view.rows.forEach((row, index) => {
    const on = isPinned.has(String(index));
    row.node.classList.toggle("pinned", on);
    row.pin.setAttribute("aria-pressed", String(on));
  });
  for (const head of view.heads) {
    const sorted = model.getColumn(head.dataset.column).getIsSorted();
    if (sorted) head.setAttribute("aria-sort", sorted === "asc" ? "ascending" : "descending");
    else head.removeAttribute("aria-sort");
  }
  showColumns(view);
}

function appendRows(fragment, rows, isPinned, view) {
  for (const row of rows) {
    if (row.getIsGrouped()) {
      const label = row.groupingColumnId === "facet" ? row.groupingValue : `${row.groupingColumnId}: ${row.groupingValue || "–"}`;
      const span = view.heads.length;
      fragment.append(element("tr", { class: "facet" }, element("th", { scope: "rowgroup", colspan: span }, element("span", {}, label))));
      appendRows(fragment, row.subRows, isPinned, view);
    } else if (!isPinned.has(row.id)) fragment.append(row.original.node);
  }
}

function showColumns(view) {
  const visible = view.heads.map((head) => view.model.getColumn(head.dataset.column).getIsVisible());
  const key = visible.join();
  if (key === view.columnsShown) return;
  view.columnsShown = key;
  const nodes = [view.heads[0].parentElement, ...view.rows.map((row) => row.node)];
  for (const node of nodes) visible.forEach((on, k) => (node.cells[k].hidden = !on));
  for (const question of all(".questions th", view.table)) {
    const count = view.heads.filter((head, k) => visible[k] && head.dataset.question === question.textContent.trim()).length;
    question.hidden = count === 0;
    question.colSpan = Math.max(count, 1);
  }
}

// ---------------------------------------------------------------- options
function matrixToolbar(toolbar, view) {
  const { model, table } = view;
  const filter = element("input", { type: "search", placeholder: `Find ${toolbar.dataset.rows}`, "aria-label": `Find ${toolbar.dataset.rows}`, size: 14, value: view.state.globalFilter });
  filter.addEventListener("input", () => model.setGlobalFilter(filter.value));
  toolbar.append(filter, columnsMenu(view));
  const groups = ["decoding", "run", "sizes", "model"].filter((id) => {
    const values = new Set(view.rows.map((row) => row.values[id]).filter((value) => value !== undefined));
    return values.size > 1 && values.size < view.rows.length;
  });
  if (groups.length) {
    const base = view.facets.size > 1 ? ["facet"] : [];
    const select = element("select", {}, element("option", { value: "" }, "nothing"), groups.map((id) => element("option", { value: id, selected: view.state.grouping.includes(id) }, id)));
    select.addEventListener("change", () => model.setGrouping(select.value ? [...base, select.value] : base));
    toolbar.append(element("label", {}, "Group rows by ", select));
  }
  if (all("td[data-share]", table).length) toolbar.append(shareSwitch(view));
  const toggles = [["Intervals", "no-intervals", true], ["Bars", "no-bars", true], ...(table.classList.contains("with-p") ? [["Calibrated p", "no-p", false]] : [])];
  for (const [label, name, shown] of toggles) {
    const changed = view.kept.read("toggle").split("|").includes(name);
    const box = element("input", { type: "checkbox", checked: shown !== changed });
    const show = () => table.classList.toggle(name, !box.checked);
    box.addEventListener("change", () => {
      show();
      const others = view.kept.read("toggle").split("|").filter((other) => other && other !== name);
      view.kept.write({ toggle: [...others, ...(box.checked === shown ? [] : [name])].join("|") });
    });
    show();
    toolbar.append(element("label", {}, box, label));
  }
  const reset = element("button", { type: "button" }, "Reset order");
  reset.addEventListener("click", () => {
    filter.value = "";
    view.update({ ...view.state, sorting: [], globalFilter: "", rowPinning: { top: [], bottom: [] } });
  });
  toolbar.append(reset);
}

function columnsMenu(view) {
  const questions = new Map();
  for (const head of view.heads.filter((item) => item.dataset.question)) {
    if (!questions.has(head.dataset.question)) questions.set(head.dataset.question, []);
    questions.get(head.dataset.question).push(head);
  }
  const parts = [...questions].map(([question, heads]) => {
    const boxes = heads.map((head) => {
      const box = element("input", { type: "checkbox", checked: view.state.columnVisibility[head.dataset.column] !== false });
      box.addEventListener("change", () => view.model.getColumn(head.dataset.column).toggleVisibility(box.checked));
      return element("label", {}, box, head.querySelector(".label").textContent);
    });
    const every = element("button", { type: "button" }, "all / none");
    every.addEventListener("click", () => {
      const on = boxes.some((label) => !label.firstChild.checked);
      const visibility = Object.fromEntries(heads.map((head) => [head.dataset.column, on]));
      for (const label of boxes) label.firstChild.checked = on;
      view.model.setColumnVisibility((old) => ({ ...old, ...visibility }));
    });
    return element("fieldset", {}, element("legend", {}, question), boxes, boxes.length > 1 ? every : null);
  });
  const menu = element("details", { class: "menu" }, element("summary", {}, "Columns"), element("div", {}, parts));
  document.addEventListener("click", (event) => {
    if (!menu.contains(event.target)) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key === "Escape") menu.open = false;
  });
  return menu;
}

function shareSwitch({ table, kept }) {
  const box = element("input", { type: "checkbox", checked: kept.read("share") === "yes" });
  const cells = all("td[data-share]", table).map((cell) => [cell.querySelector(".value").firstChild, cell.dataset.share]);
  const values = cells.map(([text]) => text.data);
  const show = () => cells.forEach(([text, share], k) => (text.data = box.checked ? share : values[k]));
  box.addEventListener("change", () => {
    show();
    kept.write({ share: box.checked ? "yes" : "" });
  });
  show();
  return element("label", { title: "0 %: captions of other examples; 100 %: held-out people" }, box, "Share of the way from shuffled to people");
}
