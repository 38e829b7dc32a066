#include "meteor_search.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "guard.hpp"

namespace ck {

namespace {

int64_t distance_of(const Match& match) { return std::abs(match.ref_start - match.hyp_start); }

// An exact match gains all its words, any other half the words of each text, rounded down, as in meteor-1.5.jar.
int32_t words_of(const Match& match) {
  return match.module == EXACT ? match.hyp_length + match.ref_length : match.hyp_length / 2 + match.ref_length / 2;
}

int width(uint64_t value) { return static_cast<int>(std::bit_width(value)); }

KeyBits key_bits(const Matches& matches) {
  uint64_t distance = 0;  // a path sees the distance of each match at most once
  for (const Match& match : matches.all) distance += static_cast<uint64_t>(distance_of(match));
  const auto chunks = static_cast<uint64_t>(matches.ref_length()), words = static_cast<uint64_t>(matches.hyp_length()) + chunks;
  return {width(distance), width(chunks), width(words)};
}

}  // namespace

void Search::run(const Matches& matches, std::vector<int32_t>& selection) {
  const KeyBits bits = key_bits(matches);
  if (matches.n_slots <= 64 && bits.distance + bits.chunks + bits.words < 63) {
    narrow_.run(matches, bits, selection);
  } else {
    wide_.run(matches, bits, selection);
  }
}

template <class Key, class Slots>
void BeamSearch<Key, Slots>::run(const Matches& matches, const KeyBits& bits, std::vector<int32_t>& selection) {
  chunk_ = static_cast<Key>(1) << bits.distance;
  word_ = chunk_ << bits.chunks;
  links_.clear();
  n_paths_ = 1;
  Path& first = paths_.front();
  first.key = 0;
  first.used.clear(matches.n_slots);
  first.next = 0;
  first.chunk_end = first.link = NONE;
  is_settled_ = true;
  for (int32_t j = 0; j < matches.ref_length(); ++j) {
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

// No other match overlaps a fixed one, so all paths stand before it.
template <class Key, class Slots>
void BeamSearch<Key, Slots>::follow_fixed(const Match& match) {
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

template <class Key, class Slots>
void BeamSearch<Key, Slots>::skip_word(int32_t j) {
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
template <class Key, class Slots>
void BeamSearch<Key, Slots>::sort_paths() {
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
template <class Key, class Slots>
void BeamSearch<Key, Slots>::choose(const Matches& matches, int32_t j) {
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

template <class Key, class Slots>
void BeamSearch<Key, Slots>::read_options(const Matches& matches, int32_t j) {
  options_.clear();
  for (int64_t m = matches.at[j]; m < matches.at[j + 1]; ++m) {
    const Match& match = matches.all[m];
    options_.push_back({words_of(match) * word_, distance_of(match), match.hyp_start, matches.slots[match.hyp_start], match.hyp_length,
                        static_cast<int32_t>(m)});
  }
}

template <class Key, class Slots>
void BeamSearch<Key, Slots>::Proposals::add(const Proposal& proposal) {
  if (size == WIDTH && best[WIDTH - 1].key <= proposal.key) return;
  int place = size < WIDTH ? size++ : WIDTH - 1;
  for (; place > 0 && best[place - 1].key > proposal.key; --place) best[place] = best[place - 1];
  best[place] = proposal;
}

// Merges the proposals into the next paths. Among equals those of the earlier path come first, and its branches before its continuation.
template <class Key, class Slots>
void BeamSearch<Key, Slots>::take_best(const Matches& matches, int32_t j) {
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

template <class Key, class Slots>
void BeamSearch<Key, Slots>::branch(Path& path, const Match& match, const Option& option) {
  path.used.add(option.slot, option.length);
  path.next = match.ref_start + match.ref_length;
  path.chunk_end = match.hyp_start + match.hyp_length;
  if (links_.size() == static_cast<size_t>(INT32_MAX)) fail(CK_TOO_LARGE);
  links_.push_back({path.link, option.match});
  path.link = static_cast<int32_t>(links_.size()) - 1;
}

}  // namespace ck
