// Handles that several threads read at a time, and handles after a failed allocation.
#include "shared.hpp"

namespace driver {

Shared::~Shared() {
  ck_meteor_free(meteor_);
  ck_index_free(index_);
}

ck_status Shared::build(const ck_lexicon* lexicon, const Texts& texts) {
  lexicon_ = lexicon;
  CHECK(ck_index_new(1, &index_));
  rows_.resize(texts.size()), grams_.resize(texts.size()), ids_.resize(texts.size());
  texts_ = texts;
  CHECK(ck_meteor_new(lexicon, &meteor_));
  return add();
}

ck_status Shared::add() {
  const std::vector<ck_string> in = views(texts_);
  const int64_t size = static_cast<int64_t>(in.size());
  CHECK(ck_index_add(index_, in.data(), size, rows_.data()));
  CHECK(ck_index_gram_rows(index_, rows_.data(), size, grams_.data()));
  CHECK(ck_meteor_intern(meteor_, in.data(), size, ids_.data()));
  CHECK(ck_meteor_add_rows(meteor_, index_, rows_.data(), size, ids_.data()));
  return CK_OK;
}

ck_status Shared::read(Random& random) const {
  const std::vector<ck_string> in = views(texts_);
  MAKE(ck_strings, lines, ck_normalise(lexicon_, in.data(), static_cast<int64_t>(in.size()), &made));
  if (const ck_status status = score_rows(index_, rows_, grams_, 1, 3, random); status != CK_OK) return status;
  return align_texts(meteor_, ids_, random);
}

ck_status Shared::recover(const Texts& more, int64_t number) {
  const Ids rows = rows_, grams = grams_, ids = ids_;
  const Texts texts = texts_;
  const ck_mark before = ck_index_mark(index_);
  texts_ = more;
  rows_.resize(more.size()), grams_.resize(more.size()), ids_.resize(more.size());
  fail_only(number);
  const ck_status failed = add();
  fail_from(-1);
  if (failed != CK_OK) {
    require(failed == CK_NO_MEMORY, "a failed allocation is CK_NO_MEMORY");
    const ck_mark after = ck_index_mark(index_);
    require(after.rows >= before.rows && after.grams >= before.grams && after.entries >= before.entries, "an index keeps what it has");
    if (const ck_status status = add(); status != CK_OK) return status;
  }
  Random random(7);
  if (const ck_status status = read(random); status != CK_OK) return status;
  texts_ = texts, rows_ = rows, grams_ = grams, ids_ = ids;
  Ids again(texts.size());
  const std::vector<ck_string> in = views(texts);
  CHECK(ck_index_add(index_, in.data(), static_cast<int64_t>(in.size()), again.data()));
  require(again == rows, "texts keep their rows after a failed allocation");
  CHECK(ck_meteor_intern(meteor_, in.data(), static_cast<int64_t>(in.size()), again.data()));
  return read(random);
}

}  // namespace driver
