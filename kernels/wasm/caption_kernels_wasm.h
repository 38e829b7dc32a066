/* Functions of the WebAssembly module beside those of caption_kernels.h: statistics of sets of texts, and random draws.
 *
 * In Python they are computed by the harness with NumPy. Distances, forms and vectors are C-contiguous; in an example of n + m texts the
 * n candidates come first.
 */
#ifndef CAPTION_KERNELS_WASM_H
#define CAPTION_KERNELS_WASM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Triangle-rank statistic, both directions pooled, of distances (examples, n + m, n + m), rows the hypothesis; NaN without a triangle. */
void ck_triangle_rank(const double *distances, int64_t examples, int32_t n, int32_t m, double *scores);
/* Its exact permutation p-values: the share of all relabelings whose statistic is at least the observed one. At most 32 texts. */
void ck_triangle_rank_p(const double *distances, int64_t examples, int32_t n, int32_t m, double *p_values);

/* Gaussian kernels (examples, size, size) of vectors (examples, size, width); the width of a kernel is half the median distance. */
void ck_gaussian_kernels(const double *vectors, int64_t examples, int32_t size, int32_t width, double *kernels);
/* Mean k(C, C) + mean k(R, R) - 2 mean k(C, R) of kernels; `unbiased` leaves out the diagonals. NaN where a mean is of nothing. */
void ck_two_sample(const double *kernels, int64_t examples, int32_t n, int32_t m, int32_t unbiased, double *scores);
/* Exact p-values of sums of forms (examples, n + m, n + m) over pairs of a candidate and a reference: the share of all relabelings with
 * a value at least (`upper`) or at most the observed one. Values that differ by `precision` times the size of the sums are equal. */
void ck_form_p(const double *forms, int64_t examples, int32_t n, int32_t m, int32_t upper, double precision, double *p_values);

/* Kinds of random weights of examples; each is the family of NumPy's generator (PCG64) that the harness draws from. */
typedef enum {
  CK_MULTINOMIAL = 0, /* bootstrap counts of the interval of a number */
  CK_RESAMPLES = 1,   /* bootstrap counts of comparisons */
  CK_ASSIGNMENTS = 2, /* zeros and ones, each with probability one half */
  CK_PATTERNS = 3     /* all 2^examples patterns of zeros and ones, the first example the lowest digit of the number of the draw */
} ck_weights;

/* Sums (draws, width) of columns (examples, width) under random weights, each rounded once. Values are finite. */
void ck_draw_sums(const double *columns, int64_t examples, int32_t width, ck_weights kind, int64_t draws, int64_t seed, double *sums);

#ifdef __cplusplus
}
#endif
#endif
