// Builds a lexicon from METEOR's paraphrase table and word lists.
#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ck_meteor.h"
#include "guard.hpp"
#include "meteor_lexicon.hpp"
#include "meteor_lexicon_format.hpp"
#include "meteor_phrase_trie.hpp"
#include "vocabulary.hpp"

namespace ck {
namespace {

constexpr size_t BATCH = 512;  // lines that are looked up together
constexpr std::string_view BLANKS = " \t\n\v\f\r";

// Reads the paraphrase table from blocks that end anywhere. It has three lines per entry: a probability, which is not used, a phrase and a
// paraphrase of it. Nine of ten entries have the phrase of the entry before.
class ParaphraseReader {
 public:
  void feed(std::string_view data) {
    std::string first_line;
    if (!rest_.empty()) {
      const size_t size = data.find('\n') + 1;
      rest_.append(data.substr(0, size - 1));
      if (size == 0) return;
      first_line.swap(rest_);
      first_line.push_back('\n');
      read_line(first_line);
      data.remove_prefix(size);
    }
    while (!data.empty()) {
      const auto end = static_cast<const char*>(std::memchr(data.data(), '\n', data.size()));
      if (!end) break;
      const size_t size = static_cast<size_t>(end - data.data()) + 1;
      read_line(data.substr(0, size));
      data.remove_prefix(size);
    }
    rest_.assign(data);
  }

  // Reads a last line without line feed; CK_BAD_DATA for a table without entries or with a part of one.
  void finish() {
    if (!rest_.empty()) feed("\n");
    resolve();
    if (kind_ != PROBABILITY || targets_.empty()) fail(CK_BAD_DATA);
    if (targets_.size() > static_cast<size_t>(INT32_MAX)) fail(CK_TOO_LARGE);
  }

  Vocabulary& words() { return trie_.words(); }
  const PhraseTrie& trie() const { return trie_; }
  size_t n_targets() const { return targets_.size(); }

  // Calls visit(node, nodes of paraphrases) for each run of entries with the same phrase.
  template <class Visit>
  void for_each_run(Visit&& visit) const {
    for (size_t k = 0; k < runs_.size(); ++k) {
      const size_t end = k + 1 < runs_.size() ? runs_[k + 1].first : targets_.size();
      visit(runs_[k].node, std::span<const Id>(targets_).subspan(runs_[k].first, end - runs_[k].first));
    }
  }

 private:
  enum Kind { PROBABILITY, SOURCE, TARGET };

  // Entries with the same phrase, from the first to the next run.
  struct Run {
    Id node;
    size_t first;
  };

  // Reads a line with its line feed.
  void read_line(std::string_view line) {
    if (kind_ == TARGET) {
      look_up(line);
    } else if (kind_ == SOURCE && line != source_) {
      source_ = line;
      sources_.push_back(n_phrases_);
      look_up(line);
    }
    kind_ = static_cast<Kind>((kind_ + 1) % 3);
  }

  void look_up(std::string_view phrase) {
    phrases_.append(phrase);
    if (++n_phrases_ == BATCH) resolve();
  }

  // Turns the waiting phrases into runs and targets.
  void resolve() {
    trie_.find_or_add(phrases_, nodes_);
    auto next = nodes_.begin();
    for (const size_t place : sources_) {
      const auto source = nodes_.begin() + static_cast<std::ptrdiff_t>(place);
      targets_.insert(targets_.end(), next, source);
      runs_.push_back({*source, targets_.size()});
      next = source + 1;
    }
    targets_.insert(targets_.end(), next, nodes_.end());
    phrases_.clear();
    sources_.clear();
    n_phrases_ = 0;
  }

