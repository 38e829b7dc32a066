// Words and texts in the form that METEOR's alignment reads; each distinct word and text is analysed once.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "key_map.hpp"
#include "meteor_lexicon.hpp"
#include "span.hpp"
#include "text_index.hpp"
#include "vocabulary.hpp"

namespace ck {

// What the matchers know about a word.
struct MeteorWord {
  Id key;         // number of the word's Java hash: words with equal numbers match exactly
  Id stem;        // number of the stem's hash; keys and stems share the numbers
  Id paraphrase;  // number in the paraphrase table, -1 for none
  Id phrase;      // the phrase of this word alone, -1 for none
  int32_t n_synsets;
  bool is_function;
  int64_t first_synset;
};

// A phrase of the paraphrase table, or the beginning of one. Its paraphrases are copied: the table is large, and few of its pages are
// in the cache of the processor.
struct Phrase {
  Id node;
  int32_t n_targets;
  int64_t first_target;
};

// A phrase that occurs in a text.
struct Occurrence {
  Id phrase;
  int32_t at;  // position of its first word
  int32_t length;
};

class MeteorTexts {
 public:
  // The lexicon must outlive the table.
  explicit MeteorTexts(const MeteorLexicon& lexicon) : lexicon_(&lexicon) {}

  // The number of a raw text, normalised and analysed if it is new.
  int64_t intern(std::string_view text);
  // Sets the index of the rows that are added next. It must live until another one is set.
  void use_index(const TextIndex& index);
  // The number of a row of the index: that of its words joined by one blank.
  int64_t add_row(int64_t row);

  const MeteorLexicon& lexicon() const { return *lexicon_; }
  int64_t n_texts() const { return static_cast<int64_t>(texts_.size()); }
  int64_t n_words() const { return static_cast<int64_t>(words_.size()); }
  // Number of distinct hashes of words and stems.
  int64_t n_numbers() const { return static_cast<int64_t>(numbers_.size()); }

  const MeteorWord& word(Id id) const { return words_[id]; }
  // Synonym sets of a word and of its base forms, ascending.
  std::span<const int32_t> synsets(const MeteorWord& word) const {
    return {synsets_.data() + word.first_synset, static_cast<size_t>(word.n_synsets)};
  }
  // Word ids of a text.
  std::span<const Id> words(int64_t text) const {
    const int64_t first = text > 0 ? texts_[text - 1].words_end : 0;
    return {text_words_.data() + first, static_cast<size_t>(texts_[text].words_end - first)};
  }
  // Phrases that occur in a text, by position and length.
  std::span<const Occurrence> phrases(int64_t text) const {
    const int64_t first = text > 0 ? texts_[text - 1].occurrences_end : 0;
    return {occurrences_.data() + first, static_cast<size_t>(texts_[text].occurrences_end - first)};
  }

  const Phrase& phrase(Id id) const { return phrases_[id]; }
  // Nodes of the paraphrases of a phrase, in the order of the table.
  std::span<const Id> targets(const Phrase& phrase) const {
    return {targets_.data() + phrase.first_target, static_cast<size_t>(phrase.n_targets)};
  }

  // Writes numbers that are equal for texts with the same words, from 0 in the order of first occurrence in `texts`.
  void number_same_words(std::span<const int64_t> texts, int64_t* numbers) const;

 private:
  struct Text {
    int64_t words_end, occurrences_end;
  };

  Id word_id(std::string_view word);
  Id add_word(std::string_view word);
  Id number_of_hash(int32_t hash);
  bool read_plain_words(int64_t row);
  void read_words(std::string_view text);
  int64_t add_text(std::string_view text);
  void find_phrases();
  Id extended(Id phrase, Id word);
  Id add_phrase(Id node);

  const MeteorLexicon* lexicon_;
  Vocabulary names_;  // of the words
  std::vector<MeteorWord> words_;
  std::vector<int32_t> synsets_;
  KeyMap numbers_;  // of the hashes
  std::vector<Phrase> phrases_;
  std::vector<Id> targets_;
  KeyMap longer_phrases_;  // phrase << 32 | next word -> phrase, -1 for none

  Vocabulary raw_texts_;
  std::vector<Text> texts_;
  std::vector<Id> text_words_;
  std::vector<Occurrence> occurrences_;

  const TextIndex* index_ = nullptr;  // whose words `index_words_` describes
  std::vector<Id> index_words_;       // per word of the index: the word here, NOT_PLAIN or UNKNOWN

  std::vector<std::string> split_;    // scratch: the words of a raw text,
  std::vector<Id> new_words_;         // and the ids of the words of a new text
};

}  // namespace ck
