// Elementary functions of numbers and arrays, laws of sums, eigenvalues.
#include "convert.hpp"

namespace {

using Numbers = binding::Aligned<nb::ndarray<const double, nb::c_contig, nb::device::cpu>>;

// The results of `work(input, size, output)` in a new array of the same shape; a number for an array without dimensions, as NumPy's numbers are.
nb::object map(const Numbers& x, auto&& work) {
  if (x.ndim() == 0) {
    double value;
    work(x.data(), 1, &value);
    return nb::float_(value);
  }
  const std::vector<size_t> shape(x.shape_ptr(), x.shape_ptr() + x.ndim());
  return binding::fill<double>("numbers", shape, [&](double* out) {
    work(x.data(), static_cast<int64_t>(x.size()), out);
    return CK_OK;
  });
}

double map(double x, auto&& work) {
  work(&x, 1, &x);
  return x;
}

nb::object sum_law(const binding::Input<double, 2>& laws, const binding::Input<int64_t, 1>& counts) {
  binding::require(laws.shape(0) == counts.shape(0), "expected laws (designs, size) and counts (designs,)");
  return binding::fill<double>("the law of a sum", {laws.shape(1)}, [&](double* out) {
    return ck_sum_law(laws.data(), counts.data(), binding::length(laws), binding::length(laws, 1), out);
  });
}

nb::object eigenvalues(const binding::Input<double, 3>& matrices) {
  binding::require(matrices.shape(1) == matrices.shape(2), "expected symmetric matrices (n, size, size)");
  return binding::fill<double>("eigenvalues", {matrices.shape(0), matrices.shape(1)}, [&](double* out) {
    return ck_eigenvalues(matrices.data(), binding::length(matrices), binding::length(matrices, 1), out);
  });
}

}  // namespace

void bind_math(nb::module_& module) {
  using namespace nb::literals;
  const auto define = [&](const char* name, auto work, const char* doc) {
    module.def(name, [work](double x) { return map(x, work); }, "x"_a, doc);
    module.def(name, [work](const Numbers& x) { return map(x, work); }, "x"_a, doc);
  };
  define("log", ck_log, "Return the natural logarithm of a number or of each number of a float64 array, with the same bits on every machine.");
  define("exp", ck_exp, "Return e to the power of a number or of each number of a float64 array, with the same bits on every machine.");
  define("sin", ck_sin,
         "Return the sine of a number or of each number of a float64 array, with the same bits on every machine; NaN beyond 2^20.");
  const auto raise = [](double y) { return [y](const double* in, int64_t size, double* out) { ck_pow(in, y, size, out); }; };
  constexpr const char* POWER = "Return a number or each number of a float64 array to the power of y, a number, with the same bits on every machine.";
  module.def("power", [raise](double x, double y) { return map(x, raise(y)); }, "x"_a, "y"_a, POWER);
  module.def("power", [raise](const Numbers& x, double y) { return map(x, raise(y)); }, "x"_a, "y"_a, POWER);
  module.def("sum_law", &sum_law, "laws"_a.noconvert(), "counts"_a.noconvert(),
             "Return the law modulo the size, a power of two, of a sum of independent whole numbers: counts (designs,) of them have the laws "
             "(designs, size).");
  module.def("eigenvalues", &eigenvalues, "matrices"_a, "Return the eigenvalues (n, size), ascending, of symmetric finite matrices (n, size, size).");
}