  Kind kind_ = PROBABILITY;  // of the next line
  std::string rest_;         // of the last block: a line without its end
  std::string source_;       // the last phrase with its line feed
  std::string phrases_;      // that wait to be looked up: nodes do not depend on the ends of blocks
  std::vector<size_t> sources_;  // which of them begin a run; the others are paraphrases
  size_t n_phrases_ = 0;
  std::vector<Id> nodes_;
  PhraseTrie trie_;
  std::vector<Run> runs_;
  std::vector<Id> targets_;
};

// Lines of a list; a last line feed ends the last line.
std::vector<std::string_view> lines_of(const ck_string& list) {
  std::string_view text = view(list);
  if (text.ends_with('\n')) text.remove_suffix(1);
  std::vector<std::string_view> lines;
  for (size_t first = 0, end = 0; end != std::string_view::npos; first = end + 1) {
    end = text.find('\n', first);
    lines.push_back(text.substr(first, end == std::string_view::npos ? end : end - first));
    if (lines.back().ends_with('\r')) lines.back().remove_suffix(1);
  }
  return lines;
}

// Calls visit(word) for each word of a line.
template <class Visit>
void for_each_word(std::string_view line, Visit&& visit) {
  for (size_t end = 0;;) {
    const size_t first = line.find_first_not_of(BLANKS, end);
    if (first == std::string_view::npos) return;
    end = std::min(line.find_first_of(BLANKS, first), line.size());
    visit(line.substr(first, end - first));
  }
}

int64_t number_of(std::string_view digits) {
  int64_t number = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9' || digits.size() > 18) fail(CK_BAD_DATA);
    number = 10 * number + (digit - '0');
  }
  return number;
}

// What the four lists of the jar say about the words.
class WordLists {
 public:
  WordLists(const ck_lexicon_lists& lists, Vocabulary& words) : words_(words) {
    for (const std::string_view line : lines_of(lists.function_words)) flags_of(words_.intern(line)) |= IS_FUNCTION_WORD;
    for (const std::string_view line : lines_of(lists.prefixes)) read_prefix(line);
    read_exceptions(lines_of(lists.exceptions));
    read_synsets(lines_of(lists.synsets));
    flags_.resize(static_cast<size_t>(words_.size()));
    sets_.resize(flags_.size());
  }

  const std::vector<uint8_t>& flags() const { return flags_; }
  // Pairs of an irregular form and a base form, by form.
  const std::vector<std::pair<Id, Id>>& bases() const { return bases_; }
  // Synonym sets of each word, ascending.
  const std::vector<std::vector<int64_t>>& sets() const { return sets_; }
  // The numbers of the list, ascending: a set is named by its place among them.
  const std::vector<int64_t>& set_numbers() const { return set_numbers_; }

 private:
  uint8_t& flags_of(Id word) {
    if (static_cast<size_t>(word) >= flags_.size()) flags_.resize(static_cast<size_t>(words_.size()));
    return flags_[word];
  }

  // A word after which a dot is no full stop, and a mark if only before a number. A later line of the same word replaces an earlier one.
  void read_prefix(std::string_view line) {
    if (line.starts_with('#')) return;
    uint8_t* flags = nullptr;
    for_each_word(line, [&](std::string_view word) {
      if (flags) {
        if (word == "#NUMERIC_ONLY#") *flags |= IS_NUMERIC_PREFIX;
        return;
      }
      flags = &flags_of(words_.intern(word));
      *flags = (*flags & ~IS_NUMERIC_PREFIX) | IS_PREFIX;
    });
  }

