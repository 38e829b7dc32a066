// The rules of the PTB tokeniser: at each position the rule with the longest match gives the token.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "code_points.hpp"

namespace ck {

class PtbMatcher {
 public:
  // The text that is read next. The matcher keeps the view.
  void set_text(std::u32string_view text);

  // The token at a position, in lower case; empty where the text is dropped. Returns the position behind it.
  size_t read_token(size_t position, std::u32string& token);

 private:
  // Where the matcher goes on if what follows fails: behind every character from `at` back to `lowest`.
  struct Retry {
    uint16_t address;
    size_t at, lowest;
  };

  bool match(uint16_t address, size_t start);
  bool step_back(const uint16_t*& code, size_t& at);
  size_t run_end(uint16_t set, size_t at, size_t most) const;

  std::u32string_view text_;
  std::vector<Retry> retries_;
  size_t end_ = 0;        // of the last match, with its context
  size_t token_end_ = 0;  // of its token
  std::vector<size_t> needed_before_ = std::vector<size_t>(32);  // of each needed set: the place behind its last character in the text
};

}  // namespace ck
