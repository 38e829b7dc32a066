/* Index of texts, and BLEU, ROUGE-L and CIDEr of its rows. */
#ifndef CK_NGRAM_H
#define CK_NGRAM_H

#include "ck_status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ck_index ck_index;

/* Sizes of an index; also the state to which ck_index_rollback returns. */
typedef struct {
  int64_t rows, grams, entries, resolved;
} ck_mark;

/* An empty index; NULL without memory. With `ptb`, texts are raw and go through the PTB tokeniser, else they are split at blanks. */
ck_index *ck_index_new(int ptb);
void ck_index_free(ck_index *index);
ck_mark ck_index_mark(const ck_index *index);
/* Drops the rows and, without keep_grams, the n-grams that were added since the mark. */
ck_status ck_index_rollback(ck_index *index, ck_mark mark, int keep_grams);

/* Rows of n texts; equal word sequences share a row. */
ck_status ck_index_add(ck_index *index, const ck_string *texts, int64_t n, int64_t *rows);
/* Rows of n sequences of token ids, tokens[starts[i]] to tokens[starts[i + 1]]. A sequence ends before its first `end` token, after it
 * with keep_end; a negative `end` ends none. */
ck_status ck_index_add_tokens(ck_index *index, const int64_t *tokens, const int64_t *starts, int64_t n, int64_t end, int keep_end,
                              int64_t *rows);
/* Rows of the words between white space, whose n-grams are counted: the rows that BLEU and CIDEr take. */
ck_status ck_index_gram_rows(ck_index *index, const int64_t *rows, int64_t n, int64_t *gram_rows);
/* Number of words of each row. */
ck_status ck_index_lengths(const ck_index *index, const int64_t *rows, int64_t n, int64_t *lengths);
/* Word ids of a row; `words` has room for its length. */
ck_status ck_index_words(const ck_index *index, int64_t row, int32_t *words);
int64_t ck_index_n_words(const ck_index *index);
/* The string of a word id; valid until the next text is added. */
ck_status ck_index_word(const ck_index *index, int32_t word, ck_string *text);
/* n-grams of a counted row: `ends` (4) receives the number of n-grams up to each order, `grams` and `counts` have room for
 * 4 * length entries. */
ck_status ck_index_entries(const ck_index *index, int64_t row, int32_t *ends, int32_t *grams, int32_t *counts);
/* Ids of n-grams, each of one to four words joined by blanks; new ones are added. */
ck_status ck_index_intern_grams(ck_index *index, const ck_string *grams, int64_t n, int32_t *ids);
/* The words of an n-gram joined by one blank: its size in bytes, which is written when `room` is large enough. */
ck_status ck_index_gram_text(const ck_index *index, int32_t gram, char *text, int64_t room, int64_t *size);
/* A copy of the words and n-grams of an index, without its rows: intern the words in their order, then the n-grams by their keys
 * (prefix n-gram << 32 | word; the prefix of a unigram is 2^32 - 1). */
ck_status ck_index_gram_keys(const ck_index *index, uint64_t *keys);
ck_status ck_index_restore(ck_index *index, const ck_string *words, int64_t n_words, const uint64_t *keys, int64_t n_grams);
/* Adds to df (n_grams) 1 for each document that contains an n-gram; document d has the gram rows rows[starts[d]] to
 * rows[starts[d + 1]]. */
ck_status ck_document_frequencies(const ck_index *index, const int64_t *rows, const int64_t *starts, int64_t n_documents, int64_t *df);

/* In all functions below an example has n hypotheses and m references: `hyp` is (examples, n), `ref` (examples, m), gram rows for
 * BLEU and CIDEr, rows for ROUGE-L. */

/* Matches of each order clipped at each single reference: (examples, n, m, 4). */
ck_status ck_clip_pairs(const ck_index *index, const int64_t *hyp, const int64_t *ref, int64_t examples, int64_t n, int64_t m,
                        int64_t *matches);
/* Matches of each order clipped at the largest count in any reference: (examples, n, 4). */
ck_status ck_clip_all(const ck_index *index, const int64_t *hyp, const int64_t *ref, int64_t examples, int64_t n, int64_t m,
                      int64_t *matches);
/* BLEU of `size` rows of counts, with the constants of the COCO toolkit: matches and guesses (size, 4), lengths (size). */
ck_status ck_bleu(const double *matches, const double *guesses, const double *lengths, const double *reference_lengths, int64_t size,
                  int order, double *scores);
/* Mean over candidates of multi-reference BLEU under relabelings: rows (examples, texts), labels (relabelings, texts) nonzero for a
 * candidate, scores (examples, relabelings). */
ck_status ck_bleu_relabel(const ck_index *index, const int64_t *rows, const uint8_t *labels, int64_t examples, int64_t texts,
                          int64_t relabelings, int order, double *scores);

/* Lengths of the longest common subsequences: (examples, n, m). */
ck_status ck_lcs_pairs(const ck_index *index, const int64_t *hyp, const int64_t *ref, int64_t examples, int64_t n, int64_t m,
                       int64_t *lengths);
/* Mean over candidates of multi-reference ROUGE-L under relabelings, from lcs (examples, texts, texts) and lengths (examples, texts). */
ck_status ck_rouge_relabel(const int64_t *lcs, const int64_t *lengths, const uint8_t *labels, int64_t examples, int64_t texts,
                           int64_t relabelings, double beta, double *scores);

/* CIDEr-D (clip) or CIDEr of each pair, in [0, 10]: (examples, n, m). idf (n_idf) weighs the first n-grams of the index, `unseen` the
 * others; sigma is the width of the length penalty of CIDEr-D, which is absent where sigma is infinite. */
ck_status ck_cider_pairs(const ck_index *index, const double *idf, int64_t n_idf, double unseen, const int64_t *hyp, const int64_t *ref,
                         int64_t examples, int64_t n, int64_t m, int clip, double sigma, double *scores);
/* Geometric means of 1 / (1 + x) over the words of a hypothesis, the penalty for repetition of CIDEr-R (Oliveira dos Santos et al. 2021,
 * section 4): x is the difference of the counts in both texts, for a word that the reference lacks the count minus 1. */
ck_status ck_cider_repetition(const ck_index *index, const int64_t *hyp, const int64_t *ref, int64_t examples, int64_t n, int64_t m,
                              double *penalties);
/* idf (n) of document frequencies: log(documents) - log(max(1, df)). */
ck_status ck_cider_idf(const int64_t *df, int64_t n, double documents, double *idf);

/* Mean over candidates of the best score over references under relabelings, from scores (examples, texts, texts), rows the
 * hypothesis, higher is better. */
ck_status ck_best_relabel(const double *pairs, const uint8_t *labels, int64_t examples, int64_t texts, int64_t relabelings,
                          double *scores);

#ifdef __cplusplus
}
#endif
#endif
