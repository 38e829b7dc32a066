// Interned strings: each distinct string has a number, from 0 in the order of its first occurrence.
#pragma once

#include <cstring>
#include <string_view>
#include <vector>

#include "guard.hpp"
#include "span.hpp"

namespace ck {

class Vocabulary {
 public:
  Vocabulary() : slots_(1 << 10, -1), starts_(1, 0) {}

  int64_t size() const { return static_cast<int64_t>(starts_.size()) - 1; }

  // The string of a number; valid until the next string is added.
  std::string_view operator[](Id id) const {
    return {bytes_.data() + starts_[id], static_cast<size_t>(starts_[id + 1] - starts_[id])};
  }

  // The number of a string, or -1.
  Id find(std::string_view text) const { return slots_[slot(text, hash_bytes(text))]; }

  // The number of a string, added if it is new.
  Id intern(std::string_view text) {
    const uint64_t hash = hash_bytes(text);
    const size_t place = slot(text, hash);
    return slots_[place] >= 0 ? slots_[place] : add(text, hash, place);
  }

 private:
  // The slot of a string in the open-addressing table, or the free slot where it belongs.
  size_t slot(std::string_view text, uint64_t hash) const {
    const size_t mask = slots_.size() - 1;
    size_t place = hash & mask;
    while (slots_[place] >= 0 && (hashes_[slots_[place]] != hash || (*this)[slots_[place]] != text)) place = (place + 1) & mask;
    return place;
  }

  Id add(std::string_view text, uint64_t hash, size_t place) {
    const int64_t id = size();
    if (id == INT32_MAX) fail(CK_TOO_LARGE);
    // Room first, so that a failed allocation leaves the table as it was.
    hashes_.reserve_one();
    starts_.reserve(starts_.size() == starts_.capacity() ? 2 * starts_.size() : 0);
    if (2 * (id + 1) > static_cast<int64_t>(slots_.size())) {
      grow();
      place = slot(text, hash);
    }
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    hashes_.push_back(hash);
    starts_.push_back(static_cast<int64_t>(bytes_.size()));
    slots_[place] = static_cast<Id>(id);
    return static_cast<Id>(id);
  }

  void grow() {
    std::vector<Id> slots(2 * slots_.size(), -1);
    const size_t mask = slots.size() - 1;
    for (Id id = 0; id < size(); ++id) {
      size_t place = hashes_[id] & mask;
      while (slots[place] >= 0) place = (place + 1) & mask;
      slots[place] = id;
    }
    slots_.swap(slots);
  }

  struct Hashes : std::vector<uint64_t> {
    void reserve_one() {
      if (size() == capacity()) reserve(2 * size() + 16);
    }
  };

  std::vector<Id> slots_;
  Hashes hashes_;
  std::vector<int64_t> starts_;
  std::vector<char> bytes_;
};

}  // namespace ck
