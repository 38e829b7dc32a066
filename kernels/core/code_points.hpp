// Sets of code points and lower case.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

namespace ck {

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
