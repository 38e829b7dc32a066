// The Penn Treebank tokeniser of the COCO caption toolkit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ptb_matcher.hpp"
#include "span.hpp"
#include "vocabulary.hpp"

namespace ck {

// Equals caption_kernels/reference/ptb/tokeniser.py. Captions are split at blanks, and the tokens of each piece are remembered.
class PtbTokenizer {
 public:
  explicit PtbTokenizer(Vocabulary& words) : words_(words) {}

  // Appends the words of a caption's tokens in lower case, without punctuation.
  void append(std::string_view caption, std::vector<Id>& out) { append_tokens(caption, without_punctuation_, out); }

  // Appends all tokens of a caption in lower case.
  void append_raw(std::string_view caption, std::vector<Id>& out) { append_tokens(caption, all_tokens_, out); }

 private:
  // Words of the pieces that were read before. A piece whose tokens depend on the next one is kept with it: "St. Mary".
  struct Memo {
    bool has_punctuation;
    Vocabulary pieces;
    std::vector<std::pair<size_t, size_t>> places;  // of each piece: first word in `words`, number of words
    std::vector<Id> words;
  };

  void append_tokens(std::string_view caption, Memo& memo, std::vector<Id>& out);
  void append_piece(std::string_view piece, std::string_view key, Memo& memo, std::vector<Id>& out);
  void read_piece(std::string_view piece, std::string_view next, bool punctuation);
  bool read_plain_piece(std::string_view piece, bool punctuation);
  void scan(std::string_view text, std::string_view after, bool punctuation);
  void take(std::string_view token, bool punctuation);
  bool may_abbreviate(std::string_view piece);

  Vocabulary& words_;
  Memo without_punctuation_{false, {}, {}, {}};
  Memo all_tokens_{true, {}, {}, {}};
  PtbMatcher matcher_;

  // Working memory of one call.
  std::string line_;
  std::vector<Id> found_;
  std::u32string text_, token_;
  std::string lower_;
};

}  // namespace ck
