/* Texts: the Penn Treebank tokeniser and the English stemmer.
 *
 * Texts are UTF-8 as caption_kernels.h says. Word numbers count from 0 in the order in which a handle met the words first.
 */
#ifndef CK_TEXT_H
#define CK_TEXT_H

#include "ck_status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The PTB tokeniser of the COCO toolkit, with the words that it met. */
typedef struct ck_tokenizer ck_tokenizer;

/* Tokens of the texts of one call: text t has the words ids[bounds[t]] to ids[bounds[t + 1] - 1].
 * The arrays belong to the handle and hold until its next call. */
typedef struct {
  const int32_t *ids;
  const int64_t *bounds; /* n_texts + 1 values */
  int64_t n_texts;
} ck_tokens;

ck_status ck_tokenizer_new(ck_tokenizer **out);
void ck_tokenizer_free(ck_tokenizer *tokenizer);

/* Words of each text in lower case, without the toolkit's punctuation. */
ck_status ck_tokenizer_tokenize(ck_tokenizer *tokenizer, const ck_string *texts, int64_t n_texts, ck_tokens *out);

/* Tokens of each text in lower case, with punctuation. */
ck_status ck_tokenizer_tokenize_raw(ck_tokenizer *tokenizer, const ck_string *texts, int64_t n_texts, ck_tokens *out);

/* Number of words that the handle met, and one of them; the text holds until the handle's next tokenize. */
int64_t ck_tokenizer_n_words(const ck_tokenizer *tokenizer);
ck_status ck_tokenizer_word(const ck_tokenizer *tokenizer, int64_t id, ck_string *out);

/* Stems of words by the English Snowball stemmer (Porter2), version 2. */
typedef struct ck_stems ck_stems;
ck_status ck_stems_new(const ck_string *words, int64_t size, ck_stems **out);
ck_string ck_stems_get(const ck_stems *stems, int64_t k); /* 0 <= k < size; lives as long as the handle */
void ck_stems_free(ck_stems *stems);

#ifdef __cplusplus
}
#endif
#endif
