// Texts as rows of words, and the n-grams of each row; every distinct text and n-gram is stored once.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "key_map.hpp"
#include "ptb.hpp"
#include "span.hpp"
#include "vocabulary.hpp"

namespace ck {

constexpr int ORDERS = 4;  // highest n-gram order

// An n-gram of a row and how often it occurs there.
struct Entry {
  Id gram;
  int32_t count;
};

// Where the entries of a row lie: order k (from 1) is [first + ends[k - 2], first + ends[k - 1]), with ends[-1] = 0.
struct RowGrams {
  int64_t first = -1;  // -1: not counted yet
  int32_t ends[ORDERS] = {};
};

// A row whose gram row was found, and the numbers of rows, n-grams and entries after that.
struct Resolved {
  Id row, rows, grams;
  int64_t entries;
};

// Texts are split at single blanks, as in the COCO toolkit's ROUGE-L: an empty text is one empty word. Equal word sequences share a
// row. n-grams are made of the words between white space, as in its BLEU and CIDEr: `gram_row` is the row of these words, which is
// another one only for texts with empty words or with white space other than blanks inside a word (a no-break space, as in "3 1/2").
class TextIndex {
 public:
  // `ptb`: texts are raw and go through the PTB tokeniser. Otherwise they are tokenised already.
  explicit TextIndex(bool ptb) {
    if (ptb) tokenizer_.emplace(words_, false);
  }

  int64_t n_rows() const { return rows_.size(); }
  int64_t n_grams() const { return static_cast<int64_t>(gram_keys_.size()); }
  const Vocabulary& vocabulary() const { return words_; }

  std::span<const Id> words(int64_t row) const {
    const std::string_view bytes = rows_[row];
    return {reinterpret_cast<const Id*>(bytes.data()), bytes.size() / sizeof(Id)};
  }
  int64_t length(int64_t row) const { return static_cast<int64_t>(words(row).size()); }
  // The words of a row joined by one blank.
  std::string text(int64_t row) const {
    std::string out;
    for (const Id word : words(row)) out.append(words_[word]).push_back(' ');
    if (!out.empty()) out.pop_back();
    return out;
  }

  // The row of a text, added if it is new.
  int64_t add(std::string_view text);
  // The row of a sequence of token ids, whose words are the ids in decimal digits. The sequence ends before the first `end` token,
  // or after it with `keep_end`; a negative `end` occurs in no sequence.
  int64_t add_tokens(std::span<const int64_t> tokens, int64_t end, bool keep_end);

  // The row whose words are those between white space. Its n-grams are counted from then on.
  int64_t gram_row(int64_t row);

  std::span<const Entry> entries(int64_t row) const {
    const RowGrams& grams = row_grams_[row];
    return {entries_.data() + grams.first, static_cast<size_t>(grams.ends[ORDERS - 1])};
  }
  const RowGrams& grams(int64_t row) const { return row_grams_[row]; }

  // These fail for a row beyond the index, or one whose n-grams are not counted.
  void check_row(int64_t row) const {
    if (row < 0 || row >= n_rows()) fail(CK_OUT_OF_RANGE);
  }
  void check_counted(int64_t row) const {
    check_row(row);
    if (row_grams_[row].first < 0) fail(CK_OUT_OF_RANGE);
  }

  // The n-gram of words joined by one blank, added if it is new; fails for no words and for more than four.
  Id intern_gram(std::string_view gram);
  // The words of an n-gram joined by one blank.
  std::string gram_text(Id gram) const;

  // Prefix n-gram << 32 | word of each n-gram; the prefix of a unigram is 2^32 - 1.
  const KeyArray& gram_keys() const { return gram_keys_; }
  // Adds the words and n-grams of another index to an empty one.
  void restore(std::span<const ck_string> words, std::span<const uint64_t> gram_keys);

  // The state to which `rollback` returns: rows and n-grams that were added since are dropped, words stay.
  ck_mark mark() const {
    return {n_rows(), n_grams(), static_cast<int64_t>(entries_.size()), static_cast<int64_t>(resolved_.size())};
  }
  void rollback(const ck_mark& mark, bool keep_grams);

 private:
  int64_t add_words(std::span<const Id> words) {
    reserve_more(gram_rows_, 1);
    reserve_more(row_grams_, 1);
    const Id row = rows_.intern({reinterpret_cast<const char*>(words.data()), words.size_bytes()});
    gram_rows_.resize(n_rows(), -1);
    row_grams_.resize(n_rows());
    return row;
  }
  void split_words(std::string_view text);
  // Notes that the gram row of a row is known; there is room for it.
  void set_gram_row(int64_t row, int64_t target) {
    gram_rows_[row] = static_cast<Id>(target);
    const ck_mark now = mark();
    resolved_.push_back({static_cast<Id>(row), static_cast<Id>(now.rows), static_cast<Id>(now.grams), now.entries});
  }
  bool is_plain(Id word);
  void count_row(int64_t row);
  // Room for `count` more n-grams.
  void reserve_grams(size_t count) {
    if (gram_keys_.size() + count > static_cast<size_t>(INT32_MAX)) fail(CK_TOO_LARGE);
    gram_keys_.reserve(count);
    grams_.reserve(count, gram_keys_);
  }
  // The n-gram of a word after a prefix, added if it is new; there is room for it.
  Id extend(Id prefix, Id word) {
    const uint64_t key = pair_key(prefix, word);
    Id& gram = grams_(key, gram_keys_);
    if (gram < 0) {
      gram = static_cast<Id>(n_grams());
      gram_keys_.push_back(key);
    }
    return gram;
  }

  Vocabulary words_;
  std::optional<PtbTokenizer> tokenizer_;
  std::vector<int8_t> plain_;  // per word: 1 if white space does not split it, 0 if it does, -1 unknown

  Vocabulary rows_;  // a row is the bytes of its word ids
  std::vector<Id> gram_rows_;  // per row: its gram row, -1 unknown
  std::vector<RowGrams> row_grams_;
  std::vector<Entry> entries_;
  std::vector<Resolved> resolved_;    // in the order in which the gram rows were found

  KeyPlaces grams_;                   // of gram_keys_
  KeyArray gram_keys_;
  KeyMap row_entries_;                // per n-gram of the row that is counted: its entry, from the first one of the row
  std::vector<Id> token_words_;       // per token id: its word, -1 unknown

  std::vector<Id> scratch_;           // words of the text that is added
  std::vector<Id> prefixes_;          // n-grams of the order before, while a row is counted
};

}  // namespace ck

// The handle of the C interface is the object itself under another name.
struct ck_index : ck::TextIndex {
  using ck::TextIndex::TextIndex;
};
