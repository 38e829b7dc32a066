// Texts: the PTB tokeniser and the stemmer.
#include "convert.hpp"

namespace {

using namespace binding;

struct Tokenizer : Handle<ck_tokenizer, ck_tokenizer_free> {
  Tokenizer() : Handle("PTB tokeniser", ck_tokenizer_new) {}

  nb::list join(nb::handle texts, bool punctuation) {
    const Texts read(texts);
    return list_changing("PTB tokeniser", [&](ck_tokenizer* handle, ck_strings** out) {
      return ck_tokenize(handle, read.data(), read.size(), punctuation, out);
    });
  }

  nb::list tokenize(nb::handle texts) { return join(texts, false); }

  nb::list tokens_raw(nb::handle texts) {
    nb::list rows;
    for (const nb::handle line : join(texts, true)) rows.append(nb::len(line) ? line.attr("split")("\n") : nb::list());
    return rows;
  }
};

nb::list stem(nb::handle words) {
  const Texts read(words);
  return list_strings("stemmer", [&](ck_strings** out) { return ck_stem(read.data(), read.size(), out); });
}

}  // namespace

void bind_text(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Tokenizer>(module, "Tokenizer", "The Penn Treebank tokeniser of the COCO caption toolkit.")
      .def(nb::init<>())
      .def("tokenize", &Tokenizer::tokenize, "texts"_a, nb::sig("def tokenize(self, texts: collections.abc.Sequence[str]) -> list[str]"),
           "Return the tokens of each text in lower case, without the toolkit's punctuation, joined by one blank.")
      .def("tokens_raw", &Tokenizer::tokens_raw, "texts"_a,
           nb::sig("def tokens_raw(self, texts: collections.abc.Sequence[str]) -> list[list[str]]"),
           "Return all tokens of each text in lower case.");
  module.def("stem", &stem, "words"_a, nb::sig("def stem(words: collections.abc.Sequence[str]) -> list[str]"),
             "Return the stem of each lower-case word by the English Snowball stemmer (Porter2), version 2.");
}
