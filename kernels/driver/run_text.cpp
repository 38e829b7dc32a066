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

Texts strings_of(const Handle<ck_strings>& made) {
  const ck_strings_view view = ck_strings_read(made.get());
  Texts texts;
  for (int64_t k = 0, start = 0; k < view.size; start = view.ends[k++]) texts.emplace_back(view.bytes + start, view.ends[k] - start);
  return texts;
}

ck_status run_text(const Texts& texts) {
  const std::vector<ck_string> in = views(texts);
  const int64_t size = static_cast<int64_t>(in.size());
  MAKE(ck_tokenizer, tokenizer, ck_tokenizer_new(&made));
  MAKE(ck_strings, first, ck_tokenize(tokenizer.get(), in.data(), size, 0, &made));
  MAKE(ck_strings, raw, ck_tokenize(tokenizer.get(), in.data(), size, 1, &made));
  MAKE(ck_strings, second, ck_tokenize(tokenizer.get(), in.data(), size, 0, &made));
  require(strings_of(first) == strings_of(second), "a tokeniser gives the same tokens twice");
  Texts words = strings_of(raw);
  for (size_t k = 0; k < texts.size(); ++k) require(strings_of(first)[k].size() <= words[k].size(), "punctuation is only removed");
  words.insert(words.end(), texts.begin(), texts.end());
  const std::vector<ck_string> stemmed = views(words);
  MAKE(ck_strings, stems, ck_stem(stemmed.data(), static_cast<int64_t>(stemmed.size()), &made));
  require(strings_of(stems).size() == words.size(), "each word has a stem");
  ck_strings* none = nullptr;
  require(ck_stem(stemmed.data(), -1, &none) == CK_BAD_ARGUMENT, "a negative number of words is refused");
  return CK_OK;
}

}  // namespace driver
