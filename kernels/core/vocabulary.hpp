// Interned strings: each distinct string has a number, from 0 in the order of its first occurrence.
#pragma once

#include <string_view>
#include <vector>

#include "span.hpp"

namespace ck {

class Vocabulary {
 public:
  int64_t size() const { return static_cast<int64_t>(hashes_.size()); }

  // The string of a number; valid until the next string is added.
  std::string_view operator[](int64_t id) const {
    return {bytes_.data() + starts_[id], static_cast<size_t>(starts_[id + 1] - starts_[id])};
  }

  // The number of a string, or -1.
  Id find(std::string_view text) const { return slots_[slot(text, hash_bytes(text))]; }

  // The number of a string, added if it is new.
  Id intern(std::string_view text) {
    const uint64_t hash = hash_bytes(text);
    const size_t place = slot(text, hash);
    return slots_[place] >= 0 ? slots_[place] : add(text, hash);
  }

  // Drops the strings from number `size` on. Slots are cleared in the reverse order of insertion, so that no probe sequence of a string
  // that stays is interrupted.
  void truncate(int64_t size) {
    for (int64_t id = this->size() - 1; id >= size; --id) slots_[slot((*this)[id], hashes_[id])] = -1;
    hashes_.resize(size);
    starts_.resize(size + 1);
    bytes_.resize(starts_.back());
    if (size == 0) bytes_.shrink_to_fit();  // a run that forgets its texts wants the memory back
  }

  // Bounds of all strings in their bytes, and the open-addressing table of numbers by hash_bytes, -1 free.
  const std::vector<int64_t>& starts() const { return starts_; }
  const std::vector<char>& bytes() const { return bytes_; }
  const std::vector<Id>& slots() const { return slots_; }

 private:
  // The slot of a string, or the free slot where it belongs.
  size_t slot(std::string_view text, uint64_t hash) const {
    const size_t mask = slots_.size() - 1;
    size_t place = hash & mask;
    while (slots_[place] >= 0 && (hashes_[slots_[place]] != hash || (*this)[slots_[place]] != text)) place = (place + 1) & mask;
    return place;
  }

  // Makes room first, so that a failed allocation leaves the table as it was.
  Id add(std::string_view text, uint64_t hash) {
    const auto id = static_cast<Id>(size());
    if (id == INT32_MAX) fail(CK_TOO_LARGE);
    reserve_more(hashes_, 1);
    reserve_more(starts_, 1);
    if (2 * (size() + 1) > static_cast<int64_t>(slots_.size())) grow();
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    slots_[slot(text, hash)] = id;
    hashes_.push_back(hash);
    starts_.push_back(static_cast<int64_t>(bytes_.size()));
    return id;
  }

  // Strings enter the new table in their order, which `truncate` relies on.
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

  std::vector<Id> slots_ = std::vector<Id>(1 << 10, -1);
  std::vector<uint64_t> hashes_;
  std::vector<int64_t> starts_{0};
  std::vector<char> bytes_;
};

}  // namespace ck
