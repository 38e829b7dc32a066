// C functions of the index, BLEU, ROUGE-L and CIDEr.
#include <algorithm>
#include <cstring>
#include <new>

#include "bleu.hpp"
#include "cider.hpp"
#include "ck_ngram.h"
#include "guard.hpp"
#include "math.hpp"
#include "rouge.hpp"
#include "text_index.hpp"

// The handle is the object itself under another name.
struct ck_index : ck::TextIndex {
  using ck::TextIndex::TextIndex;
};

namespace {

using ck::fail;
using ck::guarded;
using ck::ORDERS;

void check_row(const ck_index& index, int64_t row) {
  if (row < 0 || row >= index.n_rows()) fail(CK_OUT_OF_RANGE);
}

void check_shape(int64_t examples, int64_t n, int64_t m) {
  if (examples < 0 || n < 0 || m < 0) fail(CK_BAD_ARGUMENT);
}

void check_order(int order) {
  if (order < 1 || order > ORDERS) fail(CK_BAD_ARGUMENT);
}

void check_bounds(const int64_t* starts, int64_t n) {
  if (n < 0 || starts[0] < 0) fail(CK_BAD_ARGUMENT);
  for (int64_t k = 0; k < n; ++k)
    if (starts[k + 1] < starts[k]) fail(CK_BAD_ARGUMENT);
}

}  // namespace

