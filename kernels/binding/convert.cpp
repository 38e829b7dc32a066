#include "convert.hpp"

#include <algorithm>

namespace binding {

void check(ck_status status, const char* what) {
  if (status == CK_OK) return;
  PyObject* const kinds[] = {nullptr, PyExc_MemoryError, PyExc_IndexError, PyExc_ValueError, PyExc_ValueError, PyExc_OverflowError};
  constexpr const char* REASONS[] = {"", "not enough memory", "a row or id lies outside its table", "an argument is out of its range",
                                     "the data are damaged or of another version", "more than 2147483647 words, n-grams or matches"};
  PyErr_Format(kinds[status], "%s: %s", what, REASONS[status]);
  throw nb::python_error();
}

void require(bool holds, const char* expected) {
  if (!holds) throw nb::value_error(expected);
}

void require_bounds(const Input<int64_t, 1>& bounds, int64_t limit, const char* expected) {
  const int64_t* const values = bounds.data();
  const int64_t size = length(bounds);
  // The last bound alone says nothing of the ones before it, which are read first.
  require(size > 0 && values[0] >= 0 && std::is_sorted(values, values + size) && values[size - 1] <= limit, expected);
}

namespace {

// One Python string as UTF-8, kept alive by the caller or by `keep`.
ck_string utf8(nb::handle text, std::vector<nb::object>& keep) {
  if (!PyUnicode_Check(text.ptr())) {
    const std::string type = nb::cast<std::string>(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(text.ptr()))).attr("__name__"));
    throw nb::type_error(("expected texts of type str, found " + type).c_str());
  }
  Py_ssize_t size = 0;
  if (const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size)) return {data, size};
  PyErr_Clear();  // unpaired surrogates
  nb::object bytes = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass"));
  if (!bytes.is_valid()) throw nb::python_error();
  char* data = nullptr;
  if (PyBytes_AsStringAndSize(bytes.ptr(), &data, &size) < 0) throw nb::python_error();
  keep.push_back(std::move(bytes));
  return {data, size};
}

}  // namespace

Texts::Texts(nb::handle sequence) {
  if (PyUnicode_Check(sequence.ptr())) throw nb::type_error("expected a sequence of texts, found one str");
  kept_ = nb::steal(PySequence_Tuple(sequence.ptr()));
  if (!kept_.is_valid()) throw nb::python_error();
  const Py_ssize_t size = PyTuple_Size(kept_.ptr());
  views_.reserve(static_cast<size_t>(size));
  for (Py_ssize_t k = 0; k < size; ++k) views_.push_back(utf8(PyTuple_GetItem(kept_.ptr(), k), encoded_));
}

}  // namespace binding
