// BLEU with the constants of the COCO toolkit (Papineni et al. 2002, section 2).
#pragma once

#include "text_index.hpp"

namespace ck {

// BLEU of matches and guesses per order, the number of words and that of the closest reference.
double bleu(const double* matches, const double* guesses, double length, double reference_length, int order);

void clip_pairs(const TextIndex& index, const int64_t* hyp, const int64_t* ref, int64_t examples, int64_t n, int64_t m, int64_t* matches);
void clip_all(const TextIndex& index, const int64_t* hyp, const int64_t* ref, int64_t examples, int64_t n, int64_t m, int64_t* matches);
void relabel_bleu(const TextIndex& index, const int64_t* rows, const uint8_t* labels, int64_t examples, int64_t texts, int64_t relabelings,
                  int order, double* scores);

}  // namespace ck
