// One function for each area of the C interface: it calls all of its functions with the texts, and checks what they promise.
#pragma once

#include <string>
#include <vector>

#include "memory.hpp"
#include "texts.hpp"

namespace driver {

using Texts = std::vector<std::string>;
using Ids = std::vector<int64_t>;

// Each returns the first status that is not CK_OK.
ck_status run_math(Random& random);
ck_status run_text(const Texts& texts);
ck_status run_ngram(const Texts& texts, Random& random);
ck_status run_meteor(const ck_lexicon* lexicon, const Texts& texts, Random& random);

// The parts of these that only read a handle: scores of examples of n candidates and m references, and of pairs of texts.
ck_status score_rows(const ck_index* index, const Ids& rows, const Ids& grams, int64_t n, int64_t m, Random& random);
ck_status align_texts(const ck_meteor* meteor, const Ids& ids, Random& random);

// A lexicon of the program's file; `broken` changes that many bytes of it.
class Lexicon {
 public:
  ck_status open(Random& random, int broken = 0);
  const ck_lexicon* handle() const { return handle_.get(); }
  static void read_file(const char* path);

 private:
  std::vector<uint64_t> buffer_;
  Handle<ck_lexicon> handle_;
};

// Reads an invented paraphrase table, perhaps damaged, in blocks that end anywhere.
ck_status read_paraphrases(Random& random, bool damaged);

// Opens and uses damaged and cut lexicons; reads damaged tables.
ck_status run_damaged_lexicons(const Texts& texts, Random& random, int64_t rounds);

// The strings that a call of the library made.
Texts strings_of(const Handle<ck_strings>& made);

}  // namespace driver

// Makes a handle of the library by `call`, which writes it to `made`; returns from the caller when it fails.
#define MAKE(type, name, call)                         \
  driver::Handle<type> name;                           \
  do {                                                 \
    type* made = nullptr;                              \
    CHECK(call);                                       \
    name.reset(made);                                  \
  } while (false)

// Calls a function of the library, whose allocations may be made to fail; returns from the caller when it fails.
#define CHECK(call)                         \
  do {                                      \
    driver::enter_library();                \
    const ck_status status_ = (call);       \
    driver::leave_library();                \
    if (status_ != CK_OK) return status_;   \
  } while (false)
