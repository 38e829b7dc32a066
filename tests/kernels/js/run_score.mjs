// node run_score.mjs MODULE [LEXICON]: reads {references, systems} (lists of texts) from stdin; prints values, scores, intervals and
// comparisons with the first system as JSON.
import { readFileSync } from "node:fs";
import { load } from "../../../kernels/js/caption_kernels.js";
import { Task } from "../../../kernels/js/metrics.js";
import { compareSystems, confidenceIntervals } from "../../../kernels/js/statistics.js";

const [wasm, lexicon] = process.argv.slice(2);
const kernels = await load(readFileSync(wasm));
const { references, systems } = JSON.parse(readFileSync(0, "utf8"));
const task = new Task(kernels, references, { lexicon: lexicon && kernels.openLexicon(readFileSync(lexicon)) });
const times = { start: performance.now() };
const results = systems.map((candidates) => task.score(candidates));
times.scored = performance.now();
const intervals = confidenceIntervals(kernels, results.flatMap((system) => Object.values(system)));
const numbers = results.map((system) =>
  Object.fromEntries(Object.entries(system).map(([name, { value, scores }]) => [name, { value, scores: [...scores], ci95: intervals.shift() }])));
times.intervals = performance.now();
const comparisons = compareSystems(kernels, results);
times.compared = performance.now();
process.stdout.write(JSON.stringify({ systems: numbers, comparisons, times }));
