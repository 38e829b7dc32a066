/* C interface of the caption kernels.
 *
 * Handles are opaque; each is made by a `..._new` or `..._open` function and ended by its `..._free`. Input are pointers with 64-bit
 * lengths, output goes to buffers of the caller or into a handle. A function that can fail returns a ck_status. No exception crosses
 * this interface, nothing here keeps global state, and no function starts a thread. A handle may be read by several threads at a time;
 * a function that takes it without `const` needs it alone.
 *
 * Text is UTF-8; unpaired surrogates are encoded as three bytes each, as Python's "surrogatepass" does. Other bytes that are not
 * UTF-8 are read as U+FFFD, one per byte.
 */
#ifndef CAPTION_KERNELS_H
#define CAPTION_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  CK_OK = 0,
  CK_NO_MEMORY = 1,    /* an allocation failed; the handle is as before the call */
  CK_OUT_OF_RANGE = 2, /* an id, row or bound lies outside its table */
  CK_BAD_ARGUMENT = 3, /* an argument that no value of the caller's data can have, such as order 0 */
  CK_BAD_DATA = 4,     /* a lexicon that is damaged or of another version */
  CK_TOO_LARGE = 5     /* more than 2^31 - 1 words, n-grams or matches */
} ck_status;

/* A string that the caller keeps alive. */
typedef struct {
  const char *data;
  int64_t size;
} ck_string;

/* Strings that a function made. String k has the bytes from ends[k - 1], or 0, to ends[k]; they live as long as the handle. */
typedef struct ck_strings ck_strings;
typedef struct {
  const char *bytes;
  const int64_t *ends;
  int64_t size;
} ck_strings_view;
ck_strings_view ck_strings_read(const ck_strings *strings);
void ck_strings_free(ck_strings *strings);

/* ---- Numbers: the same bits on every machine (no libm, no fused multiply-add) ---- */

/* Natural logarithm, e^x and x^y of `size` numbers; `out` may be the input. Special values as in C99, Annex F. */
void ck_log(const double *x, int64_t size, double *out);
void ck_exp(const double *x, int64_t size, double *out);
void ck_pow(const double *x, double y, int64_t size, double *out);
/* Sines of `size` numbers of at most 2^20 in absolute value; NaN for others. */
void ck_sin(const double *x, int64_t size, double *out);

/* The law modulo `size`, a power of two, of a sum of independent whole numbers: counts[d] of them have the law laws[d] (designs, size) on 0,
 * ..., size - 1. Errors are a few units in the last place of 1. */
ck_status ck_sum_law(const double *laws, const int64_t *counts, int64_t designs, int64_t size, double *law);
/* Eigenvalues (n, size), ascending, of symmetric finite matrices (n, size, size), of which the lower triangle is read. */
ck_status ck_eigenvalues(const double *matrices, int64_t n, int64_t size, double *values);

/* ---- Texts ---- */

/* The PTB tokeniser of the COCO toolkit, which remembers pieces of the texts that it met. */
typedef struct ck_tokenizer ck_tokenizer;
ck_status ck_tokenizer_new(ck_tokenizer **out);
void ck_tokenizer_free(ck_tokenizer *tokenizer);
/* The tokens of each text in lower case: without the toolkit's punctuation, joined by blanks; with `punctuation` all of them, joined
 * by line feeds, as no token has one. */
ck_status ck_tokenize(ck_tokenizer *tokenizer, const ck_string *texts, int64_t n, int punctuation, ck_strings **out);

/* Stems of words by the English Snowball stemmer (Porter2), version 2. */
ck_status ck_stem(const ck_string *words, int64_t n, ck_strings **out);

/* ---- Index of texts ---- */

typedef struct ck_index ck_index;

/* Sizes of an index; also the state to which ck_index_rollback returns. */
typedef struct {
  int64_t rows, grams, entries, resolved;
} ck_mark;

/* With `ptb`, texts are raw and go through the PTB tokeniser, else they are split at blanks. */
ck_status ck_index_new(int ptb, ck_index **out);
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
/* Number of words of each row, and its words joined by one blank. */
ck_status ck_index_lengths(const ck_index *index, const int64_t *rows, int64_t n, int64_t *lengths);
ck_status ck_index_texts(const ck_index *index, const int64_t *rows, int64_t n, ck_strings **out);
/* All words of the index, and all n-grams as words joined by one blank. */
int64_t ck_index_n_words(const ck_index *index);
ck_status ck_index_words(const ck_index *index, ck_strings **out);
ck_status ck_index_grams(const ck_index *index, ck_strings **out);
/* n-grams of a counted row: `ends` (4) receives the number of n-grams up to each order; `grams` and `counts` have room for ends[3]
 * numbers, or are NULL. */
