// The page: files, table, examples, origin of the numbers.

import { load } from "./caption_kernels.js";
import { buildLexicon, isJar } from "./lexicon.js";
import { METRICS, Task } from "./metrics.js";
import { DRAWS, LARGE, SAMPLES, compareSystems, confidenceIntervals, holm } from "./statistics.js";
import { decodeBytes, FileError, isLexicon, joinFiles, labelOf, openStream, readBytes, readCaptions } from "./files.js";

const LEVEL = 0.05;
const PAGE = 20;
const ROLES = {
  references: "references", candidates: "candidates", lexicon: "METEOR's lexicon", jar: "METEOR's word lists", table: "METEOR's paraphrases",
};
const state = { files: [], kernels: null, task: null, lexicon: null, data: null, results: null, shown: PAGE };
const find = (selector) => document.querySelector(selector);

function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== false && value !== null) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null));
  return node;
}

/** Four significant digits, at least three decimals below 10, as the tables of the harness have them. */
function numberText(value) {
  if (value === null || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (size && (size < 1e-3 || size >= 1e6)) {
    const rounded = Number(value.toPrecision(3));
    return Math.abs(rounded) >= 1e-4 && size < 1 ? String(rounded) : rounded.toExponential().replace(/e([-+])(\d)$/, "e$10$2");
  }
  return value.toFixed(size < 10 ? 4 : 2);
}
const signedText = (value) => (value > 0 ? `+${numberText(value)}` : numberText(value));
const intervalText = (ends) => (ends ? `${numberText(ends[0])} … ${numberText(ends[1])}` : "–");

/** Let the browser draw before the next step. */
async function step(text) {
  find(".progress").textContent = text;
  await new Promise((resolve) => setTimeout(resolve, 20));
}

function showFault(text) {
  find(".fault").textContent = text;
  find(".fault").hidden = !text;
}

// ---------------------------------------------------------------------- files

async function addFiles(files) {
  showFault("");
  for (const file of files) {
    await step(`reading ${file.name} …`);
    try {
      const item = await openFile(file);
      state.files.push(item);
    } catch (error) {
      reportFault(error);
    }
  }
  await step("");
  drawFiles();
}

/** A dropped file with its role; captions as text, METEOR's data as bytes or as the file itself. */
async function openFile(file) {
  const common = { name: file.name, size: file.size };
  if (/paraphrase/i.test(file.name)) return { ...common, file, role: "table" };
  const bytes = await readBytes(file);
  if (isLexicon(bytes) || isJar(bytes)) return { ...common, bytes, role: isJar(bytes) ? "jar" : "lexicon" };
  const text = decodeBytes(bytes, file.name);
  return { ...common, text, role: guessRole({ name: file.name, text }) };
}

/** The first file with several captions of one example has the references; a file named like one too. */
function guessRole({ name, text }) {
  if (state.files.some((file) => file.role === "references")) return "candidates";
  if (/ref|annotation|captions_(val|train|test)|gold|truth/i.test(name)) return "references";
  try {
    return [...readCaptions(text, name, "references").values()].some((captions) => captions.length > 1) ? "references" : "candidates";
  } catch {
    return "candidates";
  }
}

function drawFiles() {
  const rows = state.files.map((file, k) => {
    const roles = file.text === undefined ? [file.role] : ["references", "candidates"];
    const select = element("select", { "aria-label": `${file.name} is read as`, onchange: (event) => setRole(k, event.target.value) },
      roles.map((role) => element("option", { value: role, selected: role === file.role }, ROLES[role])));
    const remove = element("button", { type: "button", "aria-label": `Remove ${file.name}`, onclick: () => removeFile(k) }, "Remove");
    return element("tr", {}, element("th", { scope: "row" }, file.name), element("td", {}, select),
      element("td", { class: "number" }, `${(file.size / 1e6).toFixed(2)} MB`), element("td", {}, remove));
  });
  find(".files tbody").replaceChildren(...rows);
  find(".files").hidden = !rows.length;
  const has = (role) => state.files.some((file) => file.role === role);
  find(".score").disabled = !(has("references") && has("candidates"));
}

function setRole(k, role) {
  if (role === "references") for (const file of state.files) if (file.role === "references") file.role = "candidates";
  state.files[k].role = role;
  drawFiles();
}

function removeFile(k) {
  state.files.splice(k, 1);
  drawFiles();
}

// ---------------------------------------------------------------------- scores

function reportFault(error) {
  showFault(error instanceof FileError ? error.message : `${error.name}: ${error.message}`);
  if (!(error instanceof FileError)) state.kernels = state.task = state.lexicon = null; // after a trap the module is loaded again
}

function uniqueLabels(names) {
  return names.map((name, k) => (names.indexOf(name) === k ? name : `${name} ${names.slice(0, k + 1).filter((other) => other === name).length}`));
}

async function score() {
  showFault("");
  find(".score").disabled = true;
  const started = performance.now();
  try {
    const [references] = state.files.filter((file) => file.role === "references");
    const candidates = state.files.filter((file) => file.role === "candidates");
    const labels = uniqueLabels(candidates.map((file) => labelOf(file.name)));
    await step("reading …");
    const systems = candidates.map((file, k) => ({ label: labels[k], captions: readCaptions(file.text, file.name, "candidates") }));
    state.data = { ...joinFiles(readCaptions(references.text, references.name, "references"), systems), labels };
    await openTask();
    const results = [];
    for (const [k, texts] of state.data.candidates.entries()) {
      await step(`scoring ${labels[k]} …`);
      results.push(state.task.score(texts));
    }
    await step(labels.length > 1 ? "intervals and comparisons …" : "intervals …");
    const flat = results.flatMap((system) => Object.values(system));
    const [ends, comparisons] = await Promise.all([confidenceIntervals(workers, flat), compareSystems(workers, results)]);
    flat.forEach((result, k) => (result.interval = ends[k]));
    state.results = { results, comparisons, names: Object.keys(results[0]) };
    adjust(comparisons);
    state.seconds = (performance.now() - started) / 1000;
    drawResults();
    await step(`done in ${state.seconds.toFixed(1)} s`);
  } catch (error) {
    reportFault(error);
    await step("");
  }
  drawFiles();
}

const moduleBytes = () => Uint8Array.from(atob(find("#module").textContent.trim()), (character) => character.charCodeAt(0));

/** The draws of intervals and of both tests, each in a worker of its own. */
const workers = {
  drawSums(...request) {
    const address = URL.createObjectURL(new Blob([find("#worker").textContent], { type: "text/javascript" }));
    const worker = new Worker(address);
    const answer = new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => (data.fault ? reject(new Error(data.fault)) : resolve(data));
      worker.onerror = (event) => reject(new Error(event.message ?? "a worker could not be started"));
    });
    worker.postMessage({ bytes: moduleBytes(), request });
    return answer.finally(() => {
      worker.terminate();
      URL.revokeObjectURL(address);
    });
  },
};

