// Editing a candidate: its scores by the kernels in WebAssembly, on pages that hold them (`harness report --editable`).
//
// A metric is offered where its signature is that of the kernels and the scores of the candidates as they are equal the stored ones, on the
// example and on CHECKED others: so the page has what the number depends on. The document frequencies of CIDEr-D, for one, are those of the
// references of all examples; a page of fewer examples leaves CIDEr-D out.
const CHECKED = 40;

const scoringModules = cached(async () => {
  document.head.append(element("script", {}, await blockText("scoring-library")));
  return { ...captionScoring, kernels: await captionScoring.load(await blockBytes("scoring-module")) };
});

/** Return the task of a group: the references of all its examples. */
const scoringTask = cached(async (name) => {
  const { kernels, Task } = await scoringModules("");
  const { examples } = await browsers.get(name);
  const references = [];
  await examples.eachPart("refs", (lists) => references.push(...lists));
  return new Task(kernels, references);
});

/** Return the button that turns the candidates of a card into fields, or null where the page cannot score them. */
function editButton(browser, system, own, scores) {
  const label = `Edit the ${own.candidates.length > 1 ? "candidates" : "candidate"} of ${browser.examples.labels[system]}`;
  if (!hasBlock("scoring-module") || own.references || !own.candidates.length) return null;
  return element("button", { type: "button", class: "edit", "aria-label": label, onclick: (event) => startEditing(event.target, browser, system, own, scores) }, "Edit");
}

/** Return for each metric whether the task has the stored scores of a system, on an example and on others spread over the page. */
async function equalMetrics({ examples, index }, system, task, metrics, example) {
  const spread = Array.from({ length: Math.min(CHECKED, examples.count) }, (_, k) => Math.floor((k * examples.count) / Math.min(CHECKED, examples.count)));
  const chosen = [];
  for (const k of new Set([example, ...spread])) {
    const own = (await examples.textsOf(k, [system])).systems[system];
    if (own?.candidates.length && !own.references) chosen.push([k, own.candidates]);
  }
  const results = task.score(chosen.map(([, candidates]) => candidates), chosen.map(([k]) => k));
  const equals = async ({ k, key }) => {
    const stored = await examples.column({ kind: "score", metric: k, system });
    return chosen.every(([place], row) => Object.is(Math.fround(results[key].scores[row]), stored[place]));
  };
  const whole = index.total === index.ids.length;
  return Promise.all(metrics.map((metric) => metric.key !== undefined && (whole || metric.key !== "cider") && equals(metric)));
}

async function startEditing(button, browser, system, own, scores) {
  const card = button.closest(".system");
  const texts = card.querySelector(".texts");
  button.disabled = true;
  try {
    const example = browser.selected;
    const [{ METRICS }, task] = await Promise.all([scoringModules(""), scoringTask(browser.name)]);
    const score = (candidates) => task.score([candidates], [example]);
    const before = score(own.candidates);
    const known = browser.index.metrics.map(({ name, signature }, k) => ({ name, k, stored: scores[k].scores[system], key: Object.keys(before).find((key) => METRICS[key].signature === signature) }));
    const equal = await equalMetrics(browser, system, task, known, example);
    const [same, others] = [known.filter((_, k) => equal[k]), known.filter((_, k) => !equal[k])];
    const cells = same.map(() => [element("td", { class: "number" }), element("td", { class: "number" })]);
    const fields = own.candidates.map((text, k) => element("textarea", { rows: 2, dir: "auto", "aria-label": `Candidate ${k + 1}`, oninput: show }, text));
    function show() {
      const after = score(fields.map((field) => field.value));
      same.forEach(({ stored, key }, k) => {
        const value = after[key].scores[0];
        cells[k][0].textContent = scoreText(value);
        cells[k][1].textContent = signedText(value - before[key].scores[0]);
      });
    }
    const head = ["Score", "as run", "edited", "change"].map((text, k) => element("th", { scope: "col", class: k ? "number" : false }, text));
    const rows = same.map(({ name, stored }, k) => element("tr", {}, element("th", { scope: "row" }, name), element("td", { class: "number" }, scoreText(stored)), cells[k]));
    const table = element("table", { class: "scores" }, element("thead", {}, element("tr", {}, head)), element("tbody", {}, rows));
    const missing = others.length ? element("p", { class: "soft" }, `Not computed on this page: ${others.map(({ name }) => name).join(", ")}.`) : null;
    const editor = element("div", { class: "editor" }, fields, same.length ? element("div", { class: "scroll" }, table) : null, missing);
    texts.replaceWith(editor);
    button.replaceWith(element("button", { type: "button", class: "edit", onclick: (event) => {
      editor.replaceWith(texts);
      event.target.replaceWith(button);
      button.focus();
    } }, "As run"));
    show();
    fields[0].focus();
  } catch (error) {
    texts.after(element("p", { class: "filter-error", role: "alert" }, `The scores could not be computed (${error.message}); reload the page.`));
  } finally {
    button.disabled = false;
  }
}
