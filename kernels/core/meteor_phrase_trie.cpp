#include "meteor_phrase_trie.hpp"

#include <bit>
#include <cstring>

#include "guard.hpp"

namespace ck {
namespace {

bool ends_word(char byte) { return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\f' || byte == '\r'; }

uint64_t load(const char* from) {
  uint64_t bytes;
  std::memcpy(&bytes, from, 8);
  return bytes;
}

// Length of the word at `start`, before a byte that ends it; eight bytes at a time.
size_t word_size(const char* start) {
  static_assert(std::endian::native == std::endian::little);
  constexpr uint64_t EACH = 0x0101010101010101u;
  for (const char* at = start;;) {
    // The highest bit of the first byte below '!'; later ones may be wrong.
    const uint64_t bytes = load(at);
    const uint64_t low = (bytes - '!' * EACH) & ~bytes & 0x80 * EACH;
    if (low == 0) {
      at += 8;
      continue;
    }
    at += std::countr_zero(low) / 8;
    if (ends_word(*at)) return static_cast<size_t>(at - start);
    ++at;
  }
}

void fetch(const void* address) { __builtin_prefetch(address); }

}  // namespace

void PhraseTrie::find_or_add(std::string& phrases, std::vector<Id>& nodes) {
  split(phrases);
  nodes.resize(walks_.size());
  roots_.resize(static_cast<size_t>(words_.size()), -1);
  take_first_steps();
  for (drop_finished_walks(nodes); !walks_.empty(); drop_finished_walks(nodes)) take_steps();
}

// Starts a walk for each phrase.
void PhraseTrie::split(std::string& phrases) {
  const size_t size = phrases.size();
  if (size > UINT32_MAX) fail(CK_TOO_LARGE);
  phrases.append(8, '\n');  // words are read eight bytes at a time
  batch_words_.clear();
  uint32_t first_word = 0;
  for (const char *at = phrases.data(), *end = at + size; at < end; ++at) {
    if (const size_t length = word_size(at)) {
      batch_words_.push_back(word_id(at, length));
      at += length;
    }
    if (*at != '\n') continue;
    walks_.push_back({static_cast<uint32_t>(walks_.size()), first_word, static_cast<uint32_t>(batch_words_.size()), 0, 0});
    first_word = walks_.back().end;
  }
}

// The number of a word. Nine of ten words were met shortly before.
Id PhraseTrie::word_id(const char* word, size_t size) {
  if (size > 16) return words_.intern({word, size});
  // With the size these two identify the word; they may overlap.
  const uint64_t start = size < 8 ? load(word) & ((uint64_t{1} << 8 * size) - 1) : load(word);
  const uint64_t end = size < 8 ? 0 : load(word + size - 8);
  RecentWord& recent = recent_words_[(start * 0x9E3779B97F4A7C15u ^ end * 0xC2B2AE3D27D4EB4Fu) >> (64 - RECENT_BITS)];
  if (recent.start != start || recent.end != end || recent.size != size)
    recent = {start, end, static_cast<uint32_t>(size), words_.intern({word, size})};
  return recent.id;
}

void PhraseTrie::take_first_steps() {
  for (Walk& walk : walks_) {
    if (walk.next == walk.end) continue;
    const Id word = batch_words_[walk.next++];
    if (roots_[word] < 0) roots_[word] = add_node(0, word);
    walk.node = roots_[word];
  }
}

void PhraseTrie::take_steps() {
  while (5 * (edges_.size() + walks_.size()) > 4 * slots_.size()) grow();
  for (Walk& walk : walks_) {
    walk.hash = edge_hash(edge_of(walk.node, batch_words_[walk.next]));
    fetch(&slots_[first_slot_of(walk.hash)]);
  }
  for (const Walk& walk : walks_) fetch(&edges_[static_cast<uint32_t>(slots_[first_slot_of(walk.hash)])]);
  for (Walk& walk : walks_) walk.node = child(walk.node, batch_words_[walk.next++], walk.hash);
}

void PhraseTrie::drop_finished_walks(std::vector<Id>& nodes) {
  size_t kept = 0;
  for (const Walk& walk : walks_) {
    if (walk.next < walk.end) {
      walks_[kept++] = walk;
    } else {
      nodes[walk.place] = walk.node;
    }
  }
  walks_.resize(kept);
}

Id PhraseTrie::child(Id node, Id word, uint64_t hash) {
  const uint64_t edge = edge_of(node, word);
  for (size_t place = first_slot_of(hash);; place = (place + 1) & (slots_.size() - 1)) {
    const uint64_t slot = slots_[place];
    if (slot == 0) {
      const Id added = add_node(node, word);
      slots_[place] = (hash & HASH_IN_SLOT) | static_cast<uint32_t>(added);
      return added;
    }
    if (((slot ^ hash) & HASH_IN_SLOT) == 0 && edges_[static_cast<uint32_t>(slot)] == edge) return static_cast<Id>(slot);
  }
}

Id PhraseTrie::add_node(Id parent, Id word) {
  if (edges_.size() > static_cast<size_t>(INT32_MAX)) fail(CK_TOO_LARGE);
  edges_.push_back(edge_of(parent, word));
  return static_cast<Id>(edges_.size() - 1);
}

void PhraseTrie::grow() {
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

}  // namespace ck
