// Charts: Vega-Lite specifications drawn by vega-embed when their part of the page is first shown, or when the browser is idle.
const ERRORS = 1; // log level of Vega
const charts = { views: new Map(), started: null, timer: 0 };
/** Widths of the window at which a chart has another layout. */
const LAYOUTS = [["phone", matchMedia("(max-width: 640px)")], ["wide", matchMedia("(min-width: 1400px)")]];

function chartLayout() {
  return LAYOUTS.find(([, query]) => query.matches)?.[0] ?? "page";
}

function startCharts() {
  if (!all("figure.chart").length) return;
  listeners.tab.push((name) => {
    if (name === "plots") drawCharts();
  });
  listeners.theme.push(redrawCharts);
  for (const [, query] of LAYOUTS) query.addEventListener("change", redrawCharts);
  for (const more of all("details.more-charts")) more.addEventListener("toggle", drawCharts);
  setTimeout(() => (globalThis.requestIdleCallback ?? setTimeout)(drawCharts), 1500);
}

/** Draw the charts that are not drawn yet: all but those that wait to be asked for. */
function drawCharts() {
  charts.started = (charts.started ?? Promise.resolve()).then(drawAll);
  return charts.started;
}

/** Draw the charts anew once the window has had one look for a while: a print changes its width for a moment. */
function redrawCharts() {
  clearTimeout(charts.timer);
  if (charts.started) charts.timer = setTimeout(drawCharts, 200);
}

async function drawAll() {
  const layout = chartLayout();
  const look = `${currentTheme()}-${layout}`;
  const wanted = all("figure.chart").filter((figure) => figure.dataset.look !== look && (figure.closest("details")?.open ?? true));
  if (!wanted.length) return;
  await chartLibrary();
  const { specs, layouts, styles } = await chartSpecs();
  for (const figure of wanted) {
    const name = figure.dataset.chart;
    const spec = layout === "page" ? specs[name] : { datasets: specs[name].datasets, ...layouts[layout][name] };
    await drawChart(figure, spec, styles[look]);
    figure.dataset.look = look;
    await breath();
  }
}

const chartSpecs = cached(() => blockJson("charts"));

const chartLibrary = cached(async () => {
  const text = await blockText("charts-library");
  document.head.append(element("script", {}, `${text}`));
  globalThis.Charts ??= Charts;
});

async function drawChart(figure, spec, config) {
  const target = figure.querySelector(".plot");
  charts.views.get(figure.id)?.finalize();
  try {
    const result = await Charts.embed(target, spec, { renderer: "svg", actions: false, ast: true, config, defaultStyle: false, logLevel: ERRORS });
    charts.views.set(figure.id, result);
    describe(target.querySelector("svg"), figure);
    saveLink(figure, result.view);
  } catch (error) {
    target.replaceChildren(element("p", { class: "soft" }, `This chart could not be drawn: ${error.message}`));
  }
}

/** Name the drawing, and take the roles of images from parts that have no name. */
function describe(svg, figure) {
  svg.setAttribute("aria-label", figure.querySelector("strong").textContent);
  for (const node of all("[role='graphics-symbol']:not([aria-label])", svg)) {
    node.removeAttribute("role");
    node.removeAttribute("aria-roledescription");
  }
}

function saveLink(figure, view) {
  const place = figure.querySelector(".save");
  const button = element("button", { type: "button" }, "Save as SVG");
  button.addEventListener("click", async () => download(`${figure.dataset.chart}.svg`, await view.toSVG(), "image/svg+xml"));
  place.replaceChildren(button);
}
