// Elementary functions with the basic operations of IEEE 754 alone.
//
// Intermediate values are unevaluated sums of two doubles (Dekker 1971; Knuth's two-sum), about 106 bits, so that the error of the last
// addition, half a unit in the last place, is nearly all there is. Errors below are relative to the result.
//
// log: x = 2^k m with m in [0.6875, 1.375). A table holds for each of 128 intervals of m a number c of ten bits close to 1/m, and -log c
//   as a pair. r = c m - 1 is exact as a pair and |r| <= 2^-7. log x = k log 2 - log c + log(1 + r), where the terms of log(1 + r) up to
//   r^3/3 are pairs and the terms from r^4/4 to r^11/11 are doubles. c = 1 next to m = 1, so that nothing cancels there. The first term
//   left out is below 2^-80, rounding of the fourth below 2^-73.
// exp: x = k log(2)/128 + r with |r| <= 2^-8.5. exp x = 2^(k/128) (1 + r + r^2/2 + ... + r^7/5040), 2^(k/128) and r are pairs, terms from
//   r^2/2 on are doubles: rounding of the third is below 2^-70. Results below 2^-1022 are rounded once, to their own precision.
// pow: exp(y log x). |y log x| < 746 makes an error of 2^-72 in the logarithm one of 2^-62 in the power.
//
// Hence all errors are below 0.5 + 2^-9 units in the last place, those of log and exp below 0.5 + 2^-16.
//
// sin, cos: x = k pi/2 + r with |r| <= pi/4, for |x| <= 2^20. pi/2 is the sum of two numbers of 33 bits, whose products with k are exact, and
//   a third (Cody and Waite 1980); r is a pair. Taylor's series up to r^17/17! and r^18/18! are doubles below their first terms: the first
//   terms left out are below 2^-63.
#include "math.hpp"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cstdint>
#include <limits>

#include "caption_kernels.h"

static_assert(FLT_EVAL_METHOD == 0, "double arithmetic must round to double");