ck_status ck_index_entries(const ck_index *index, int64_t row, int64_t *ends, int64_t *grams, int64_t *counts);
/* Ids of n-grams, each of one to four words joined by blanks; new ones are added. */
ck_status ck_index_intern_grams(ck_index *index, const ck_string *grams, int64_t n, int64_t *ids);
/* A copy of the words and n-grams of an index, without its rows: intern the words in their order, then the n-grams by their keys
 * (prefix n-gram << 32 | word; the prefix of a unigram is 2^32 - 1). */
ck_status ck_index_gram_keys(const ck_index *index, uint64_t *keys);
ck_status ck_index_restore(ck_index *index, const ck_string *words, int64_t n_words, const uint64_t *keys, int64_t n_grams);
/* Number of documents that contain each of the first n_df n-grams, which are all of the documents; document d has the gram rows
 * rows[starts[d]] to rows[starts[d + 1]]. */
ck_status ck_document_frequencies(const ck_index *index, const int64_t *rows, const int64_t *starts, int64_t n_documents, int64_t *df,
                                  int64_t n_df);

/* ---- BLEU, ROUGE-L, CIDEr ---- */

/* Examples of n hypotheses and m references: `hyp` is (examples, n), `ref` (examples, m), gram rows for BLEU and CIDEr, rows for
 * ROUGE-L. */
typedef struct {
  const int64_t *hyp, *ref;
  int64_t examples, n, m;
} ck_pairs;

/* Relabelings of the texts of examples: labels (n, texts) are nonzero for a candidate. Each has a candidate and a reference. */
typedef struct {
  const uint8_t *labels;
  int64_t examples, texts, n;
} ck_relabelings;

/* Matches of each order, clipped at the largest count in any reference: (examples, n, 4); with `each` clipped at each single
 * reference: (examples, n, m, 4). */
ck_status ck_clip(const ck_index *index, ck_pairs pairs, int each, int64_t *matches);
/* BLEU of `size` rows of counts, with the constants of the COCO toolkit: matches and guesses (size, 4), lengths (size). */
ck_status ck_bleu(const double *matches, const double *guesses, const double *lengths, const double *reference_lengths, int64_t size,
                  int order, double *scores);
/* Mean over candidates of multi-reference BLEU of gram rows (examples, texts) under relabelings: (examples, n). */
ck_status ck_bleu_relabel(const ck_index *index, const int64_t *rows, ck_relabelings relabelings, int order, double *scores);

/* Lengths of the longest common subsequences: (examples, n, m). */
ck_status ck_lcs(const ck_index *index, ck_pairs pairs, int64_t *lengths);
/* Mean over candidates of multi-reference ROUGE-L under relabelings, from lcs (examples, texts, texts) and lengths (examples, texts). */
ck_status ck_rouge_relabel(const int64_t *lcs, const int64_t *lengths, ck_relabelings relabelings, double beta, double *scores);
/* Mean over candidates of the best score over references under relabelings, from scores (examples, texts, texts), rows the
 * hypothesis, higher is better. */
ck_status ck_best_relabel(const double *pairs, ck_relabelings relabelings, double *scores);

/* idf of the first `size` n-grams of an index, and of the others. */
typedef struct {
  const double *weights;
  int64_t size;
  double unseen;
} ck_idf;

/* CIDEr-D (clip) or CIDEr of each pair, in [0, 10]: (examples, n, m). sigma is the width of the length penalty of CIDEr-D, which is
 * absent where sigma is infinite. */
ck_status ck_cider(const ck_index *index, ck_idf idf, ck_pairs pairs, int clip, double sigma, double *scores);
/* Geometric means of 1 / (1 + x) over the words of a hypothesis, the penalty for repetition of CIDEr-R (Oliveira dos Santos et al. 2021,
 * section 4): x is the difference of the counts in both texts, for a word that the reference lacks the count minus 1. */
ck_status ck_cider_repetition(const ck_index *index, ck_pairs pairs, double *penalties);
/* idf (n) of document frequencies: log(documents) - log(max(1, df)). */
ck_status ck_cider_idf(const int64_t *df, int64_t n, double documents, double *idf);

