// Turns the exceptions of the library into status codes at the C interface.
#pragma once

#include <new>
#include <stdexcept>

#include "ck_status.h"

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

template <class Work>
ck_status guarded(Work&& work) noexcept {
#if defined(__cpp_exceptions)
  try {
    work();
    return CK_OK;
  } catch (const Failure& failure) {
    return failure.status;
  } catch (const std::bad_alloc&) {
    return CK_NO_MEMORY;
  } catch (const std::length_error&) {
    return CK_NO_MEMORY;
  } catch (...) {
    return CK_BAD_ARGUMENT;
  }
#else
  work();
  return CK_OK;
#endif
}

}  // namespace ck
