// UTF-8, sets of code points, lower case. Unpaired surrogates are three bytes, as Python's "surrogatepass" has them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ck {

// Length in bytes of the character at the start of `text`, and its code point. A byte that is not UTF-8 is U+FFFD.
struct Character {
  char32_t code;
  size_t size;
};

inline Character first_character(std::string_view text) {
  const auto byte = [&](size_t k) { return static_cast<unsigned char>(text[k]); };
  const char32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t size = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (size == 0 || text.size() < size) return {0xFFFD, 1};
  char32_t code = lead & (0x7F >> size);
  for (size_t k = 1; k < size; ++k) {
    if ((byte(k) & 0xC0) != 0x80) return {0xFFFD, 1};
    code = code << 6 | (byte(k) & 0x3F);
  }
  constexpr char32_t LEAST[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < LEAST[size] || code > 0x10FFFF) return {0xFFFD, 1};
  return {code, size};
}

// Calls `work(code)` for each character.
void for_each_character(std::string_view text, auto&& work) {
  while (!text.empty()) {
    const Character character = first_character(text);
    work(character.code);
    text.remove_prefix(character.size);
  }
}

inline std::u32string decoded(std::string_view text) {
  std::u32string out;
  for_each_character(text, [&](char32_t code) { out.push_back(code); });
  return out;
}

inline std::string encoded(std::u32string_view text) {
  std::string out;
  for (const char32_t code : text) {
    const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // bytes after the first
    constexpr unsigned LEADS[] = {0, 0xC0, 0xE0, 0xF0};
    out.push_back(static_cast<char>(LEADS[more] | code >> (6 * more)));
    for (int k = more - 1; k >= 0; --k) out.push_back(static_cast<char>(0x80 | (code >> (6 * k) & 0x3F)));
  }
  return out;
}

// Code points from the first to the last, both included.
struct Range {
  char32_t first, last;
};

// Whether sorted ranges have a code point.
inline bool contains(std::span<const Range> ranges, char32_t code) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), code, [](char32_t c, const Range& r) { return c < r.first; });
  return after != ranges.begin() && code <= (after - 1)->last;
}

// The text in lower case, as Python's str.lower() has it.
void make_lower(std::u32string& text);

}  // namespace ck