/** Bytes of METEOR's lexicon from the dropped files; null without them. */
async function readLexicon() {
  const [lexicon, jar, table] = ["lexicon", "jar", "table"].map((role) => state.files.find((file) => file.role === role));
  if (lexicon) return lexicon.bytes;
  if (!jar || !table) return null;
  await step("building METEOR's lexicon …");
  return buildLexicon(state.kernels, jar.bytes, await openStream(table.file));
}

async function openTask() {
  state.task?.free();
  state.task = null;
  if (!state.kernels) {
    state.kernels = await load(moduleBytes());
    state.lexicon = null;
  }
  const key = state.files.filter((file) => file.text === undefined).map((file) => file.name).join();
  if (state.lexicon?.key !== key) {
    state.lexicon?.handle?.free();
    state.lexicon = null;
    const bytes = await readLexicon();
    state.lexicon = { key, handle: bytes && state.kernels.openLexicon(bytes) };
  }
  await step("tokenising the references …");
  state.task = new Task(state.kernels, state.data.references, { lexicon: state.lexicon.handle });
}

/** Holm's p-values over the comparisons of a metric. */
function adjust(comparisons) {
  const names = new Set(comparisons.flatMap((rows) => Object.keys(rows)));
  for (const name of names) {
    const rows = comparisons.map((system) => system[name]).filter(Boolean);
    holm(rows.map((row) => row.p)).forEach((p, k) => (rows[k].pHolm = p));
  }
}

// ---------------------------------------------------------------------- table

function tableRows() {
  const { results, comparisons, names } = state.results;
  return names.flatMap((name) => results.map((system, k) => ({
    name, k, ...system[name], system: state.data.labels[k], row: k ? comparisons[k - 1][name] ?? null : null,
  })));
}

