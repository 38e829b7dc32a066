// METEOR's beam search: the best alignment of two texts from their matches.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "guard.hpp"

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
  std::vector<bool> used;
  void clear(int64_t n_slots) { used.assign(static_cast<size_t>(n_slots), false); }
  bool has_any(int32_t first, int32_t size) const { return std::find(at(first), at(first + size), true) != at(first + size); }
  void add(int32_t first, int32_t size) { std::fill_n(used.begin() + first, size, true); }
  std::vector<bool>::const_iterator at(int32_t slot) const { return used.begin() + slot; }
};

inline int64_t distance_of(const Match& match) { return std::abs(match.ref_start - match.hyp_start); }

// An exact match gains all its words, any other half the words of each text, rounded down, as in meteor-1.5.jar.
inline int32_t words_of(const Match& match) {
  return match.module == EXACT ? match.hyp_length + match.ref_length : match.hyp_length / 2 + match.ref_length / 2;
}

inline KeyBits key_bits(const Matches& matches) {
  uint64_t distance = 0;  // a path sees the distance of each match at most once
  for (const Match& match : matches.all) distance += static_cast<uint64_t>(distance_of(match));
  const size_t chunks = matches.fixed.size(), words = chunks + matches.slots.size();
  return {static_cast<int>(std::bit_width(distance)), static_cast<int>(std::bit_width(chunks)), static_cast<int>(std::bit_width(words))};
}

// Goes through the reference words with the best 40 partial alignments.
template <class Key, class Slots>
class BeamSearch {
 public:
  void run(const Matches& matches, const KeyBits& bits, std::vector<int32_t>& selection) {
    chunk_ = static_cast<Key>(1) << bits.distance;
    word_ = chunk_ << bits.chunks;
    links_.clear();
    n_paths_ = 1;
    paths_[0] = {0, {}, 0, NONE, NONE};
    paths_[0].used.clear(matches.n_slots);
    is_settled_ = true;
    for (int32_t j = 0; j < static_cast<int32_t>(matches.fixed.size()); ++j) {
      if (matches.fixed[j] >= 0) {
        follow_fixed(matches.all[matches.fixed[j]]);
      } else if (matches.at[j] < matches.at[j + 1]) {
        choose(matches, j);
      } else if (!is_settled_) {
        skip_word(j);
      }
    }
    const auto best = std::min_element(paths_.begin(), paths_.begin() + n_paths_,
                                       [this](const Path& a, const Path& b) { return closed_key(a) < closed_key(b); });
    selection = matches.fixed;
    for (int32_t link = best->link; link != NONE; link = links_[link].previous) {
      const int32_t match = links_[link].match;
      selection[matches.all[match].ref_start] = match;
    }
  }

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

