// What the pairs of a small set of texts share: which of its words match, and which of its phrases are paraphrases.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "key_map.hpp"
#include "meteor_search.hpp"
#include "meteor_texts.hpp"
#include "runs.hpp"

namespace ck {

constexpr size_t MOST_RELATIONS = size_t{1} << 26;  // reached by thousands of words that were made to have equal hashes

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
  explicit MeteorGroup(const MeteorTexts& texts)
      : texts_(texts),
        number_of_(texts.n_words(), -1),
        last_with_key_(texts.n_numbers(), -1),
        last_with_stem_(texts.n_numbers(), -1),
        last_in_synset_(texts.lexicon().n_synsets(), -1) {}

  // Reads the texts of the next group.
  void read(std::span<const int64_t> texts) {
    if (texts.size() > static_cast<size_t>(INT32_MAX)) fail(CK_TOO_LARGE);
    for (const int64_t text : texts)
      if (text < 0 || text >= texts_.n_texts()) fail(CK_OUT_OF_RANGE);
    number_words(texts);
    link_words();
    relate_words();
    clear_links();
    number_phrases(texts);
    find_targets();
    number_useful_phrases();
    find_sources();
    keep_useful_occurrences(texts);
  }

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
  void number_words(std::span<const int64_t> texts) {
    words_.clear();
    n_function_words_.clear();
    distinct_.clear();
    distinct_ids_.clear();
    for (const int64_t text : texts) {
      int32_t n_function_words = 0;
      for (const Id id : texts_.words(text)) {
        int32_t& number = number_of_[id];
        if (number < 0) {
          number = n_words();
          distinct_.push_back(texts_.word(id));
          distinct_ids_.push_back(id);
        }
        words_.add(number);
        n_function_words += distinct_[number].is_function;
      }
      words_.end_run();
      n_function_words_.push_back(n_function_words);
    }
    for (const Id id : distinct_ids_) number_of_[id] = -1;
  }

  void link_words() {
    before_by_key_.clear();
    before_by_stem_.clear();
    synset_links_.clear();
    for (int32_t k = 0; k < n_words(); ++k) {
      const MeteorWord& word = distinct_[k];
      before_by_key_.push_back(std::exchange(last_with_key_[word.key], k));
      before_by_stem_.push_back(std::exchange(last_with_stem_[word.stem], k));
      for (const int32_t synset : texts_.synsets(distinct_ids_[k])) {
        const auto link = static_cast<int32_t>(synset_links_.size());
        synset_links_.push_back({k, std::exchange(last_in_synset_[synset], link)});
      }
    }
  }

  // Words with equal keys match by the module exact and by no other one.
  void relate_words() {
    relations_.clear();
    modules_.assign(distinct_.size(), 0);
    for (int32_t k = 0; k < n_words(); ++k) {
      const MeteorWord& word = distinct_[k];
      for (int32_t other = last_with_key_[word.key]; other >= 0; other = before_by_key_[other]) relate(other, EXACT);
      for (int32_t other = last_with_stem_[word.stem]; other >= 0; other = before_by_stem_[other])
        if (key(other) != word.key) relate(other, STEM);
      for (const int32_t synset : texts_.synsets(distinct_ids_[k]))
        for (int32_t link = last_in_synset_[synset]; link >= 0; link = synset_links_[link].previous)
          if (key(synset_links_[link].word) != word.key) relate(synset_links_[link].word, SYNONYM);
      for (Relation& relation : relations_.open_run()) relation.modules = std::exchange(modules_[relation.word], 0);
      relations_.end_run();
      if (relations_.values().size() > MOST_RELATIONS) fail(CK_TOO_LARGE);
    }
  }

  void relate(int32_t word, Module module) {
    if (modules_[word] == 0) relations_.add({word, 0});
    modules_[word] |= 1 << module;
  }

  void clear_links() {
    for (const MeteorWord& word : distinct_) last_with_key_[word.key] = last_with_stem_[word.stem] = -1;
    for (const Id id : distinct_ids_)
      for (const int32_t synset : texts_.synsets(id)) last_in_synset_[synset] = -1;
  }

  void number_phrases(std::span<const int64_t> texts) {
    size_t size = 0;
    for (const int64_t text : texts) size += texts_.phrases(text).size();
    numbers_.reset(size);
    all_phrases_.clear();
    all_occurrences_.clear();
    for (const int64_t text : texts) {
      for (const Occurrence& occurrence : texts_.phrases(text)) {
        const Id number = numbers_.number(static_cast<uint64_t>(texts_.node(occurrence.phrase)));
        if (static_cast<size_t>(number) == all_phrases_.size()) all_phrases_.push_back(occurrence.phrase);
        all_occurrences_.push_back(number);
      }
    }
  }

  void find_targets() {
    useful_.assign(all_phrases_.size(), -1);
    all_targets_.clear();
    for (size_t k = 0; k < all_phrases_.size(); ++k) {
      for (const Id node : texts_.targets(all_phrases_[k])) {
        const int32_t target = numbers_.find(static_cast<uint64_t>(node));
        if (target < 0) continue;
        useful_[k] = useful_[target] = 0;
        all_targets_.add(target);
      }
      all_targets_.end_run();
    }
  }

  void number_useful_phrases() {
    int32_t size = 0;
    for (int32_t& number : useful_)
      if (number >= 0) number = size++;
    targets_.clear();
    for (size_t k = 0; k < useful_.size(); ++k) {
      if (useful_[k] < 0) continue;
      for (const int32_t target : all_targets_[k]) targets_.add(useful_[target]);
      targets_.end_run();
    }
  }

  void find_sources() {
    first_source_.assign(targets_.size(), -1);
    sources_.clear();
    for (int32_t phrase = 0; phrase < n_phrases(); ++phrase) {
      int32_t rank = 0;
      for (const int32_t target : targets(phrase)) {
        const auto source = static_cast<int32_t>(sources_.size());
        sources_.push_back({phrase, rank++, std::exchange(first_source_[target], source)});
      }
    }
  }

  void keep_useful_occurrences(std::span<const int64_t> texts) {
    phrases_.clear();
    const int32_t* number = all_occurrences_.data();
    for (const int64_t text : texts) {
      for (const Occurrence& occurrence : texts_.phrases(text)) {
        if (useful_[*number] >= 0) phrases_.add({useful_[*number], occurrence.at, occurrence.length});
        ++number;
      }
      phrases_.end_run();
    }
  }

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
  KeyMap numbers_;                         // by node: numbers of all phrases of the group
  std::vector<Id> all_phrases_;            // by their number
  std::vector<int32_t> all_occurrences_;   // number of the phrase of each occurrence
  Runs<int32_t> all_targets_;
  std::vector<int32_t> useful_;            // per phrase: its final number, -1 for a phrase without a paraphrase
};

}  // namespace ck
