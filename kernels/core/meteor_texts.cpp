#include "meteor_texts.hpp"

#include <algorithm>

#include "guard.hpp"
#include "meteor_normalise.hpp"
#include "stemmer.hpp"

namespace ck {

namespace {

constexpr Id NOT_PLAIN = -1;  // the rules for punctuation may change the word
constexpr Id UNKNOWN = -2;

void reserve_more(auto& values, size_t count) {
  if (values.capacity() - values.size() < count) values.reserve(std::max(2 * values.size(), values.size() + count));
}

std::string lower_case(std::string_view ascii) {
  std::string out(ascii);
  for (char& letter : out)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return out;
}

std::string_view bytes_of(std::span<const Id> words) { return {reinterpret_cast<const char*>(words.data()), words.size_bytes()}; }

}  // namespace

int64_t MeteorTexts::intern(std::string_view text) {
  const Id known = raw_texts_.find(text);
  if (known >= 0) return known;
  read_words(text);
  return add_text(text);
}

void MeteorTexts::use_index(const TextIndex& index) {
  if (&index == index_) return;
  index_words_.clear();
  index_ = &index;
}

int64_t MeteorTexts::add_row(int64_t row) {
  if (!index_ || row < 0 || row >= index_->n_rows()) fail(CK_OUT_OF_RANGE);
  const std::string text = index_->text(row);
  const Id known = raw_texts_.find(text);
  if (known >= 0) return known;
  if (!read_plain_words(row)) read_words(text);
  return add_text(text);
}

// Sets `new_words_` to the words of a row if all of them are plain. Each word of the index is looked up once.
bool MeteorTexts::read_plain_words(int64_t row) {
  const Vocabulary& names = index_->vocabulary();
  index_words_.resize(static_cast<size_t>(names.size()), UNKNOWN);
  new_words_.clear();
  for (const Id word : index_->words(row)) {
    if (index_words_[word] == UNKNOWN) {
      const std::string_view name = names[word];
      index_words_[word] = is_plain_word(name) ? word_id(lower_case(name)) : NOT_PLAIN;
    }
    if (index_words_[word] == NOT_PLAIN) return false;
    new_words_.push_back(index_words_[word]);
  }
  return true;
}

// Sets `new_words_` to the words of a raw text.
void MeteorTexts::read_words(std::string_view text) {
  normalise(text, *lexicon_, split_);
  new_words_.clear();
  for (const std::string& word : split_) new_words_.push_back(word_id(word));
}

// Adds a text whose words are `new_words_`. What a failed call left behind its tables is dropped first; the text counts from the moment
// at which nothing can fail any more.
int64_t MeteorTexts::add_text(std::string_view text) {
  if (new_words_.size() > static_cast<size_t>(INT32_MAX)) fail(CK_TOO_LARGE);
  const Text last = texts_.empty() ? Text{0, 0} : texts_.back();
  text_words_.resize(last.words_end);
  occurrences_.resize(last.occurrences_end);
  text_words_.insert(text_words_.end(), new_words_.begin(), new_words_.end());
  find_phrases();
  reserve_more(texts_, 1);
  const Id id = raw_texts_.intern(text);
  texts_.push_back({static_cast<int64_t>(text_words_.size()), static_cast<int64_t>(occurrences_.size())});
  return id;
}

// Appends the phrases of the table that occur in `new_words_`.
void MeteorTexts::find_phrases() {
  for (size_t first = 0; first < new_words_.size(); ++first) {
    Id phrase = words_[new_words_[first]].phrase;
    for (size_t last = first; phrase >= 0; phrase = extended(phrase, new_words_[last])) {
      occurrences_.push_back({phrase, static_cast<int32_t>(first), static_cast<int32_t>(++last - first)});
      if (last == new_words_.size() || words_[new_words_[last]].paraphrase < 0) break;
    }
  }
}

// The phrase that a word makes of another one, or -1. Searched for in the table once.
Id MeteorTexts::extended(Id phrase, Id word) {
  const uint64_t key = static_cast<uint64_t>(phrase) << 32 | static_cast<uint32_t>(word);
  Id longer = longer_phrases_.find(key);
  if (longer == KeyMap::UNKNOWN) {
    longer = add_phrase(lexicon_->paraphrase_child(phrases_[phrase].node, words_[word].paraphrase));
    longer_phrases_.add(key, longer);
  }
  return longer;
}

// A number for a node; -1 for no node.
Id MeteorTexts::add_phrase(Id node) {
  if (node < 0) return -1;
  const std::span<const Id> targets = lexicon_->paraphrase_targets(node);
  const Phrase phrase{node, static_cast<int32_t>(targets.size()), static_cast<int64_t>(targets_.size())};
  if (phrases_.size() == static_cast<size_t>(INT32_MAX)) fail(CK_TOO_LARGE);
  reserve_more(phrases_, 1);
  targets_.insert(targets_.end(), targets.begin(), targets.end());
  phrases_.push_back(phrase);
  return static_cast<Id>(phrases_.size()) - 1;
}

Id MeteorTexts::word_id(std::string_view word) {
  const Id known = names_.find(word);
  return known >= 0 ? known : add_word(word);
}

Id MeteorTexts::add_word(std::string_view word) {
  synsets_.resize(words_.empty() ? 0 : words_.back().first_synset + words_.back().n_synsets);  // drops what a failed call left
  MeteorWord entry;
  entry.key = number_of_hash(java_hash(word));
  entry.stem = number_of_hash(java_hash(stem_english(word)));
  entry.paraphrase = lexicon_->paraphrase_word(word);
  entry.phrase = entry.paraphrase < 0 ? -1 : add_phrase(lexicon_->paraphrase_root(entry.paraphrase));
  entry.is_function = lexicon_->is_function_word(word);
  entry.first_synset = static_cast<int64_t>(synsets_.size());
  lexicon_->append_synsets(word, synsets_);
  for (size_t k = static_cast<size_t>(entry.first_synset); k < synsets_.size(); ++k)
    if (synsets_[k] < 0 || synsets_[k] >= lexicon_->n_synsets()) fail(CK_BAD_DATA);
  entry.n_synsets = static_cast<int32_t>(static_cast<int64_t>(synsets_.size()) - entry.first_synset);
  reserve_more(words_, 1);
  const Id id = names_.intern(word);
  words_.push_back(entry);
  return id;
}

Id MeteorTexts::number_of_hash(int32_t hash) {
  const uint64_t key = static_cast<uint32_t>(hash);
  if (numbers_.find(key) == KeyMap::UNKNOWN) numbers_.add(key, static_cast<Id>(numbers_.size()));
  return numbers_.find(key);
}

void MeteorTexts::number_same_words(std::span<const int64_t> texts, int64_t* numbers) const {
  Vocabulary sequences;
  for (const int64_t text : texts) {
    if (text < 0 || text >= n_texts()) fail(CK_OUT_OF_RANGE);
    *numbers++ = sequences.intern(bytes_of(words(text)));
  }
}

}  // namespace ck
