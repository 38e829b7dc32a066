#include "text_index.hpp"

#include <algorithm>

#include "code_points.hpp"
#include "strings.hpp"

namespace ck {

namespace {

constexpr Id NO_GRAM = -1;                // the prefix of a unigram
constexpr int64_t MOST_TOKENS = 1 << 24;  // largest token id + 1
// White space as Python's str.split() defines it.
constexpr Range WHITE_SPACE[] = {{0x09, 0x0D},     {0x1C, 0x20},     {0x85, 0x85},     {0xA0, 0xA0},     {0x1680, 0x1680},
                                 {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}};

Id prefix_of(uint64_t gram_key) { return static_cast<Id>(gram_key >> 32); }
Id word_of(uint64_t gram_key) { return static_cast<Id>(gram_key); }

// Does work for each of some rows.
ck_status for_each_row(const TextIndex& index, const int64_t* rows, int64_t n, auto&& work) {
  return guarded([&] {
    for (const int64_t row : items(rows, n)) {
      index.check_row(row);
      work(row);
    }
  });
}

// The runs starts[k] to starts[k + 1] of some values.
template <class T>
std::span<const T> run(const T* values, const int64_t* starts, int64_t k) {
  if (starts[k] < 0 || starts[k + 1] < starts[k]) fail(CK_BAD_ARGUMENT);
  return {values + starts[k], static_cast<size_t>(starts[k + 1] - starts[k])};
}

}  // namespace

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
  for (const int64_t token : tokens) {
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

bool TextIndex::is_plain(Id word) {
  if (word >= static_cast<Id>(plain_.size())) plain_.resize(words_.size(), -1);
  if (plain_[word] < 0) {
    bool plain = words_[word].size() > 0;
    for_each_character(words_[word], [&](char32_t code) { plain = plain && !contains(WHITE_SPACE, code); });
    plain_[word] = plain;
  }
  return plain_[word] == 1;
}

// Sets `scratch_` to the words between white space.
void TextIndex::split_words(std::string_view text) {
  scratch_.clear();
  size_t first = 0, place = 0;
  while (place < text.size()) {
    const Character character = first_character(text.substr(place));
    const bool is_space = contains(WHITE_SPACE, character.code);
    if (is_space && place > first) scratch_.push_back(words_.intern(text.substr(first, place - first)));
    place += character.size;
    if (is_space) first = place;
  }
  if (place > first) scratch_.push_back(words_.intern(text.substr(first)));
}

int64_t TextIndex::gram_row(int64_t row) {
  if (gram_rows_[row] >= 0) return gram_rows_[row];
  int64_t target = row;
  if (!std::ranges::all_of(words(row), [&](Id word) { return is_plain(word); })) {
    split_words(text(row));
    target = add_words(scratch_);
  }
  reserve_more(resolved_, 2);
  if (row_grams_[target].first < 0) {
    count_row(target);
    set_gram_row(target, target);
  }
  if (target != row) set_gram_row(row, target);
  return target;
}

// Counts the n-grams of a row by first occurrence within each order: sums over entries depend on the text alone, not on the texts
// that were added before, and have the order of the COCO toolkit's dictionaries.
void TextIndex::count_row(int64_t row) {
  const std::span<const Id> words = this->words(row);
  if (words.size() > INT32_MAX / ORDERS) fail(CK_TOO_LARGE);
  reserve_grams(ORDERS * words.size());
  reserve_more(entries_, ORDERS * words.size());
  prefixes_.assign(words.size(), NO_GRAM);
  row_entries_.reset(ORDERS * words.size());
  RowGrams grams;
  grams.first = static_cast<int64_t>(entries_.size());
  for (size_t order = 1; order <= ORDERS; ++order) {
    for (size_t place = 0; place + order <= words.size(); ++place) {
      const Id gram = prefixes_[place] = extend(prefixes_[place], words[place + order - 1]);
      Id& entry = row_entries_[static_cast<uint64_t>(gram)];
      if (entry >= 0) {
        ++entries_[grams.first + entry].count;
      } else {
        entry = static_cast<Id>(static_cast<int64_t>(entries_.size()) - grams.first);
        entries_.push_back({gram, 1});
      }
    }
    grams.ends[order - 1] = static_cast<int32_t>(static_cast<int64_t>(entries_.size()) - grams.first);
  }
  row_grams_[row] = grams;
}

Id TextIndex::intern_gram(std::string_view gram) {
  split_words(gram);
  if (scratch_.empty() || scratch_.size() > ORDERS) fail(CK_BAD_ARGUMENT);
  reserve_grams(ORDERS);
  Id id = NO_GRAM;
  for (const Id word : scratch_) id = extend(id, word);
  return id;
}

std::string TextIndex::gram_text(Id gram) const {
  std::string out;
  for (; gram != NO_GRAM; gram = prefix_of(gram_keys_[gram]))
    out = std::string(words_[word_of(gram_keys_[gram])]) + (out.empty() ? "" : " ") + out;
  return out;
}

void TextIndex::restore(std::span<const ck_string> words, std::span<const uint64_t> gram_keys) {
  for (size_t k = 0; k < words.size(); ++k)
    if (words_.intern(view(words[k])) != static_cast<Id>(k)) fail(CK_BAD_ARGUMENT);
  reserve_grams(gram_keys.size());
  for (const uint64_t key : gram_keys) {
    const Id prefix = prefix_of(key), word = word_of(key), n_grams = static_cast<Id>(this->n_grams());
    if (word < 0 || word >= words_.size() || prefix < NO_GRAM || prefix >= n_grams) fail(CK_OUT_OF_RANGE);
    if (extend(prefix, word) != n_grams) fail(CK_BAD_ARGUMENT);
  }
}

void TextIndex::rollback(const ck_mark& mark, bool keep_grams) {
  const ck_mark now = this->mark();
  const bool is_beyond = mark.rows > now.rows || mark.grams > now.grams || mark.entries > now.entries || mark.resolved > now.resolved;
  if (is_beyond || std::min({mark.rows, mark.grams, mark.entries, mark.resolved}) < 0) fail(CK_OUT_OF_RANGE);
  // The rows that stay must keep their entries and n-grams: the sizes of a mark are those of one moment, not any four numbers.
  const Resolved last = mark.resolved ? resolved_[mark.resolved - 1] : Resolved{};
  if (last.rows > mark.rows || last.entries != mark.entries || (!keep_grams && last.grams > mark.grams)) fail(CK_OUT_OF_RANGE);
  // A row that stays may have been counted since the mark: it is counted again when it is needed.
  for (const auto& [row, rows, grams, entries] : std::span(resolved_).subspan(mark.resolved)) {
    gram_rows_[row] = -1;
    if (row_grams_[row].first >= mark.entries) row_grams_[row] = {};
  }
  resolved_.resize(mark.resolved);
  entries_.resize(mark.entries);
  rows_.truncate(mark.rows);
  gram_rows_.resize(mark.rows);
  row_grams_.resize(mark.rows);
  if (mark.rows == 0) entries_.shrink_to_fit();  // a run that forgets its texts wants the memory back
  if (keep_grams) return;
  for (int64_t gram = mark.grams; gram < now.grams; ++gram) grams_.remove(gram_keys_[gram], gram_keys_);
  gram_keys_.truncate(mark.grams);
}

}  // namespace ck

using ck::guarded;

ck_status ck_index_new(int ptb, ck_index** out) {
  return guarded([&] { *out = new ck_index(ptb != 0); });
}

void ck_index_free(ck_index* index) { delete index; }

ck_mark ck_index_mark(const ck_index* index) { return index->mark(); }

ck_status ck_index_rollback(ck_index* index, ck_mark mark, int keep_grams) {
  return guarded([&] { index->rollback(mark, keep_grams != 0); });
}

ck_status ck_index_add(ck_index* index, const ck_string* texts, int64_t n, int64_t* rows) {
  return guarded([&] {
    for (const ck_string& text : ck::items(texts, n)) *rows++ = index->add(ck::view(text));
  });
}

ck_status ck_index_add_tokens(ck_index* index, const int64_t* tokens, const int64_t* starts, int64_t n, int64_t end, int keep_end,
                              int64_t* rows) {
  return guarded([&] {
    for (int64_t k = 0; k < n; ++k) ck::run(tokens, starts, k);  // all bounds first
    for (int64_t k = 0; k < n; ++k) rows[k] = index->add_tokens(ck::run(tokens, starts, k), end, keep_end != 0);
  });
}

ck_status ck_index_gram_rows(ck_index* index, const int64_t* rows, int64_t n, int64_t* gram_rows) {
  return ck::for_each_row(*index, rows, n, [&](int64_t row) { *gram_rows++ = index->gram_row(row); });
}

ck_status ck_index_lengths(const ck_index* index, const int64_t* rows, int64_t n, int64_t* lengths) {
  return ck::for_each_row(*index, rows, n, [&](int64_t row) { *lengths++ = index->length(row); });
}

ck_status ck_index_texts(const ck_index* index, const int64_t* rows, int64_t n, ck_strings** out) {
  return ck::give_strings(out, [&](ck_strings& texts) {
    for (const int64_t row : ck::items(rows, n)) {
      index->check_row(row);
      texts.add(index->text(row));
    }
  });
}

int64_t ck_index_n_words(const ck_index* index) { return index->vocabulary().size(); }

ck_status ck_index_words(const ck_index* index, ck_strings** out) {
  return ck::give_strings(out, [&](ck_strings& words) {
    for (int64_t word = 0; word < index->vocabulary().size(); ++word) words.add(index->vocabulary()[word]);
  });
}

ck_status ck_index_grams(const ck_index* index, ck_strings** out) {
  return ck::give_strings(out, [&](ck_strings& grams) {
    for (int64_t gram = 0; gram < index->n_grams(); ++gram) grams.add(index->gram_text(static_cast<ck::Id>(gram)));
  });
}

ck_status ck_index_entries(const ck_index* index, int64_t row, int64_t* ends, int64_t* grams, int64_t* counts) {
  return guarded([&] {
    index->check_counted(row);
    std::ranges::copy(index->grams(row).ends, ends);
    if (!grams) return;
    for (const ck::Entry& entry : index->entries(row)) {
      *grams++ = entry.gram;
      *counts++ = entry.count;
    }
  });
}

ck_status ck_index_intern_grams(ck_index* index, const ck_string* grams, int64_t n, int64_t* ids) {
  return guarded([&] {
    for (const ck_string& gram : ck::items(grams, n)) *ids++ = index->intern_gram(ck::view(gram));
  });
}

ck_status ck_index_gram_keys(const ck_index* index, uint64_t* keys) {
  for (int64_t gram = 0; gram < index->n_grams(); ++gram) *keys++ = index->gram_keys()[gram];
  return CK_OK;
}

ck_status ck_index_restore(ck_index* index, const ck_string* words, int64_t n_words, const uint64_t* keys, int64_t n_grams) {
  return guarded([&] { index->restore(ck::items(words, n_words), ck::items(keys, n_grams)); });
}

ck_status ck_document_frequencies(const ck_index* index, const int64_t* rows, const int64_t* starts, int64_t n_documents, int64_t* df,
                                  int64_t n_df) {
  return guarded([&] {
    std::ranges::fill(ck::items(df, n_df), 0);
    ck::KeyMap grams;  // of a document
    for (int64_t document = 0; document < n_documents; ++document) {
      grams.reset(0);
      for (const int64_t row : ck::run(rows, starts, document)) {
        index->check_counted(row);
        for (const ck::Entry& entry : index->entries(row)) {
          if (entry.gram >= n_df) ck::fail(CK_OUT_OF_RANGE);
          ck::Id& is_counted = grams[static_cast<uint64_t>(entry.gram)];
          df[entry.gram] += is_counted < 0;
          is_counted = 1;
        }
      }
    }
  });
}
