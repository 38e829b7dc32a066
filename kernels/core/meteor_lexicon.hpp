// METEOR's word knowledge for English: function words, non-breaking prefixes, synonym sets, base forms and paraphrases.
//
// A lexicon is one buffer. Every word of any list has a number. The phrases of the paraphrase table
// are nodes of a trie over word numbers; node 0 is the root.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "span.hpp"

namespace ck {

// A buffer has a header, then sections that start at multiples of 8. Numbers have the byte order of the machine.
// The arrays of MeteorLexicon, in the order of the file. The first ones are those of the paraphrase table.
enum LexiconSection {
  SLOTS,
  WORD_STARTS,
  WORD_BYTES,
  EDGE_SLOTS,
  EDGES,
  FIRST_TARGET,
  TARGETS,
  FLAGS,
  SYNSET_STARTS,
  SYNSETS,
  BASE_STARTS,
  BASES,
  N_LEXICON_SECTIONS
};

struct LexiconHeader {
  char magic[8];
  uint32_t version;
  uint32_t n_sections;
  int64_t size;       // of the whole buffer
  uint64_t checksum;  // of all other bytes, by caption_kernels.lexicon.file_format; compared where a file is mapped, not here
  int64_t n_synsets;
  struct {
    int64_t offset, size;  // bytes
  } sections[N_LEXICON_SECTIONS];
};

constexpr char LEXICON_MAGIC[8] = {'C', 'K', 'M', 'E', 'T', 'E', 'O', 'R'};
// Increase it when the layout or the meaning of a section changes. Files of another version are not read.
constexpr uint32_t LEXICON_VERSION = 3;

// Bits of FLAGS.
constexpr uint8_t IS_FUNCTION_WORD = 1, IS_PREFIX = 2, IS_NUMERIC_PREFIX = 4, HAS_SYNSETS = 8;

// The edge into a node of the trie of phrases is the key of its parent and its word. EDGE_SLOTS is an open-addressing table: a slot is 0 or
// the upper half of an edge's hash above its node. Slots are in the order of hashes, so that the table grows from its start to its end.
constexpr uint64_t HASH_IN_SLOT = 0xFFFFFFFF00000000u;
inline size_t first_slot(uint64_t hash, size_t n_slots) { return static_cast<size_t>((hash >> 32) * n_slots >> 32); }

// A read-only view of a buffer that the caller keeps alive. Numbers read from the buffer are checked where they are used as an index: a
// damaged buffer gives wrong answers, but nothing outside it is read.
class MeteorLexicon {
 public:
  // Checks header and lengths, else fails with CK_BAD_DATA. `data` must be a multiple of 8.
  MeteorLexicon(const void* data, int64_t size);

  bool is_function_word(std::string_view word) const;

  // 1: after this word a dot is no full stop; 2: only before a number; 0: no prefix.
  int prefix_kind(std::string_view word) const;

  // The synonym sets of a word and of its base forms, ascending and distinct.
  std::vector<int32_t> synsets(std::string_view word) const;

  // Number of synonym sets: all are below it.
  int64_t n_synsets() const { return n_synsets_; }

  // Number of a word, or -1.
  Id find(std::string_view word) const;

  // Node of the phrase that a word makes of the phrase of another node, or -1.
  Id paraphrase_child(Id node, Id word) const;

  // Nodes of the paraphrases of a phrase, in the order of the table. In a damaged buffer they may be any numbers.
  std::span<const Id> paraphrase_targets(Id node) const;

 private:
  uint8_t flags(Id id) const { return id < 0 ? 0 : flags_[id]; }
  std::string_view word(Id id) const;
  std::span<const Id> base_forms(std::string_view word, Id id, Id& found) const;

  std::span<const Id> slots_;               // open addressing by hash_bytes: word numbers, -1 free
  std::span<const int64_t> word_starts_;    // (W + 1,) bounds of each word in word_bytes_
  std::span<const char> word_bytes_;        // UTF-8
  std::span<const uint8_t> flags_;          // (W,)
  std::span<const int32_t> synset_starts_;  // (W + 1,) bounds of each word in synsets_
  std::span<const int32_t> synsets_;        // ascending within each word
  std::span<const int32_t> base_starts_;    // (W + 1,) bounds of each irregular form in bases_
  std::span<const Id> bases_;               // word numbers
  std::span<const uint64_t> edge_slots_;    // nodes by edge
  std::span<const uint64_t> edges_;         // (nodes,) the edge into each node
  std::span<const int32_t> first_target_;   // (nodes + 1,) bounds of each node in targets_
  std::span<const Id> targets_;             // nodes
  int64_t n_synsets_ = 0;
};

}  // namespace ck

// The handle of the C interface is the object itself under another name.
struct ck_lexicon : ck::MeteorLexicon {
  using ck::MeteorLexicon::MeteorLexicon;
};
