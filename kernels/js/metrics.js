// The metrics of `harness score`, and one function per metric of lists of texts.

import { cumulate } from "./caption_kernels.js";
import { mean, totals } from "./statistics.js";

const ORDERS = 4;
const STATISTICS = 23;
const BETA = 1.2;

/** Names, headings and signatures, in the order of the table; scores are in [0, largest]. */
export const METRICS = {
  bleu1: { title: "BLEU-1", signature: "bleu|n:1|tok:ptb", largest: 1 },
  bleu2: { title: "BLEU-2", signature: "bleu|n:2|tok:ptb", largest: 1 },
  bleu3: { title: "BLEU-3", signature: "bleu|n:3|tok:ptb", largest: 1 },
  bleu4: { title: "BLEU-4", signature: "bleu|n:4|tok:ptb", largest: 1 },
  meteor: { title: "METEOR 1.5", signature: "meteor|v1.5-en|tok:ptb", largest: 1 },
  rouge: { title: "ROUGE-L", signature: "rouge-l|beta:1.2|tok:ptb", largest: 1 },
  cider: { title: "CIDEr-D", signature: "cider-d|df:task|tok:ptb", largest: 10 },
};

const countGuesses = (length) => Array.from({ length: ORDERS }, (_, k) => Math.max(0, length - k));

/** The closest of the reference lengths, the shorter one on ties. */
const closestLength = (length, others) =>
  others.reduce((best, other) => {
    const gap = Math.abs(other - length) - Math.abs(best - length);
    return gap < 0 || (gap === 0 && other < best) ? other : best;
  });

function fMeasure(precision, recall) {
  const weight = BETA ** 2;
  return precision && recall ? ((1 + weight) * precision * recall) / (recall + weight * precision) : 0;
}

/** Statistics of METEOR as they enter a sum: without the chunk of two texts that match as a whole. */
function summable(row) {
  if (row[21] === row[0] && row[22] === row[1] && row[20] === 1) row[20] = 0;
  return row;
}

/** References of a task, indexed once; its systems are scored against them. */
export class Task {
  /** `references`: the texts of each example; `tokenizer` "none" takes tokenised texts. */
  constructor(kernels, references, { lexicon = null, tokenizer = "ptb" } = {}) {
    this.kernels = kernels;
    this.index = kernels.newIndex(tokenizer);
    const counts = references.map((texts) => texts.length);
    this.starts = cumulate(counts);
    this.rows = this.index.add(references.flat());
    this.gramRows = this.index.gramRows(this.rows);
    this.frequencies = this.index.documentFrequencies(this.gramRows, this.starts);
    this.idf = kernels.ciderIdf(this.frequencies, references.length);
    [this.unseen] = kernels.ciderIdf([0], references.length);
    this.setLexicon(lexicon);
  }

  /** Score METEOR too, with a lexicon. */
  setLexicon(lexicon) {
    this.meteor?.free();
    this.meteor = lexicon && this.kernels.newMeteor(lexicon);
  }

  free() {
    this.meteor?.free();
    this.index.free();
  }

  get size() {
    return this.starts.length - 1;
  }

  /** Results by metric of the candidates of each example, all of them or those of `examples` (numbers). */
  score(candidates, examples = candidates.map((_, k) => k)) {
    const bounds = cumulate(candidates.map((texts) => texts.length));
    const rows = this.index.add(candidates.flat());
    const gramRows = this.index.gramRows(rows);
    const groups = new Map(); // examples of equal sizes go through the library together
    examples.forEach((example, k) => {
      const key = `${candidates[k].length}+${this.starts[example + 1] - this.starts[example]}`;
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push({ k, example });
    });
    const names = Object.keys(METRICS).filter((name) => name !== "meteor" || this.meteor);
    const scores = Object.fromEntries(names.map((name) => [name, new Float64Array(examples.length)]));
    const counts = new Float64Array(10 * examples.length);
    const statistics = new Float64Array(STATISTICS * examples.length);
    for (const items of groups.values()) {
      const cut = (own, references) => ({
        hyp: items.flatMap(({ k }) => own.slice(bounds[k], bounds[k + 1])),
        ref: items.flatMap(({ example }) => references.slice(this.starts[example], this.starts[example + 1])),
        examples: items.length,
      });
      const [grams, words] = [cut(gramRows, this.gramRows), cut(rows, this.rows)];
      this.#scoreBleu(items, grams, scores, counts);
      this.#scoreRouge(items, words, scores.rouge);
      this.#scoreCider(items, grams, scores.cider);
      if (this.meteor) this.#scoreMeteor(items, words, scores.meteor, statistics);
    }
    return Object.fromEntries(names.map((name) => [name, this.#result(name, scores[name], { counts, statistics })]));
  }

  #result(name, scores, { counts, statistics }) {
    const { kernels } = this;
    const common = { name, scores, bounds: [0, METRICS[name].largest], ...METRICS[name] };
    if (name === "rouge" || name === "cider") {
      const addends = Float64Array.from({ length: 2 * scores.length }, (_, k) => (k % 2 ? 1 : scores[k / 2]));
      const ofSums = (sums) => Float64Array.from({ length: sums.length / 2 }, (_, k) => sums[2 * k] / sums[2 * k + 1]);
      return { ...common, addends, width: 2, ofSums, value: mean(scores), isShare: name === "rouge" };
    }
    if (name === "meteor") {
      const ofSums = (sums) => kernels.meteorScores(sums);
      return { ...common, addends: statistics, width: STATISTICS, ofSums, value: ofSums(totals(statistics, STATISTICS))[0] };
    }
    const ofSums = (sums) => bleuOfCounts(kernels, sums, Number(name[4]));
    return { ...common, addends: counts, width: 10, ofSums, value: ofSums(totals(counts, 10))[0] };
  }

  #scoreBleu(items, pairs, scores, counts) {
    const [n, m] = [pairs.hyp.length / items.length, pairs.ref.length / items.length];
    const matches = this.kernels.clip(this.index, pairs);
    const [lengths, others] = [this.index.lengths(pairs.hyp), this.index.lengths(pairs.ref)];
    const rows = new Float64Array(10 * lengths.length);
    lengths.forEach((length, place) => {
      const example = Math.floor(place / n);
      const closest = closestLength(length, others.slice(m * example, m * (example + 1)));
      rows.set([...matches.slice(ORDERS * place, ORDERS * (place + 1)), ...countGuesses(length), length, closest], 10 * place);
    });
    items.forEach(({ k }, place) => counts.set(totals(rows.subarray(10 * n * place, 10 * n * (place + 1)), 10), 10 * k));
    for (let order = 1; order <= ORDERS; order++) {
      const values = bleuOfCounts(this.kernels, rows, order);
      items.forEach(({ k }, place) => (scores[`bleu${order}`][k] = mean(values.subarray(n * place, n * (place + 1)))));
    }
  }

  #scoreRouge(items, pairs, scores) {
    const [n, m] = [pairs.hyp.length / items.length, pairs.ref.length / items.length];
    const common = this.kernels.lcs(this.index, pairs);
    const [lengths, others] = [this.index.lengths(pairs.hyp), this.index.lengths(pairs.ref)];
    const values = lengths.map((length, place) => {
      let [precision, recall] = [0, 0];
      for (let j = 0; j < m; j++) {
        precision = Math.max(precision, common[m * place + j] / length);
        recall = Math.max(recall, common[m * place + j] / others[m * Math.floor(place / n) + j]);
      }
      return fMeasure(precision, recall);
    });
    items.forEach(({ k }, place) => (scores[k] = mean(values.slice(n * place, n * (place + 1)))));
  }

