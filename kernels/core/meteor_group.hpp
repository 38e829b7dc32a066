// What the pairs of a small set of texts share: which of its words match, and which of its phrases are paraphrases.
#pragma once

#include <span>
#include <vector>

#include "meteor_search.hpp"
#include "meteor_texts.hpp"
#include "runs.hpp"

namespace ck {

// Two words of a group that match: by the modules whose bits `1 << module` are set.
struct Relation {
  int32_t word;
  int32_t modules;
};

// A phrase whose paraphrase number `rank` is the phrase at hand, and another such source, -1 for none.
struct Source {
  int32_t phrase, rank, next;
};

// The distinct words of a group are numbered from 0, and so are its phrases that have a paraphrase in the group or are one.
class MeteorGroup {
 public:
  // The tables of `texts` must not change meanwhile.
  explicit MeteorGroup(const MeteorTexts& texts);

  // Reads the texts of the next group.
  void read(std::span<const int64_t> texts);

  int32_t n_texts() const { return static_cast<int32_t>(words_.size()); }
  int32_t n_words() const { return static_cast<int32_t>(distinct_.size()); }
  int32_t n_phrases() const { return static_cast<int32_t>(targets_.size()); }

  // Word numbers of a text.
  std::span<const int32_t> words(int32_t text) const { return words_[text]; }
  int32_t n_function_words(int32_t text) const { return n_function_words_[text]; }
  Id key(int32_t word) const { return distinct_[word].key; }
  bool is_function(int32_t word) const { return distinct_[word].is_function; }
  // Words that match a word, itself included.
  std::span<const Relation> relations(int32_t word) const { return relations_[word]; }

  // Phrases of a text by position and length; `phrase` is the number within the group.
  std::span<const Occurrence> phrases(int32_t text) const { return phrases_[text]; }
  // Paraphrases of a phrase within the group, in the order of the table.
  std::span<const int32_t> targets(int32_t phrase) const { return targets_[phrase]; }
  // The phrases of which a phrase is a paraphrase, a chain in no particular order; -1 is its end.
  int32_t first_source(int32_t phrase) const { return first_source_[phrase]; }
  const Source& source(int32_t source) const { return sources_[source]; }

 private:
  void number_words(std::span<const int64_t> texts);
  void link_words();
  void relate_words();
  void relate(int32_t word, Module module);
  void clear_links();
  void number_phrases(std::span<const int64_t> texts);
  void find_targets();
  void number_useful_phrases();
  void find_sources();
  void keep_useful_occurrences(std::span<const int64_t> texts);
  size_t node_slot(Id node) const;

  const MeteorTexts& texts_;

  Runs<int32_t> words_;
  std::vector<int32_t> n_function_words_;
  std::vector<MeteorWord> distinct_;
  std::vector<Id> distinct_ids_;
  Runs<Relation> relations_;

  // Chains of the words that share a key, a stem or a synonym set: the last word of each, and the word before each in its chain.
  // The heads and `number_of_` are -1 between two groups.
  struct Link {
    int32_t word, previous;
  };
  std::vector<int32_t> number_of_;  // per word id
  std::vector<int32_t> last_with_key_, last_with_stem_, last_in_synset_;
  std::vector<int32_t> before_by_key_, before_by_stem_;
  std::vector<Link> synset_links_;
  std::vector<int32_t> modules_;  // per word: bits of the modules by which it matches the present word

  Runs<Occurrence> phrases_;
  Runs<int32_t> targets_;
  std::vector<int32_t> first_source_;
  std::vector<Source> sources_;
  std::vector<int32_t> slots_;             // open addressing by node: numbers of all phrases of the group
  std::vector<Phrase> all_phrases_;        // by their number
  std::vector<int32_t> all_occurrences_;   // number of the phrase of each occurrence
  Runs<int32_t> all_targets_;
  std::vector<int32_t> useful_;            // per phrase: its final number, -1 for a phrase without a paraphrase
};

}  // namespace ck
