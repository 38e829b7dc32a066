// Conversions between Python objects and the types of the C interface.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <string>
#include <vector>

#include "caption_kernels.h"

namespace nb = nanobind;

namespace binding {

template <class T, size_t Dimensions>
using Input = nb::ndarray<const T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;

// Raises the Python exception of a status; `what` names the work, such as "METEOR".
void check(ck_status status, const char* what);

// Strings of a Python sequence as UTF-8, kept alive together with the sequence. Made with the interpreter lock, read without it.
class Texts {
 public:
  explicit Texts(nb::handle sequence);
  const ck_string* data() const { return views_.data(); }
  int64_t size() const { return static_cast<int64_t>(views_.size()); }

 private:
  nb::object kept_;                 // a tuple: another thread may change the caller's list meanwhile
  std::vector<nb::object> encoded_; // bytes of the strings with unpaired surrogates
  std::vector<ck_string> views_;
};

// One Python string as UTF-8, kept alive by the caller or by `keep`.
ck_string utf8(nb::handle text, std::vector<nb::object>& keep);

// A Python string of UTF-8 bytes in which surrogates may stand.
nb::object to_str(const char* data, int64_t size);

// A new NumPy array of this shape that owns its memory; `fill` is given a pointer to it.
template <class T>
nb::object new_array(std::vector<size_t> shape, T*& data) {
  size_t size = 1;
  for (size_t length : shape) size *= length;
  data = new T[size ? size : 1];
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), owner));
}

}  // namespace binding
