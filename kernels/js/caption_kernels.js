// The text metrics of image captioning in WebAssembly, in the digits of the Python package caption-kernels.
//
// Arrays are flat: `hyp` has the rows of n hypotheses of each example, one example behind another, `ref` those of m references.

const ORDERS = 4;
const STATISTICS = 23;
const REASONS = [
  "", "not enough memory", "a row or id lies outside its table", "an argument is out of its range",
  "the data are damaged or of another version", "more than 2147483647 words, n-grams or matches",
];
const HIGH = 4294967296;
const SURROGATE = /[\ud800-\udfff]/u;

/** UTF-8 of a text, three bytes for an unpaired surrogate. */
function encodeText(text) {
  if (!SURROGATE.test(text)) return new TextEncoder().encode(text);
  const bytes = [];
  for (const character of text) {
    const code = character.codePointAt(0);
    if (code >= 0xd800 && code <= 0xdfff) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    else bytes.push(...new TextEncoder().encode(character));
  }
  return Uint8Array.from(bytes);
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function decodeText(bytes) {
  const text = decoder.decode(bytes);
  if (!text.includes("\ufffd")) return text;
  let out = "";
  let start = 0;
  for (let k = 0; k + 2 < bytes.length; k++) {
    if (bytes[k] !== 0xed || bytes[k + 1] < 0xa0) continue;
    out += decoder.decode(bytes.subarray(start, k)) + String.fromCharCode(0xd000 | ((bytes[k + 1] & 63) << 6) | (bytes[k + 2] & 63));
    start = k + 3;
    k += 2;
  }
  return out + decoder.decode(bytes.subarray(start));
}

/** Memory of one call: everything that it allocates is freed at its end. */
class Call {
  constructor(exports) {
    this.exports = exports;
    this.blocks = [];
  }
  allocate(size) {
    const address = this.exports.malloc(Math.max(8, size)) >>> 0;
    if (!address) throw new Error(REASONS[1]);
    this.blocks.push(address);
    return address;
  }
  copy(array) {
    const address = this.allocate(array.byteLength);
    new array.constructor(this.exports.memory.buffer, address, array.length).set(array);
    return address;
  }
  doubles(values) {
    return this.copy(values instanceof Float64Array ? values : Float64Array.from(values));
  }
  integers(values) {
    const words = new Int32Array(2 * values.length);
    for (let k = 0; k < values.length; k++) {
      words[2 * k] = values[k] % HIGH;
      words[2 * k + 1] = Math.floor(values[k] / HIGH);
    }
    return this.copy(words);
  }
  small(values) {
    return this.copy(Int32Array.from(values));
  }
  readIntegers(address, size) {
    const words = new Int32Array(this.exports.memory.buffer, address, 2 * size);
    return Array.from({ length: size }, (_, k) => (words[2 * k] >>> 0) + words[2 * k + 1] * HIGH);
  }
  readDoubles(address, size) {
    return new Float64Array(this.exports.memory.buffer, address, size).slice();
  }
  pointer(address) {
    return new Uint32Array(this.exports.memory.buffer, address, 1)[0];
  }
  /** A struct: numbers are pointers (4 bytes), bigints 64-bit integers, {double} floating-point numbers; fields are aligned. */
  struct(...fields) {
    const address = this.allocate(8 * fields.length);
    const view = new DataView(this.exports.memory.buffer, address);
    let at = 0;
    for (const field of fields) {
      if (typeof field === "number") {
        view.setUint32(at, field, true);
        at += 4;
        continue;
      }
      at = (at + 7) & ~7;
      if (typeof field === "bigint") view.setBigInt64(at, field, true);
      else view.setFloat64(at, field.double, true);
      at += 8;
    }
    return address;
  }
  texts(texts) {
    const all = texts.map(encodeText);
    const bytes = this.allocate(all.reduce((sum, text) => sum + text.length, 0));
    const table = this.allocate(16 * all.length);
    const memory = new Uint8Array(this.exports.memory.buffer);
    const view = new DataView(this.exports.memory.buffer, table);
    let at = bytes;
    all.forEach((text, k) => {
      memory.set(text, at);
      view.setUint32(16 * k, at, true);
      view.setBigInt64(16 * k + 8, BigInt(text.length), true);
      at += text.length;
    });
    return table;
  }
  check(status, what) {
    if (status) throw new Error(`${what}: ${REASONS[status]}`);
  }
  readStrings(slot) {
    const strings = this.pointer(slot);
    const view = this.allocate(16);
    this.exports.ck_strings_read(view, strings);
    const fields = new Uint32Array(this.exports.memory.buffer, view, 4);
    const [bytes, ends, size] = [fields[0], fields[1], fields[2]];
    const memory = new Uint8Array(this.exports.memory.buffer);
    let start = 0;
    const out = this.readIntegers(ends, size).map((end) => {
      const text = decodeText(memory.subarray(bytes + start, bytes + end));
      start = end;
      return text;
    });
    this.exports.ck_strings_free(strings);
    return out;
  }
}

/** Handle of the library: `free` ends it. */
class Handle {
  constructor(kernels, name, create) {
    this.kernels = kernels;
    this.name = name;
    this.address = kernels.call((call) => {
      const slot = call.allocate(4);
      call.check(create(call, slot), name);
      return call.pointer(slot);
    });
  }
  free() {
    if (this.address) this.kernels.exports[`ck_${this.name}_free`](this.address);
    this.address = 0;
  }
}

/** Texts as rows of words and n-grams. */
export class TextIndex extends Handle {
  constructor(kernels, tokenizer = "ptb") {
    super(kernels, "index", (_, slot) => kernels.exports.ck_index_new(tokenizer === "ptb" ? 1 : 0, slot));
  }
  /** Fill `size` integers by `work(call, address)`. */
  integers(size, work) {
    return this.kernels.call((call) => {
      const out = call.allocate(8 * size);
      call.check(work(call, out), "index");
      return call.readIntegers(out, size);
    });
  }
  add(texts) {
    return this.integers(texts.length, (c, out) => this.kernels.exports.ck_index_add(this.address, c.texts(texts), BigInt(texts.length), out));
  }
  addTokens(sequences, end = -1, keepEnd = false) {
    const starts = [0];
    for (const sequence of sequences) starts.push(starts[starts.length - 1] + sequence.length);
    return this.integers(sequences.length, (c, out) =>
      this.kernels.exports.ck_index_add_tokens(
        this.address, c.integers(sequences.flat()), c.integers(starts), BigInt(sequences.length), BigInt(end), keepEnd ? 1 : 0, out));
  }
  gramRows(rows) {
    return this.integers(rows.length, (c, out) => this.kernels.exports.ck_index_gram_rows(this.address, c.integers(rows), BigInt(rows.length), out));
  }
  lengths(rows) {
    return this.integers(rows.length, (c, out) => this.kernels.exports.ck_index_lengths(this.address, c.integers(rows), BigInt(rows.length), out));
  }
  texts(rows) {
    return this.kernels.strings("index", (c, slot) => this.kernels.exports.ck_index_texts(this.address, c.integers(rows), BigInt(rows.length), slot));
  }
  gramTexts() {
    return this.kernels.strings("index", (_, slot) => this.kernels.exports.ck_index_grams(this.address, slot));
  }
  /** Ids and counts of the n-grams of a counted row, by order. */
  entries(row) {
    return this.kernels.call((call) => {
      const ends = call.allocate(8 * ORDERS);
      const at = BigInt(row);
      call.check(this.kernels.exports.ck_index_entries(this.address, at, ends, 0, 0), "index");
      const bounds = call.readIntegers(ends, ORDERS);
      const [grams, counts] = [call.allocate(8 * bounds[3]), call.allocate(8 * bounds[3])];
      call.check(this.kernels.exports.ck_index_entries(this.address, at, ends, grams, counts), "index");
      const [ids, numbers] = [call.readIntegers(grams, bounds[3]), call.readIntegers(counts, bounds[3])];
      return bounds.map((end, k) => ({ grams: ids.slice(k ? bounds[k - 1] : 0, end), counts: numbers.slice(k ? bounds[k - 1] : 0, end) }));
    });
  }
  /** Number of documents that contain each n-gram of the index; document d has the gram rows rows[starts[d]] to rows[starts[d + 1]]. */
  documentFrequencies(rows, starts) {
    const size = this.gramTexts().length;
    return this.integers(size, (c, out) =>
      this.kernels.exports.ck_document_frequencies(this.address, c.integers(rows), c.integers(starts), BigInt(starts.length - 1), out, BigInt(size)));
  }
}

/** METEOR's lexicon: the bytes of a file of the Python package. */
export class Lexicon extends Handle {
  constructor(kernels, bytes) {
    const data = kernels.exports.malloc(bytes.length) >>> 0;
    if (!data) throw new Error(REASONS[1]);
    new Uint8Array(kernels.exports.memory.buffer, data, bytes.length).set(bytes);
    super(kernels, "lexicon", (_, slot) => kernels.exports.ck_lexicon_open(data, BigInt(bytes.length), slot));
    this.data = data;
  }
  free() {
    super.free();
    this.kernels.exports.free(this.data);
  }
  /** Words of each text by METEOR's rules. */
  normalise(texts) {
    const lines = this.kernels.strings("METEOR", (c, slot) =>
      this.kernels.exports.ck_normalise(this.address, c.texts(texts), BigInt(texts.length), slot));
    return lines.map((line) => (line ? line.split(" ") : []));
  }
}

/** Texts prepared for METEOR's alignment. */
export class MeteorTexts extends Handle {
  constructor(kernels, lexicon) {
    super(kernels, "meteor", (_, slot) => kernels.exports.ck_meteor_new(lexicon.address, slot));
  }
  intern(texts) {
    return this.kernels.call((call) => {
      const out = call.allocate(8 * texts.length);
      call.check(this.kernels.exports.ck_meteor_intern(this.address, call.texts(texts), BigInt(texts.length), out), "METEOR");
      return call.readIntegers(out, texts.length);
    });
  }
  /** Ids of rows of an index, which must live as long. */
  addRows(index, rows) {
    return this.kernels.call((call) => {
      const out = call.allocate(8 * rows.length);
      const status = this.kernels.exports.ck_meteor_add_rows(this.address, index.address, call.integers(rows), BigInt(rows.length), out);
      call.check(status, "METEOR");
      return call.readIntegers(out, rows.length);
    });
  }
  /** Scores and statistics (23 each) of all pairs of a hypothesis and a reference of each example: texts are ids. */
  align(examples) {
    const sizes = examples.map(({ hyp, ref }) => hyp.length * ref.length);
    const pairs = sizes.reduce((sum, size) => sum + size, 0);
    return this.kernels.call((call) => {
      const texts = examples.flatMap(({ hyp, ref }) => [...hyp, ...ref]);
      const hyps = examples.flatMap(({ hyp, ref }) => hyp.flatMap((_, i) => ref.map(() => i)));
      const refs = examples.flatMap(({ hyp, ref }) => hyp.flatMap(() => ref.map((_, j) => hyp.length + j)));
      const group = call.struct(
        BigInt(examples.length), BigInt(texts.length), BigInt(pairs), call.integers(cumulate(examples.map(({ hyp, ref }) => hyp.length + ref.length))),
        call.integers(texts), call.integers(cumulate(sizes)), call.small(hyps), call.small(refs), call.integers(hyps.map((_, k) => k)));
      const [scores, statistics, excess] = [call.allocate(8 * pairs), call.allocate(4 * STATISTICS * pairs), call.allocate(8)];
      const status = this.kernels.exports.ck_meteor_align(
        this.address, group, 0n, BigInt(examples.length), scores, statistics, BigInt(pairs), excess);
      call.check(status, "METEOR");
      if (call.readIntegers(excess, 1)[0] >= 0) throw new Error("METEOR: two texts have more than 4194304 matches");
      return {
        scores: call.readDoubles(scores, pairs),
        statistics: Float64Array.from(new Int32Array(this.kernels.exports.memory.buffer, statistics, STATISTICS * pairs)),
      };
    });
  }
}

/** 0 and the sums of the first numbers. */
export function cumulate(counts) {
  const ends = [0];
  for (const count of counts) ends.push(ends[ends.length - 1] + count);
  return ends;
}

/** The library in one instance of the module. */
export class Kernels {
  constructor(instance) {
    this.exports = instance.exports;
    this.exports._initialize();
    this.tokenizer = 0;
  }

  newIndex(tokenizer = "ptb") {
    return new TextIndex(this, tokenizer);
  }
  openLexicon(bytes) {
    return new Lexicon(this, bytes);
  }
  newMeteor(lexicon) {
    return new MeteorTexts(this, lexicon);
  }

  /** A handle that `create(call, slot)` makes and ck_NAME_free ends. */
  newHandle(name, create) {
    return new Handle(this, name, create);
  }

  /** Run `work(call)` and free what it allocated. */
  call(work) {
    const call = new Call(this.exports);
    try {
      return work(call);
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError) throw new Error(`caption-kernels stopped (${error.message}): load the module again`);
      throw error;
    } finally {
      for (const block of call.blocks) this.exports.free(block);
    }
  }
  /** The strings that `work(call, slot)` makes. */
  strings(what, work) {
    return this.call((call) => {
      const slot = call.allocate(4);
      call.check(work(call, slot), what);
      return call.readStrings(slot);
    });
  }
  /** `size` doubles filled by `work(call, address)`, which returns a status or nothing. */
  doubles(what, size, work) {
    return this.call((call) => {
      const out = call.allocate(8 * size);
      call.check(work(call, out), what);
      return call.readDoubles(out, size);
    });
  }

  #tokenized(texts, punctuation) {
    this.tokenizer ||= this.newHandle("tokenizer", (_, slot) => this.exports.ck_tokenizer_new(slot)).address;
    return this.strings("tokeniser", (c, slot) => this.exports.ck_tokenize(this.tokenizer, c.texts(texts), BigInt(texts.length), punctuation, slot));
  }
  /** Tokens of each text without the toolkit's punctuation, joined by blanks. */
  tokenize(texts) {
    return this.#tokenized(texts, 0);
  }
  /** All tokens of each text. */
  tokensRaw(texts) {
    return this.#tokenized(texts, 1).map((line) => (line ? line.split("\n") : []));
  }
  /** Stems of words in lower case. */
  stem(words) {
    return this.strings("stemmer", (c, slot) => this.exports.ck_stem(c.texts(words), BigInt(words.length), slot));
  }

  log(x) {
    return this.doubles("log", x.length, (c, out) => this.exports.ck_log(c.doubles(x), BigInt(x.length), out));
  }
  exp(x) {
    return this.doubles("exp", x.length, (c, out) => this.exports.ck_exp(c.doubles(x), BigInt(x.length), out));
  }
  pow(x, y) {
    return this.doubles("pow", x.length, (c, out) => this.exports.ck_pow(c.doubles(x), y, BigInt(x.length), out));
  }

  #pairs(call, { hyp, ref, examples }) {
    return call.struct(
      call.integers(hyp), call.integers(ref), BigInt(examples), BigInt(hyp.length / examples), BigInt(ref.length / examples));
  }
  /** Matches (examples, n, 4), clipped at the largest count in any reference; with `each` (examples, n, m, 4), at each one. */
  clip(index, pairs, each = false) {
    const size = ORDERS * pairs.hyp.length * (each ? pairs.ref.length / pairs.examples : 1);
    return index.integers(size, (c, out) => this.exports.ck_clip(index.address, this.#pairs(c, pairs), each ? 1 : 0, out));
  }
  /** BLEU of rows of matches (size, 4), guesses (size, 4) and lengths (size). */
  bleu(matches, guesses, lengths, referenceLengths, order) {
    return this.doubles("BLEU", lengths.length, (c, out) =>
      this.exports.ck_bleu(
        c.doubles(matches), c.doubles(guesses), c.doubles(lengths), c.doubles(referenceLengths), BigInt(lengths.length), order, out));
  }
  /** Lengths (examples, n, m) of the longest common subsequences of rows. */
  lcs(index, pairs) {
    const size = pairs.hyp.length * (pairs.ref.length / pairs.examples);
    return index.integers(size, (c, out) => this.exports.ck_lcs(index.address, this.#pairs(c, pairs), out));
  }
  /** idf of document frequencies. */
  ciderIdf(frequencies, documents) {
    return this.doubles("CIDEr", frequencies.length, (c, out) =>
      this.exports.ck_cider_idf(c.integers(frequencies), BigInt(frequencies.length), documents, out));
  }
  /** CIDEr-D (`clip`) or CIDEr (examples, n, m). */
  cider(index, idf, unseen, pairs, clip = true, sigma = 6.0) {
    const size = pairs.hyp.length * (pairs.ref.length / pairs.examples);
    return this.doubles("CIDEr", size, (c, out) =>
      this.exports.ck_cider(
        index.address, c.struct(c.doubles(idf), BigInt(idf.length), { double: unseen }), this.#pairs(c, pairs), clip ? 1 : 0, sigma, out));
  }
  /** Penalties for repetition of CIDEr-R (examples, n, m). */
  ciderRepetition(index, pairs) {
    const size = pairs.hyp.length * (pairs.ref.length / pairs.examples);
    return this.doubles("CIDEr-R", size, (c, out) => this.exports.ck_cider_repetition(index.address, this.#pairs(c, pairs), out));
  }
  /** Scores of rows of METEOR's statistics (size, 23). */
  meteorScores(statistics) {
    const size = statistics.length / STATISTICS;
    return this.doubles("METEOR", size, (c, out) => this.exports.ck_meteor_scores(c.doubles(statistics), BigInt(size), out));
  }

  #relabelings(call, labels, examples, texts) {
    return call.struct(call.copy(Uint8Array.from(labels)), BigInt(examples), BigInt(texts), BigInt(labels.length / texts));
  }
  /** Mean sentence BLEU (examples, relabelings) of gram rows (examples, texts) under labels (relabelings, texts), 1 for a candidate. */
  relabelBleu(index, rows, examples, labels, order = ORDERS) {
    const texts = rows.length / examples;
    return this.doubles("BLEU", (examples * labels.length) / texts, (c, out) =>
      this.exports.ck_bleu_relabel(index.address, c.integers(rows), this.#relabelings(c, labels, examples, texts), order, out));
  }
  /** Mean ROUGE-L (examples, relabelings) from lcs (examples, texts, texts) and lengths (examples, texts). */
  relabelRouge(lcs, lengths, examples, labels, beta = 1.2) {
    const texts = lengths.length / examples;
    return this.doubles("ROUGE-L", (examples * labels.length) / texts, (c, out) =>
      this.exports.ck_rouge_relabel(c.integers(lcs), c.integers(lengths), this.#relabelings(c, labels, examples, texts), beta, out));
  }
  /** Mean of the best score over references (examples, relabelings) from scores of all pairs (examples, texts, texts). */
  relabelBest(scores, examples, labels) {
    const texts = Math.round(Math.sqrt(scores.length / examples));
    return this.doubles("best reference", (examples * labels.length) / texts, (c, out) =>
      this.exports.ck_best_relabel(c.doubles(scores), this.#relabelings(c, labels, examples, texts), out));
  }

  #perExample(name, matrices, n, m, ...options) {
    const examples = matrices.length / (n + m) ** 2;
    return this.doubles(name, examples, (c, out) => this.exports[name](c.doubles(matrices), BigInt(examples), n, m, ...options, out));
  }
  /** Triangle-rank statistic of distances (examples, n + m, n + m), rows the hypothesis, candidates first. */
  triangleRank(distances, n, m) {
    return this.#perExample("ck_triangle_rank", distances, n, m);
  }
  /** Exact permutation p-values of the triangle-rank statistic, at most 32 texts. */
  triangleRankP(distances, n, m) {
    checkTexts(n + m);
    return this.#perExample("ck_triangle_rank_p", distances, n, m);
  }
  /** Gaussian kernels (examples, size, size) of vectors (examples, size, width). */
  gaussianKernels(vectors, size, width) {
    const examples = vectors.length / (size * width);
    return this.doubles("MMD", examples * size * size, (c, out) =>
      this.exports.ck_gaussian_kernels(c.doubles(vectors), BigInt(examples), size, width, out));
  }
  /** MMD of kernels (examples, n + m, n + m). */
  twoSample(kernels, n, m, unbiased = false) {
    return this.#perExample("ck_two_sample", kernels, n, m, unbiased ? 1 : 0);
  }
  /** Exact p-values of sums of forms (examples, n + m, n + m) over pairs (candidate, reference); `tail` is extreme. */
  formP(forms, n, m, tail = "upper", precision = 1e-12) {
    checkTexts(n + m);
    return this.#perExample("ck_form_p", forms, n, m, tail === "upper" ? 1 : 0, precision);
  }
  /** Sums (draws, width) of columns (examples, width) under random weights: "multinomial", "resamples", "assignments", "patterns". */
  drawSums(columns, width, kind, draws, seed = 0) {
    const code = ["multinomial", "resamples", "assignments", "patterns"].indexOf(kind);
    return this.doubles("draws", draws * width, (c, out) =>
      this.exports.ck_draw_sums(c.doubles(columns), BigInt(columns.length / width), width, code, BigInt(draws), BigInt(seed), out));
  }
}

function checkTexts(size) {
  if (size > 32) throw new Error(`an exact test enumerates relabelings of at most 32 texts; found ${size}`);
}

/** Load the module: bytes, a response, or the address of caption_kernels.wasm (default: beside this file). */
export async function load(source = new URL("caption_kernels.wasm", import.meta.url)) {
  if (source instanceof URL || typeof source === "string") source = await fetch(source);
  if (typeof Response !== "undefined" && source instanceof Response) source = await source.arrayBuffer();
  const { instance } = await WebAssembly.instantiate(source, {});
  return new Kernels(instance);
}
