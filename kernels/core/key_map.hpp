// Numbers of 64-bit keys: open addressing.
#pragma once

#include <cstdint>
#include <vector>

#include "guard.hpp"
#include "span.hpp"

namespace ck {

class KeyMap {
 public:
  static constexpr Id UNKNOWN = INT32_MIN;

  size_t size() const { return size_; }

  // The value of a key, or UNKNOWN.
  Id find(uint64_t key) const { return entries_[slot(key)].value; }

  // Sets the value of a key that has none.
  void add(uint64_t key, Id value) {
    if (2 * (size_ + 1) > entries_.size()) grow();
    entries_[slot(key)] = {key, value};
    ++size_;
  }

 private:
  struct Entry {
    uint64_t key = 0;
    Id value = UNKNOWN;
  };

  // The entry of a key, or the free one where it belongs.
  size_t slot(uint64_t key) const {
    const size_t mask = entries_.size() - 1;
    size_t place = mix(key) & mask;
    while (entries_[place].value != UNKNOWN && entries_[place].key != key) place = (place + 1) & mask;
    return place;
  }

  void grow() {
    std::vector<Entry> old(2 * entries_.size());
    old.swap(entries_);
    for (const Entry& entry : old)
      if (entry.value != UNKNOWN) entries_[slot(entry.key)] = entry;
  }

  std::vector<Entry> entries_ = std::vector<Entry>(1 << 8);
  size_t size_ = 0;
};

}  // namespace ck