extern "C" {

ck_index* ck_index_new(int ptb) {
  ck_index* index = nullptr;
  guarded([&] { index = new ck_index(ptb != 0); });
  return index;
}

void ck_index_free(ck_index* index) { delete index; }

ck_mark ck_index_mark(const ck_index* index) {
  const ck::Mark mark = index->mark();
  return {mark.rows, mark.grams, mark.entries, mark.resolved};
}

ck_status ck_index_rollback(ck_index* index, ck_mark mark, int keep_grams) {
  return guarded([&] { index->rollback({mark.rows, mark.grams, mark.entries, mark.resolved}, keep_grams != 0); });
}

ck_status ck_index_add(ck_index* index, const ck_string* texts, int64_t n, int64_t* rows) {
  return guarded([&] {
    for (int64_t k = 0; k < n; ++k) rows[k] = index->add(ck::view(texts[k]));
  });
}

ck_status ck_index_add_tokens(ck_index* index, const int64_t* tokens, const int64_t* starts, int64_t n, int64_t end, int keep_end,
                              int64_t* rows) {
  return guarded([&] {
    check_bounds(starts, n);
    for (int64_t k = 0; k < n; ++k)
      rows[k] = index->add_tokens({tokens + starts[k], static_cast<size_t>(starts[k + 1] - starts[k])}, end, keep_end != 0);
  });
}

ck_status ck_index_gram_rows(ck_index* index, const int64_t* rows, int64_t n, int64_t* gram_rows) {
  return guarded([&] {
    for (int64_t k = 0; k < n; ++k) check_row(*index, rows[k]);
    for (int64_t k = 0; k < n; ++k) gram_rows[k] = index->gram_row(rows[k]);
  });
}

ck_status ck_index_lengths(const ck_index* index, const int64_t* rows, int64_t n, int64_t* lengths) {
  return guarded([&] {
    for (int64_t k = 0; k < n; ++k) {
      check_row(*index, rows[k]);
      lengths[k] = index->length(rows[k]);
    }
  });
}

ck_status ck_index_words(const ck_index* index, int64_t row, int32_t* words) {
  return guarded([&] {
    check_row(*index, row);
    std::ranges::copy(index->words(row), words);
  });
}

int64_t ck_index_n_words(const ck_index* index) { return index->vocabulary().size(); }

ck_status ck_index_word(const ck_index* index, int32_t word, ck_string* text) {
  return guarded([&] {
    if (word < 0 || word >= index->vocabulary().size()) fail(CK_OUT_OF_RANGE);
    const std::string_view view = index->vocabulary()[word];
    *text = {view.data(), static_cast<int64_t>(view.size())};
  });
}

ck_status ck_index_entries(const ck_index* index, int64_t row, int32_t* ends, int32_t* grams, int32_t* counts) {
  return guarded([&] {
    check_row(*index, row);
    if (!index->is_counted(row)) fail(CK_OUT_OF_RANGE);
    std::copy_n(index->grams(row).ends, ORDERS, ends);
    for (const ck::Entry& entry : index->entries(row)) {
      *grams++ = entry.gram;
      *counts++ = entry.count;
    }
  });
}

ck_status ck_index_intern_grams(ck_index* index, const ck_string* grams, int64_t n, int32_t* ids) {
  return guarded([&] {
    for (int64_t k = 0; k < n; ++k) ids[k] = index->intern_gram(ck::view(grams[k]));
  });
}

ck_status ck_index_gram_text(const ck_index* index, int32_t gram, char* text, int64_t room, int64_t* size) {
  return guarded([&] {
    if (gram < 0 || gram >= index->n_grams()) fail(CK_OUT_OF_RANGE);
    const std::string words = index->gram_text(gram);
    *size = static_cast<int64_t>(words.size());
    if (*size <= room) std::memcpy(text, words.data(), words.size());
  });
}

ck_status ck_index_gram_keys(const ck_index* index, uint64_t* keys) {
  return guarded([&] {
    for (int64_t gram = 0; gram < index->n_grams(); ++gram) keys[gram] = index->gram_key(static_cast<ck::Id>(gram));
  });
}

ck_status ck_index_restore(ck_index* index, const ck_string* words, int64_t n_words, const uint64_t* keys, int64_t n_grams) {
  return guarded([&] {
    for (int64_t k = 0; k < n_words; ++k)
      if (index->intern_word(ck::view(words[k])) != k) fail(CK_BAD_ARGUMENT);
    for (int64_t k = 0; k < n_grams; ++k)
      if (index->intern_gram(static_cast<ck::Id>(keys[k] >> 32), static_cast<ck::Id>(keys[k])) != k) fail(CK_BAD_ARGUMENT);
  });
}

ck_status ck_document_frequencies(const ck_index* index, const int64_t* rows, const int64_t* starts, int64_t n_documents, int64_t* df) {
  return guarded([&] {
    check_bounds(starts, n_documents);
    std::vector<int64_t> last_document(index->n_grams(), -1);
    for (int64_t d = 0; d < n_documents; ++d)
      for (int64_t k = starts[d]; k < starts[d + 1]; ++k) {
        check_row(*index, rows[k]);
        if (!index->is_counted(rows[k])) fail(CK_OUT_OF_RANGE);
        for (const ck::Entry& entry : index->entries(rows[k])) {
          df[entry.gram] += last_document[entry.gram] != d;
          last_document[entry.gram] = d;
        }
      }
  });
}

ck_status ck_clip_pairs(const ck_index* index, const int64_t* hyp, const int64_t* ref, int64_t examples, int64_t n, int64_t m,
                        int64_t* matches) {
  return guarded([&] {
    check_shape(examples, n, m);
    ck::clip_pairs(*index, hyp, ref, examples, n, m, matches);
  });
}

ck_status ck_clip_all(const ck_index* index, const int64_t* hyp, const int64_t* ref, int64_t examples, int64_t n, int64_t m,
                      int64_t* matches) {
  return guarded([&] {
    check_shape(examples, n, m);
    ck::clip_all(*index, hyp, ref, examples, n, m, matches);
  });
}

ck_status ck_bleu(const double* matches, const double* guesses, const double* lengths, const double* reference_lengths, int64_t size,
                  int order, double* scores) {
  return guarded([&] {
    check_order(order);
    for (int64_t k = 0; k < size; ++k)
      scores[k] = ck::bleu(matches + k * ORDERS, guesses + k * ORDERS, lengths[k], reference_lengths[k], order);
  });
}

ck_status ck_bleu_relabel(const ck_index* index, const int64_t* rows, const uint8_t* labels, int64_t examples, int64_t texts,
                          int64_t relabelings, int order, double* scores) {
  return guarded([&] {
    check_shape(examples, texts, relabelings);
    check_order(order);
    ck::relabel_bleu(*index, rows, labels, examples, texts, relabelings, order, scores);
  });
}

ck_status ck_lcs_pairs(const ck_index* index, const int64_t* hyp, const int64_t* ref, int64_t examples, int64_t n, int64_t m,
                       int64_t* lengths) {
  return guarded([&] {
    check_shape(examples, n, m);
    ck::lcs_pairs(*index, hyp, ref, examples, n, m, lengths);
  });
}

ck_status ck_rouge_relabel(const int64_t* lcs, const int64_t* lengths, const uint8_t* labels, int64_t examples, int64_t texts,
                           int64_t relabelings, double beta, double* scores) {
  return guarded([&] {
    check_shape(examples, texts, relabelings);
    ck::relabel_rouge(lcs, lengths, labels, examples, texts, relabelings, beta, scores);
  });
}

ck_status ck_cider_pairs(const ck_index* index, const double* idf, int64_t n_idf, double unseen, const int64_t* hyp, const int64_t* ref,
                         int64_t examples, int64_t n, int64_t m, int clip, double sigma, double* scores) {
  return guarded([&] {
    check_shape(examples, n, m);
    ck::cider_pairs(*index, {idf, n_idf, unseen}, hyp, ref, examples, n, m, clip != 0, sigma, scores);
  });
}

ck_status ck_cider_repetition(const ck_index* index, const int64_t* hyp, const int64_t* ref, int64_t examples, int64_t n, int64_t m,
                              double* penalties) {
  return guarded([&] {
    check_shape(examples, n, m);
    ck::cider_repetition(*index, hyp, ref, examples, n, m, penalties);
  });
}

ck_status ck_cider_idf(const int64_t* df, int64_t n, double documents, double* idf) {
  return guarded([&] {
    const double log_documents = ck::log(documents);
    std::vector<double> logs;  // frequencies are small numbers that repeat
    for (int64_t k = 0; k < n; ++k) {
      if (df[k] < 0) fail(CK_OUT_OF_RANGE);
      const int64_t frequency = std::max<int64_t>(1, df[k]);
      constexpr int64_t MOST = 1 << 16;
      while (frequency < MOST && static_cast<int64_t>(logs.size()) <= frequency)
        logs.push_back(logs.empty() ? 0.0 : ck::log(static_cast<double>(logs.size())));
      idf[k] = log_documents - (frequency < MOST ? logs[frequency] : ck::log(static_cast<double>(frequency)));
    }
  });
}

ck_status ck_best_relabel(const double* pairs, const uint8_t* labels, int64_t examples, int64_t texts, int64_t relabelings,
                          double* scores) {
  return guarded([&] {
    check_shape(examples, texts, relabelings);
    ck::relabel_best(pairs, labels, examples, texts, relabelings, scores);
  });
}

}  // extern "C"
