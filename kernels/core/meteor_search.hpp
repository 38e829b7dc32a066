// METEOR's beam search: the best alignment of two texts from their matches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ck {

enum Module : int32_t { EXACT, STEM, SYNONYM, PARAPHRASE };

// `ref_length` reference words from `ref_start` match `hyp_length` hypothesis words from `hyp_start`.
struct Match {
  int32_t ref_start, ref_length;
  int32_t hyp_start, hyp_length;
  Module module;
};

// The matches of a hypothesis and a reference.
struct Matches {
  std::vector<Match> all;      // by their first reference word; within it by module
  std::vector<int64_t> at;     // matches of reference word j are at[j] to at[j + 1]
  std::vector<int32_t> fixed;  // per reference word: the match that starts there if no other match overlaps it, else -1
  std::vector<int32_t> slots;  // per hypothesis word: its number among those that have a match
  int64_t n_slots = 0;
  int64_t ref_length() const { return static_cast<int64_t>(fixed.size()); }
  int64_t hyp_length() const { return static_cast<int64_t>(slots.size()); }
};

// A path is compared by one number, in which matched words outweigh any number of chunks, and chunks any distance.
struct KeyBits {
  int distance, chunks, words;
};

// Slots of the hypothesis that a path has used: at most 64.
struct FewSlots {
  uint64_t bits = 0;
  static uint64_t mask(int32_t first, int32_t size) { return ~uint64_t{0} >> (64 - size) << first; }
  void clear(int64_t) { bits = 0; }
  bool has_any(int32_t first, int32_t size) const { return bits & mask(first, size); }
  void add(int32_t first, int32_t size) { bits |= mask(first, size); }
};

// The same for any number of slots.
struct ManySlots {
  std::vector<uint64_t> bits;
  void clear(int64_t n_slots) { bits.assign(static_cast<size_t>(n_slots / 64 + 1), 0); }
  bool has_any(int32_t first, int32_t size) const {
    for (int32_t k = first; k < first + size; ++k)
      if (bits[k / 64] >> (k % 64) & 1) return true;
    return false;
  }
  void add(int32_t first, int32_t size) {
    for (int32_t k = first; k < first + size; ++k) bits[k / 64] |= uint64_t{1} << (k % 64);
  }
};

// Goes through the reference words with the best 40 partial alignments.
template <class Key, class Slots>
class BeamSearch {
 public:
  void run(const Matches& matches, const KeyBits& bits, std::vector<int32_t>& selection);

 private:
  static constexpr int WIDTH = 40;
  static constexpr int32_t NONE = -1;

  struct Path {
    Key key;            // smaller is better: more matched words, then fewer chunks, then a smaller distance
    Slots used;         // by matches that were chosen; no other match overlaps a fixed one
    int32_t next;       // first reference word after the last match
    int32_t chunk_end;  // hypothesis word after the open chunk, or NONE
    int32_t link;       // last match that was chosen, an index of `links_`, or NONE
  };
  struct Link {
    int32_t previous, match;
  };
  // A match that can be chosen at the present reference word, with its share in the key.
  struct Option {
    Key gain, distance;
    int32_t start, slot, length, match;
  };
  // A path that goes on from path `parent` with an option, or without one (NONE).
  struct Proposal {
    Key key;
    int32_t parent, option;
  };
  // The best proposals of one kind, best first; equal ones in the order in which they were made.
  struct Proposals {
    Proposal best[WIDTH];
    int size;
    void add(const Proposal& proposal);
  };

  void follow_fixed(const Match& match);
  void skip_word(int32_t j);
  void sort_paths();
  void choose(const Matches& matches, int32_t j);
  void read_options(const Matches& matches, int32_t j);
  void take_best(const Matches& matches, int32_t j);
  void branch(Path& path, const Match& match, const Option& option);
  Key closed_key(const Path& path) const { return path.chunk_end == NONE ? path.key : path.key + chunk_; }
  // What a match that starts at hypothesis word `start` adds: it ends the open chunk unless it continues it.
  Key cost_of_chunk(const Path& path, int32_t start) const {
    return path.chunk_end == NONE || path.chunk_end == start ? Key{0} : chunk_;
  }

  Key chunk_ = 0, word_ = 0;  // what a chunk and a matched word count in a key
  bool is_settled_ = false;   // no path has an open chunk or stands inside a match: skipping words changes nothing
  int n_paths_ = 0;
  std::vector<Path> paths_{WIDTH}, old_paths_{WIDTH};  // best first
  std::vector<Option> options_;
  Proposals branches_, continuations_;
  std::vector<Link> links_;
};

class Search {
 public:
  // Sets selection[j] to the match that starts at reference word j in the best alignment, else to -1.
  void run(const Matches& matches, std::vector<int32_t>& selection);

 private:
  __extension__ typedef __int128 WideKey;
  BeamSearch<int64_t, FewSlots> narrow_;
  BeamSearch<WideKey, ManySlots> wide_;  // for texts of hundreds of words
};

}  // namespace ck
