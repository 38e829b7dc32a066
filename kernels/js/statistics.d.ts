import type { Kernels } from "./caption_kernels.js";

export declare const SAMPLES: number;
export declare const DRAWS: number;
export declare const FEWEST: number;
export declare const SMALL: number;
export declare const LARGE: number;

/** A number of a system: a function of sums of addends (examples, width). */
export interface Result {
  value: number;
  scores: Float64Array;
  bounds: [number, number];
  addends: Float64Array;
  width: number;
  ofSums(sums: Float64Array): Float64Array;
  isShare?: boolean;
}

export interface Difference {
  a: number;
  b: number;
  difference: number;
  interval: [number, number] | null;
  p: number;
  draws: number;
  exact: boolean;
}

export declare function pairwiseSum(values: ArrayLike<number>, start?: number, end?: number): number;
export declare function mean(values: ArrayLike<number>): number;
export declare function totals(addends: Float64Array, width: number): Float64Array;
export declare function quantile(sorted: ArrayLike<number>, share: number): number;
export declare function normalQuantile(p: number): number;
export declare function normalCdf(x: number): number;
export declare function studentQuantile(freedom: number): number;
export declare function wilsonInterval(share: number, examples: number): [number, number];
export declare function intervalOfDraws(
  draws: Float64Array, value: number, without: ArrayLike<number>, examples: number,
): [number, number] | null;
/** What draws: the kernels, or an object whose drawSums asks a worker with kernels of its own. */
export interface Draws {
  drawSums(...arguments: Parameters<Kernels["drawSums"]>): Float64Array | Promise<Float64Array>;
}
/** 95 % intervals of results on the same examples, null for those without one. */
export declare function confidenceIntervals(kernels: Draws, results: readonly Result[], seed?: number): Promise<([number, number] | null)[]>;
/** Comparisons of systems (metric -> result) with the first one. */
export declare function compareSystems(
  kernels: Draws, systems: readonly Record<string, Result>[], draws?: number, seed?: number,
): Promise<Record<string, Difference>[]>;
/** Holm's adjusted p-values. */
export declare function holm(values: readonly number[]): number[];
