#include "text_index.hpp"

#include <algorithm>

namespace ck {

namespace {

constexpr uint64_t FREE = ~0ull;
constexpr uint64_t NO_PREFIX = 0xFFFFFFFFull << 32;
constexpr int64_t MOST_TOKENS = 1 << 24;  // largest token id + 1

uint64_t hash_words(std::span<const Id> words) {
  uint64_t hash = 0x9E3779B97F4A7C15u ^ words.size();
  for (Id word : words) hash = (hash ^ static_cast<uint64_t>(word)) * 0xFF51AFD7ED558CCDu, hash ^= hash >> 29;
  return mix(hash);
}

// Length in bytes of the white space at `text[place]`, as Python's str.split() defines it; 0 for another character.
size_t space_at(std::string_view text, size_t place) {
  const auto byte = [&](size_t k) { return place + k < text.size() ? static_cast<unsigned char>(text[place + k]) : 0u; };
  const unsigned first = byte(0);
  if (first < 0x80) return first == ' ' || (first >= 0x09 && first <= 0x0D) || (first >= 0x1C && first <= 0x1F) ? 1 : 0;
  if (first == 0xC2) return byte(1) == 0x85 || byte(1) == 0xA0 ? 2 : 0;
  if (first == 0xE1) return byte(1) == 0x9A && byte(2) == 0x80 ? 3 : 0;                       // U+1680
  if (first == 0xE3) return byte(1) == 0x80 && byte(2) == 0x80 ? 3 : 0;                       // U+3000
  if (first != 0xE2) return 0;
  if (byte(1) == 0x81) return byte(2) == 0x9F ? 3 : 0;                                        // U+205F
  if (byte(1) != 0x80) return 0;
  const unsigned last = byte(2);                                                              // U+2000 to U+202F
  return (last >= 0x80 && last <= 0x8A) || last == 0xA8 || last == 0xA9 || last == 0xAF ? 3 : 0;
}

// Calls `work(word)` for the words between white space.
template <class Work>
void for_each_word(std::string_view text, Work&& work) {
  size_t place = 0, first = 0;
  while (place < text.size()) {
    const size_t space = space_at(text, place);
    if (space && place > first) work(text.substr(first, place - first));
    place += space ? space : 1;
    if (space) first = place;
  }
  if (place > first) work(text.substr(first, place - first));
}

void reserve_more(auto& values, size_t count) {
  if (values.capacity() - values.size() < count) values.reserve(std::max(2 * values.size(), values.size() + count));
}

}  // namespace

TextIndex::TextIndex(bool ptb) : row_slots_(1 << 8, -1), slot_keys_(1 << 10, FREE), slot_grams_(1 << 10, -1) {
  if (ptb) tokenizer_.emplace(words_);
}

std::string TextIndex::text(int64_t row) const {
  std::string out;
  const std::span<const Id> own = words(row);
  for (size_t k = 0; k < own.size(); ++k) {
    if (k > 0) out += ' ';
    out += words_[own[k]];
  }
  return out;
}

int64_t TextIndex::add(std::string_view text) {
  scratch_.clear();
  if (tokenizer_) {
    tokenizer_->append(text, scratch_);
    if (scratch_.empty()) scratch_.push_back(words_.intern(""));
  } else {
    for (size_t first = 0; first <= text.size();) {
      const size_t blank = std::min(text.find(' ', first), text.size());
      scratch_.push_back(words_.intern(text.substr(first, blank - first)));
      first = blank + 1;
    }
  }
  return add_words(scratch_);
}

int64_t TextIndex::add_tokens(std::span<const int64_t> tokens, int64_t end, bool keep_end) {
  scratch_.clear();
  for (int64_t token : tokens) {
    const bool ends = token == end && end >= 0;
    if (ends && !keep_end) break;
    if (token < 0 || token >= MOST_TOKENS) fail(CK_OUT_OF_RANGE);
    if (token >= static_cast<int64_t>(token_words_.size())) token_words_.resize(token + 1, -1);
    if (token_words_[token] < 0) token_words_[token] = words_.intern(std::to_string(token));
    scratch_.push_back(token_words_[token]);
    if (ends) break;
  }
  return add_words(scratch_);
}

size_t TextIndex::row_slot(std::span<const Id> words) const {
  const size_t mask = row_slots_.size() - 1;
  size_t place = hash_words(words) & mask;
  while (row_slots_[place] >= 0 && !std::ranges::equal(this->words(row_slots_[place]), words)) place = (place + 1) & mask;
  return place;
}

// Rows enter the new table in their order, which `truncate` relies on.
void TextIndex::grow_row_slots() {
  std::vector<Id> slots(2 * row_slots_.size(), -1);
  const size_t mask = slots.size() - 1;
  for (int64_t row = 0; row < n_rows(); ++row) {
    size_t place = hash_words(words(row)) & mask;
    while (slots[place] >= 0) place = (place + 1) & mask;
    slots[place] = static_cast<Id>(row);
  }
  row_slots_.swap(slots);
}

int64_t TextIndex::add_words(std::span<const Id> words) {
  size_t place = row_slot(words);
  if (row_slots_[place] >= 0) return row_slots_[place];
  const int64_t row = n_rows();
  if (row == INT32_MAX) fail(CK_TOO_LARGE);
  reserve_more(row_starts_, 1);
  reserve_more(row_words_, words.size());
  reserve_more(gram_rows_, 1);
  reserve_more(row_grams_, 1);
  if (2 * (row + 1) > static_cast<int64_t>(row_slots_.size())) {
    grow_row_slots();
    place = row_slot(words);
  }
  row_words_.insert(row_words_.end(), words.begin(), words.end());
  row_starts_.push_back(static_cast<int64_t>(row_words_.size()));
  gram_rows_.push_back(-1);
  row_grams_.emplace_back();
  row_slots_[place] = static_cast<Id>(row);
  return row;
}

bool TextIndex::is_plain(Id word) {
  if (word >= static_cast<Id>(plain_.size())) plain_.resize(words_.size(), -1);
  if (plain_[word] < 0) {
    const std::string_view text = words_[word];
    bool plain = !text.empty();
    for (size_t place = 0; place < text.size() && plain; ++place) plain = !space_at(text, place);
    plain_[word] = plain;
  }
  return plain_[word] == 1;
}

void TextIndex::split_words(std::string_view text, std::vector<Id>& out) {
  for_each_word(text, [&](std::string_view word) { out.push_back(words_.intern(word)); });
}

int64_t TextIndex::gram_row(int64_t row) {
  if (gram_rows_[row] < 0) {
    const std::span<const Id> own = words(row);
    int64_t target = row;
    if (!std::ranges::all_of(own, [&](Id word) { return is_plain(word); })) {
      const std::string joined = text(row);
      scratch_.clear();
      split_words(joined, scratch_);
      target = add_words(scratch_);
    }
    reserve_more(resolved_, 2);
    if (!is_counted(target)) {
      count_row(target);
      gram_rows_[target] = static_cast<Id>(target);
      resolved_.push_back(static_cast<Id>(target));
    }
    if (target != row) {
      gram_rows_[row] = static_cast<Id>(target);
      resolved_.push_back(static_cast<Id>(row));
    }
  }
  return gram_rows_[row];
}

// Counts the n-grams of a row by first occurrence within each order: sums over entries depend on the text alone, not on the texts
// that were added before, and have the order of the COCO toolkit's dictionaries.
void TextIndex::count_row(int64_t row) {
  const size_t length = static_cast<size_t>(this->length(row));
  if (length > INT32_MAX / ORDERS) fail(CK_TOO_LARGE);
  reserve_grams(ORDERS * length);
  reserve_more(entries_, ORDERS * length);
  prefixes_.resize(length);
  const std::span<const Id> words = this->words(row);
  RowGrams grams;
  grams.first = static_cast<int64_t>(entries_.size());
  for (size_t order = 1; order <= ORDERS; ++order) {
    const int64_t first = static_cast<int64_t>(entries_.size());
    for (size_t place = 0; place + order <= length; ++place) {
      const Id word = words[place + order - 1];
      const Id gram = prefixes_[place] = order == 1 ? unigram(word) : extend(prefixes_[place], word);
      const int64_t last = last_entry_[gram];
      if (last >= first && last < static_cast<int64_t>(entries_.size()) && entries_[last].gram == gram) {
        ++entries_[last].count;
      } else {
        last_entry_[gram] = static_cast<int64_t>(entries_.size());
        entries_.push_back({gram, 1});
      }
    }
    grams.ends[order - 1] = static_cast<int32_t>(static_cast<int64_t>(entries_.size()) - grams.first);
  }
  row_grams_[row] = grams;
}

// Room for `count` more n-grams; the table stays at most 60 % full.
void TextIndex::reserve_grams(size_t count) {
  if (gram_keys_.size() + count > static_cast<size_t>(INT32_MAX)) fail(CK_TOO_LARGE);
  reserve_more(gram_keys_, count);
  reserve_more(last_entry_, count);
  if (word_grams_.size() < static_cast<size_t>(words_.size())) word_grams_.resize(words_.size(), -1);
  size_t size = slot_keys_.size();
  while (10 * (gram_keys_.size() + count) > 6 * size) size *= 2;
  if (size == slot_keys_.size()) return;
  std::vector<Id> grams(size, -1);
  std::vector<uint64_t> keys(size, FREE);
  slot_keys_.swap(keys);
  slot_grams_.swap(grams);
  for (size_t gram = 0; gram < gram_keys_.size(); ++gram) {
    if ((gram_keys_[gram] & NO_PREFIX) == NO_PREFIX) continue;
    const size_t place = gram_slot(gram_keys_[gram]);
    slot_keys_[place] = gram_keys_[gram];
    slot_grams_[place] = static_cast<Id>(gram);
  }
}

size_t TextIndex::gram_slot(uint64_t key) const {
  const size_t mask = slot_keys_.size() - 1;
  size_t place = mix(key) & mask;
  while (slot_keys_[place] != FREE && slot_keys_[place] != key) place = (place + 1) & mask;
  return place;
}

Id TextIndex::unigram(Id word) {
  if (word_grams_[word] < 0) {
    word_grams_[word] = static_cast<Id>(gram_keys_.size());
    gram_keys_.push_back(NO_PREFIX | static_cast<uint32_t>(word));
    last_entry_.push_back(-1);
  }
  return word_grams_[word];
}

Id TextIndex::extend(Id prefix, Id word) {
  const uint64_t key = static_cast<uint64_t>(prefix) << 32 | static_cast<uint32_t>(word);
  const size_t place = gram_slot(key);
  if (slot_keys_[place] == FREE) {
    slot_keys_[place] = key;
    slot_grams_[place] = static_cast<Id>(gram_keys_.size());
    gram_keys_.push_back(key);
    last_entry_.push_back(-1);
  }
  return slot_grams_[place];
}

Id TextIndex::intern_gram(std::string_view gram) {
  scratch_.clear();
  split_words(gram, scratch_);
  if (scratch_.empty() || scratch_.size() > ORDERS) fail(CK_BAD_ARGUMENT);
  reserve_grams(ORDERS);
  Id id = unigram(scratch_[0]);
  for (size_t k = 1; k < scratch_.size(); ++k) id = extend(id, scratch_[k]);
  return id;
}

Id TextIndex::intern_gram(Id prefix, Id word) {
  if (word < 0 || word >= words_.size() || prefix < -1 || prefix >= n_grams()) fail(CK_OUT_OF_RANGE);
  reserve_grams(1);
  return prefix < 0 ? unigram(word) : extend(prefix, word);
}

std::string TextIndex::gram_text(Id gram) const {
  std::string out(words_[static_cast<Id>(gram_keys_[gram])]);
  while ((gram_keys_[gram] & NO_PREFIX) != NO_PREFIX) {
    gram = static_cast<Id>(gram_keys_[gram] >> 32);
    out = std::string(words_[static_cast<Id>(gram_keys_[gram])]) + ' ' + out;
  }
  return out;
}

Mark TextIndex::mark() const {
  return {n_rows(), n_grams(), static_cast<int64_t>(entries_.size()), static_cast<int64_t>(resolved_.size())};
}

void TextIndex::rollback(const Mark& mark, bool keep_grams) {
  if (mark.rows > n_rows() || mark.grams > n_grams() || mark.entries > static_cast<int64_t>(entries_.size()) ||
      mark.resolved > static_cast<int64_t>(resolved_.size()) || mark.rows < 0 || mark.grams < 0 || mark.entries < 0 || mark.resolved < 0) {
    fail(CK_OUT_OF_RANGE);
  }
  // A row that stays may have been counted since the mark: it is counted again when it is needed.
  for (size_t k = mark.resolved; k < resolved_.size(); ++k) {
    gram_rows_[resolved_[k]] = -1;
    if (row_grams_[resolved_[k]].first >= mark.entries) row_grams_[resolved_[k]] = {};
  }
  resolved_.resize(mark.resolved);
  entries_.resize(mark.entries);
  drop_rows(mark.rows);
  if (!keep_grams) drop_grams(mark.grams);
  if (mark.rows == 0) {  // a run that forgets its texts wants the memory back
    row_words_.shrink_to_fit();
    entries_.shrink_to_fit();
  }
}

// Slots are cleared in the reverse order of insertion, so that no probe sequence of a key that stays is interrupted.
void TextIndex::drop_rows(int64_t n_rows) {
  for (int64_t row = this->n_rows() - 1; row >= n_rows; --row) row_slots_[row_slot(words(row))] = -1;
  row_words_.resize(row_starts_[n_rows]);
  row_starts_.resize(n_rows + 1);
  gram_rows_.resize(n_rows);
  row_grams_.resize(n_rows);
}

void TextIndex::drop_grams(int64_t n_grams) {
  for (int64_t gram = this->n_grams() - 1; gram >= n_grams; --gram) {
    const uint64_t key = gram_keys_[gram];
    if ((key & NO_PREFIX) == NO_PREFIX) {
      word_grams_[static_cast<Id>(key)] = -1;
    } else {
      const size_t place = gram_slot(key);
      slot_keys_[place] = FREE;
      slot_grams_[place] = -1;
    }
  }
  gram_keys_.resize(n_grams);
  last_entry_.resize(n_grams);
}

void LocalNumbers::reset(size_t count) {
  for (size_t place : used_) ids_[place] = -1;
  used_.clear();
  size_ = 0;
  size_t size = std::max<size_t>(ids_.size(), 64);
  while (size < 2 * count) size *= 2;
  if (size > ids_.size()) {
    ids_.assign(size, -1);
    numbers_.resize(size);
  }
  mask_ = size - 1;
  used_.reserve(count);
}

}  // namespace ck
