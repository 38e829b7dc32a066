/* Logarithm, exponential and power: the same bits on every machine (no libm, no fused multiply-add). */
#ifndef CK_MATH_H
#define CK_MATH_H

#include "ck_status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Natural logarithm, e^x and x^y of `size` numbers; `out` may be the input. Special values as in C99, Annex F. */
void ck_log(const double *x, int64_t size, double *out);
void ck_exp(const double *x, int64_t size, double *out);
void ck_pow(const double *x, double y, int64_t size, double *out);

#ifdef __cplusplus
}
#endif
#endif