    void add(const Proposal& proposal) {
      if (size == WIDTH && best[WIDTH - 1].key <= proposal.key) return;
      int place = size < WIDTH ? size++ : WIDTH - 1;
      for (; place > 0 && best[place - 1].key > proposal.key; --place) best[place] = best[place - 1];
      best[place] = proposal;
    }
  };

  // No other match overlaps a fixed one, so all paths stand before it.
  void follow_fixed(const Match& match) {
    const Key gain = distance_of(match) - words_of(match) * word_;
    for (int k = 0; k < n_paths_; ++k) {
      Path& path = paths_[k];
      path.key += cost_of_chunk(path, match.hyp_start) + gain;
      path.next = match.ref_start + match.ref_length;
      path.chunk_end = match.hyp_start + match.hyp_length;
    }
    sort_paths();
    is_settled_ = false;
  }

  void skip_word(int32_t j) {
    is_settled_ = true;
    for (int k = 0; k < n_paths_; ++k) {
      Path& path = paths_[k];
      if (j < path.next) {
        is_settled_ = false;
      } else {
        path.key = closed_key(path);
        path.chunk_end = NONE;
      }
    }
    sort_paths();
  }

  // By insertion: stable, and fast for paths that are almost in order.
  void sort_paths() {
    for (int k = 1; k < n_paths_; ++k) {
      if (paths_[k - 1].key <= paths_[k].key) continue;
      Path path = std::move(paths_[k]);
      int place = k;
      for (; place > 0 && paths_[place - 1].key > path.key; --place) paths_[place] = std::move(paths_[place - 1]);
      paths_[place] = std::move(path);
    }
  }

  // Each path branches into the matches of reference word j whose words are free, then goes on without them. The distance of a match is
  // added to the path from which it branches off, so that only later branches and the continuation see it, as in meteor-1.5.jar.
  void choose(const Matches& matches, int32_t j) {
    read_options(matches, j);
    branches_.size = continuations_.size = 0;
    for (int32_t k = 0; k < n_paths_; ++k) {
      const Path& path = paths_[k];
      if (j < path.next) {
        continuations_.add({path.key, k, NONE});
        continue;
      }
      Key distance = 0;
      for (int32_t o = 0; o < static_cast<int32_t>(options_.size()); ++o) {
        const Option& option = options_[o];
        if (path.used.has_any(option.slot, option.length)) continue;
        branches_.add({path.key + distance + cost_of_chunk(path, option.start) - option.gain, k, o});
        distance += option.distance;
      }
      continuations_.add({closed_key(path) + distance, k, NONE});
    }
    take_best(matches, j);
    is_settled_ = false;
  }

  void read_options(const Matches& matches, int32_t j) {
    options_.clear();
    for (int64_t m = matches.at[j]; m < matches.at[j + 1]; ++m) {
      const Match& match = matches.all[m];
      options_.push_back({words_of(match) * word_, distance_of(match), match.hyp_start, matches.slots[match.hyp_start], match.hyp_length,
                          static_cast<int32_t>(m)});
    }
  }

  // Merges the proposals into the next paths. Among equals those of the earlier path come first, and its branches before its continuation.
  void take_best(const Matches& matches, int32_t j) {
    const auto comes_first = [](const Proposal& branch, const Proposal& continuation) {
      return branch.key != continuation.key ? branch.key < continuation.key : branch.parent <= continuation.parent;
    };
    paths_.swap(old_paths_);
    const Proposal *going = continuations_.best, *last_going = going + continuations_.size;
    const Proposal *branching = branches_.best, *last_branching = branching + branches_.size;
    for (n_paths_ = 0; n_paths_ < WIDTH && (going < last_going || branching < last_branching); ++n_paths_) {
      const bool branches = going == last_going || (branching < last_branching && comes_first(*branching, *going));
      const Proposal& proposal = branches ? *branching++ : *going++;
      Path& path = paths_[n_paths_] = old_paths_[proposal.parent];
      path.key = proposal.key;
      if (branches) {
        const Option& option = options_[proposal.option];
        branch(path, matches.all[option.match], option);
      } else if (j >= path.next) {
        path.chunk_end = NONE;
      }
    }
  }

  void branch(Path& path, const Match& match, const Option& option) {
    path.used.add(option.slot, option.length);
    path.next = match.ref_start + match.ref_length;
    path.chunk_end = match.hyp_start + match.hyp_length;
    if (links_.size() == static_cast<size_t>(INT32_MAX)) fail(CK_TOO_LARGE);
    links_.push_back({path.link, option.match});
    path.link = static_cast<int32_t>(links_.size()) - 1;
  }

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
  void run(const Matches& matches, std::vector<int32_t>& selection) {
    const KeyBits bits = key_bits(matches);
    const bool is_narrow = matches.n_slots <= 64 && bits.distance + bits.chunks + bits.words < 63;
    is_narrow ? narrow_.run(matches, bits, selection) : wide_.run(matches, bits, selection);
  }

 private:
  __extension__ typedef __int128 WideKey;
  BeamSearch<int64_t, FewSlots> narrow_;
  BeamSearch<WideKey, ManySlots> wide_;  // for texts of hundreds of words
};

}  // namespace ck
