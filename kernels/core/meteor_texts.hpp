// Words and texts in the form that METEOR's alignment reads; each distinct word and text is analysed once.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "key_map.hpp"
#include "runs.hpp"
#include "meteor_lexicon.hpp"
#include "meteor_normalise.hpp"
#include "span.hpp"
#include "stemmer.hpp"
#include "text_index.hpp"
#include "vocabulary.hpp"

namespace ck {

// What the matchers know about a word.
struct MeteorWord {
  Id key;         // number of the word's Java hash: words with equal numbers match exactly
  Id stem;        // number of the stem's hash; keys and stems share the numbers
  Id number;      // in the lexicon, -1 for none
  Id phrase;      // the phrase of this word alone, -1 for none
  bool is_function;
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
  int64_t intern(std::string_view text) {
    const Id known = raw_texts_.find(text);
    if (known >= 0) return known;
    read_words(text);
    return add_text(text);
  }

  // Sets the index of the rows that are added next. It must live until another one is set.
  void use_index(const TextIndex& index) {
    if (&index == index_) return;
    index_words_.clear();
    index_ = &index;
  }

  // The number of a row of the index: that of its words joined by one blank.
  int64_t add_row(int64_t row) {
    index_->check_row(row);
    const std::string text = index_->text(row);
    const Id known = raw_texts_.find(text);
    if (known >= 0) return known;
    if (!read_plain_words(row)) read_words(text);
    return add_text(text);
  }

  const MeteorLexicon& lexicon() const { return *lexicon_; }
  int64_t n_texts() const { return raw_texts_.size(); }
  int64_t n_words() const { return static_cast<int64_t>(words_.size()); }
  void check_text(int64_t text) const {
    if (text < 0 || text >= n_texts()) fail(CK_OUT_OF_RANGE);
  }
  // Number of distinct hashes of words and stems.
  int64_t n_numbers() const { return static_cast<int64_t>(numbers_.size()); }

  const MeteorWord& word(Id id) const { return words_[id]; }
  // Synonym sets of a word and of its base forms, ascending.
  std::span<const int32_t> synsets(Id word) const { return synsets_[word]; }
  // Word ids of a text.
  std::span<const Id> words(int64_t text) const { return text_words_[text]; }
  // Phrases that occur in a text, by position and length.
  std::span<const Occurrence> phrases(int64_t text) const { return occurrences_[text]; }

  // Node of a phrase, and the nodes of its paraphrases in the order of the table.
  Id node(Id phrase) const { return nodes_[phrase]; }
  std::span<const Id> targets(Id phrase) const { return targets_[phrase]; }

 private:
  static constexpr Id UNKNOWN = -1;
  static constexpr Id NOT_PLAIN = -2;  // the rules for punctuation may change the word
  static constexpr Id NO_PHRASE = -2;

  // Sets `new_words_` to the words of a row if all of them are plain. Each word of the index is looked up once.
  bool read_plain_words(int64_t row) {
    const Vocabulary& names = index_->vocabulary();
    index_words_.resize(static_cast<size_t>(names.size()), UNKNOWN);
    new_words_.clear();
    for (const Id word : index_->words(row)) {
      if (index_words_[word] == UNKNOWN) {
        const std::string_view name = names[word];
        index_words_[word] = is_plain_word(name) ? word_id(normalise(name, *lexicon_)[0]) : NOT_PLAIN;
      }
      if (index_words_[word] == NOT_PLAIN) return false;
      new_words_.push_back(index_words_[word]);
    }
    return true;
  }

  // Sets `new_words_` to the words of a raw text.
  void read_words(std::string_view text) {
    new_words_.clear();
    for (const std::string& word : normalise(text, *lexicon_)) new_words_.push_back(word_id(word));
  }

