// What the C++ library needs of a machine, without WASI: a failure stops the module, and the JavaScript wrapper reports the trap.
#include <__config>
#include <__verbose_abort>

_LIBCPP_BEGIN_NAMESPACE_STD
[[noreturn]] void __libcpp_verbose_abort(const char*, ...) noexcept { __builtin_trap(); }
_LIBCPP_END_NAMESPACE_STD
