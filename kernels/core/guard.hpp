// Turns the exceptions of the library into status codes at the C interface.
#pragma once

#include "caption_kernels.h"

namespace ck {

// Thrown inside the library; every function of the C interface catches it.
struct Failure {
  ck_status status;
};

[[noreturn]] inline void fail(ck_status status) {
#if defined(__cpp_exceptions)
  throw Failure{status};
#else
  (void)status;
  __builtin_trap();  // WebAssembly: the wrapper reports the trap
#endif
}

ck_status guarded(auto&& work) noexcept {
#if defined(__cpp_exceptions)
  try {
    work();
  } catch (const Failure& failure) {
    return failure.status;
  } catch (...) {  // std::bad_alloc, std::length_error
    return CK_NO_MEMORY;
  }
#else
  work();
#endif
  return CK_OK;
}

}  // namespace ck
