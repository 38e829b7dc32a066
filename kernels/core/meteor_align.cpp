// METEOR's alignment of pairs of texts: all matches of a pair, the best alignment and its statistics.
#include <algorithm>
#include <utility>

#include "meteor_group.hpp"
#include "math.hpp"
#include "meteor_search.hpp"
#include "runs.hpp"

namespace ck {

namespace {

constexpr size_t MOST_MATCHES = size_t{1} << 22;
// Parameters of the task `rank` (Denkowski & Lavie 2014, table 1).
constexpr double ALPHA = 0.85, BETA = 0.2, GAMMA = 0.6, DELTA = 0.75;
constexpr double MODULE_WEIGHTS[] = {1.0, 0.6, 0.8, 0.6};  // exact, stem, synonym, paraphrase

// Where each number occurs in a sequence: chains of positions that run forwards; -1 is their end.
class Positions {
 public:
  template <class Items, class NumberOf>
  void read(const Items& items, int32_t n_numbers, NumberOf number_of) {
    first_.assign(static_cast<size_t>(n_numbers), -1);
    next_.resize(items.size());
    for (auto k = static_cast<int32_t>(items.size()) - 1; k >= 0; --k) next_[k] = std::exchange(first_[number_of(items[k])], k);
  }
  bool has(int32_t number) const { return first_[number] >= 0; }
  int32_t first(int32_t number) const { return first_[number]; }
  int32_t next(int32_t position) const { return next_[position]; }

 private:
  std::vector<int32_t> first_, next_;
};

// A hypothesis as the words and phrases of the group's other texts see it.
class Hypothesis {
 public:
  void read(const MeteorGroup& group, int32_t text) {
    words = group.words(text);
    phrases = group.phrases(text);
    word_positions.read(words, group.n_words(), [](int32_t word) { return word; });
    phrase_positions.read(phrases, group.n_phrases(), [](const Occurrence& occurrence) { return occurrence.phrase; });
    relations.clear();
    for (int32_t word = 0; word < group.n_words(); ++word) {
      for (const Relation& relation : group.relations(word))
        if (word_positions.has(relation.word)) relations.add(relation);
      relations.end_run();
    }
    targets.clear();
    sources.clear();
    for (int32_t phrase = 0; phrase < group.n_phrases(); ++phrase) {
      for (const int32_t target : group.targets(phrase))
        if (phrase_positions.has(target)) targets.add(target);
      targets.end_run();
      for (int32_t k = group.first_source(phrase); k >= 0; k = group.source(k).next)
        if (phrase_positions.has(group.source(k).phrase)) sources.add(group.source(k));
      sources.end_run();
    }
  }

  std::span<const int32_t> words;
  std::span<const Occurrence> phrases;
  Positions word_positions, phrase_positions;  // by number in the group
  Runs<Relation> relations;                    // of each word of the group with words of the hypothesis
  Runs<int32_t> targets;                       // paraphrases in the hypothesis of each phrase of the group
  Runs<Source> sources;                        // phrases of the hypothesis of which a phrase of the group is a paraphrase
};

// Aligns the pairs of one group after another; its work arrays are used again.
class Aligner {
 public:
  explicit Aligner(const MeteorTexts& texts) : group_(texts) {}

  void read_group(std::span<const int64_t> texts) {
    group_.read(texts);
    present_ = -1;
  }

  // Writes the 23 statistics of a pair, positions in the group; false for more than MOST_MATCHES matches.
  bool align(int32_t hyp, int32_t ref, int32_t* statistics) {
    if (hyp != present_) hyp_.read(group_, present_ = hyp);
    if (!find_matches(ref)) return false;
    if (fix_matches()) {
      number_slots();
      search_.run(matches_, selection_);
    } else {
      selection_ = matches_.fixed;
    }
    count(ref, statistics);
    return true;
  }

 private:
  struct Ranked {
    int32_t place, rank;
    Match match;
  };

  // Texts with the same keys have exact matches only.
  bool find_matches(int32_t ref) {
    const std::span<const int32_t> words = group_.words(ref);
    const auto key = [this](int32_t word) { return group_.key(word); };
    const bool same = std::ranges::equal(hyp_.words, words, {}, key, key);
    std::span<const Occurrence> phrases = same ? std::span<const Occurrence>() : group_.phrases(ref);
    matches_.all.clear();
    matches_.at.resize(words.size() + 1);
    for (int32_t j = 0; j < static_cast<int32_t>(words.size()); ++j) {
      matches_.at[j] = static_cast<int64_t>(matches_.all.size());
      match_word(words[j], j, same ? EXACT : SYNONYM);
      size_t here = 0;
      while (here < phrases.size() && phrases[here].at == j) ++here;
      if (here > 0) {
        match_paraphrases_of(phrases.first(here));
        match_phrases_paraphrased_by(phrases.first(here));
        phrases = phrases.subspan(here);
      }
      if (matches_.all.size() > MOST_MATCHES) return false;
    }
    matches_.at.back() = static_cast<int64_t>(matches_.all.size());
    return true;
  }

