// Logarithm, exponential and power of arrays.
#include "convert.hpp"

namespace {

using Numbers = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;

// The results of `work(input, size, output)` in a new array of the same shape.
nb::object map(const Numbers& x, auto&& work) {
  const std::vector<size_t> shape(x.shape_ptr(), x.shape_ptr() + x.ndim());
  return binding::fill<double>("numbers", shape, [&](double* out) {
    work(x.data(), static_cast<int64_t>(x.size()), out);
    return CK_OK;
  });
}

}  // namespace

void bind_math(nb::module_& module) {
  using namespace nb::literals;
  module.def(
      "log", [](const Numbers& x) { return map(x, ck_log); }, "x"_a,
      "Return the natural logarithm of each number of a float64 array, with the same bits on every machine.");
  module.def(
      "exp", [](const Numbers& x) { return map(x, ck_exp); }, "x"_a,
      "Return e to the power of each number of a float64 array, with the same bits on every machine.");
  module.def(
      "power",
      [](const Numbers& x, double y) {
        return map(x, [y](const double* in, int64_t size, double* out) { ck_pow(in, y, size, out); });
      },
      "x"_a, "y"_a, "Return each number of a float64 array to the power of y, a number, with the same bits on every machine.");
}