/* ---- METEOR 1.5 for English ---- */

/* Reads METEOR's paraphrase table, fed as text in blocks that may end anywhere. */
typedef struct ck_paraphrases ck_paraphrases;
ck_status ck_paraphrases_new(ck_paraphrases **out);
void ck_paraphrases_free(ck_paraphrases *table);
/* After a failed allocation the table can only be freed. */
ck_status ck_paraphrases_feed(ck_paraphrases *table, const char *data, int64_t size);
/* Ends the input and gives numbers to n words, also to those of the table. Writes those sections of a lexicon that the table fills, in the
 * order of their names in core/meteor_lexicon.hpp; they live as long as the handle. CK_BAD_DATA if the table has no entry or is cut
 * inside one. */
#define CK_PARAPHRASE_SECTIONS 7
ck_status ck_paraphrases_finish(ck_paraphrases *table, const ck_string *words, int64_t n, int64_t *numbers, ck_string *sections);

/* A lexicon in memory that the caller keeps alive and unchanged, at an address that is a multiple of 8. Opening checks header and lengths
 * (CK_BAD_DATA). A lexicon with other damage gives wrong answers, but nothing outside it is read. */
typedef struct ck_lexicon ck_lexicon;
ck_status ck_lexicon_open(const void *data, int64_t size, ck_lexicon **out);
void ck_lexicon_free(ck_lexicon *lexicon);

/* Lower-case words of each text by METEOR's rules for punctuation, joined by one blank. */
ck_status ck_normalise(const ck_lexicon *lexicon, const ck_string *texts, int64_t n, ck_strings **out);

/* Texts prepared for the alignment; each distinct word and text is analysed once. The lexicon must outlive the handle. */
typedef struct ck_meteor ck_meteor;
ck_status ck_meteor_new(const ck_lexicon *lexicon, ck_meteor **out);
void ck_meteor_free(ck_meteor *meteor);
/* Ids of n raw texts; equal texts have one id. Ids count from 0. */
ck_status ck_meteor_intern(ck_meteor *meteor, const ck_string *texts, int64_t n, int64_t *ids);
/* Ids of n rows of an index, equal to those of their words joined by one blank. The index must live until the rows of another one are
 * added. */
ck_status ck_meteor_add_rows(ck_meteor *meteor, const ck_index *index, const int64_t *rows, int64_t n, int64_t *ids);
/* Number of words of a text. */
ck_status ck_meteor_length(const ck_meteor *meteor, int64_t text, int64_t *length);
/* Numbers of n texts that are equal for texts with the same words, from 0 in the order of first occurrence. */
ck_status ck_meteor_same_words(const ck_meteor *meteor, const int64_t *ids, int64_t n, int64_t *numbers);

/* Pairs to align: groups of texts, and pairs of positions within each group. */
typedef struct {
  int64_t n_groups, n_texts, n_pairs;
  const int64_t *text_starts; /* (n_groups + 1) bounds of each group in `texts` */
  const int64_t *texts;       /* (n_texts) ids */
  const int64_t *pair_starts; /* (n_groups + 1) bounds of each group in the arrays below */
  const int32_t *hyps;        /* (n_pairs) position of the hypothesis in its group */
  const int32_t *refs;        /* (n_pairs) position of the reference in its group */
  const int64_t *rows;        /* (n_pairs) row of `statistics` for the pair, negative for none */
} ck_meteor_pairs;

/* Statistics of a pair: words of hypothesis and reference; function words of both; for each module the matched content words of both
 * and the matched function words of both; chunks; matched words of both. */
#define CK_METEOR_STATISTICS 23

/* Aligns the pairs of groups `start` to `stop` - 1. Writes the score of each pair to `scores` (n_pairs) and the statistics of those with
 * a row to `statistics` (n_rows, 23). `*excess` is -1, or the first pair with more than 2^22 matches, at which the work stops: two
 * repetitive texts of several thousand words each. Pairs of one hypothesis are fastest next to each other. */
ck_status ck_meteor_align(const ck_meteor *meteor, const ck_meteor_pairs *pairs, int64_t start, int64_t stop, double *scores,
                          int32_t *statistics, int64_t n_rows, int64_t *excess);
/* Scores of n rows of statistics (n, 23), in [0, 1]; 0 when no word matches or a text is empty. */
void ck_meteor_scores(const double *statistics, int64_t n, double *scores);

#ifdef __cplusplus
}
#endif
#endif
