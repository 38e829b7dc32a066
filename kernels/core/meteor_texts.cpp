// C functions of METEOR's texts.
#include "meteor_texts.hpp"

using ck::guarded;

ck_status ck_meteor_new(const ck_lexicon* lexicon, ck_meteor** out) {
  return guarded([&] { *out = new ck_meteor(*lexicon); });
}

void ck_meteor_free(ck_meteor* meteor) { delete meteor; }

ck_status ck_meteor_intern(ck_meteor* meteor, const ck_string* texts, int64_t n, int64_t* ids) {
  return guarded([&] {
    for (const ck_string& text : ck::items(texts, n)) *ids++ = meteor->intern(ck::view(text));
  });
}

ck_status ck_meteor_add_rows(ck_meteor* meteor, const ck_index* index, const int64_t* rows, int64_t n, int64_t* ids) {
  return guarded([&] {
    meteor->use_index(*index);
    for (const int64_t row : ck::items(rows, n)) *ids++ = meteor->add_row(row);
  });
}

ck_status ck_meteor_length(const ck_meteor* meteor, int64_t text, int64_t* length) {
  return guarded([&] {
    meteor->check_text(text);
    *length = static_cast<int64_t>(meteor->words(text).size());
  });
}

ck_status ck_meteor_same_words(const ck_meteor* meteor, const int64_t* ids, int64_t n, int64_t* numbers) {
  return guarded([&] {
    ck::Vocabulary sequences;
    for (const int64_t text : ck::items(ids, n)) {
      meteor->check_text(text);
      const std::span<const ck::Id> words = meteor->words(text);
      *numbers++ = sequences.intern({reinterpret_cast<const char*>(words.data()), words.size_bytes()});
    }
  });
}
