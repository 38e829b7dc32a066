#include "meteor_score.hpp"

#include <algorithm>

#include "math.hpp"

namespace ck {

namespace {

constexpr double ALPHA = 0.85, BETA = 0.2, GAMMA = 0.6, DELTA = 0.75;
constexpr double MODULE_WEIGHTS[] = {1.0, 0.6, 0.8, 0.6};  // exact, stem, synonym, paraphrase

}  // namespace

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

double meteor_score(const int32_t* statistics) {
  double values[METEOR_STATISTICS];
  std::copy_n(statistics, METEOR_STATISTICS, values);
  return meteor_score(values);
}

int64_t first_best(std::span<const double> scores) { return std::ranges::max_element(scores) - scores.begin(); }

}  // namespace ck
