// Every number of every test vector, computed by the WebAssembly module. Runs in node and, inside a page, in a browser.

import { buildLexicon } from "../../../kernels/js/lexicon.js";

const BETA = 1.2;
const ORDERS = 4;

/** Bits of a number, so that -0 and 0 differ and NaN equals NaN. */
function bits(value) {
  return typeof value === "number" ? new BigUint64Array(Float64Array.of(value).buffer)[0].toString(16) : value;
}

function sameBits(one, other) {
  if (Array.isArray(one) || Array.isArray(other)) {
    return Array.isArray(one) && Array.isArray(other) && one.length === other.length && one.every((item, k) => sameBits(item, other[k]));
  }
  if (one && other && typeof one === "object" && typeof other === "object") {
    const names = Object.keys(other);
    return Object.keys(one).length === names.length && names.every((name) => sameBits(one[name], other[name]));
  }
  return bits(one) === bits(other);
}

const sum = (values) => values.reduce((total, value) => total + value, 0);
const range = (size) => Array.from({ length: size }, (_, k) => k);

/** Numbers of a hexadecimal floating-point literal. */
function parseHex(text) {
  if (text === "inf" || text === "-inf") return text === "inf" ? Infinity : -Infinity;
  if (text === "nan") return NaN;
  const [, sign, whole, fraction = "", exponent] = /^(-?)0x(\d)\.?([0-9a-f]*)p([+-]\d+)$/.exec(text);
  const digits = Number(BigInt(`0x${whole}${fraction}`));
  let power = Number(exponent) - 4 * fraction.length;
  let value = digits;
  for (; power < -1000; power += 500) value *= 2 ** -500; // exact while the number is normal; a subnormal has few digits
  return (sign ? -1 : 1) * value * 2 ** power;
}

function rowsOf(index, item, grams) {
  const counts = item.references.map((texts) => texts.length);
  let references = index.add(item.references.flat());
  let candidates = index.add(item.candidates);
  if (item.tokens && grams) {
    const { end, keep_end: keepEnd } = item.tokens;
    references = index.addTokens(item.tokens.references.flat(), end, keepEnd);
    candidates = index.addTokens(item.tokens.candidates, end, keepEnd);
  }
  if (grams) [references, candidates] = [index.gramRows(references), index.gramRows(candidates)];
  let start = 0;
  return { candidates, references: counts.map((count) => references.slice(start, (start += count))) };
}

const bleuScores = (kernels, matches, guesses, length, closest) =>
  range(ORDERS).map((k) => kernels.bleu(matches, guesses, [length], [closest], k + 1)[0]);

