// ROUGE-L (Lin 2004, section 3), and scores by the best reference under relabelings.
#pragma once

#include "text_index.hpp"

namespace ck {

void lcs_pairs(const TextIndex& index, const int64_t* hyp, const int64_t* ref, int64_t examples, int64_t n, int64_t m, int64_t* lengths);
void relabel_rouge(const int64_t* lcs, const int64_t* lengths, const uint8_t* labels, int64_t examples, int64_t texts, int64_t relabelings,
                   double beta, double* scores);
void relabel_best(const double* pairs, const uint8_t* labels, int64_t examples, int64_t texts, int64_t relabelings, double* scores);

}  // namespace ck
