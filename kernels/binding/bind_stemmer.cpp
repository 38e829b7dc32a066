// The English stemmer.
#include "convert.hpp"

void bind_stemmer(nb::module_& module) {
  module.def(
      "stem",
      [](nb::handle words) {
        const binding::Texts texts(words);
        ck_stems* handle = nullptr;
        {
          nb::gil_scoped_release unlocked;
          const ck_status status = ck_stems_new(texts.data(), texts.size(), &handle);
          nb::gil_scoped_acquire locked;
          binding::check(status, "stemmer");
        }
        const std::unique_ptr<ck_stems, decltype(&ck_stems_free)> stems(handle, ck_stems_free);
        nb::list out;
        for (int64_t k = 0; k < texts.size(); ++k) {
          const ck_string stem = ck_stems_get(stems.get(), k);
          out.append(binding::to_str(stem.data, stem.size));
        }
        return out;
      },
      nb::arg("words"), nb::sig("def stem(words: collections.abc.Sequence[str]) -> list[str]"),
      "Return the stem of each lower-case word by the English Snowball stemmer (Porter2), version 2.");
}
