import type { Kernels, Lexicon } from "./caption_kernels.js";
import type { Result } from "./statistics.js";

export type MetricName = "bleu1" | "bleu2" | "bleu3" | "bleu4" | "meteor" | "rouge" | "cider";
export declare const METRICS: Record<MetricName, { title: string; signature: string; largest: number }>;

/** References of a task, indexed once; its systems are scored against them. */
export declare class Task {
  constructor(kernels: Kernels, references: readonly string[][], options?: { lexicon?: Lexicon | null; tokenizer?: "ptb" | "none" });
  readonly size: number;
  setLexicon(lexicon: Lexicon | null): void;
  /** Results by metric of the candidates of each example, all of them or those of `examples` (numbers). */
  score(candidates: readonly string[][], examples?: number[]): Partial<Record<MetricName, Result & { name: MetricName }>>;
  free(): void;
}

/** BLEU-1 to BLEU-4 of a corpus of tokenised texts. */
export declare function bleu(kernels: Kernels, candidates: readonly string[], references: readonly string[][]): number[];
/** ROUGE-L of each example of tokenised texts. */
export declare function rouge(kernels: Kernels, candidates: readonly string[], references: readonly string[][]): number[];
/** CIDEr-D of each example of tokenised texts, with the document frequencies of the references. */
export declare function ciderd(kernels: Kernels, candidates: readonly string[], references: readonly string[][]): number[];
/** METEOR of each raw candidate with its best reference. */
export declare function meteor(kernels: Kernels, candidates: readonly string[], references: readonly string[][], lexicon: Lexicon): number[];
