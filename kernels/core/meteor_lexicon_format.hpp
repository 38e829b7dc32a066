// The buffer of a lexicon: a header, then sections that start at multiples of 8. Numbers have the byte order of the machine.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "span.hpp"

namespace ck {

// The arrays of MeteorLexicon, in the order of the file.
enum LexiconSection {
  SLOTS,
  WORD_STARTS,
  WORD_BYTES,
  FLAGS,
  SYNSET_STARTS,
  SYNSETS,
  BASE_STARTS,
  BASES,
  ROOTS,
  EDGE_SLOTS,
  EDGES,
  FIRST_TARGET,
  TARGETS,
  N_LEXICON_SECTIONS
};

struct LexiconHeader {
  char magic[8];
  uint32_t version;
  uint32_t n_sections;
  int64_t size;       // of the whole buffer
  uint64_t checksum;  // of the whole buffer, with 0 in this place
  int64_t n_synsets;
  struct {
    int64_t offset, size;  // bytes
  } sections[N_LEXICON_SECTIONS];
};

constexpr char LEXICON_MAGIC[8] = {'C', 'K', 'M', 'E', 'T', 'E', 'O', 'R'};
// Increase it when the layout or the meaning of a section changes. Files of another version are not read.
constexpr uint32_t LEXICON_VERSION = 1;

// Bits of FLAGS.
constexpr uint8_t IS_FUNCTION_WORD = 1, IS_PREFIX = 2, IS_NUMERIC_PREFIX = 4, HAS_SYNSETS = 8;

// The edge into a node of the trie, as one number.
inline uint64_t edge_of(Id parent, Id word) { return static_cast<uint64_t>(parent) << 32 | static_cast<uint32_t>(word); }

// EDGE_SLOTS is an open-addressing table: a slot is 0 or the upper half of an edge's hash above its node. Slots are in the order of hashes,
// so that the table grows from its start to its end.
constexpr uint64_t HASH_IN_SLOT = 0xFFFFFFFF00000000u;
inline uint64_t edge_hash(uint64_t edge) { return mix(edge); }
inline size_t first_slot(uint64_t hash, size_t n_slots) { return static_cast<size_t>((hash >> 32) * n_slots >> 32); }

// Sum over the 8-byte words of a buffer of hashes of each word and its place; a multiple of 8 bytes.
inline uint64_t checksum(std::span<const std::byte> bytes) {
  uint64_t total = 0;
  for (uint64_t k = 0; 8 * k < bytes.size(); ++k) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + 8 * k, 8);
    total += mix(word ^ (k + 1) * 0x9E3779B97F4A7C15u);
  }
  return total;
}

// The checksum of a lexicon as its header should have it.
inline uint64_t lexicon_checksum(std::span<const std::byte> bytes) {
  LexiconHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.checksum = 0;
  std::byte head[sizeof header];
  std::memcpy(head, &header, sizeof header);
  return checksum(head) + mix(checksum(bytes.subspan(sizeof header)));
}

}  // namespace ck
