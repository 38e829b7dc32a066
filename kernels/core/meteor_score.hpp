// The METEOR score of 23 statistics, with the parameters of the task `rank` (Denkowski & Lavie 2014, table 1).
#pragma once

#include <cstdint>
#include <span>

namespace ck {

// Statistics of a pair: words of hypothesis and reference; function words of both; for each module the matched content words of both
// and the matched function words of both; chunks; matched words of both.
constexpr int METEOR_STATISTICS = 23;

// In [0, 1]; 0 when no word matches or a text is empty.
double meteor_score(const double* statistics);
double meteor_score(const int32_t* statistics);

// Position of the first of the largest scores; of no scores 0.
int64_t first_best(std::span<const double> scores);

}  // namespace ck
