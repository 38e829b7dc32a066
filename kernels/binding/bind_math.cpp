// Logarithm, exponential and power of arrays.
#include "convert.hpp"

namespace {

using Numbers = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;

// The results of `work(input, size, output)` in a new array of the same shape.
template <class Work>
nb::object map(const Numbers& x, Work&& work) {
  std::vector<size_t> shape;
  for (size_t axis = 0; axis < x.ndim(); ++axis) shape.push_back(x.shape(axis));
  double* out = nullptr;
  nb::object result = binding::new_array(std::move(shape), out);
  nb::gil_scoped_release unlocked;
  work(x.data(), static_cast<int64_t>(x.size()), out);
  return result;
}

}  // namespace

void bind_math(nb::module_& module) {
  module.def(
      "log", [](const Numbers& x) { return map(x, ck_log); }, nb::arg("x"),
      "Return the natural logarithm of each number of a float64 array, with the same bits on every machine.");
  module.def(
      "exp", [](const Numbers& x) { return map(x, ck_exp); }, nb::arg("x"),
      "Return e to the power of each number of a float64 array, with the same bits on every machine.");
  module.def(
      "power",
      [](const Numbers& x, double y) {
        return map(x, [y](const double* in, int64_t size, double* out) { ck_pow(in, y, size, out); });
      },
      nb::arg("x"), nb::arg("y"),
      "Return each number of a float64 array to the power of y, a number, with the same bits on every machine.");
}
