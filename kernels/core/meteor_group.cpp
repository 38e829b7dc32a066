#include "meteor_group.hpp"

#include <utility>

#include "guard.hpp"

namespace ck {

namespace {

constexpr size_t MOST_RELATIONS = size_t{1} << 26;  // reached by thousands of words that were made to have equal hashes

}  // namespace

MeteorGroup::MeteorGroup(const MeteorTexts& texts)
    : texts_(texts),
      number_of_(texts.n_words(), -1),
      last_with_key_(texts.n_numbers(), -1),
      last_with_stem_(texts.n_numbers(), -1),
      last_in_synset_(texts.lexicon().n_synsets(), -1) {}

void MeteorGroup::read(std::span<const int64_t> texts) {
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

void MeteorGroup::number_words(std::span<const int64_t> texts) {
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

void MeteorGroup::link_words() {
  before_by_key_.clear();
  before_by_stem_.clear();
  synset_links_.clear();
  for (int32_t k = 0; k < n_words(); ++k) {
    const MeteorWord& word = distinct_[k];
    before_by_key_.push_back(std::exchange(last_with_key_[word.key], k));
    before_by_stem_.push_back(std::exchange(last_with_stem_[word.stem], k));
    for (const int32_t synset : texts_.synsets(word)) {
      const auto link = static_cast<int32_t>(synset_links_.size());
      synset_links_.push_back({k, std::exchange(last_in_synset_[synset], link)});
    }
  }
}

void MeteorGroup::clear_links() {
  for (const MeteorWord& word : distinct_) {
    last_with_key_[word.key] = last_with_stem_[word.stem] = -1;
    for (const int32_t synset : texts_.synsets(word)) last_in_synset_[synset] = -1;
  }
}

// Words with equal keys match by the module exact and by no other one.
void MeteorGroup::relate_words() {
  relations_.clear();
  modules_.assign(distinct_.size(), 0);
  for (const MeteorWord& word : distinct_) {
    for (int32_t other = last_with_key_[word.key]; other >= 0; other = before_by_key_[other]) relate(other, EXACT);
    for (int32_t other = last_with_stem_[word.stem]; other >= 0; other = before_by_stem_[other])
      if (key(other) != word.key) relate(other, STEM);
    for (const int32_t synset : texts_.synsets(word))
      for (int32_t link = last_in_synset_[synset]; link >= 0; link = synset_links_[link].previous)
        if (key(synset_links_[link].word) != word.key) relate(synset_links_[link].word, SYNONYM);
    for (Relation& relation : relations_.open_run()) relation.modules = std::exchange(modules_[relation.word], 0);
    relations_.end_run();
    if (relations_.values().size() > MOST_RELATIONS) fail(CK_TOO_LARGE);
  }
}

void MeteorGroup::relate(int32_t word, Module module) {
  if (modules_[word] == 0) relations_.add({word, 0});
  modules_[word] |= 1 << module;
}

// The slot of a phrase, or the free slot where it belongs.
size_t MeteorGroup::node_slot(Id node) const {
  const size_t mask = slots_.size() - 1;
  size_t place = (static_cast<uint32_t>(node) * 0x9E3779B1u >> 7) & mask;
  while (slots_[place] >= 0 && all_phrases_[slots_[place]].node != node) place = (place + 1) & mask;
  return place;
}

void MeteorGroup::number_phrases(std::span<const int64_t> texts) {
  size_t size = 0;
  for (const int64_t text : texts) size += texts_.phrases(text).size();
  size_t room = 64;
  while (room < 4 * size) room *= 2;
  slots_.assign(room, -1);
  all_phrases_.clear();
  all_occurrences_.clear();
  for (const int64_t text : texts) {
    for (const Occurrence& occurrence : texts_.phrases(text)) {
      const Phrase& phrase = texts_.phrase(occurrence.phrase);
      int32_t& number = slots_[node_slot(phrase.node)];
      if (number < 0) {
        number = static_cast<int32_t>(all_phrases_.size());
        all_phrases_.push_back(phrase);
      }
      all_occurrences_.push_back(number);
    }
  }
}

void MeteorGroup::find_targets() {
  useful_.assign(all_phrases_.size(), -1);
  all_targets_.clear();
  for (size_t k = 0; k < all_phrases_.size(); ++k) {
    for (const Id node : texts_.targets(all_phrases_[k])) {
      const int32_t target = slots_[node_slot(node)];
      if (target < 0) continue;
      useful_[k] = useful_[target] = 0;
      all_targets_.add(target);
    }
    all_targets_.end_run();
  }
}

void MeteorGroup::number_useful_phrases() {
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

void MeteorGroup::find_sources() {
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

void MeteorGroup::keep_useful_occurrences(std::span<const int64_t> texts) {
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

}  // namespace ck
