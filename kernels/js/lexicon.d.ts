import type { Kernels } from "./caption_kernels.js";

/**
 * Bytes of a lexicon for Kernels.openLexicon, of meteor-1.5.jar (or the texts of its lists of function words, prefixes, exceptions and
 * synonym sets) and of the paraphrase table, inflated.
 */
export declare function buildLexicon(
  kernels: Kernels, jar: Uint8Array | [string, string, string, string], table: ReadableStream<Uint8Array>,
): Promise<Uint8Array>;
/** True for the bytes of a jar. */
export declare function isJar(bytes: Uint8Array): boolean;
