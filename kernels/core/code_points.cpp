#include "code_points.hpp"

namespace ck {

namespace {

// Every `stride`-th character from the first to the last has its lower-case letter at this distance.
struct LowerRun {
  char32_t first, last;
  uint32_t stride;
  int32_t distance;
};

#include "lower_tables.inc"

constexpr char32_t CAPITAL_SIGMA = 0x3A3, SIGMA = 0x3C3, FINAL_SIGMA = 0x3C2, CAPITAL_DOTTED_I = 0x130, DOT_ABOVE = 0x307;

char32_t lower(char32_t code) {
  if (code < 0x80) return code >= 'A' && code <= 'Z' ? code + 32 : code;
  const auto after = std::upper_bound(std::begin(LOWER_RUNS), std::end(LOWER_RUNS), code,
                                      [](char32_t c, const LowerRun& run) { return c < run.first; });
  if (after == std::begin(LOWER_RUNS)) return code;
  const LowerRun& run = *(after - 1);
  return code <= run.last && (code - run.first) % run.stride == 0 ? code + static_cast<char32_t>(run.distance) : code;
}

// Whether the next character in this direction that does not ignore case has case.
bool is_beside_letter(const std::u32string& text, size_t place, int step) {
  size_t k = place + static_cast<size_t>(step);  // before the first place this wraps to the largest number
  while (k < text.size() && contains(CASE_IGNORABLE, text[k])) k += static_cast<size_t>(step);
  return k < text.size() && contains(CASED, text[k]);
}

// The last letter of a word: after a letter, and not before one.
bool is_final(const std::u32string& text, size_t place) {
  return is_beside_letter(text, place, -1) && !is_beside_letter(text, place, 1);
}

}  // namespace

void make_lower(std::u32string& text) {
  std::u32string result;
  result.reserve(text.size());
  for (size_t k = 0; k < text.size(); ++k) {
    if (text[k] == CAPITAL_SIGMA) {
      result.push_back(is_final(text, k) ? FINAL_SIGMA : SIGMA);
    } else if (text[k] == CAPITAL_DOTTED_I) {
      result.append({U'i', DOT_ABOVE});
    } else {
      result.push_back(lower(text[k]));
    }
  }
  text.swap(result);
}

}  // namespace ck