  // Adds the matches of a reference word with single words: by module, then by position in the hypothesis.
  void match_word(int32_t word, int32_t j, Module last_module) {
    const std::span<const Relation> relations = hyp_.relations[word];
    if (relations.empty()) return;
    for (int module = EXACT; module <= last_module; ++module) {
      const size_t first = matches_.all.size();
      int chains = 0;
      for (const Relation& relation : relations) {
        if (!(relation.modules >> module & 1)) continue;
        ++chains;
        for (int32_t i = hyp_.word_positions.first(relation.word); i >= 0; i = hyp_.word_positions.next(i))
          matches_.all.push_back({j, 1, i, 1, static_cast<Module>(module)});
      }
      if (chains > 1) std::ranges::sort(matches_.all.begin() + static_cast<int64_t>(first), matches_.all.end(), {}, &Match::hyp_start);
    }
  }

  // Adds the matches of phrases at one reference word with their paraphrases in the hypothesis, in the order of the table.
  void match_paraphrases_of(std::span<const Occurrence> phrases) {
    for (const Occurrence& phrase : phrases) {
      for (const int32_t target : hyp_.targets[phrase.phrase]) {
        for (int32_t o = hyp_.phrase_positions.first(target); o >= 0; o = hyp_.phrase_positions.next(o))
          matches_.all.push_back(paraphrase(phrase, hyp_.phrases[o]));
        if (matches_.all.size() > MOST_MATCHES) return;
      }
    }
  }

  // Adds the matches of phrases at one reference word with the phrases of the hypothesis of which they are paraphrases: by the place of
  // the latter in the hypothesis, then in the order of the table.
  void match_phrases_paraphrased_by(std::span<const Occurrence> phrases) {
    ranked_.clear();
    for (const Occurrence& phrase : phrases) {
      for (const Source& source : hyp_.sources[phrase.phrase]) {
        for (int32_t o = hyp_.phrase_positions.first(source.phrase); o >= 0; o = hyp_.phrase_positions.next(o))
          ranked_.push_back({o, source.rank, paraphrase(phrase, hyp_.phrases[o])});
        if (ranked_.size() > MOST_MATCHES) break;
      }
    }
    std::ranges::sort(ranked_, [](const Ranked& a, const Ranked& b) { return a.place != b.place ? a.place < b.place : a.rank < b.rank; });
    for (const Ranked& ranked : ranked_) matches_.all.push_back(ranked.match);
  }

  static Match paraphrase(const Occurrence& ref, const Occurrence& hyp) { return {ref.at, ref.length, hyp.at, hyp.length, PARAPHRASE}; }

  // Fixes the matches that no other match overlaps; returns whether others are left, so that a search is needed.
  bool fix_matches() {
    const size_t ref_length = matches_.at.size() - 1;
    hyp_cover_.assign(hyp_.words.size(), 0);
    ref_cover_.assign(ref_length, 0);
    for (const Match& match : matches_.all) {
      for (int32_t k = 0; k < match.ref_length; ++k) ++ref_cover_[match.ref_start + k];
      for (int32_t k = 0; k < match.hyp_length; ++k) ++hyp_cover_[match.hyp_start + k];
    }
    matches_.fixed.assign(ref_length, -1);
    bool rivals = false;
    for (size_t j = 0; j < ref_length; ++j) {
      const int64_t here = matches_.at[j + 1] - matches_.at[j];
      if (here == 1 && is_alone(matches_.all[matches_.at[j]])) {
        matches_.fixed[j] = static_cast<int32_t>(matches_.at[j]);
      } else if (here > 0) {
        rivals = true;
      }
    }
    return rivals;
  }

  bool is_alone(const Match& match) const {
    for (int32_t k = 0; k < match.ref_length; ++k)
      if (ref_cover_[match.ref_start + k] > 1) return false;
    for (int32_t k = 0; k < match.hyp_length; ++k)
      if (hyp_cover_[match.hyp_start + k] > 1) return false;
    return true;
  }

  void number_slots() {
    matches_.slots.resize(hyp_cover_.size());
    int32_t slot = 0;
    for (size_t i = 0; i < hyp_cover_.size(); ++i) {
      matches_.slots[i] = slot;
      slot += hyp_cover_[i] > 0;
    }
    matches_.n_slots = slot;
  }

