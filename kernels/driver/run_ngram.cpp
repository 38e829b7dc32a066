// Index, BLEU, ROUGE-L, CIDEr.
#include <cmath>
#include <memory>
#include <numeric>

#include "areas.hpp"

namespace driver {

namespace {

ck_status use_index(const ck_index* index, const Ids& rows) {
  const int64_t size = static_cast<int64_t>(rows.size());
  Ids lengths(rows.size());
  CHECK(ck_index_lengths(index, rows.data(), size, lengths.data()));
  for (size_t k = 0; k < rows.size(); ++k) {
    int64_t ends[4];
    CHECK(ck_index_entries(index, rows[k], ends, nullptr, nullptr));
    Ids grams(static_cast<size_t>(ends[3])), counts(grams.size());
    CHECK(ck_index_entries(index, rows[k], ends, grams.data(), counts.data()));
    require(std::accumulate(counts.begin(), counts.begin() + ends[0], int64_t{0}) == lengths[k], "unigrams count the words");
  }
  MAKE(ck_strings, texts, ck_index_texts(index, rows.data(), size, &made));
  MAKE(ck_strings, words, ck_index_words(index, &made));
  MAKE(ck_strings, grams, ck_index_grams(index, &made));
  const Texts all_words = strings_of(words);
  std::vector<uint64_t> keys(strings_of(grams).size() + 1);
  require(ck_index_n_words(index) == static_cast<int64_t>(all_words.size()), "words are counted");
  CHECK(ck_index_gram_keys(index, keys.data()));
  MAKE(ck_index, copy, ck_index_new(0, &made));
  const std::vector<ck_string> in = views(all_words);
  CHECK(ck_index_restore(copy.get(), in.data(), static_cast<int64_t>(in.size()), keys.data(), static_cast<int64_t>(keys.size()) - 1));
  MAKE(ck_strings, copied, ck_index_grams(copy.get(), &made));
  require(strings_of(copied) == strings_of(grams), "a copy has the n-grams");
  return CK_OK;
}

void require_errors(ck_index* index) {
  const int64_t beyond = ck_index_mark(index).rows, negative = -1, row = 0;
  int64_t out[4];
  double score;
  ck_strings* texts = nullptr;
  for (int64_t bad : {beyond, negative, INT64_MAX, INT64_MIN}) {
    require(ck_index_gram_rows(index, &bad, 1, out) == CK_OUT_OF_RANGE, "gram_rows refuses a row beyond the index");
    require(ck_index_lengths(index, &bad, 1, out) == CK_OUT_OF_RANGE, "lengths refuses a row beyond the index");
    require(ck_clip(index, {&bad, &row, 1, 1, 1}, 0, out) == CK_OUT_OF_RANGE, "BLEU refuses a row beyond the index");
    require(ck_clip(index, {&bad, &row, 1, 1, 1}, 1, out) == CK_OUT_OF_RANGE, "BLEU of pairs refuses a row beyond the index");
    require(ck_lcs(index, {&row, &bad, 1, 1, 1}, out) == CK_OUT_OF_RANGE, "ROUGE-L refuses a row beyond the index");
    require(ck_cider(index, {nullptr, 0, 1.0}, {&bad, &row, 1, 1, 1}, 1, 6.0, &score) == CK_OUT_OF_RANGE, "CIDEr refuses a row beyond it");
    require(ck_index_texts(index, &bad, 1, &texts) == CK_OUT_OF_RANGE, "texts refuses a row beyond the index");
    require(ck_cider_repetition(index, {&row, &bad, 1, 1, 1}, &score) == CK_OUT_OF_RANGE, "CIDEr-R refuses a row beyond the index");
    require(ck_index_entries(index, bad, out, nullptr, nullptr) == CK_OUT_OF_RANGE, "entries refuses a row beyond the index");
  }
  const uint8_t candidates[] = {1, 1};
  require(ck_bleu_relabel(index, out, {candidates, 0, 2, 1}, 4, &score) == CK_BAD_ARGUMENT, "a relabeling needs a reference");
  require(ck_best_relabel(&score, {candidates, 0, 2, 1}, &score) == CK_BAD_ARGUMENT, "a relabeling needs a reference");
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
  const ck_pairs examples_of = {hyp.data(), ref.data(), examples, n, m};
  for (int each : {0, 1}) CHECK(ck_clip(index, examples_of, each, matches.data()));
  CHECK(ck_lcs(index, {hyp_words.data(), ref_words.data(), examples, n, m}, lcs.data()));

  std::vector<uint8_t> labels(static_cast<size_t>(3 * width), 0);
  for (int64_t p = 0; p < 3; ++p)
    for (int64_t k = 0; k < width; ++k) labels[static_cast<size_t>(p * width + k)] = k == 0 || (k != width - 1 && random.below(2));
  std::vector<double> scores(static_cast<size_t>(std::max(pairs, 3 * examples)) + 1), table(lcs.size(), 0.5);
  const ck_relabelings relabelings = {labels.data(), examples, width, 3};
  CHECK(ck_bleu_relabel(index, gram_table.data(), relabelings, 4, scores.data()));
  const Ids words(rows.begin(), rows.begin() + examples * width);
  CHECK(ck_lcs(index, {words.data(), words.data(), examples, width, width}, lcs.data()));
  CHECK(ck_index_lengths(index, words.data(), examples * width, lengths.data()));
  CHECK(ck_rouge_relabel(lcs.data(), lengths.data(), relabelings, 1.2, scores.data()));
  CHECK(ck_best_relabel(table.data(), relabelings, scores.data()));

  Ids frequencies(static_cast<size_t>(ck_index_mark(index).grams)), starts;
  for (int64_t k = 0; k <= examples; ++k) starts.push_back(k * m);
  CHECK(ck_document_frequencies(index, ref.data(), starts.data(), examples, frequencies.data(), static_cast<int64_t>(frequencies.size())));
  std::vector<double> idf(frequencies.size());
  CHECK(ck_cider_idf(frequencies.data(), static_cast<int64_t>(idf.size()), static_cast<double>(examples), idf.data()));
  const ck_idf weights = {idf.data(), static_cast<int64_t>(idf.size()) / 2, 3.0};
  for (int clip : {0, 1}) CHECK(ck_cider(index, weights, examples_of, clip, 6.0, scores.data()));
  CHECK(ck_cider(index, weights, examples_of, 1, INFINITY, scores.data()));
  CHECK(ck_cider_repetition(index, examples_of, scores.data()));
  return CK_OK;
}

ck_status run_ngram(const Texts& texts, Random& random) {
  const std::vector<ck_string> in = views(texts);
  const int64_t size = static_cast<int64_t>(in.size());
  Ids rows(in.size()), grams(in.size()), again(in.size());
  for (int ptb : {0, 1}) {
    MAKE(ck_index, index, ck_index_new(ptb, &made));
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
    int64_t ids[3];
    CHECK(ck_index_intern_grams(index.get(), wanted.data(), 3, ids));
    const int64_t n = 1 + random.below(2), m = 1 + random.below(4);
    if (const ck_status status = score_rows(index.get(), again, grams, n, m, random); status != CK_OK) return status;
    require_errors(index.get());
  }
  return CK_OK;
}

}  // namespace driver
