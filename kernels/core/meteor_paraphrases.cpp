// Reads METEOR's paraphrase table into the sections of a lexicon.
#include <bit>
#include <numeric>
#include <string>
#include <vector>

#include "meteor_lexicon.hpp"
#include "vocabulary.hpp"

namespace ck {
namespace {

constexpr size_t BATCH = 512;  // phrases that are looked up together
constexpr int RECENT_BITS = 15;

constexpr size_t BLOCK = 8;    // bytes that are read at a time, also behind the end of a text

void fetch(const void* address) { __builtin_prefetch(address); }

uint64_t load(const char* from) {
  uint64_t bytes;
  __builtin_memcpy(&bytes, from, BLOCK);
  return bytes;
}

// The blanks of Java's StringTokenizer.
bool ends_word(char byte) { return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\f' || byte == '\r'; }

// Length of the word at `start`, before a byte that ends it.
size_t word_size(const char* start) {
  static_assert(std::endian::native == std::endian::little);
  constexpr uint64_t EACH = 0x0101010101010101u;
  for (const char* at = start;;) {
    // The highest bit of the first byte below '!'; later ones may be wrong.
    const uint64_t bytes = load(at), low = (bytes - '!' * EACH) & ~bytes & 0x80 * EACH;
    at += low ? std::countr_zero(low) / 8 : BLOCK;
    if (low && ends_word(*at)) return static_cast<size_t>(at - start);
    at += low != 0;
  }
}

}  // namespace

// The table has three lines per entry: a probability, which is not used, a phrase and a paraphrase of it. Nine of ten entries have the
// phrase of the entry before.
//
// Phrases are nodes of a trie over word numbers. Node 0 is the root, each other node the end of an edge from its parent. The table has
// millions of nodes, so that a step down the trie is a wait for memory. The phrases of a batch therefore take each step together: all
// places are fetched first and read afterwards.
class ParaphraseTable {
 public:
  // Reads a block that ends anywhere.
  void feed(std::string_view data) {
    if (is_finished()) fail(CK_BAD_ARGUMENT);
    rest_.append(data);
    const size_t size = rest_.size();
    rest_.append(BLOCK, ' ');
    size_t start = 0;
    for (size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', start)) {
      read_line(std::string_view(rest_).substr(start, end + 1 - start));
      start = end + 1;
    }
    rest_.resize(size);
    rest_.erase(0, start);
  }

  // Ends the last line, and puts the paraphrases in the order of their phrases; CK_BAD_DATA for a table without entries or with a part of
  // one.
  void finish() {
    if (is_finished()) fail(CK_BAD_ARGUMENT);
    if (!rest_.empty()) feed("\n");
    resolve();
    if (kind_ != PROBABILITY || targets_.empty()) fail(CK_BAD_DATA);
    if (targets_.size() > static_cast<size_t>(INT32_MAX)) fail(CK_TOO_LARGE);
    first_target_.assign(edges_.size() + 1, 0);
    for (size_t k = 0; k < runs_.size(); ++k) first_target_[runs_[k].node + 1] += static_cast<int32_t>(targets_of(k).size());
    std::partial_sum(first_target_.begin(), first_target_.end(), first_target_.begin());
    std::vector<int32_t> next(first_target_);
    std::vector<Id> sorted(targets_.size());
    for (size_t k = 0; k < runs_.size(); ++k) {
      int32_t& place = next[runs_[k].node];
      std::ranges::copy(targets_of(k), sorted.begin() + place);
      place += static_cast<int32_t>(targets_of(k).size());
    }
    targets_.swap(sorted);
    std::vector<Run>().swap(runs_);
  }

  Id number(std::string_view word) { return words_.intern(word); }

  // In the order of LexiconSection.
  void write_sections(ck_string* out) const {
    const auto write = [&](const auto& values) {
      *out++ = {reinterpret_cast<const char*>(values.data()), static_cast<int64_t>(values.size() * sizeof(values[0]))};
    };
    write(words_.slots()), write(words_.starts()), write(words_.bytes());
    write(slots_), write(edges_), write(first_target_), write(targets_);
  }

 private:
  enum Kind { PROBABILITY, SOURCE, TARGET };

  // Entries with the same phrase, from the first to that of the next run.
  struct Run {
    Id node;
    size_t first;
  };
  // A phrase on its way down the trie.
  struct Walk {
    uint32_t place;      // in the batch
    uint32_t next, end;  // its remaining words
    Id node;
    uint64_t hash;  // of the next edge
  };
  struct RecentWord {
    uint64_t start, end;
    size_t size;
    Id id;
  };

  // Reads a line with its line feed.
  void read_line(std::string_view line) {
    if (kind_ == TARGET) {
      look_up(line);
    } else if (kind_ == SOURCE && line != source_) {
      source_ = line;
      look_up(line);
    }
    kind_ = static_cast<Kind>((kind_ + 1) % 3);
  }

  // Starts the walk of a phrase.
  void look_up(std::string_view line) {
    const size_t first_word = words_of_walks_.size();
    for (const char *at = line.data(), *end = at + line.size(); at < end; ++at) {
      const size_t size = word_size(at);
      if (size > 0) words_of_walks_.push_back(recent_number({at, size}));
      at += size;
    }
    if (words_of_walks_.size() > UINT32_MAX) fail(CK_TOO_LARGE);
    const auto place = static_cast<uint32_t>(is_source_.size());
    walks_.push_back({place, static_cast<uint32_t>(first_word), static_cast<uint32_t>(words_of_walks_.size()), 0, 0});
    is_source_.push_back(kind_ == SOURCE);
    if (is_source_.size() == BATCH) resolve();
  }

