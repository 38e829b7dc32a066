/* Results and strings of the C interface. */
#ifndef CK_STATUS_H
#define CK_STATUS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  CK_OK = 0,
  CK_NO_MEMORY = 1,       /* an allocation failed; the handle is as before the call */
  CK_OUT_OF_RANGE = 2,    /* an id, row or bound lies outside its table */
  CK_BAD_ARGUMENT = 3,    /* an argument that no value of the caller's data can have, such as order 0 */
  CK_BAD_DATA = 4,        /* a lexicon that is damaged or of another version */
  CK_TOO_LARGE = 5        /* more than 2^31 - 1 words, n-grams or matches */
} ck_status;

/* A string that the caller keeps alive. */
typedef struct {
  const char *data;
  int64_t size;
} ck_string;

#ifdef __cplusplus
}
#endif
#endif