function drawResults() {
  const several = state.data.labels.length > 1;
  const heads = ["metric", "system", "value", "95 % interval", ...(several ? ["difference", "p", "p (Holm)"] : [])];
  const best = new Map(state.results.names.map((name) => [name, Math.max(...state.results.results.map((system) => system[name].value))]));
  const body = tableRows().map((item) => {
    const cells = [numberText(item.value), intervalText(item.interval)];
    if (several) cells.push(...comparisonCells(item.row));
    return element("tr", { class: item.k ? false : "first" },
      element("th", { scope: "row" }, item.k ? element("span", { class: "visually-hidden" }, item.title) : `${item.title} ↑`), element("td", {}, item.system),
      cells.map((text, column) => element("td", { class: `number${several && !column && item.value === best.get(item.name) ? " best" : ""}` }, text)));
  });
  const header = element("thead", {}, element("tr", {}, heads.map((text, k) => element("th", { scope: "col", class: k > 1 ? "number" : false }, text))));
  find(".numbers").replaceChildren(header, element("tbody", {}, body));
  const examples = state.data.ids.length;
  find(".summary").textContent = `${examples.toLocaleString("en")} example${examples === 1 ? "" : "s"}, ${sizeText()} captions (candidates + references)`;
  find(".notes").replaceChildren(...noteTexts(several).map((text) => element("p", {}, text)));
  drawOrigin();
  drawOrders();
  for (const name of ["results", "examples", "origin"]) find(`.${name}`).hidden = false;
}

function comparisonCells(row) {
  if (!row) return ["", "", ""];
  const tested = state.data.ids.length > 1;
  return [signedText(row.difference), tested ? numberText(row.p) : "–", tested ? numberText(row.pHolm) + (row.pHolm <= LEVEL ? "*" : "") : "–"];
}

function sizeText() {
  const range = (lists) => {
    const sizes = lists.map((texts) => texts.length);
    const [low, high] = sizes.reduce(([least, most], size) => [Math.min(least, size), Math.max(most, size)], [Infinity, 0]);
    return low === high ? `${low}` : `${low}-${high}`;
  };
  return `${range(state.data.candidates.flat())} + ${range(state.data.references)}`;
}

function noteTexts(several) {
  const examples = state.data.ids.length;
  const notes = [];
  if (several) {
    const adjusted = state.data.labels.length > 2 ? `; p (Holm): adjusted for the ${state.data.labels.length - 1} comparisons of a metric` : "";
    notes.push(`difference: to ${state.data.labels[0]}; p: approximate randomisation of the reported number, ${DRAWS} draws${adjusted}`);
    notes.push(`*: p (Holm) of at most ${LEVEL}`);
  }
  notes.push("Values and scores of examples have the bits of harness score. " + (examples < LARGE
    ? "Intervals and p come from the same random draws (seed 0): p is equal, intervals up to the last digits."
    : "From 20,000 examples on harness score draws other weights for the intervals of values: they are equal within Monte Carlo error. p is equal."));
  if (examples < 10) notes.push("No intervals: this page prints them from 10 examples on.");
  if (several) notes.push("Shaded: the largest value of a metric.");
  if (!state.lexicon.handle) notes.push("METEOR is left out: its data were not dropped.");
  return notes;
}

function drawOrigin() {
  const metrics = state.results.names.map((name) => `${METRICS[name].title}: ${METRICS[name].signature}`);
  const names = state.files.filter((file) => file.role === "candidates").map((file) => file.name);
  const references = state.files.find((file) => file.role === "references").name;
  const entries = {
    signatures: metrics.map((text) => element("div", {}, element("code", {}, text))),
    "the same numbers": element("code", {}, `harness score ${names.join(" ")} --references ${references} -m ${state.results.names.join(",")}`),
    intervals: `bootstrap over examples, ${SAMPLES} samples, seed 0`,
    software: "{{version}}",
    time: `${state.seconds.toFixed(1)} s in this browser`,
  };
  find(".origin dl").replaceChildren(...Object.entries(entries).flatMap(([name, content]) => [element("dt", { class: "soft" }, name), element("dd", {}, content)]));
}

