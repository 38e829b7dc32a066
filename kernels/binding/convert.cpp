#include "convert.hpp"

namespace binding {

void check(ck_status status, const char* what) {
  const std::string name(what);
  switch (status) {
    case CK_OK:
      return;
    case CK_NO_MEMORY:
      PyErr_SetString(PyExc_MemoryError, (name + ": not enough memory").c_str());
      throw nb::python_error();
    case CK_OUT_OF_RANGE:
      throw nb::index_error((name + ": a row or id lies outside its table").c_str());
    case CK_TOO_LARGE:
      throw std::overflow_error(name + ": more than 2147483647 words, n-grams or matches");
    case CK_BAD_DATA:
      throw nb::value_error((name + ": the data are damaged or of another version").c_str());
    default:
      throw nb::value_error((name + ": an argument is out of its range").c_str());
  }
}

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

Texts::Texts(nb::handle sequence) {
  if (PyUnicode_Check(sequence.ptr())) throw nb::type_error("expected a sequence of texts, found one str");
  kept_ = nb::steal(PySequence_Tuple(sequence.ptr()));
  if (!kept_.is_valid()) throw nb::python_error();
  const Py_ssize_t size = PyTuple_Size(kept_.ptr());
  views_.reserve(static_cast<size_t>(size));
  for (Py_ssize_t k = 0; k < size; ++k) views_.push_back(utf8(PyTuple_GetItem(kept_.ptr(), k), encoded_));
}

nb::object to_str(const char* data, int64_t size) {
  nb::object text = nb::steal(PyUnicode_DecodeUTF8(data, static_cast<Py_ssize_t>(size), "surrogatepass"));
  if (!text.is_valid()) throw nb::python_error();
  return text;
}

}  // namespace binding
