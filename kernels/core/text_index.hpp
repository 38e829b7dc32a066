// Texts as rows of words, and the n-grams of each row; every distinct text and n-gram is stored once.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// Sizes of an index at some time.
struct Mark {
  int64_t rows, grams, entries, resolved;
};

// Texts are split at single blanks, as in the COCO toolkit's ROUGE-L: an empty text is one empty word. Equal word sequences share a
// row. n-grams are made of the words between white space, as in its BLEU and CIDEr: `gram_row` is the row of these words, which is
// another one only for texts with empty words or with white space other than blanks inside a word (a no-break space, as in "3 1/2").
class TextIndex {
 public:
  // `ptb`: texts are raw and go through the PTB tokeniser. Otherwise they are tokenised already.
  explicit TextIndex(bool ptb);

  int64_t n_rows() const { return static_cast<int64_t>(row_starts_.size()) - 1; }
  int64_t n_grams() const { return static_cast<int64_t>(gram_keys_.size()); }
  const Vocabulary& vocabulary() const { return words_; }

  std::span<const Id> words(int64_t row) const {
    return {row_words_.data() + row_starts_[row], static_cast<size_t>(row_starts_[row + 1] - row_starts_[row])};
  }
  int64_t length(int64_t row) const { return row_starts_[row + 1] - row_starts_[row]; }
  // The words of a row joined by one blank.
  std::string text(int64_t row) const;

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
  bool is_counted(int64_t row) const { return row_grams_[row].first >= 0; }

  // The n-gram of words joined by one blank, added if it is new; fails for no words and for more than four.
  Id intern_gram(std::string_view gram);
  // The words of an n-gram joined by one blank.
  std::string gram_text(Id gram) const;

  // The n-gram of a word after a prefix n-gram (-1: none), added if it is new; with gram_key, for copies of an index.
  Id intern_gram(Id prefix, Id word);
  // Prefix n-gram << 32 | word; the prefix of a unigram is 2^32 - 1.
  uint64_t gram_key(Id gram) const { return gram_keys_[gram]; }
  Id intern_word(std::string_view word) { return words_.intern(word); }

  // The state to which `rollback` returns: rows and n-grams that were added since are dropped, words stay.
  Mark mark() const;
  void rollback(const Mark& mark, bool keep_grams);

 private:
  int64_t add_words(std::span<const Id> words);
  void drop_rows(int64_t n_rows);
  void drop_grams(int64_t n_grams);
  size_t row_slot(std::span<const Id> words) const;
  void grow_row_slots();
  void split_words(std::string_view text, std::vector<Id>& out);
  bool is_plain(Id word);
  void count_row(int64_t row);
  Id extend(Id prefix, Id word);
  Id unigram(Id word);
  size_t gram_slot(uint64_t key) const;
  void reserve_grams(size_t count);

  Vocabulary words_;
  std::optional<PtbTokenizer> tokenizer_;
  std::vector<int8_t> plain_;  // per word: 1 if white space does not split it, 0 if it does, -1 unknown

  std::vector<int64_t> row_starts_{0};
  std::vector<Id> row_words_;
  std::vector<Id> row_slots_;  // open addressing by the words of a row
  std::vector<Id> gram_rows_;  // per row: its gram row, -1 unknown
  std::vector<RowGrams> row_grams_;
  std::vector<Entry> entries_;
  std::vector<Id> resolved_;          // rows in the order in which their gram rows were found

  std::vector<Id> word_grams_;        // per word: its unigram, -1 for none
  std::vector<uint64_t> gram_keys_;   // per n-gram: prefix n-gram << 32 | word; NO_PREFIX for unigrams
  std::vector<uint64_t> slot_keys_;   // open addressing by key; FREE where free
  std::vector<Id> slot_grams_;
  std::vector<int64_t> last_entry_;   // per n-gram: the entry that it had last, to find repeated n-grams of a text
  std::vector<Id> token_words_;       // per token id: its word, -1 unknown

  std::vector<Id> scratch_;           // words of the text that is added
  std::vector<Id> prefixes_;          // n-grams of the order before, while a row is counted
};

// Numbers for the few n-grams (or words) of one example, so that work arrays are short and stay in the cache.
class LocalNumbers {
 public:
  // Makes room for `count` ids and forgets all numbers.
  void reset(size_t count);
  // The number of an id, from 0 in the order of first occurrence.
  Id number(Id id) {
    size_t place = mix(static_cast<uint64_t>(id)) & mask_;
    while (ids_[place] >= 0 && ids_[place] != id) place = (place + 1) & mask_;
    if (ids_[place] < 0) {
      ids_[place] = id;
      numbers_[place] = size_++;
      used_.push_back(place);
    }
    return numbers_[place];
  }
  size_t size() const { return static_cast<size_t>(size_); }

 private:
  std::vector<Id> ids_, numbers_;
  std::vector<size_t> used_;
  size_t mask_ = 0;
  Id size_ = 0;
};

}  // namespace ck
