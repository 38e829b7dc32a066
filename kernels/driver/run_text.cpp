// Math, tokeniser, stemmer.
#include <cmath>
#include <limits>
#include <memory>

#include "areas.hpp"

namespace driver {

ck_status run_math(Random& random) {
  std::vector<double> x = {0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-320, -1e-320, 1e308, -1e308, 709.7, 709.8, -745.1, -745.2,
                           std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), std::nan("")};
  for (int k = 0; k < 200; ++k) {
    const uint64_t bits = random.next();
    double value;
    __builtin_memcpy(&value, &bits, 8);
    x.push_back(value);
    x.push_back(random.unit() * 100 - 50);
  }
  const int64_t size = static_cast<int64_t>(x.size());
  std::vector<double> out(x.size());
  ck_log(x.data(), size, out.data());
  require(out[2] == 0.0, "log(1) = 0");
  ck_exp(x.data(), size, out.data());
  require(out[0] == 1.0, "exp(0) = 1");
  for (double y : {0.0, 0.25, 1.0 / 3, 0.5, 1.0, 2.0, -1.5, 1e300, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    ck_pow(x.data(), y, size, out.data());
    require(out[2] == 1.0, "1^y = 1");
  }
  ck_log(x.data(), 0, out.data());
  ck_log(x.data(), size, x.data());
  return CK_OK;
}

namespace {

struct FreeTokenizer {
  void operator()(ck_tokenizer* tokenizer) const { ck_tokenizer_free(tokenizer); }
};
struct FreeStems {
  void operator()(ck_stems* stems) const { ck_stems_free(stems); }
};

ck_status read_tokens(const ck_tokenizer* tokenizer, const ck_tokens& tokens, std::vector<std::string>& words) {
  require(tokens.bounds[0] == 0, "bounds of tokens begin with 0");
  for (int64_t k = 0; k < tokens.bounds[tokens.n_texts]; ++k) {
    ck_string word;
    CHECK(ck_tokenizer_word(tokenizer, tokens.ids[k], &word));
    words.emplace_back(word.data, static_cast<size_t>(word.size));
  }
  return CK_OK;
}

}  // namespace

ck_status run_text(const Texts& texts) {
  const std::vector<ck_string> in = views(texts);
  const int64_t size = static_cast<int64_t>(in.size());
  ck_tokenizer* made = nullptr;
  CHECK(ck_tokenizer_new(&made));
  const std::unique_ptr<ck_tokenizer, FreeTokenizer> tokenizer(made);
  std::vector<std::string> first, second, raw;
  ck_tokens tokens;
  CHECK(ck_tokenizer_tokenize(made, in.data(), size, &tokens));
  if (const ck_status status = read_tokens(made, tokens, first); status != CK_OK) return status;
  CHECK(ck_tokenizer_tokenize_raw(made, in.data(), size, &tokens));
  if (const ck_status status = read_tokens(made, tokens, raw); status != CK_OK) return status;
  CHECK(ck_tokenizer_tokenize(made, in.data(), size, &tokens));
  if (const ck_status status = read_tokens(made, tokens, second); status != CK_OK) return status;
  require(first == second, "a tokeniser gives the same tokens twice");
  require(first.size() <= raw.size(), "punctuation is only removed");
  ck_string word;
  require(ck_tokenizer_word(made, -1, &word) == CK_OUT_OF_RANGE, "a negative word number is out of range");
  require(ck_tokenizer_word(made, ck_tokenizer_n_words(made), &word) == CK_OUT_OF_RANGE, "a word number beyond the table is out of range");

  raw.insert(raw.end(), texts.begin(), texts.end());
  const std::vector<ck_string> words = views(raw);
  ck_stems* stemmed = nullptr;
  CHECK(ck_stems_new(words.data(), static_cast<int64_t>(words.size()), &stemmed));
  const std::unique_ptr<ck_stems, FreeStems> stems(stemmed);
  int64_t bytes = 0;
  for (size_t k = 0; k < words.size(); ++k) {
    const ck_string stem = ck_stems_get(stemmed, static_cast<int64_t>(k));
    for (int64_t b = 0; b < stem.size; ++b) bytes += stem.data[b] != 0;
  }
  require(bytes >= 0, "stems can be read");
  return CK_OK;
}

}  // namespace driver
