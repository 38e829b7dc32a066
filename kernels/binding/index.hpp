// The Python class TextIndex.
#pragma once

#include "convert.hpp"

namespace binding {

struct Index : Handle<ck_index, ck_index_free> {
  bool ptb;

  explicit Index(const std::string& tokenizer)
      : Handle("texts",
               [&](ck_index** out) {
                 require(tokenizer == "ptb" || tokenizer == "none", "unknown tokenizer; expected 'ptb' or 'none'");
                 return ck_index_new(tokenizer == "ptb", out);
               }),
        ptb(tokenizer == "ptb") {}
};

}  // namespace binding