  #scoreCider(items, pairs, scores) {
    const [n, m] = [pairs.hyp.length / items.length, pairs.ref.length / items.length];
    if (this.size === 1) {
      items.forEach(({ k }) => (scores[k] = NaN)); // all idf weights are 0
      return;
    }
    const values = this.kernels.cider(this.index, this.idf, this.unseen, pairs);
    items.forEach(({ k }, place) => {
      const means = Array.from({ length: n }, (_, i) => mean(values.subarray(m * (n * place + i), m * (n * place + i + 1))));
      scores[k] = mean(means);
    });
  }

  #scoreMeteor(items, pairs, scores, statistics) {
    const [n, m] = [pairs.hyp.length / items.length, pairs.ref.length / items.length];
    const ids = this.meteor.addRows(this.index, [...pairs.hyp, ...pairs.ref]);
    const aligned = this.meteor.align(items.map((_, place) => ({
      hyp: ids.slice(n * place, n * (place + 1)), ref: ids.slice(pairs.hyp.length + m * place, pairs.hyp.length + m * (place + 1)),
    })));
    items.forEach(({ k }, place) => {
      const best = Array.from({ length: n }, (_, i) => {
        const start = m * (n * place + i);
        const own = aligned.scores.subarray(start, start + m);
        const j = own.indexOf(Math.max(...own));
        const row = summable(aligned.statistics.slice(STATISTICS * (start + j), STATISTICS * (start + j + 1)));
        row.forEach((value, column) => (statistics[STATISTICS * k + column] += value));
        return own[j];
      });
      scores[k] = best.sort((a, b) => a - b).reduce((sum, value) => sum + value, 0) / n;
    });
  }
}

/** BLEU of rows of counts (R, 10): matches, guesses, length, closest reference length. */
function bleuOfCounts(kernels, rows, order) {
  const size = rows.length / 10;
  const cut = (start, width) => Float64Array.from({ length: size * width }, (_, k) => rows[10 * Math.floor(k / width) + start + (k % width)]);
  return kernels.bleu(cut(0, 4), cut(4, 4), cut(8, 1), cut(9, 1), order);
}

/** Work with a task of one candidate per example, then free it. */
function withTask(kernels, candidates, references, options, work) {
  const task = new Task(kernels, references, options);
  try {
    return work(task.score(candidates.map((text) => [text])), task);
  } finally {
    task.free();
  }
}

/** BLEU-1 to BLEU-4 of a corpus of tokenised texts. */
export function bleu(kernels, candidates, references) {
  const names = ["bleu1", "bleu2", "bleu3", "bleu4"];
  return withTask(kernels, candidates, references, { tokenizer: "none" }, (results) => names.map((name) => results[name].value));
}

/** ROUGE-L of each example of tokenised texts. */
export function rouge(kernels, candidates, references) {
  return withTask(kernels, candidates, references, { tokenizer: "none" }, (results) => [...results.rouge.scores]);
}

/** CIDEr-D of each example of tokenised texts, with the document frequencies of the references. */
export function ciderd(kernels, candidates, references) {
  return withTask(kernels, candidates, references, { tokenizer: "none" }, (results) => [...results.cider.scores]);
}

/** METEOR of each raw candidate with its best reference. */
export function meteor(kernels, candidates, references, lexicon) {
  const table = kernels.newMeteor(lexicon);
  try {
    return candidates.map((text, k) => {
      const [hyp, ...ref] = table.intern([text, ...references[k]]);
      return Math.max(...table.align([{ hyp: [hyp], ref }]).scores);
    });
  } finally {
    table.free();
  }
}
