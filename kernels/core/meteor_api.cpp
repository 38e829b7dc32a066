// C functions of METEOR's texts, alignment and score.
#include <new>

#include "ck_meteor.h"
#include "guard.hpp"
#include "meteor_align.hpp"
#include "meteor_score.hpp"
#include "meteor_texts.hpp"

// The handle is the object itself under another name.
struct ck_meteor : ck::MeteorTexts {
  using ck::MeteorTexts::MeteorTexts;
};

namespace {

using ck::fail;
using ck::guarded;

template <class T>
std::span<const T> array(const T* data, int64_t size) {
  if (size < 0) fail(CK_BAD_ARGUMENT);
  return {data, static_cast<size_t>(size)};
}

ck::MeteorPairs checked(const ck_meteor_pairs& pairs) {
  if (pairs.n_groups < 0 || pairs.n_groups == INT64_MAX) fail(CK_BAD_ARGUMENT);
  return {array(pairs.text_starts, pairs.n_groups + 1), array(pairs.texts, pairs.n_texts), array(pairs.pair_starts, pairs.n_groups + 1),
          array(pairs.hyps, pairs.n_pairs),             array(pairs.refs, pairs.n_pairs),  array(pairs.rows, pairs.n_pairs)};
}

}  // namespace

extern "C" {

ck_status ck_meteor_new(const ck_lexicon* lexicon, ck_meteor** out) {
  return guarded([&] { *out = new ck_meteor(lexicon->view); });
}

void ck_meteor_free(ck_meteor* meteor) { delete meteor; }

ck_status ck_meteor_intern(ck_meteor* meteor, const ck_string* texts, int64_t n, int64_t* ids) {
  return guarded([&] {
    for (const ck_string& text : array(texts, n)) *ids++ = meteor->intern(ck::view(text));
  });
}

ck_status ck_meteor_add_rows(ck_meteor* meteor, const ck_index* index, const int64_t* rows, int64_t n, int64_t* ids) {
  return guarded([&] {
    meteor->use_index(*reinterpret_cast<const ck::TextIndex*>(index));
    for (const int64_t row : array(rows, n)) *ids++ = meteor->add_row(row);
  });
}

ck_status ck_meteor_words(const ck_meteor* meteor, int64_t text, const int32_t** words, int64_t* size) {
  return guarded([&] {
    if (text < 0 || text >= meteor->n_texts()) fail(CK_OUT_OF_RANGE);
    const std::span<const int32_t> ids = meteor->words(text);
    *words = ids.data();
    *size = static_cast<int64_t>(ids.size());
  });
}

ck_status ck_meteor_same_words(const ck_meteor* meteor, const int64_t* ids, int64_t n, int64_t* numbers) {
  return guarded([&] { meteor->number_same_words(array(ids, n), numbers); });
}

ck_status ck_meteor_align(const ck_meteor* meteor, const ck_meteor_pairs* pairs, int64_t start, int64_t stop, double* scores,
                          int32_t* statistics, int64_t n_rows, int64_t* excess) {
  return guarded([&] {
    if (start < 0 || start > stop || stop > pairs->n_groups) fail(CK_OUT_OF_RANGE);
    *excess = ck::align_pairs(*meteor, checked(*pairs), start, stop, scores, statistics, n_rows);
  });
}

void ck_meteor_scores(const double* statistics, int64_t n, double* scores) {
  for (int64_t k = 0; k < n; ++k) scores[k] = ck::meteor_score(statistics + k * ck::METEOR_STATISTICS);
}

ck_status ck_meteor_first_best(const double* scores, const int64_t* starts, int64_t n, int64_t* positions) {
  return guarded([&] {
    for (int64_t k = 0; k < n; ++k) {
      if (starts[k] < 0 || starts[k] >= starts[k + 1]) fail(CK_BAD_ARGUMENT);
      positions[k] = starts[k] + ck::first_best(array(scores + starts[k], starts[k + 1] - starts[k]));
    }
  });
}

}  // extern "C"