namespace ck {
namespace {

// An unevaluated sum; |low| is at most half a unit in the last place of `high`.
struct Pair {
  double high, low;
};

struct LogInterval {
  double reciprocal, log_high, log_low;
};

#include "math_tables.inc"  // LOG_INTERVALS, ROOTS, LOG2_HIGH, ...; written by caption_kernels_reference.math_tables

constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();
constexpr double TWO_OVER_PI = 0x1.45f306dc9c883p-1;
constexpr double ROUNDER = 0x1.8p52;  // adding and subtracting it rounds to an integer

// a + b exactly.
Pair sum(double a, double b) {
  const double high = a + b;
  const double b_part = high - a;
  return {high, (a - (high - b_part)) + (b - b_part)};
}

// a + b exactly, for |a| >= |b|.
Pair ordered_sum(double a, double b) {
  const double high = a + b;
  return {high, b - (high - a)};
}

// The upper 26 bits of a.
double upper_half(double a) {
  const double shifted = 134217729.0 * a;  // 2^27 + 1
  return shifted - (shifted - a);
}

// a b exactly.
Pair product(double a, double b) {
  const double high = a * b;
  const double a_high = upper_half(a), a_low = a - a_high;
  const double b_high = upper_half(b), b_low = b - b_high;
  return {high, ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

Pair product(Pair a, Pair b) {
  const Pair main = product(a.high, b.high);
  return ordered_sum(main.high, main.low + (a.high * b.low + a.low * b.high));
}

// The logarithm of a positive finite number.
Pair log_pair(double x) {
  int64_t shift = 0;
  if (x < DBL_MIN) {
    x *= 0x1p52;
    shift = -52;
  }
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  const uint64_t above = bits - 0x3FE6000000000000u;  // 0.6875
  const double exponent = static_cast<double>((static_cast<int64_t>(above) >> 52) + shift);
  const double mantissa = std::bit_cast<double>(bits - (above & 0xFFF0000000000000u));
  const LogInterval& interval = LOG_INTERVALS[(above >> 45) & 127];

  const double upper = std::bit_cast<double>(std::bit_cast<uint64_t>(mantissa) & 0xFFFFFFFFF8000000u);
  const Pair r = sum(upper * interval.reciprocal - 1.0, (mantissa - upper) * interval.reciprocal);
  const double t = r.high;
  const double tail = -0.25 + t * (0.2 + t * (-1.0 / 6 + t * (1.0 / 7 + t * (-0.125 + t * (1.0 / 9 + t * (-0.1 + t * (1.0 / 11)))))));
  const Pair squared = product(r, r);
  const Pair cubic = product(product(squared, r), ordered_sum(THIRD_HIGH, THIRD_LOW + t * tail));

  const Pair s1 = sum(exponent * LOG2_HIGH, interval.log_high);
  const Pair s2 = sum(s1.high, r.high);
  const Pair s3 = sum(s2.high, -0.5 * squared.high);
  const Pair s4 = sum(s3.high, cubic.high);
  const double rest = (exponent * LOG2_LOW + interval.log_low) + (r.low - 0.5 * squared.low + cubic.low);
  return ordered_sum(s4.high, (((s1.low + s2.low) + s3.low) + s4.low) + rest);
}

// 2^power for -1022 <= power <= 1023.
double power_of_two(int64_t power) { return std::bit_cast<double>(static_cast<uint64_t>(power + 1023) << 52); }

// (high + low) 2^power with one rounding; high is in [0.9, 2.1).
double scaled(Pair x, int64_t power) {
  const double rounded = x.high + x.low;
  if (power > 1023) return rounded * 0x1p1023 * power_of_two(power - 1023);
  if (power > -1022 || (power == -1022 && rounded >= 1.0)) return rounded * power_of_two(power);
  // Between 1 and 2 the spacing is 2^-52: that of the results, after the multiplication by 2^-1022.
  const double scale = power_of_two(power + 1022);
  const Pair shifted = ordered_sum(1.0, x.high * scale);
  const double lifted = shifted.high + (shifted.low + x.low * scale);
  return (lifted - 1.0) * DBL_MIN;
}

// e^(high + low).
double exp_pair(double high, double low) {
  if (high > 710.0) return INFINITE;
  if (high < -746.0) return 0.0;
  const double rounded = (high * STEPS_PER_UNIT + ROUNDER) - ROUNDER;
  const int64_t steps = static_cast<int64_t>(rounded);
  const Pair r = sum(high - rounded * STEP_HIGH, low - rounded * STEP_LOW);
  const double t = r.high;
  const double tail = t * t * (0.5 + t * (1.0 / 6 + t * (1.0 / 24 + t * (1.0 / 120 + t * (1.0 / 720 + t * (1.0 / 5040))))));
  const Pair less_one = ordered_sum(t, r.low + (tail + t * r.low));
  const Pair root = {ROOTS[steps & 127][0], ROOTS[steps & 127][1]};
  const Pair change = product(root, less_one);
  const Pair result = ordered_sum(root.high, change.high);
  return scaled({result.high, result.low + (root.low + change.low)}, steps >> 7);
}

bool is_integer(double x) {
  const double size = x < 0 ? -x : x;
  return size >= 0x1p52 || (size + 0x1p52) - 0x1p52 == size;
}

bool is_odd(double x) {
  const double size = x < 0 ? -x : x;
  return size < 0x1p53 && is_integer(x) && (static_cast<int64_t>(size) & 1);
}

// x less the nearest multiple of pi/2, and the number of that multiple modulo 4.
Pair reduce(double x, int& quarter) {
  const double multiple = (x * TWO_OVER_PI + ROUNDER) - ROUNDER;
  quarter = static_cast<int>(static_cast<int64_t>(multiple) & 3);
  const Pair r = sum(x - multiple * 0x1.921fb544p0, -(multiple * 0x1.0b4611a6p-34));
  return ordered_sum(r.high, r.low - multiple * 0x1.3198a2e037073p-69);
}

double near_sine(Pair r) {
  const double z = r.high * r.high;
  const double tail = -1.0 / 6 + z * (1.0 / 120 + z * (-1.0 / 5040 + z * (1.0 / 362880 + z * (-1.0 / 39916800 + z * (1.0 / 6227020800 +
                      z * (-1.0 / 1307674368000 + z * (1.0 / 355687428096000)))))));
  return r.high + (z * r.high * tail + r.low * (1.0 - 0.5 * z));
}

double near_cosine(Pair r) {
  const double z = r.high * r.high;
  const double tail = 1.0 / 24 + z * (-1.0 / 720 + z * (1.0 / 40320 + z * (-1.0 / 3628800 + z * (1.0 / 479001600 +
                      z * (-1.0 / 87178291200 + z * (1.0 / 20922789888000 + z * (-1.0 / 6402373705728000)))))));
  const Pair first = ordered_sum(1.0, -0.5 * z);
  return first.high + (first.low + (z * z * tail - r.high * r.low));
}

double turn(double x, int quarters) {
  if (!(x >= -0x1p20 && x <= 0x1p20)) return NOT_A_NUMBER;
  int quarter;
  const Pair r = reduce(x, quarter);
  const double value = (quarter + quarters) & 1 ? near_cosine(r) : near_sine(r);
  return (quarter + quarters) & 2 ? -value : value;
}

}  // namespace

double sin(double x) { return turn(x, 0); }
double cos(double x) { return turn(x, 1); }

double log(double x) {
  if (x != x || x == INFINITE) return x;
  if (x == 0) return -INFINITE;
  if (x < 0) return NOT_A_NUMBER;
  const Pair result = log_pair(x);
  return result.high + result.low;
}

double exp(double x) { return x != x ? x : exp_pair(x, 0.0); }

double pow(double x, double y) {
  if (y == 0 || x == 1) return 1.0;
  if (x != x || y != y) return NOT_A_NUMBER;
  const double size = x < 0 ? -x : x;
  const bool negative = std::bit_cast<int64_t>(x) < 0;
  const double sign = negative && is_odd(y) ? -1.0 : 1.0;
  if (size == 1 && (y == INFINITE || y == -INFINITE)) return 1.0;
  if (size == 0 || size == INFINITE) return sign * ((size == 0) == (y < 0) ? INFINITE : 0.0);
  if (negative && !is_integer(y)) return NOT_A_NUMBER;
  if (size == 1) return sign;
  // Beyond 2^65 every power of every other number overflows or vanishes.
  const double limit = 0x1p66;
  if (y > limit || y < -limit) return (size > 1) == (y > 0) ? sign * INFINITE : sign * 0.0;
  const Pair logarithm = log_pair(size);
  const Pair exponent = product(logarithm.high, y);
  const Pair whole = ordered_sum(exponent.high, exponent.low + logarithm.low * y);
  return sign * exp_pair(whole.high, whole.low);
}

}  // namespace ck

void ck_log(const double* x, int64_t size, double* out) { std::transform(x, x + size, out, ck::log); }
void ck_exp(const double* x, int64_t size, double* out) { std::transform(x, x + size, out, ck::exp); }
void ck_sin(const double* x, int64_t size, double* out) { std::transform(x, x + size, out, ck::sin); }
void ck_pow(const double* x, double y, int64_t size, double* out) {
  std::transform(x, x + size, out, [y](double value) { return ck::pow(value, y); });
}