const COMPUTE = {
  ptb: (kernels, item) => ({ tokens: kernels.tokensRaw([item.text])[0], result: kernels.tokenize([item.text])[0] }),
  stem: (kernels, item) => ({ result: kernels.stem([item.word])[0] }),
  math(kernels, item) {
    const x = [parseHex(item.x[1])];
    const value = item.function === "pow" ? kernels.pow(x, parseHex(item.y[1]))[0] : kernels[item.function](x)[0];
    return { result: value };
  },
  bleu(kernels, item) {
    const index = kernels.newIndex("none");
    const { candidates, references } = rowsOf(index, item, true);
    const sums = new Array(10).fill(0);
    const examples = candidates.map((candidate, k) => {
      const pairs = { hyp: [candidate], ref: references[k], examples: 1 };
      const matches = kernels.clip(index, pairs);
      const each = kernels.clip(index, pairs, true);
      const [length] = index.lengths([candidate]);
      const lengths = index.lengths(references[k]);
      const guesses = range(ORDERS).map((order) => Math.max(0, length - order));
      const closest = [...lengths].sort((a, b) => Math.abs(a - length) - Math.abs(b - length) || a - b)[0];
      [...matches, ...guesses, length, closest].forEach((value, place) => (sums[place] += value));
      return {
        length, reference_lengths: lengths, closest, counts: index.entries(candidate).map((entry) => entry.counts), guesses, matches,
        pair_matches: lengths.map((_, j) => each.slice(ORDERS * j, ORDERS * (j + 1))),
        bleu: bleuScores(kernels, matches, guesses, length, closest),
      };
    });
    index.free();
    const whole = { matches: sums.slice(0, 4), guesses: sums.slice(4, 8), length: sums[8], closest: sums[9] };
    return { examples, sums: whole, result: bleuScores(kernels, whole.matches, whole.guesses, sums[8], sums[9]) };
  },
  rouge(kernels, item) {
    const index = kernels.newIndex("none");
    const { candidates, references } = rowsOf(index, item, false);
    const examples = candidates.map((candidate, k) => {
      const [length] = index.lengths([candidate]);
      const lengths = index.lengths(references[k]);
      const lcs = kernels.lcs(index, { hyp: [candidate], ref: references[k], examples: 1 });
      const precision = Math.max(...lcs.map((value) => value / length));
      const recall = Math.max(...lcs.map((value, j) => value / lengths[j]));
      const weight = BETA * BETA;
      const rouge = precision && recall ? ((1 + weight) * precision * recall) / (recall + weight * precision) : 0;
      return { length, reference_lengths: lengths, lcs, precision, recall, rouge };
    });
    index.free();
    return { examples, result: examples.map((example) => example.rouge) };
  },
  cider(kernels, item) {
    const index = kernels.newIndex("none");
    const { candidates, references } = rowsOf(index, item, true);
    const documents = references.length;
    const starts = [0];
    for (const rows of references) starts.push(starts[starts.length - 1] + rows.length);
    const frequencies = index.documentFrequencies(references.flat(), starts);
    const idf = kernels.ciderIdf(frequencies, documents);
    const [unseen] = kernels.ciderIdf([0], documents);
    const numbers = new Map();
    for (const row of [...references.flat(), ...candidates]) if (!numbers.has(row)) numbers.set(row, numbers.size);
    const texts = [...numbers.keys()].map((row) => {
      const entries = index.entries(row);
      const weights = entries.map(({ grams, counts }) => grams.map((gram, k) => counts[k] * idf[gram]));
      return {
        length: index.lengths([row])[0], grams: entries.map(({ grams }) => grams), counts: entries.map(({ counts }) => counts), weights,
        norms: weights.map((values) => Math.sqrt(sum(values.map((value) => value * value)))),
      };
    });
    const result = { cider: [], ciderd: [], ciderr: [] };
    const examples = candidates.map((candidate, k) => {
      const pairs = references[k].map((reference) =>
        ciderPair(kernels, index, idf, unseen, [candidate, reference], texts[numbers.get(candidate)], texts[numbers.get(reference)]));
      for (const [name, scores] of Object.entries(result)) scores.push(sum(pairs.map((pair) => pair[name])) / pairs.length);
      return { candidate: numbers.get(candidate), references: references[k].map((row) => numbers.get(row)), pairs };
    });
    const grams = index.gramTexts().map((gram, k) => [gram, frequencies[k], idf[k]]);
    index.free();
    return { documents, grams, texts, examples, result };
  },
  meteor(kernels, item, file) {
    const lexicon = kernels.openLexicon(file.built[item.lexicon]);
    const texts = kernels.newMeteor(lexicon);
    const total = new Array(23).fill(0);
    const examples = item.candidates.map((candidate, k) => {
      const all = [candidate, ...item.references[k]];
      const words = lexicon.normalise(all);
      const [hyp, ...ref] = texts.intern(all);
      const { scores, statistics } = texts.align([{ hyp: [hyp], ref }]);
      const rows = [...scores].map((_, j) => [...statistics.slice(23 * j, 23 * (j + 1))]);
      const best = scores.indexOf(Math.max(...scores));
      summable(rows[best]).forEach((value, place) => (total[place] += value));
      return { words: words[0], reference_words: words.slice(1), stems: kernels.stem(words[0]), statistics: rows, scores: [...scores], best };
    });
    texts.free();
    lexicon.free();
    const result = examples.map((example) => example.scores[example.best]);
    return { examples, sums: total, corpus: kernels.meteorScores(total)[0], result };
  },
};

