// Charts: Vega-Lite specifications drawn by vega-embed when their part of the page is first shown, or when the browser is idle.
const ERRORS = 1; // log level of Vega
const charts = { views: new Map(), started: null, theme: null };
const narrowScreen = matchMedia("(max-width: 640px)");

function startCharts() {
  const figures = all("figure.chart");
  if (!figures.length) return;
  listeners.tab.push((name) => {
    if (name === "plots") drawCharts();
  });
  listeners.theme.push((theme) => {
    if (charts.started && theme !== charts.theme) charts.started = charts.started.then(() => drawAll(theme));
  });
  narrowScreen.addEventListener("change", () => {
    if (charts.started) charts.started = charts.started.then(() => drawAll(currentTheme()));
  });
  setTimeout(() => (globalThis.requestIdleCallback ?? setTimeout)(drawCharts), 1500);
}

function drawCharts() {
  charts.started ??= drawAll(currentTheme());
  return charts.started;
}

async function drawAll(theme) {
  charts.theme = theme;
  await chartLibrary();
  const { specs, narrow, styles } = await chartSpecs();
  const small = narrowScreen.matches;
  for (const figure of all("figure.chart")) {
    const wide = specs[figure.dataset.chart];
    const spec = small ? { datasets: wide.datasets, ...narrow[figure.dataset.chart] } : wide;
    await drawChart(figure, spec, styles[small ? `${theme}-narrow` : theme]);
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