  // Adds a text whose words are `new_words_`. What a failed call left behind its tables is dropped first; the text counts from the moment
  // at which nothing can fail any more.
  int64_t add_text(std::string_view text) {
    if (new_words_.size() > static_cast<size_t>(INT32_MAX)) fail(CK_TOO_LARGE);
    text_words_.truncate(n_texts());
    occurrences_.truncate(n_texts());
    for (const Id word : new_words_) text_words_.add(word);
    text_words_.end_run();
    find_phrases();
    occurrences_.end_run();
    return raw_texts_.intern(text);
  }

  // Appends the phrases of the table that occur in `new_words_`.
  void find_phrases() {
    for (size_t first = 0; first < new_words_.size(); ++first) {
      Id phrase = words_[new_words_[first]].phrase;
      for (size_t last = first; phrase >= 0; phrase = extended(phrase, new_words_[last])) {
        occurrences_.add({phrase, static_cast<int32_t>(first), static_cast<int32_t>(++last - first)});
        if (last == new_words_.size() || words_[new_words_[last]].number < 0) break;
      }
    }
  }

  // The phrase that a word makes of another one, or NO_PHRASE. Searched for in the table once.
  Id extended(Id phrase, Id word) {
    Id& longer = longer_phrases_[pair_key(phrase, word)];
    if (longer == UNKNOWN) longer = add_phrase(lexicon_->paraphrase_child(nodes_[phrase], words_[word].number));
    return longer;
  }

  // A number for a node; NO_PHRASE for no node.
  Id add_phrase(Id node) {
    if (node < 0) return NO_PHRASE;
    if (nodes_.size() == static_cast<size_t>(INT32_MAX)) fail(CK_TOO_LARGE);
    reserve_more(nodes_, 1);
    targets_.truncate(nodes_.size());  // drops what a failed call left
    for (const Id target : lexicon_->paraphrase_targets(node)) targets_.add(target);
    targets_.end_run();
    nodes_.push_back(node);
    return static_cast<Id>(nodes_.size()) - 1;
  }

  Id word_id(std::string_view word) {
    const Id known = names_.find(word);
    return known >= 0 ? known : add_word(word);
  }

  Id add_word(std::string_view word) {
    MeteorWord entry;
    entry.key = numbers_.number(java_hash(word));
    entry.stem = numbers_.number(java_hash(stem_english(word)));
    entry.number = lexicon_->find(word);
    entry.phrase = add_phrase(lexicon_->paraphrase_child(0, entry.number));
    entry.is_function = lexicon_->is_function_word(word);
    synsets_.truncate(words_.size());  // drops what a failed call left
    for (const int32_t synset : lexicon_->synsets(word)) {
      if (synset < 0 || synset >= lexicon_->n_synsets()) fail(CK_BAD_DATA);
      synsets_.add(synset);
    }
    synsets_.end_run();
    reserve_more(words_, 1);
    const Id id = names_.intern(word);
    words_.push_back(entry);
    return id;
  }

  const MeteorLexicon* lexicon_;
  Vocabulary names_;  // of the words
  std::vector<MeteorWord> words_;
  Runs<int32_t> synsets_;
  KeyMap numbers_;  // of the hashes
  // Nodes and targets of the phrases that were met. They are copied: the table is large, and few of its pages are in the cache.
  std::vector<Id> nodes_;
  Runs<Id> targets_;
  KeyMap longer_phrases_;  // phrase << 32 | next word -> phrase, NO_PHRASE for none

  Vocabulary raw_texts_;
  Runs<Id> text_words_;
  Runs<Occurrence> occurrences_;

  const TextIndex* index_ = nullptr;  // whose words `index_words_` describes
  std::vector<Id> index_words_;       // per word of the index: the word here, NOT_PLAIN or UNKNOWN

  std::vector<Id> new_words_;         // scratch: the ids of the words of a new text
};

}  // namespace ck

// The handle of the C interface is the object itself under another name.
struct ck_meteor : ck::MeteorTexts {
  using ck::MeteorTexts::MeteorTexts;
};
