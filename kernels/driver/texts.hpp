// Random numbers and texts for the driver: the same on every machine.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "caption_kernels.h"

namespace driver {

// Ends a handle of the library.
struct Free {
  void operator()(ck_strings* strings) const { ck_strings_free(strings); }
  void operator()(ck_tokenizer* tokenizer) const { ck_tokenizer_free(tokenizer); }
  void operator()(ck_index* index) const { ck_index_free(index); }
  void operator()(ck_paraphrases* table) const { ck_paraphrases_free(table); }
  void operator()(ck_lexicon* lexicon) const { ck_lexicon_free(lexicon); }
  void operator()(ck_meteor* meteor) const { ck_meteor_free(meteor); }
};
template <class T>
using Handle = std::unique_ptr<T, Free>;

// splitmix64 (Steele et al. 2014)
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  int64_t below(int64_t n) { return static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

// A caption-like text, or one of the tokeniser's rules, bytes that are not UTF-8, or one that is long and repetitive.
std::string make_text(Random& random);

// The lines of a file and the file as a whole.
std::vector<std::string> read_texts(const char* path);

inline ck_string view(const std::string& text) { return {text.data(), static_cast<int64_t>(text.size())}; }

std::vector<ck_string> views(std::vector<std::string>&& texts) = delete;  // its strings end with it
inline std::vector<ck_string> views(const std::vector<std::string>& texts) {
  std::vector<ck_string> out;
  for (const std::string& text : texts) out.push_back(view(text));
  return out;
}

// Ends the program when a promise of the interface is broken.
inline void require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", promise);
  std::exit(1);
}

}  // namespace driver