function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  element("a", { download: name, href: address }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

function saveCsv() {
  const quote = (value) => (/[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : value);
  const heads = ["metric", "system", "value", "ci_low", "ci_high", "baseline", "difference", "difference_ci_low", "difference_ci_high", "p_value", "p_holm", "signature"];
  const rows = tableRows().map(({ name, system, value, interval, row, signature }) => [
    name, system, value, interval?.[0] ?? "", interval?.[1] ?? "", row ? state.data.labels[0] : "", row?.difference ?? "", row?.interval?.[0] ?? "",
    row?.interval?.[1] ?? "", row?.p ?? "", row?.pHolm ?? "", signature,
  ]);
  save("scores.csv", "text/csv", [heads, ...rows].map((row) => row.map(quote).join(",")).join("\n") + "\n");
}

/** All numbers in full, for programs. */
function allNumbers() {
  return {
    examples: state.data.ids,
    results: tableRows().map(({ name, system, value, interval, signature, scores, row }) => ({
      metric: name, system, value, ci95: interval, signature, scores: [...scores],
      comparison: row && { baseline: state.data.labels[0], difference: row.difference, ci95: row.interval, p_value: row.p, p_holm: row.pHolm, draws: row.draws, exact: row.exact },
    })),
  };
}

// ---------------------------------------------------------------------- examples

function drawOrders() {
  const options = [["", "the order of the references"]];
  for (const name of state.results.names) {
    options.push([`${name}|low`, `${METRICS[name].title} of ${state.data.labels[0]}, lowest first`]);
    if (state.data.labels.length > 1) options.push([`${name}|gap`, `${METRICS[name].title}: largest difference between ${state.data.labels[0]} and ${state.data.labels[1]}`]);
  }
  find(".order").replaceChildren(...options.map(([value, text]) => element("option", { value }, text)));
  state.shown = PAGE;
  drawExamples();
}

function orderedExamples() {
  const [name, kind] = find(".order").value.split("|");
  const terms = find(".search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const { ids, references, candidates } = state.data;
  const texts = (k) => [ids[k], ...references[k], ...candidates.flatMap((system) => system[k])].join("\n").toLowerCase();
  const found = ids.map((_, k) => k).filter((k) => !terms.length || terms.every((term) => texts(k).includes(term)));
  if (!name) return found;
  const [first, second] = state.results.results.map((system) => system[name].scores);
  const key = (k) => (kind === "low" ? first[k] : -Math.abs(first[k] - second[k]));
  return found.sort((a, b) => key(a) - key(b) || a - b);
}

function drawExamples() {
  const order = orderedExamples();
  find(".shown").textContent = `${order.length.toLocaleString("en")} of ${state.data.ids.length.toLocaleString("en")}`;
  find(".list").replaceChildren(...order.slice(0, state.shown).map(drawExample));
  find(".more").hidden = order.length <= state.shown;
}

function drawExample(k) {
  const { ids, references, candidates, labels } = state.data;
  const { results, names } = state.results;
  const head = element("tr", {}, ["system", "candidates (edit one to see its scores)", ...names.map((name) => METRICS[name].title)].map((text, column) =>
    element("th", { scope: "col", class: column > 1 ? "number" : false }, text)));
  const rows = candidates.map((system, s) => {
    const cells = names.map((name) => element("td", { class: "number" }, numberText(results[s][name].scores[k])));
    const boxes = system[k].map((text, c) => element("textarea", { rows: 1, dir: "auto", "aria-label": `Candidate ${c + 1} of ${labels[s]} for ${ids[k]}` }, text));
    for (const box of boxes) box.addEventListener("input", () => scoreEdited(k, s, boxes, cells));
    return element("tr", {}, element("th", { scope: "row" }, labels[s]), element("td", {}, boxes), cells);
  });
  return element("article", { class: "example", "aria-label": `Example ${ids[k]}` }, element("h3", {}, ids[k]),
    element("ul", { class: "texts" }, references[k].map((text) => element("li", { dir: "auto" }, text))),
    element("div", { class: "scroll" }, element("table", {}, element("thead", {}, head), element("tbody", {}, rows))));
}

/** Scores of one example with edited candidates; the table above stays. */
function scoreEdited(k, system, boxes, cells) {
  const texts = boxes.map((box) => box.value);
  const changed = texts.some((text, c) => text !== state.data.candidates[system][k][c]);
  const scored = state.task.score([texts], [k]);
  state.results.names.forEach((name, column) => {
    cells[column].textContent = numberText(scored[name].scores[0]);
    cells[column].classList.toggle("changed", changed);
  });
}

// ---------------------------------------------------------------------- events

const drop = find(".drop");
for (const name of ["dragenter", "dragover"]) {
  document.addEventListener(name, (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
}
for (const name of ["dragleave", "drop"]) document.addEventListener(name, () => drop.classList.remove("over"));
document.addEventListener("drop", (event) => {
  event.preventDefault();
  addFiles(event.dataTransfer.files);
});
find("#files").addEventListener("change", async (event) => {
  const files = [...event.target.files];
  event.target.value = "";
  await addFiles(files);
});
find(".score").addEventListener("click", score);
find(".save-csv").addEventListener("click", saveCsv);
find(".save-json").addEventListener("click", () => save("scores.json", "application/json", JSON.stringify(allNumbers())));
find(".order").addEventListener("change", () => {
  state.shown = PAGE;
  drawExamples();
});
find(".search").addEventListener("input", () => {
  state.shown = PAGE;
  drawExamples();
});
find(".more").addEventListener("click", () => {
  state.shown += PAGE;
  drawExamples();
});
globalThis.scorePage = { allNumbers };
