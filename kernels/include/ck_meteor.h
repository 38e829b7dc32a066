/* METEOR 1.5 for English: lexicon, words of texts, alignment. */
#ifndef CK_METEOR_H
#define CK_METEOR_H

#include "ck_ngram.h"
#include "ck_status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Builds a lexicon from the paraphrase table, fed as text in blocks that may end anywhere, and the four English lists of the jar. */
typedef struct ck_lexicon_builder ck_lexicon_builder;
ck_status ck_lexicon_builder_new(ck_lexicon_builder **out);
void ck_lexicon_builder_free(ck_lexicon_builder *builder);
/* After a failed allocation the builder can only be freed. */
ck_status ck_lexicon_builder_feed(ck_lexicon_builder *builder, const char *data, int64_t size);

typedef struct {
  ck_string function_words; /* function/english.words */
  ck_string prefixes;       /* nonbreaking/english.prefixes */
  ck_string exceptions;     /* synonym/english.exceptions */
  ck_string synsets;        /* synonym/english.synsets */
} ck_lexicon_lists;

/* Ends the input. The lexicon is `*data`, `*size` bytes, valid until the builder is freed; CK_BAD_DATA if the table has no entry or is cut
 * inside one, or if a list is not of its form. */
ck_status ck_lexicon_builder_finish(ck_lexicon_builder *builder, const ck_lexicon_lists *lists, const void **data, int64_t *size);

/* A lexicon in memory that the caller keeps alive and unchanged, at an address that is a multiple of 8. Opening checks header and lengths
 * (CK_BAD_DATA), ck_lexicon_verify every byte. */
typedef struct ck_lexicon ck_lexicon;
ck_status ck_lexicon_open(const void *data, int64_t size, ck_lexicon **out);
ck_status ck_lexicon_verify(const ck_lexicon *lexicon);
void ck_lexicon_free(ck_lexicon *lexicon);

/* Lower-case words of a text by METEOR's rules for punctuation. */
typedef struct ck_words ck_words;
ck_status ck_normalise(const ck_lexicon *lexicon, ck_string text, ck_words **out);
int64_t ck_words_size(const ck_words *words);
ck_string ck_words_get(const ck_words *words, int64_t k);
void ck_words_free(ck_words *words);

/* Texts prepared for the alignment; each distinct word and text is analysed once. The lexicon must outlive the handle. */
typedef struct ck_meteor ck_meteor;
ck_status ck_meteor_new(const ck_lexicon *lexicon, ck_meteor **out);
void ck_meteor_free(ck_meteor *meteor);
/* Ids of n raw texts; equal texts have one id. Ids count from 0. */
ck_status ck_meteor_intern(ck_meteor *meteor, const ck_string *texts, int64_t n, int64_t *ids);
/* Ids of n rows of an index, equal to those of their words joined by one blank. The index must live until the rows of another one are
 * added. */
ck_status ck_meteor_add_rows(ck_meteor *meteor, const ck_index *index, const int64_t *rows, int64_t n, int64_t *ids);
/* Word ids of a text, valid until the next text is added. */
ck_status ck_meteor_words(const ck_meteor *meteor, int64_t text, const int32_t **words, int64_t *size);
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

#define CK_METEOR_STATISTICS 23

/* Aligns the pairs of groups `start` to `stop` - 1. Writes the score of each pair to `scores` (n_pairs) and the statistics of those with
 * a row to `statistics` (n_rows, 23). `*excess` is -1, or the first pair with more than 2^22 matches, at which the work stops: two
 * repetitive texts of several thousand words each. Pairs of one hypothesis are fastest next to each other. */
ck_status ck_meteor_align(const ck_meteor *meteor, const ck_meteor_pairs *pairs, int64_t start, int64_t stop, double *scores,
                          int32_t *statistics, int64_t n_rows, int64_t *excess);
/* Scores of n rows of statistics (n, 23). */
void ck_meteor_scores(const double *statistics, int64_t n, double *scores);
/* Position of the first of the largest scores in each run starts[k] to starts[k + 1], none of which is empty: (n). */
ck_status ck_meteor_first_best(const double *scores, const int64_t *starts, int64_t n, int64_t *positions);

#ifdef __cplusplus
}
#endif
#endif
