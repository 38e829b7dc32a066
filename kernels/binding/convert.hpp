// Conversions between Python objects and the types of the C interface.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "caption_kernels.h"

namespace nb = nanobind;

namespace binding {

// An array whose numbers lie at multiples of their size: nanobind lets others pass, such as a field of packed records, and vector
// instructions may fail on them.
template <class Array>
struct Aligned : Array {
  Aligned() = default;
  explicit Aligned(Array&& array) : Array(std::move(array)) {}
  bool holds() const { return reinterpret_cast<uintptr_t>(this->data()) % sizeof(typename Array::Scalar) == 0; }
};

template <class T, size_t Dimensions>
using Input = Aligned<nb::ndarray<const T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>>;

int64_t length(const auto& array, size_t axis = 0) { return static_cast<int64_t>(array.shape(axis)); }

// Raises the Python exception of a status; `what` names the work, such as "METEOR".
void check(ck_status status, const char* what);

// Raises ValueError where an argument is not as expected.
void require(bool holds, const char* expected);

// Raises ValueError where bounds of runs do not rise, each at least as large as the one before, from 0 or more to `limit` at most.
void require_bounds(const Input<int64_t, 1>& bounds, int64_t limit, const char* expected);

// Strings of a Python sequence as UTF-8, kept alive together with the sequence. Made with the interpreter lock, read without it.
class Texts {
 public:
  explicit Texts(nb::handle sequence);
  const ck_string* data() const { return views_.data(); }
  size_t size() const { return views_.size(); }

 private:
  nb::object kept_;                  // a tuple: another thread may change the caller's list meanwhile
  std::vector<nb::object> encoded_;  // bytes of the strings with unpaired surrogates
  std::vector<ck_string> views_;
};

// The bytes of a Python object that has a buffer.
class Bytes {
 public:
  explicit Bytes(nb::handle source) {
    if (PyObject_GetBuffer(source.ptr(), &buffer_, PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  ~Bytes() { PyBuffer_Release(&buffer_); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  const char* data() const { return static_cast<const char*>(buffer_.buf); }
  int64_t size() const { return buffer_.len; }

 private:
  Py_buffer buffer_ = {};
};

// Does work without the interpreter lock.
void run(const char* what, auto&& work) {
  ck_status status;
  {
    const nb::gil_scoped_release unlocked;
    status = work();
  }
  check(status, what);
}

// A new NumPy array of this shape that owns its memory, filled by `work(data)` without the interpreter lock.
template <class T>
nb::object fill(const char* what, const std::vector<size_t>& shape, auto&& work) {
  size_t size = 1;
  for (const size_t extent : shape) size *= extent;
  auto data = std::make_unique<T[]>(size);
  run(what, [&] { return work(data.get()); });
  const nb::capsule owner(data.get(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(data.release(), shape.size(), shape.data(), owner));
}

// The strings that `work(&strings)` makes without the interpreter lock, as a list of str.
nb::list list_strings(const char* what, auto&& work) {
  ck_strings* made = nullptr;
  run(what, [&] { return work(&made); });
  const std::unique_ptr<ck_strings, decltype(&ck_strings_free)> strings(made, ck_strings_free);
  const ck_strings_view view = ck_strings_read(made);
  nb::list out;
  for (int64_t k = 0, start = 0; k < view.size; start = view.ends[k++]) {
    nb::object text = nb::steal(PyUnicode_DecodeUTF8(view.bytes + start, static_cast<Py_ssize_t>(view.ends[k] - start), "surrogatepass"));
    if (!text.is_valid()) throw nb::python_error();
    out.append(text);
  }
  return out;
}

// A handle of the C interface that several threads may read at a time, none while one changes it. All but `read` work without the
// interpreter lock; `what` names the work in messages.
template <class T, void (*free)(T*)>
class Handle {
 public:
  // `create(&handle)` makes it.
  Handle(const char* what, auto&& create) {
    check(create(&handle_), what);
  }
  ~Handle() { free(handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  auto read(auto&& work) const {
    const std::shared_lock<std::shared_mutex> shared(mutex_);
    return work(static_cast<const T*>(handle_));
  }
  void change(const char* what, auto&& work) {
    run(what, [&] { return alone(work); });
  }

  // A new array that `work(handle, data)` fills.
  template <class Number>
  nb::object fill_reading(const char* what, const std::vector<size_t>& shape, auto&& work) const {
    return fill<Number>(what, shape, [&](Number* out) { return read([&](const T* handle) { return work(handle, out); }); });
  }
  nb::object fill_changing(const char* what, const std::vector<size_t>& shape, auto&& work) {
    return fill<int64_t>(what, shape, [&](int64_t* out) { return alone([&](T* handle) { return work(handle, out); }); });
  }

  // The strings that `work(handle, &strings)` makes, as a list of str.
  nb::list list_reading(const char* what, auto&& work) const {
    return list_strings(what, [&](ck_strings** out) { return read([&](const T* handle) { return work(handle, out); }); });
  }
  nb::list list_changing(const char* what, auto&& work) {
    return list_strings(what, [&](ck_strings** out) { return alone([&](T* handle) { return work(handle, out); }); });
  }

 private:
  ck_status alone(auto&& work) {
    const std::unique_lock<std::shared_mutex> alone(mutex_);
    return work(handle_);
  }

  T* handle_ = nullptr;
  mutable std::shared_mutex mutex_;
};

}  // namespace binding

namespace nanobind::detail {

template <class Array>
struct type_caster<binding::Aligned<Array>> {
  NB_TYPE_CASTER(binding::Aligned<Array>, make_caster<Array>::Name)

  bool from_python(handle source, auto flags, cleanup_list* cleanup) noexcept {
    make_caster<Array> array;
    if (!array.from_python(source, flags, cleanup)) return false;
    value = binding::Aligned<Array>(std::move(array.value));
    return value.holds();
  }
};

}  // namespace nanobind::detail
