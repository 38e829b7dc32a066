// Laws of sums by Fourier transforms, and eigenvalues of symmetric matrices: fixed orders of the basic operations.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

#include "guard.hpp"
#include "math.hpp"

namespace ck {
namespace {

struct Complex {
  double real, imaginary;
};

Complex operator*(Complex a, Complex b) {
  return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
}

Complex power(Complex base, int64_t exponent) {
  Complex result = {1.0, 0.0};
  for (; exponent > 0; exponent >>= 1, base = base * base)
    if (exponent & 1) result = result * base;
  return result;
}

// exp(-2 pi i k / size) for k < size / 2: products of two tables of about sqrt(size) values.
std::vector<Complex> find_roots(size_t size) {
  const size_t fine = size_t{1} << (std::bit_width(size) / 2), coarse = size / fine + 1;
  const auto root = [size](size_t k) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(size);
    return Complex{cos(angle), -sin(angle)};
  };
  std::vector<Complex> high(coarse), low(fine), roots(size / 2);
  for (size_t k = 0; k < coarse; ++k) high[k] = root(k * fine);
  for (size_t k = 0; k < fine; ++k) low[k] = root(k);
  for (size_t k = 0; k < roots.size(); ++k) roots[k] = high[k / fine] * low[k % fine];
  return roots;
}

// The discrete Fourier transform, in place (Stockham's order: `step` transforms lie side by side); `work` has the same size.
void transform(std::vector<Complex>& x, std::vector<Complex>& work, const std::vector<Complex>& roots) {
  const size_t half = x.size() / 2;
  for (size_t step = 1; step <= half; step *= 2) {
    for (size_t p = 0; p < half; p += step)
      for (size_t q = 0; q < step; ++q) {
        const Complex a = x[p + q], b = x[p + q + half], difference = {a.real - b.real, a.imaginary - b.imaginary};
        work[2 * p + q] = {a.real + b.real, a.imaginary + b.imaginary};
        work[2 * p + q + step] = difference * roots[p];
      }
    x.swap(work);
  }
}

// The eigenvalues of `a` (size, size), whose lower triangle is lost, by rotations that annihilate one pair after another (Jacobi 1846;
// Golub and Van Loan, section 8.5).
void find_eigenvalues(double* a, size_t size, double* values) {
  const auto at = [a, size](size_t i, size_t j) -> double& { return i > j ? a[i * size + j] : a[j * size + i]; };
  bool changed = true;
  for (int sweep = 0; changed && sweep < 64; ++sweep) {  // about seven are needed; numbers that overflow never end
    changed = false;
    for (size_t q = 1; q < size; ++q)
      for (size_t p = 0; p < q; ++p) {
        const double off = at(q, p), first = at(p, p), second = at(q, q);
        // A pair that no longer changes its diagonal is done.
        if (std::abs(off) <= 0x1p-60 * (std::abs(first) + std::abs(second)) || std::abs(off) < 0x1p-1000) {
          at(q, p) = 0.0;
          continue;
        }
        changed = true;
        const double ratio = (second - first) / (2 * off);
        const double tangent = (ratio < 0 ? -1 : 1) / (std::abs(ratio) + std::sqrt(ratio * ratio + 1));
        const double cosine = 1 / std::sqrt(tangent * tangent + 1), sine = tangent * cosine;
        at(p, p) = first - tangent * off, at(q, q) = second + tangent * off, at(q, p) = 0.0;
        for (size_t k = 0; k < size; ++k) {
          if (k == p || k == q) continue;
          const double left = at(k, p), right = at(k, q);
          at(k, p) = cosine * left - sine * right, at(k, q) = sine * left + cosine * right;
        }
      }
  }
  for (size_t k = 0; k < size; ++k) values[k] = at(k, k);
  // Numbers that overflowed may be NaN: they come last, as an order that std::sort can use needs a place for them.
  std::sort(values, values + size, [](double a, double b) { return a < b || (a == a && b != b); });
}

}  // namespace
}  // namespace ck

ck_status ck_sum_law(const double* laws, const int64_t* counts, int64_t designs, int64_t size, double* law) {
  return ck::guarded([&] {
    const size_t points = static_cast<size_t>(size);
    const bool is_negative = std::any_of(counts, counts + designs, [](int64_t count) { return count < 0; });
    if (size < 2 || !std::has_single_bit(points) || is_negative) ck::fail(CK_BAD_ARGUMENT);
    const std::vector<ck::Complex> roots = ck::find_roots(points);
    std::vector<ck::Complex> product(points, {1.0, 0.0}), own(points), work(points);
    for (int64_t d = 0; d < designs; ++d) {
      for (size_t k = 0; k < points; ++k) own[k] = {laws[d * size + static_cast<int64_t>(k)], 0.0};
      ck::transform(own, work, roots);
      for (size_t k = 0; k <= points / 2; ++k) product[k] = product[k] * ck::power(own[k], counts[d]);
    }
    // The transform of real numbers is symmetric, and that of its conjugate is the inverse one.
    for (size_t k = 1; k < points / 2; ++k) product[points - k] = product[k], product[k].imaginary = -product[k].imaginary;
    product[points / 2].imaginary = -product[points / 2].imaginary;
    ck::transform(product, work, roots);
    for (size_t k = 0; k < points; ++k) law[k] = product[k].real / static_cast<double>(size);
  });
}

ck_status ck_eigenvalues(const double* matrices, int64_t n, int64_t size, double* values) {
  return ck::guarded([&] {
    const size_t extent = static_cast<size_t>(size);
    if (n == 0 || extent == 0) return;
    std::vector<double> own(extent * extent);
    for (int64_t k = 0; k < n; ++k) {
      const double* matrix = matrices + k * size * size;
      if (!std::all_of(matrix, matrix + size * size, [](double x) { return std::isfinite(x); })) ck::fail(CK_BAD_ARGUMENT);
      std::copy(matrix, matrix + size * size, own.begin());
      ck::find_eigenvalues(own.data(), extent, values + k * size);
    }
  });
}