  void count(int32_t ref, int32_t* out) const {
    std::fill_n(out, CK_METEOR_STATISTICS, 0);
    const std::span<const int32_t> hyp_words = hyp_.words, ref_words = group_.words(ref);
    out[0] = static_cast<int32_t>(hyp_words.size());
    out[1] = static_cast<int32_t>(ref_words.size());
    out[2] = group_.n_function_words(present_);
    out[3] = group_.n_function_words(ref);
    int32_t ref_end = -1, hyp_end = -1;
    for (const int32_t chosen : selection_) {
      if (chosen < 0) continue;
      const Match& match = matches_.all[chosen];
      int32_t* matched = out + 4 + 4 * match.module;
      for (int32_t k = 0; k < match.hyp_length; ++k) ++matched[2 * group_.is_function(hyp_words[match.hyp_start + k])];
      for (int32_t k = 0; k < match.ref_length; ++k) ++matched[1 + 2 * group_.is_function(ref_words[match.ref_start + k])];
      out[20] += match.ref_start != ref_end || match.hyp_start != hyp_end;
      ref_end = match.ref_start + match.ref_length;
      hyp_end = match.hyp_start + match.hyp_length;
      out[21] += match.hyp_length;
      out[22] += match.ref_length;
    }
  }

  MeteorGroup group_;
  int32_t present_ = -1;  // position in the group of `hyp_`
  Hypothesis hyp_;
  Matches matches_;
  std::vector<Ranked> ranked_;
  std::vector<int32_t> hyp_cover_, ref_cover_;  // number of matches that cover each word
  std::vector<int32_t> selection_;              // per reference word: the match of the alignment that starts there, -1 for none
  Search search_;
};

// The order of the operations is that of meteor-1.5.jar.
double meteor_score(const double* s) {
  const double hyp_weighted = DELTA * (s[0] - s[2]) + (1.0 - DELTA) * s[2];
  const double ref_weighted = DELTA * (s[1] - s[3]) + (1.0 - DELTA) * s[3];
  double hyp_matches = 0.0, ref_matches = 0.0;
  for (int m = 0; m < 4; ++m) {
    hyp_matches += s[4 + 4 * m] * MODULE_WEIGHTS[m] * DELTA;
    ref_matches += s[5 + 4 * m] * MODULE_WEIGHTS[m] * DELTA;
  }
  for (int m = 0; m < 4; ++m) {
    hyp_matches += s[6 + 4 * m] * MODULE_WEIGHTS[m] * (1.0 - DELTA);
    ref_matches += s[7 + 4 * m] * MODULE_WEIGHTS[m] * (1.0 - DELTA);
  }
  if (hyp_matches == 0.0 || ref_matches == 0.0 || hyp_weighted == 0.0 || ref_weighted == 0.0) return 0.0;
  const double precision = hyp_matches / hyp_weighted;
  const double recall = ref_matches / ref_weighted;
  const double f_mean = 1.0 / (((1.0 - ALPHA) / precision) + (ALPHA / recall));
  const bool complete = s[21] == s[0] && s[22] == s[1] && s[20] == 1.0;
  const double fragmentation = complete ? 0.0 : s[20] / ((s[21] + s[22]) / 2.0);
  return f_mean * (1.0 - GAMMA * pow(fragmentation, BETA));
}

// Entries starts[k] to starts[k + 1] of an array with `size` entries.
template <class T>
std::span<const T> part(const T* values, int64_t size, const int64_t* starts, int64_t k) {
  const int64_t first = starts[k], last = starts[k + 1];
  if (first < 0 || first > last || last > size) fail(CK_OUT_OF_RANGE);
  return {values + first, values + last};
}

}  // namespace

}  // namespace ck

using namespace ck;

ck_status ck_meteor_align(const ck_meteor* meteor, const ck_meteor_pairs* given, int64_t start, int64_t stop, double* scores,
                          int32_t* statistics, int64_t n_rows, int64_t* excess) {
  return guarded([&] {
    const ck_meteor_pairs& pairs = *given;
    if (start < 0 || start > stop || stop > pairs.n_groups) fail(CK_OUT_OF_RANGE);
    *excess = -1;
    Aligner aligner(*meteor);
    for (int64_t group = start; group < stop; ++group) {
      const auto hyps = part(pairs.hyps, pairs.n_pairs, pairs.pair_starts, group);
      const auto texts = part(pairs.texts, pairs.n_texts, pairs.text_starts, group);
      if (!hyps.empty()) aligner.read_group(texts);
      for (int64_t pair = pairs.pair_starts[group]; pair < pairs.pair_starts[group + 1]; ++pair) {
        const int32_t hyp = pairs.hyps[pair], ref = pairs.refs[pair], n_texts = static_cast<int32_t>(texts.size());
        const int64_t row = pairs.rows[pair];
        if (hyp < 0 || hyp >= n_texts || ref < 0 || ref >= n_texts || row >= n_rows) fail(CK_OUT_OF_RANGE);
        int32_t values[CK_METEOR_STATISTICS];
        if (!aligner.align(hyp, ref, values)) {
          *excess = pair;
          return;
        }
        double numbers[CK_METEOR_STATISTICS];
        std::ranges::copy(values, numbers);
        scores[pair] = meteor_score(numbers);
        if (row >= 0) std::ranges::copy(values, statistics + row * CK_METEOR_STATISTICS);
      }
    }
  });
}

void ck_meteor_scores(const double* statistics, int64_t n, double* scores) {
  for (int64_t k = 0; k < n; ++k) scores[k] = meteor_score(statistics + k * CK_METEOR_STATISTICS);
}