/** Statistics as they enter a sum: without the chunk of two texts that match as a whole. */
function summable(row) {
  const complete = row[21] === row[0] && row[22] === row[1] && row[20] === 1;
  return row.map((value, k) => (k === 20 && complete ? 0 : value));
}

function ciderPair(kernels, index, idf, unseen, [h, r], hyp, ref) {
  const pair = { hyp: [h], ref: [r], examples: 1 };
  const gap = Math.abs(Math.max(0, hyp.length - 1) - Math.max(0, ref.length - 1));
  const lengths = [hyp, ref].map((text) => Math.max(1, text.length));
  const relative = (lengths[0] - lengths[1]) / lengths[1];
  const repetition = kernels.ciderRepetition(index, pair)[0];
  const penalties = {
    length_penalty: kernels.pow([Math.E], -(gap * gap) / (2 * (6.0 * 6.0)))[0],
    relative_length_penalty: kernels.pow(kernels.exp([-(relative * relative)]), 0.2)[0],
    repetition,
    repetition_penalty: kernels.pow([repetition], 0.8)[0],
  };
  const [cosines, clipped] = [false, true].map((clip) => range(ORDERS).map((order) => cosine(hyp, ref, order, clip)));
  const withoutLength = kernels.cider(index, idf, unseen, pair, true, Infinity)[0];
  return {
    cosines, clipped, ...penalties, cider: kernels.cider(index, idf, unseen, pair, false)[0], ciderd: kernels.cider(index, idf, unseen, pair)[0],
    ciderr: withoutLength * penalties.relative_length_penalty * penalties.repetition_penalty,
  };
}

function cosine(hyp, ref, order, clip) {
  const weights = new Map(ref.grams[order].map((gram, k) => [gram, ref.weights[order][k]]));
  let product = 0;
  hyp.grams[order].forEach((gram, k) => {
    const there = weights.get(gram) ?? 0;
    product += (clip ? Math.min(hyp.weights[order][k], there) : hyp.weights[order][k]) * there;
  });
  const scale = hyp.norms[order] * ref.norms[order];
  return scale ? product / scale : product;
}

/** Bytes of a lexicon of the vectors. */
function lexiconOf(kernels, { function_words: functions, prefixes, exceptions, synsets, paraphrases }) {
  const table = new Blob([paraphrases.map(([phrase, paraphrase]) => `1\n${phrase}\n${paraphrase}\n`).join("")]).stream();
  return buildLexicon(kernels, [functions, prefixes, exceptions, synsets], table);
}

/** Compare all cases of files (name -> content): the number of cases, of compared values, and the fields that differ. */
export async function compareVectors(kernels, files) {
  const report = {};
  for (const [name, file] of Object.entries(files)) {
    file.built = {};
    for (const [key, contents] of Object.entries(file.lexicons ?? {})) file.built[key] = await lexiconOf(kernels, contents);
    const entry = (report[name] = { cases: file.cases.length, values: 0, differing: [] });
    for (const [number, item] of file.cases.entries()) {
      const computed = COMPUTE[name](kernels, item, file);
      for (const [field, value] of Object.entries(computed)) {
        const expected = name === "math" ? parseHex(item.result[1]) : item[field];
        entry.values += countValues(value);
        if (!sameBits(value, expected)) entry.differing.push(`${name} ${number} (${item.kind}): ${field}`);
      }
      const inputs = new Set(file.inputs);
      const missing = Object.keys(item).filter((field) => !inputs.has(field) && !(field in computed));
      if (missing.length) entry.differing.push(`${name} ${number}: not computed: ${missing}`);
    }
  }
  return report;
}

function countValues(value) {
  if (value === null || typeof value !== "object") return 1;
  return sum(Object.values(value).map(countValues));
}