  // The number of a word. Nine of ten words were met shortly before.
  Id recent_number(std::string_view word) {
    if (word.size() > 16) return number(word);
    // With the size these two identify the word; they may overlap.
    const bool is_short = word.size() < BLOCK;
    const uint64_t start = is_short ? load(word.data()) & ((uint64_t{1} << 8 * word.size()) - 1) : load(word.data());
    const uint64_t end = is_short ? 0 : load(word.data() + word.size() - BLOCK);
    RecentWord& recent = recent_words_[(start * 0x9E3779B97F4A7C15u ^ end * 0xC2B2AE3D27D4EB4Fu) >> (64 - RECENT_BITS)];
    if (recent.start != start || recent.end != end || recent.size != word.size()) recent = {start, end, word.size(), number(word)};
    return recent.id;
  }

  // Ends all walks, and adds their nodes to the runs and targets.
  void resolve() {
    std::vector<Id> nodes(is_source_.size());
    const auto ends = [&](const Walk& walk) {
      if (walk.next < walk.end) return false;
      nodes[walk.place] = walk.node;
      return true;
    };
    for (std::erase_if(walks_, ends); !walks_.empty(); std::erase_if(walks_, ends)) take_steps();
    for (size_t k = 0; k < nodes.size(); ++k)
      is_source_[k] ? runs_.push_back({nodes[k], targets_.size()}) : targets_.push_back(nodes[k]);
    words_of_walks_.clear();
    is_source_.clear();
  }

  void take_steps() {
    while (5 * (edges_.size() + walks_.size()) > 4 * slots_.size()) grow();
    for (Walk& walk : walks_) {
      walk.hash = mix(pair_key(walk.node, words_of_walks_[walk.next]));
      fetch(&slots_[first_slot(walk.hash, slots_.size())]);
    }
    for (const Walk& walk : walks_) fetch(&edges_[static_cast<uint32_t>(slots_[first_slot(walk.hash, slots_.size())])]);
    for (Walk& walk : walks_) walk.node = child(pair_key(walk.node, words_of_walks_[walk.next++]), walk.hash);
  }

  // The node that an edge leads to, added if it is new.
  Id child(uint64_t edge, uint64_t hash) {
    for (size_t place = first_slot(hash, slots_.size());; place = (place + 1) & (slots_.size() - 1)) {
      const uint64_t slot = slots_[place];
      const auto node = static_cast<uint32_t>(slot);
      if (slot == 0) {
        if (edges_.size() > static_cast<size_t>(INT32_MAX)) fail(CK_TOO_LARGE);
        slots_[place] = (hash & HASH_IN_SLOT) | edges_.size();
        edges_.push_back(edge);
        return static_cast<Id>(edges_.size() - 1);
      }
      if (((slot ^ hash) & HASH_IN_SLOT) == 0 && edges_[node] == edge) return static_cast<Id>(node);
    }
  }

  void grow() {
    if (slots_.size() > UINT32_MAX) fail(CK_TOO_LARGE);
    std::vector<uint64_t> slots(2 * slots_.size());
    for (const uint64_t slot : slots_) {
      if (slot == 0) continue;
      size_t place = first_slot(slot, slots.size());
      while (slots[place] != 0) place = (place + 1) & (slots.size() - 1);
      slots[place] = slot;
    }
    slots_.swap(slots);
  }

  bool is_finished() const { return !first_target_.empty(); }

  std::span<const Id> targets_of(size_t run) const {
    const size_t end = run + 1 < runs_.size() ? runs_[run + 1].first : targets_.size();
    return std::span(targets_).subspan(runs_[run].first, end - runs_[run].first);
  }

  Kind kind_ = PROBABILITY;  // of the next line
  std::string rest_;         // of the last block: a line without its end
  std::string source_;       // the last phrase with its line feed
  std::vector<Walk> walks_;
  std::vector<Id> words_of_walks_;
  std::vector<bool> is_source_;  // per phrase of the batch: whether it begins a run; the others are paraphrases
  std::vector<RecentWord> recent_words_ = std::vector<RecentWord>(1 << RECENT_BITS);

  Vocabulary words_;
  std::vector<uint64_t> edges_ = {0};                              // into each node
  std::vector<uint64_t> slots_ = std::vector<uint64_t>(1 << 16);  // nodes by edge
  std::vector<Run> runs_;
  std::vector<int32_t> first_target_;
  std::vector<Id> targets_;
};

}  // namespace ck

struct ck_paraphrases : ck::ParaphraseTable {};

using ck::guarded;

ck_status ck_paraphrases_new(ck_paraphrases** out) {
  return guarded([&] { *out = new ck_paraphrases; });
}

void ck_paraphrases_free(ck_paraphrases* table) { delete table; }

ck_status ck_paraphrases_feed(ck_paraphrases* table, const char* data, int64_t size) {
  return guarded([&] { table->feed(ck::view({data, size})); });
}

ck_status ck_paraphrases_finish(ck_paraphrases* table, const ck_string* words, int64_t n, int64_t* numbers, ck_string* sections) {
  return guarded([&] {
    table->finish();
    for (const ck_string& word : ck::items(words, n)) *numbers++ = table->number(ck::view(word));
    table->write_sections(sections);
  });
}
