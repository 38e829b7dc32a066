// The Python classes of METEOR's lexicon.
#pragma once

#include "convert.hpp"

namespace binding {

// A lexicon in the buffer of another Python object, which it keeps alive.
class Lexicon {
 public:
  explicit Lexicon(nb::handle source) {
    if (PyObject_GetBuffer(source.ptr(), &buffer_, PyBUF_SIMPLE) != 0) throw nb::python_error();
    if (const ck_status status = ck_lexicon_open(buffer_.buf, buffer_.len, &handle_); status != CK_OK) {
      PyBuffer_Release(&buffer_);
      check(status, "METEOR's lexicon");
    }
  }
  ~Lexicon() {
    ck_lexicon_free(handle_);
    PyBuffer_Release(&buffer_);
  }
  Lexicon(const Lexicon&) = delete;
  Lexicon& operator=(const Lexicon&) = delete;

  const ck_lexicon* handle() const { return handle_; }

 private:
  Py_buffer buffer_ = {};
  ck_lexicon* handle_ = nullptr;
};

}  // namespace binding