  // Two lines each: a base form, its irregular forms.
  void read_exceptions(const std::vector<std::string_view>& lines) {
    if (lines.size() % 2) fail(CK_BAD_DATA);
    for (size_t k = 0; k < lines.size(); k += 2) {
      const Id base = words_.intern(lines[k]);
      for_each_word(lines[k + 1], [&](std::string_view form) { bases_.push_back({words_.intern(form), base}); });
    }
    std::stable_sort(bases_.begin(), bases_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  }

  // Two lines each: a word, the numbers of its sets. Later lines of the same word replace earlier ones.
  void read_synsets(const std::vector<std::string_view>& lines) {
    if (lines.size() % 2) fail(CK_BAD_DATA);
    for (size_t k = 0; k < lines.size(); k += 2) {
      const Id word = words_.intern(lines[k]);
      flags_of(word) |= HAS_SYNSETS;
      sets_.resize(std::max(sets_.size(), static_cast<size_t>(words_.size())));
      std::vector<int64_t>& sets = sets_[word];
      sets.clear();
      for_each_word(lines[k + 1], [&](std::string_view digits) { sets.push_back(number_of(digits)); });
      make_distinct(sets);
    }
    for (const auto& sets : sets_) set_numbers_.insert(set_numbers_.end(), sets.begin(), sets.end());
    make_distinct(set_numbers_);
  }

  static void make_distinct(std::vector<int64_t>& numbers) {
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  }

  Vocabulary& words_;
  std::vector<uint8_t> flags_;
  std::vector<std::pair<Id, Id>> bases_;
  std::vector<std::vector<int64_t>> sets_;
  std::vector<int64_t> set_numbers_;
};

// Turns counts per group, in starts[1] and on, into the places of the first items. Taking a place by starts[group + 1]++ for every item
// leaves the bounds of the groups.
void counts_to_places(std::span<int32_t> starts) {
  int32_t total = 0;
  for (int32_t& start : starts.subspan(1)) total += std::exchange(start, total);
}

// The buffer of a lexicon.
class LexiconBuffer {
 public:
  LexiconBuffer(const ParaphraseReader& table, const Vocabulary& words, int64_t n_paraphrase_words, const WordLists& lists) {
    lay_out(table, words, n_paraphrase_words, lists);
    write_words(words, lists);
    write_synsets(lists);
    write_bases(lists);
    write_trie(table.trie());
    write_targets(table);
    header().checksum = lexicon_checksum(bytes());
  }

  std::span<std::byte> bytes() { return {reinterpret_cast<std::byte*>(buffer_.get()), size_}; }

 private:
  void lay_out(const ParaphraseReader& table, const Vocabulary& words, int64_t n_paraphrase_words, const WordLists& lists) {
    const size_t n_words = static_cast<size_t>(words.size()), n_nodes = table.trie().edges().size();
    size_t sizes[N_LEXICON_SECTIONS] = {};
    for (Id word = 0; word < words.size(); ++word) sizes[WORD_BYTES] += words[word].size();
    for (const auto& sets : lists.sets()) sizes[SYNSETS] += 4 * sets.size();
    sizes[SLOTS] = 4 * std::bit_ceil(2 * n_words);
    sizes[WORD_STARTS] = 8 * (n_words + 1);
    sizes[FLAGS] = n_words;
    sizes[SYNSET_STARTS] = sizes[BASE_STARTS] = 4 * (n_words + 1);
    sizes[BASES] = 4 * lists.bases().size();
    sizes[ROOTS] = 4 * static_cast<size_t>(n_paraphrase_words);
    sizes[EDGE_SLOTS] = 8 * table.trie().slots().size();
    sizes[EDGES] = 8 * n_nodes;
    sizes[FIRST_TARGET] = 4 * (n_nodes + 1);
    sizes[TARGETS] = 4 * table.n_targets();

    LexiconHeader header = {};
    std::memcpy(header.magic, LEXICON_MAGIC, sizeof LEXICON_MAGIC);
    header.version = LEXICON_VERSION;
    header.n_sections = N_LEXICON_SECTIONS;
    header.n_synsets = static_cast<int64_t>(lists.set_numbers().size());
    size_ = sizeof header;
    for (int name = 0; name < N_LEXICON_SECTIONS; ++name) {
      header.sections[name] = {static_cast<int64_t>(size_), static_cast<int64_t>(sizes[name])};
      size_ += (sizes[name] + 7) / 8 * 8;
    }
    header.size = static_cast<int64_t>(size_);
    buffer_ = std::make_unique<uint64_t[]>(size_ / 8);  // zeros, also between the sections
    std::memcpy(buffer_.get(), &header, sizeof header);
  }

  LexiconHeader& header() { return *reinterpret_cast<LexiconHeader*>(buffer_.get()); }

  template <class T>
  std::span<T> section(LexiconSection name) {
    const auto& place = header().sections[name];
    return {reinterpret_cast<T*>(bytes().data() + place.offset), static_cast<size_t>(place.size) / sizeof(T)};
  }

