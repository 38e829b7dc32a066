// Index, BLEU, ROUGE-L, CIDEr.
#include <cmath>
#include <memory>
#include <numeric>

#include "areas.hpp"

namespace driver {

namespace {

struct FreeIndex {
  void operator()(ck_index* index) const { ck_index_free(index); }
};
using Index = std::unique_ptr<ck_index, FreeIndex>;

ck_status use_index(const ck_index* index, const Ids& rows) {
  Ids lengths(rows.size());
  CHECK(ck_index_lengths(index, rows.data(), static_cast<int64_t>(rows.size()), lengths.data()));
  for (size_t k = 0; k < rows.size(); ++k) {
    const size_t length = static_cast<size_t>(lengths[k]);
    std::vector<int32_t> words(length), grams(4 * length), counts(4 * length);
    CHECK(ck_index_words(index, rows[k], words.data()));
    for (int32_t word : words) {
      ck_string text;
      CHECK(ck_index_word(index, word, &text));
    }
    int32_t ends[4];
    CHECK(ck_index_entries(index, rows[k], ends, grams.data(), counts.data()));
    require(std::accumulate(counts.begin(), counts.begin() + ends[0], int64_t{0}) == lengths[k], "unigrams count the words");
    if (ends[3] > 0) {
      char text[16];
      int64_t size = 0;
      CHECK(ck_index_gram_text(index, grams[static_cast<size_t>(ends[3]) - 1], text, sizeof(text), &size));
    }
  }
  return CK_OK;
}

void require_errors(ck_index* index) {
  const int64_t beyond = ck_index_mark(index).rows, negative = -1, row = 0;
  int64_t out[4];
  double score;
  int32_t ends[4];
  ck_string text;
  for (int64_t bad : {beyond, negative, INT64_MAX, INT64_MIN}) {
    require(ck_index_gram_rows(index, &bad, 1, out) == CK_OUT_OF_RANGE, "gram_rows refuses a row beyond the index");
    require(ck_index_lengths(index, &bad, 1, out) == CK_OUT_OF_RANGE, "lengths refuses a row beyond the index");
    require(ck_clip_all(index, &bad, &row, 1, 1, 1, out) == CK_OUT_OF_RANGE, "BLEU refuses a row beyond the index");
    require(ck_clip_pairs(index, &bad, &row, 1, 1, 1, out) == CK_OUT_OF_RANGE, "BLEU of pairs refuses a row beyond the index");
    require(ck_lcs_pairs(index, &row, &bad, 1, 1, 1, out) == CK_OUT_OF_RANGE, "ROUGE-L refuses a row beyond the index");
    require(ck_cider_pairs(index, nullptr, 0, 1.0, &bad, &row, 1, 1, 1, 1, 6.0, &score) == CK_OUT_OF_RANGE, "CIDEr refuses a row beyond it");
    require(ck_index_entries(index, bad, ends, nullptr, nullptr) == CK_OUT_OF_RANGE, "entries refuses a row beyond the index");
  }
  require(ck_index_word(index, -1, &text) == CK_OUT_OF_RANGE, "a negative word id is out of range");
  require(ck_index_word(index, INT32_MAX, &text) == CK_OUT_OF_RANGE, "a word id beyond the table is out of range");
  require(ck_index_gram_text(index, -1, nullptr, 0, out) == CK_OUT_OF_RANGE, "a negative n-gram id is out of range");
  require(ck_bleu(&score, &score, &score, &score, 0, 5, &score) == CK_BAD_ARGUMENT, "BLEU-5 does not exist");
}

ck_status run_tokens(ck_index* index, Random& random) {
  Ids tokens, starts = {0}, rows(8);
  for (int k = 0; k < 8; ++k) {
    for (int64_t n = random.below(12); n > 0; --n) tokens.push_back(random.below(9));
    starts.push_back(static_cast<int64_t>(tokens.size()));
  }
  CHECK(ck_index_add_tokens(index, tokens.data(), starts.data(), 8, random.below(3) - 1, static_cast<int>(random.below(2)), rows.data()));
  const int64_t bad[] = {-1, INT64_MAX, INT64_MIN, int64_t{1} << 40};
  const int64_t bounds[] = {0, 1};
  for (const int64_t& token : bad) require(ck_index_add_tokens(index, &token, bounds, 1, -1, 0, rows.data()) != CK_OK, "a token id out of range");
  const int64_t falling[] = {1, 0};
  require(ck_index_add_tokens(index, tokens.data(), falling, 1, -1, 0, rows.data()) == CK_BAD_ARGUMENT, "falling bounds are refused");
  return CK_OK;
}

}  // namespace

ck_status score_rows(const ck_index* index, const Ids& rows, const Ids& grams, int64_t n, int64_t m, Random& random) {
  const int64_t width = n + m, examples = static_cast<int64_t>(rows.size()) / width, pairs = examples * n * m;
  Ids hyp, ref, hyp_words, ref_words, gram_table(grams.begin(), grams.begin() + examples * width);
  for (int64_t k = 0; k < examples * width; ++k) {
    (k % width < n ? hyp : ref).push_back(grams[static_cast<size_t>(k)]);
    (k % width < n ? hyp_words : ref_words).push_back(rows[static_cast<size_t>(k)]);
  }
  Ids matches(static_cast<size_t>(pairs) * 4 + 4), lcs(static_cast<size_t>(examples * width * width) + 1), lengths(gram_table.size() + 1);
  CHECK(ck_clip_pairs(index, hyp.data(), ref.data(), examples, n, m, matches.data()));
  CHECK(ck_clip_all(index, hyp.data(), ref.data(), examples, n, m, matches.data()));
  CHECK(ck_lcs_pairs(index, hyp_words.data(), ref_words.data(), examples, n, m, lcs.data()));

  std::vector<uint8_t> labels(static_cast<size_t>(3 * width), 0);
  for (int64_t p = 0; p < 3; ++p)
    for (int64_t k = 0; k < width; ++k) labels[static_cast<size_t>(p * width + k)] = k == 0 || (k != width - 1 && random.below(2));
  std::vector<double> scores(static_cast<size_t>(std::max(pairs, 3 * examples)) + 1), table(lcs.size(), 0.5);
  CHECK(ck_bleu_relabel(index, gram_table.data(), labels.data(), examples, width, 3, 4, scores.data()));
  const Ids words(rows.begin(), rows.begin() + examples * width);
  CHECK(ck_lcs_pairs(index, words.data(), words.data(), examples, width, width, lcs.data()));
  CHECK(ck_index_lengths(index, words.data(), examples * width, lengths.data()));
  CHECK(ck_rouge_relabel(lcs.data(), lengths.data(), labels.data(), examples, width, 3, 1.2, scores.data()));
  CHECK(ck_best_relabel(table.data(), labels.data(), examples, width, 3, scores.data()));

  Ids frequencies(static_cast<size_t>(ck_index_mark(index).grams) + 1), starts;
  for (int64_t k = 0; k <= examples; ++k) starts.push_back(k * m);
  CHECK(ck_document_frequencies(index, ref.data(), starts.data(), examples, frequencies.data()));
  frequencies.pop_back();
  std::vector<double> idf(frequencies.size());
  CHECK(ck_cider_idf(frequencies.data(), static_cast<int64_t>(idf.size()), static_cast<double>(examples), idf.data()));
  const int64_t half = static_cast<int64_t>(idf.size()) / 2;
  for (int clip : {0, 1}) CHECK(ck_cider_pairs(index, idf.data(), half, 3.0, hyp.data(), ref.data(), examples, n, m, clip, 6.0, scores.data()));
  CHECK(ck_cider_pairs(index, idf.data(), half, 3.0, hyp.data(), ref.data(), examples, n, m, 1, INFINITY, scores.data()));
  return CK_OK;
}

ck_status run_ngram(const Texts& texts, Random& random) {
  const std::vector<ck_string> in = views(texts);
  const int64_t size = static_cast<int64_t>(in.size());
  Ids rows(in.size()), grams(in.size()), again(in.size());
  for (int ptb : {0, 1}) {
    enter_library();
    const Index index(ck_index_new(ptb));
    leave_library();
    if (!index) return CK_NO_MEMORY;
    CHECK(ck_index_add(index.get(), in.data(), size / 2, rows.data()));
    const ck_mark mark = ck_index_mark(index.get());
    CHECK(ck_index_add(index.get(), in.data(), size, rows.data()));
    CHECK(ck_index_gram_rows(index.get(), rows.data(), size, grams.data()));
    if (const ck_status status = run_tokens(index.get(), random); status != CK_OK) return status;
    if (const ck_status status = use_index(index.get(), grams); status != CK_OK) return status;
    CHECK(ck_index_rollback(index.get(), mark, static_cast<int>(random.below(2))));
    CHECK(ck_index_add(index.get(), in.data(), size, again.data()));
    CHECK(ck_index_gram_rows(index.get(), again.data(), size, grams.data()));
    if (const ck_status status = use_index(index.get(), grams); status != CK_OK) return status;
    const Texts phrases = {"a dog", "a", "x y z w"};
    const std::vector<ck_string> wanted = views(phrases);
    int32_t ids[3];
    CHECK(ck_index_intern_grams(index.get(), wanted.data(), 3, ids));
    const int64_t n = 1 + random.below(2), m = 1 + random.below(4);
    if (const ck_status status = score_rows(index.get(), again, grams, n, m, random); status != CK_OK) return status;
    require_errors(index.get());
  }
  return CK_OK;
}

}  // namespace driver
