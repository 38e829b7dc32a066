/** Row numbers, lengths and counts. */
export type Integers = readonly number[];
/** Numbers of any array type. */
export type Doubles = ArrayLike<number>;

/** Hypotheses and references of examples: flat arrays of rows, n and m of each example. */
export interface Pairs {
  hyp: number[];
  ref: number[];
  examples: number;
}

export declare class TextIndex {
  /** Rows of texts; equal word sequences share a row. */
  add(texts: readonly string[]): number[];
  addTokens(sequences: readonly number[][], end?: number, keepEnd?: boolean): number[];
  /** Rows whose n-grams are counted, which BLEU and CIDEr take. */
  gramRows(rows: Integers): number[];
  lengths(rows: Integers): number[];
  texts(rows: Integers): string[];
  gramTexts(): string[];
  entries(row: number): { grams: number[]; counts: number[] }[];
  documentFrequencies(rows: Integers, starts: Integers): number[];
  free(): void;
}

export declare class Lexicon {
  normalise(texts: readonly string[]): string[][];
  free(): void;
}

export declare class MeteorTexts {
  intern(texts: readonly string[]): number[];
  addRows(index: TextIndex, rows: Integers): number[];
  /** Scores and statistics (23 each) of all pairs of a hypothesis and a reference of each example. */
  align(examples: readonly { hyp: number[]; ref: number[] }[]): { scores: Float64Array; statistics: Float64Array };
  free(): void;
}

export declare class Kernels {
  /** Tokens of each text without punctuation, joined by blanks. */
  tokenize(texts: readonly string[]): string[];
  tokensRaw(texts: readonly string[]): string[][];
  stem(words: readonly string[]): string[];
  log(x: Doubles): Float64Array;
  exp(x: Doubles): Float64Array;
  pow(x: Doubles, y: number): Float64Array;
  newIndex(tokenizer?: "ptb" | "none"): TextIndex;
  openLexicon(bytes: Uint8Array): Lexicon;
  newMeteor(lexicon: Lexicon): MeteorTexts;
  clip(index: TextIndex, pairs: Pairs, each?: boolean): number[];
  bleu(matches: Doubles, guesses: Doubles, lengths: Doubles, referenceLengths: Doubles, order: number): Float64Array;
  lcs(index: TextIndex, pairs: Pairs): number[];
  ciderIdf(frequencies: Integers, documents: number): Float64Array;
  cider(index: TextIndex, idf: Doubles, unseen: number, pairs: Pairs, clip?: boolean, sigma?: number): Float64Array;
  ciderRepetition(index: TextIndex, pairs: Pairs): Float64Array;
  meteorScores(statistics: Doubles): Float64Array;
  relabelBleu(index: TextIndex, rows: Integers, examples: number, labels: Integers, order?: number): Float64Array;
  relabelRouge(lcs: Integers, lengths: Integers, examples: number, labels: Integers, beta?: number): Float64Array;
  relabelBest(scores: Doubles, examples: number, labels: Integers): Float64Array;
  /** Triangle-rank statistic of distances (examples, n + m, n + m), rows the hypothesis, candidates first; NaN without a triangle. */
  triangleRank(distances: Doubles, n: number, m: number): Float64Array;
  triangleRankP(distances: Doubles, n: number, m: number): Float64Array;
  gaussianKernels(vectors: Doubles, size: number, width: number): Float64Array;
  twoSample(kernels: Doubles, n: number, m: number, unbiased?: boolean): Float64Array;
  formP(forms: Doubles, n: number, m: number, tail?: "upper" | "lower", precision?: number): Float64Array;
  drawSums(
    columns: Doubles, width: number, kind: "multinomial" | "resamples" | "assignments" | "patterns", draws: number, seed?: number,
  ): Float64Array;
}

/** 0 and the sums of the first numbers. */
export declare function cumulate(counts: Integers): number[];

/** Load the module: its bytes, a response, or its address (default: beside caption_kernels.js). */
export declare function load(source?: URL | string | Response | BufferSource): Promise<Kernels>;
