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

#include "ck_status.h"
#include "ck_math.h"
#include "ck_text.h"
#include "ck_ngram.h"
#include "ck_meteor.h"

#endif
