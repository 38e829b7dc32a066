// CIDEr and CIDEr-D (Vedantam et al. 2015, sections 4.1 and 4.2).
#pragma once

#include "text_index.hpp"

namespace ck {

struct Idf {
  const double* weights;  // of the first n-grams of an index
  int64_t size;
  double unseen;          // of all other n-grams
  double of(Id gram) const { return gram < size ? weights[gram] : unseen; }
};

void cider_pairs(const TextIndex& index, const Idf& idf, const int64_t* hyp, const int64_t* ref, int64_t examples, int64_t n, int64_t m,
                 bool clip, double sigma, double* scores);

// The penalty for repetition of CIDEr-R (Oliveira dos Santos et al. 2021, section 4).
void cider_repetition(const TextIndex& index, const int64_t* hyp, const int64_t* ref, int64_t examples, int64_t n, int64_t m,
                      double* penalties);

}  // namespace ck
