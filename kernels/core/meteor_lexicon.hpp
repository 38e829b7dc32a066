// METEOR's word knowledge for English: function words, non-breaking prefixes, synonym sets, base forms and paraphrases.
//
// A lexicon is one buffer, which meteor_lexicon_builder.cpp writes; meteor_lexicon_format.hpp has its layout. Every word of any list has a
// number; the words of the paraphrase table come first. The phrases of that table are nodes of a trie over word numbers; node 0 is the
// root.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ck_status.h"
#include "span.hpp"

namespace ck {

// A read-only view of a buffer that the caller keeps alive. Numbers read from the buffer are checked where they are used as an index: a
// damaged buffer gives wrong answers, but nothing outside it is read.
class MeteorLexicon {
 public:
  // An empty lexicon: no word is known.
  MeteorLexicon() = default;

  // Checks header and lengths; CK_BAD_DATA leaves `out` as it was. `data` must be a multiple of 8.
  static ck_status open(const void* data, int64_t size, MeteorLexicon& out);

  // Checks every byte: CK_OK or CK_BAD_DATA.
  ck_status verify() const;

  bool is_function_word(std::string_view word) const;

  // 1: after this word a dot is no full stop; 2: only before a number; 0: no prefix.
  int prefix_kind(std::string_view word) const;

  // Appends the synonym sets of a word and of its base forms, ascending and distinct.
  void append_synsets(std::string_view word, std::vector<int32_t>& out) const;

  // Number of synonym sets: all are below it.
  int64_t n_synsets() const { return n_synsets_; }

  // Number of a word of the paraphrase table, or -1.
  int32_t paraphrase_word(std::string_view word) const;

  // Number of words of the paraphrase table.
  int64_t n_paraphrase_words() const { return static_cast<int64_t>(roots_.size()); }

  // Node of the phrases that begin with a word, or -1.
  int32_t paraphrase_root(int32_t word) const;

  // Node that a word leads to, or -1.
  int32_t paraphrase_child(int32_t node, int32_t word) const;

  // Nodes of the paraphrases of a phrase, in the order of the table. In a damaged buffer they may be any numbers.
  std::span<const int32_t> paraphrase_targets(int32_t node) const;

 private:
  Id find(std::string_view word) const;
  uint8_t flags(Id id) const { return id < 0 ? 0 : flags_[id]; }
  std::string_view word(Id id) const;
  std::span<const Id> base_forms(std::string_view word, Id id, Id& found) const;
  Id node_or_none(Id node) const { return node < n_nodes() ? node : -1; }
  int64_t n_words() const { return static_cast<int64_t>(flags_.size()); }
  int64_t n_nodes() const { return static_cast<int64_t>(edges_.size()); }

  std::span<const std::byte> bytes_;        // the whole buffer
  std::span<const Id> slots_;               // open addressing by hash_bytes: word numbers, -1 free
  std::span<const int64_t> word_starts_;    // (W + 1,) bounds of each word in word_bytes_
  std::span<const char> word_bytes_;        // UTF-8
  std::span<const uint8_t> flags_;          // (W,)
  std::span<const int32_t> synset_starts_;  // (W + 1,) bounds of each word in synsets_
  std::span<const int32_t> synsets_;        // ascending within each word
  std::span<const int32_t> base_starts_;    // (W + 1,) bounds of each irregular form in bases_
  std::span<const Id> bases_;               // word numbers
  std::span<const Id> roots_;               // (words of the paraphrase table,) node of each first word, -1 for none
  std::span<const uint64_t> edge_slots_;    // nodes by edge, those of node 0 excepted
  std::span<const uint64_t> edges_;         // (nodes,) the edge into each node
  std::span<const int32_t> first_target_;   // (nodes + 1,) bounds of each node in targets_
  std::span<const Id> targets_;             // nodes
  int64_t n_synsets_ = 0;
};

}  // namespace ck

// The handle of the C interface.
struct ck_lexicon {
  ck::MeteorLexicon view;
};
