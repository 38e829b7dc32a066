// TRM, MMD and exact permutation p-values, as harness_metrics.trm, harness_metrics.kernel and harness.stats.forms define them.
#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "caption_kernels.h"
#include "caption_kernels_wasm.h"

namespace {

constexpr double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();
constexpr double ROUNDING = 1e-13;  // squared distances below this share of the squared norms are rounding errors

// A square matrix of texts.
struct Square {
  const double* values;
  int32_t size;
  double at(int32_t row, int32_t column) const { return values[row * size + column]; }
};

// Calls `work(candidates)` with every choice of n of n + m texts, as bits.
void for_each_relabeling(int32_t n, int32_t m, auto&& work) {
  const uint64_t end = uint64_t{1} << (n + m);
  for (uint64_t chosen = (uint64_t{1} << n) - 1; chosen < end;) {
    work(chosen);
    const uint64_t lowest = chosen & -chosen, next = chosen + lowest;  // the next number with as many bits (Gosper)
    chosen = next | (((chosen ^ next) >> 2) / lowest);
  }
}

// Sums of matrices over the pairs of a candidate and a reference.
template <size_t K>
void sum_pairs(const std::vector<double> (&forms)[K], int32_t size, uint64_t candidates, double (&sums)[K]) {
  const uint64_t all = (uint64_t{1} << size) - 1;
  std::fill(sums, sums + K, 0.0);
  for (uint64_t rows = candidates; rows; rows &= rows - 1)
    for (uint64_t columns = all & ~candidates; columns; columns &= columns - 1) {
      const size_t place = static_cast<size_t>(std::countr_zero(rows) * size + std::countr_zero(columns));
      for (size_t k = 0; k < K; ++k) sums[k] += forms[k][place];
    }
}

double largest(double first, double second) { return std::max({std::abs(first), std::abs(second), std::abs(first + second)}); }

// Whether the edge `inner` of a triangle is its smallest, its middle and its largest; equal edges have several ranks.
struct Ranks {
  bool has[3];
};
Ranks rank_edge(double inner, double a, double b) {
  const bool le_a = inner <= a, le_b = inner <= b, ge_a = inner >= a, ge_b = inner >= b;
  return {{le_a && le_b, (ge_a && le_b) || (ge_b && le_a), ge_a && ge_b}};
}

// The forms of 3 T_0 - T, 3 T_1 - T and T, where T_r counts the triangles whose edge within a sample has rank r.
void build_forms(const Square& distances, std::vector<double> (&forms)[3]) {
  const int32_t size = distances.size;
  std::vector<double> counts[3];
  for (int r = 0; r < 3; ++r) counts[r].assign(static_cast<size_t>(size * size), 0.0), forms[r] = counts[r];
  for (int32_t a = 0; a < size; ++a)
    for (int32_t b = 0; b < size; ++b)
      for (int32_t x = 0; x < size; ++x) {
        if (a == b || a == x || b == x) continue;
        const Ranks ranks = rank_edge(distances.at(a, b), distances.at(x, a), distances.at(x, b));
        for (int r = 0; r < 3; ++r) {
          if (!ranks.has[r]) continue;
          // A triangle adds 1/2 to its pairs (a, x) and (b, x) and takes 1/2 from (a, b), in both orders.
          for (const auto& [p, q, weight] : {std::tuple{a, x, 0.5}, {x, a, 0.5}, {b, x, 0.5}, {x, b, 0.5}, {a, b, -0.5}, {b, a, -0.5}})
            counts[r][static_cast<size_t>(p * size + q)] += weight;
        }
      }
  for (size_t k = 0; k < counts[0].size(); ++k) {
    const double total = counts[0][k] + counts[1][k] + counts[2][k];
    forms[0][k] = 3 * counts[0][k] - total, forms[1][k] = 3 * counts[1][k] - total, forms[2][k] = total;
  }
}

}  // namespace

void ck_triangle_rank(const double* distances, int64_t examples, int32_t n, int32_t m, double* scores) {
  const int32_t size = n + m;
  for (int64_t e = 0; e < examples; ++e) {
    const Square square{distances + e * size * size, size};
    double counts[3] = {0, 0, 0};
    for (int32_t a = 0; a < size; ++a)
      for (int32_t b = 0; b < size; ++b) {
        if (a == b || (a < n) != (b < n)) continue;
        for (int32_t x = a < n ? n : 0; x < (a < n ? size : n); ++x) {
          const Ranks ranks = rank_edge(square.at(a, b), square.at(x, a), square.at(x, b));
          for (int r = 0; r < 3; ++r) counts[r] += ranks.has[r];
        }
      }
    const double total = counts[0] + counts[1] + counts[2];
    scores[e] = total > 0 ? largest(3 * counts[0] - total, 3 * counts[1] - total) * (2.0 / 3.0) / total : NOT_A_NUMBER;
  }
}