  void write_words(const Vocabulary& words, const WordLists& lists) {
    const auto slots = section<Id>(SLOTS);
    const auto starts = section<int64_t>(WORD_STARTS);
    std::fill(slots.begin(), slots.end(), -1);
    char* out = section<char>(WORD_BYTES).data();
    for (Id word = 0; word < words.size(); ++word) {
      const std::string_view text = words[word];
      size_t place = hash_bytes(text) & (slots.size() - 1);
      while (slots[place] >= 0) place = (place + 1) & (slots.size() - 1);
      slots[place] = word;
      out = std::copy(text.begin(), text.end(), out);
      starts[word + 1] = starts[word] + static_cast<int64_t>(text.size());
    }
    std::copy(lists.flags().begin(), lists.flags().end(), section<uint8_t>(FLAGS).begin());
  }

  void write_synsets(const WordLists& lists) {
    const auto starts = section<int32_t>(SYNSET_STARTS);
    const auto& numbers = lists.set_numbers();
    auto out = section<int32_t>(SYNSETS).begin();
    for (size_t word = 0; word + 1 < starts.size(); ++word) {
      const auto& sets = lists.sets()[word];
      starts[word + 1] = starts[word] + static_cast<int32_t>(sets.size());
      for (const int64_t number : sets)
        *out++ = static_cast<int32_t>(std::lower_bound(numbers.begin(), numbers.end(), number) - numbers.begin());
    }
  }

  void write_bases(const WordLists& lists) {
    const auto starts = section<int32_t>(BASE_STARTS);
    const auto bases = section<Id>(BASES);
    for (const auto& [form, base] : lists.bases()) ++starts[form + 1];
    counts_to_places(starts);
    for (const auto& [form, base] : lists.bases()) bases[starts[form + 1]++] = base;
  }

  void write_trie(const PhraseTrie& trie) {
    const auto roots = section<Id>(ROOTS);
    for (size_t word = 0; word < roots.size(); ++word) roots[word] = trie.root(static_cast<Id>(word));
    std::copy(trie.slots().begin(), trie.slots().end(), section<uint64_t>(EDGE_SLOTS).begin());
    std::copy(trie.edges().begin(), trie.edges().end(), section<uint64_t>(EDGES).begin());
  }

  void write_targets(const ParaphraseReader& table) {
    const auto starts = section<int32_t>(FIRST_TARGET);
    const auto targets = section<Id>(TARGETS);
    table.for_each_run([&](Id node, std::span<const Id> run) { starts[node + 1] += static_cast<int32_t>(run.size()); });
    counts_to_places(starts);
    table.for_each_run([&](Id node, std::span<const Id> run) {
      std::copy(run.begin(), run.end(), targets.begin() + starts[node + 1]);
      starts[node + 1] += static_cast<int32_t>(run.size());
    });
  }

  std::unique_ptr<uint64_t[]> buffer_;
  size_t size_ = 0;
};

}  // namespace
}  // namespace ck

struct ck_lexicon_builder {
  ck::ParaphraseReader table;
  std::unique_ptr<ck::LexiconBuffer> buffer;
};

extern "C" {

ck_status ck_lexicon_builder_new(ck_lexicon_builder** out) {
  return ck::guarded([&] { *out = new ck_lexicon_builder(); });
}

void ck_lexicon_builder_free(ck_lexicon_builder* builder) { delete builder; }

ck_status ck_lexicon_builder_feed(ck_lexicon_builder* builder, const char* data, int64_t size) {
  return ck::guarded([&] {
    if (size < 0 || builder->buffer) ck::fail(CK_BAD_ARGUMENT);
    builder->table.feed({data, static_cast<size_t>(size)});
  });
}

ck_status ck_lexicon_builder_finish(ck_lexicon_builder* builder, const ck_lexicon_lists* lists, const void** data, int64_t* size) {
  return ck::guarded([&] {
    if (builder->buffer) ck::fail(CK_BAD_ARGUMENT);
    builder->table.finish();
    ck::Vocabulary& words = builder->table.words();
    const int64_t n_paraphrase_words = words.size();
    const ck::WordLists read(*lists, words);
    builder->buffer = std::make_unique<ck::LexiconBuffer>(builder->table, words, n_paraphrase_words, read);
    *data = builder->buffer->bytes().data();
    *size = static_cast<int64_t>(builder->buffer->bytes().size());
    builder->table = {};  // which is larger than the lexicon
  });
}

}  // extern "C"
