// METEOR's alignment of pairs of texts: all matches of a pair, the best alignment and its statistics.
#pragma once

#include <cstdint>

#include "meteor_texts.hpp"

namespace ck {

// Pairs to align: groups of texts, and pairs of positions within each group.
struct MeteorPairs {
  std::span<const int64_t> text_starts;  // (groups + 1,) bounds in `texts`
  std::span<const int64_t> texts;
  std::span<const int64_t> pair_starts;  // (groups + 1,) bounds in the three below
  std::span<const int32_t> hyps;         // position of the hypothesis in its group
  std::span<const int32_t> refs;         // position of the reference in its group
  std::span<const int64_t> rows;         // row of the output that receives the pair's statistics, -1 for none
};

// Aligns the pairs of groups `start` to `stop` - 1: the score of each pair, and the statistics (n_rows, 23) of those with a row. Returns
// -1, or the number of a pair with more than 2^22 matches, at which the work stops: two repetitive texts of several thousand words each.
int64_t align_pairs(const MeteorTexts& texts, const MeteorPairs& pairs, int64_t start, int64_t stop, double* scores, int32_t* statistics,
                    int64_t n_rows);

}  // namespace ck
