// The module caption_kernels._compiled.
#include "build_hash.h"  // written by CMake
#include "convert.hpp"

void bind_math(nb::module_& module);
void bind_text(nb::module_& module);
void bind_ngram(nb::module_& module);
void bind_meteor(nb::module_& module);

NB_MODULE(_compiled, module) {
  nb::set_leak_warnings(false);  // objects that live until the interpreter ends are no mistake
  module.doc() = "Compiled kernels of the text metrics; caption_kernels_reference has the same functions in Python.";
  module.attr("build_hash") = CK_BUILD_HASH;
  bind_math(module);
  bind_text(module);
  bind_ngram(module);
  bind_meteor(module);
}