void ck_triangle_rank_p(const double* distances, int64_t examples, int32_t n, int32_t m, double* p_values) {
  const int32_t size = n + m;
  std::vector<double> forms[3];
  for (int64_t e = 0; e < examples; ++e) {
    build_forms({distances + e * size * size, size}, forms);
    double sums[3];
    sum_pairs(forms, size, (uint64_t{1} << n) - 1, sums);
    // Ratios of counts are compared without division; the factor lets equal ones be equal.
    const double slope = (1 - 8 * DBL_EPSILON) * largest(sums[0], sums[1]) / sums[2];
    int64_t extreme = 0, total = 0;
    for_each_relabeling(n, m, [&](uint64_t candidates) {
      sum_pairs(forms, size, candidates, sums);
      extreme += largest(sums[0], sums[1]) >= sums[2] * slope;
      ++total;
    });
    p_values[e] = std::isnan(slope) ? NOT_A_NUMBER : static_cast<double>(extreme) / static_cast<double>(total);
  }
}

void ck_gaussian_kernels(const double* vectors, int64_t examples, int32_t size, int32_t width, double* kernels) {
  std::vector<double> centred(static_cast<size_t>(size * width)), inner(static_cast<size_t>(size * size)), distances;
  for (int64_t e = 0; e < examples; ++e) {
    const double* own = vectors + e * size * width;
    double* kernel = kernels + e * size * size;
    for (int32_t d = 0; d < width; ++d) {
      double mean = 0;
      for (int32_t i = 0; i < size; ++i) mean += own[i * width + d];
      mean /= size;
      for (int32_t i = 0; i < size; ++i) centred[static_cast<size_t>(i * width + d)] = own[i * width + d] - mean;
    }
    for (int32_t i = 0; i < size; ++i)
      for (int32_t j = 0; j < size; ++j) {
        double sum = 0;
        for (int32_t d = 0; d < width; ++d) sum += centred[static_cast<size_t>(i * width + d)] * centred[static_cast<size_t>(j * width + d)];
        inner[static_cast<size_t>(i * size + j)] = sum;
      }
    distances.clear();
    for (int32_t i = 0; i < size; ++i)
      for (int32_t j = 0; j < size; ++j) {
        const double scale = inner[static_cast<size_t>(i * size + i)] + inner[static_cast<size_t>(j * size + j)];
        const double squared = scale - 2.0 * inner[static_cast<size_t>(i * size + j)];
        kernel[i * size + j] = squared <= ROUNDING * scale ? 0.0 : squared;
        if (i < j) distances.push_back(std::sqrt(kernel[i * size + j]));
      }
    std::sort(distances.begin(), distances.end());
    const size_t pairs = distances.size();
    const double median = pairs == 0 ? 0.0 : (distances[(pairs - 1) / 2] + distances[pairs / 2]) / 2;
    for (int32_t k = 0; k < size * size; ++k) {
      double power = -kernel[k] / (0.5 * median * median);
      ck_exp(&power, 1, &power);
      kernel[k] = kernel[k] == 0 ? 1.0 : power;
    }
  }
}

void ck_two_sample(const double* kernels, int64_t examples, int32_t n, int32_t m, int32_t unbiased, double* scores) {
  const int32_t size = n + m;
  for (int64_t e = 0; e < examples; ++e) {
    const Square kernel{kernels + e * size * size, size};
    double within[2] = {0, 0}, across = 0;
    for (int32_t i = 0; i < size; ++i)
      for (int32_t j = 0; j < size; ++j) {
        if ((i < n) == (j < n)) {
          if (!unbiased || i != j) within[i >= n] += kernel.at(i, j);
        } else if (i < n) {
          across += kernel.at(i, j);
        }
      }
    const double pairs_c = n * (n - (unbiased ? 1.0 : 0.0)), pairs_r = m * (m - (unbiased ? 1.0 : 0.0));
    const bool defined = pairs_c > 0 && pairs_r > 0;
    scores[e] = defined ? within[0] / pairs_c + within[1] / pairs_r - 2.0 * (across / (static_cast<double>(n) * m)) : NOT_A_NUMBER;
  }
}

void ck_form_p(const double* forms, int64_t examples, int32_t n, int32_t m, int32_t upper, double precision, double* p_values) {
  const int32_t size = n + m;
  for (int64_t e = 0; e < examples; ++e) {
    const double* values = forms + e * size * size;
    const std::vector<double> own[1] = {std::vector<double>(values, values + size * size)};
    double observed[1], sums[1], magnitude = 0;
    for (int32_t k = 0; k < size * size; ++k) magnitude += k % (size + 1) ? std::abs(values[k]) : 0.0;
    const double tolerance = precision * magnitude * n * m / (static_cast<double>(size) * (size - 1));
    sum_pairs(own, size, (uint64_t{1} << n) - 1, observed);
    int64_t extreme = 0, total = 0;
    for_each_relabeling(n, m, [&](uint64_t candidates) {
      sum_pairs(own, size, candidates, sums);
      extreme += upper ? !(sums[0] < observed[0] - tolerance) : !(sums[0] > observed[0] + tolerance);
      ++total;
    });
    p_values[e] = std::isnan(observed[0]) ? NOT_A_NUMBER : static_cast<double>(extreme) / static_cast<double>(total);
  }
}
