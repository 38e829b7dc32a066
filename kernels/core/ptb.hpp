// The Penn Treebank tokeniser of the COCO caption toolkit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ptb_matcher.hpp"
#include "runs.hpp"
#include "span.hpp"
#include "vocabulary.hpp"

namespace ck {

// Equals caption_kernels_reference/ptb/tokeniser.py. Captions are split at blanks, and the tokens of each piece are remembered.
class PtbTokenizer {
 public:
  // `punctuation`: whether the tokens of the toolkit's punctuation stay.
  PtbTokenizer(Vocabulary& words, bool punctuation) : words_(words), punctuation_(punctuation) {}

  // Appends the words of a caption's tokens in lower case.
  void append(std::string_view caption, std::vector<Id>& out);

 private:
  // Words of the pieces that were read before. A piece whose tokens depend on the next one is kept with it: "St. Mary".
  struct Memo {
    Vocabulary pieces;
    Runs<Id> words;  // of each piece
  };

  void append_piece(std::string_view piece, std::string_view key, std::vector<Id>& out);
  void scan(std::string_view text, std::string_view after, std::vector<Id>& out);

  Vocabulary& words_;
  bool punctuation_;
  Memo memo_;
  PtbMatcher matcher_;
};

}  // namespace ck
