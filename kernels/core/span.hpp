// Small types and functions that the whole library shares.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "caption_kernels.h"
#include "guard.hpp"

namespace ck {

using Id = int32_t;

inline std::string_view view(const ck_string& text) {
  if (text.size < 0) fail(CK_BAD_ARGUMENT);
  return {text.data, static_cast<size_t>(text.size)};
}

// The array of an argument.
template <class T>
std::span<T> items(T* data, int64_t size) {
  if (size < 0 || size == INT64_MAX) fail(CK_BAD_ARGUMENT);
  return {data, static_cast<size_t>(size)};
}

// Room for more values, so that adding them cannot fail.
void reserve_more(auto& values, size_t count) {
  if (values.capacity() - values.size() < count) values.reserve(std::max(2 * values.size(), values.size() + count));
}

// Two numbers as one key.
inline uint64_t pair_key(Id high, Id low) { return static_cast<uint64_t>(high) << 32 | static_cast<uint32_t>(low); }

// Hash of a number: the last step of splitmix64 (Steele et al. 2014).
inline uint64_t mix(uint64_t h) {
  h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9u;
  h = (h ^ (h >> 27)) * 0x94D049BB133111EBu;
  return h ^ (h >> 31);
}

// Hash of a string, 8 bytes at a time.
inline uint64_t hash_bytes(std::string_view text) {
  uint64_t h = 0x9E3779B97F4A7C15u ^ text.size();
  size_t k = 0;
  for (; k + 8 <= text.size(); k += 8) {
    uint64_t block;
    __builtin_memcpy(&block, text.data() + k, 8);
    h = (h ^ block) * 0xFF51AFD7ED558CCDu;
    h ^= h >> 32;
  }
  uint64_t tail = 0;
  if (text.size() > k) __builtin_memcpy(&tail, text.data() + k, text.size() - k);
  return mix(h ^ tail);
}

}  // namespace ck
