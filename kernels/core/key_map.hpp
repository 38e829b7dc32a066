// Numbers of 64-bit keys: open addressing.
#pragma once

#include <cstdint>

#include <bit>
#include <memory>
#include <vector>

#include "span.hpp"

namespace ck {

class KeyMap {
 public:
  size_t size() const { return size_; }

  // The value of a key, -1 for none.
  Id find(uint64_t key) const { return values_[slot(key)]; }

  // The value of a key, to be read or set; -1 for a key that is new. Valid until the next key.
  Id& operator[](uint64_t key) {
    reserve(1);
    const size_t place = slot(key);
    if (keys_[place] == FREE) {
      keys_[place] = key;
      ++size_;
    }
    return values_[place];
  }

  // The number of a key in the order of first occurrence, from 0.
  Id number(uint64_t key) {
    Id& value = (*this)[key];
    if (value < 0) value = static_cast<Id>(size_ - 1);
    return value;
  }

  // Makes room for `count` more keys.
  void reserve(size_t count) {
    if (10 * (size_ + count) > 6 * (mask_ + 1)) grow(size_ + count);
  }

  // Forgets all keys and makes room for `count`: work arrays stay short and in the cache.
  void reset(size_t count) {
    const size_t n_slots = std::bit_ceil(std::max<size_t>(64, count * 10 / 6 + 1));
    keys_.resize(std::max(keys_.size(), n_slots));
    values_.resize(keys_.size());
    std::fill_n(keys_.begin(), n_slots, FREE);
    std::fill_n(values_.begin(), n_slots, -1);
    mask_ = n_slots - 1;
    size_ = 0;
  }

  // Removes a key. Later keys of its probe sequence move up, so that they are still found.
  void remove(uint64_t key) {
    size_t hole = slot(key);
    if (keys_[hole] == FREE) return;
    for (size_t place = next(hole); keys_[place] != FREE; place = next(place)) {
      const size_t steps = (place - mix(keys_[place])) & mask_;  // from the first slot of the key
      if (steps < ((place - hole) & mask_)) continue;            // which lies behind the hole
      keys_[hole] = keys_[place];
      values_[hole] = values_[place];
      hole = place;
    }
    keys_[hole] = FREE;
    values_[hole] = -1;
    --size_;
  }

 private:
  static constexpr uint64_t FREE = ~0ull;  // no key

  size_t next(size_t place) const { return (place + 1) & mask_; }

  // The slot of a key, or the free one where it belongs.
  size_t slot(uint64_t key) const {
    size_t place = mix(key) & mask_;
    while (keys_[place] != FREE && keys_[place] != key) place = next(place);
    return place;
  }

  void grow(size_t count) {
    KeyMap larger;
    larger.reset(count);
    for (size_t place = 0; place <= mask_; ++place)
      if (keys_[place] != FREE) larger[keys_[place]] = values_[place];
    *this = std::move(larger);
  }

  std::vector<uint64_t> keys_ = std::vector<uint64_t>(64, FREE);
  std::vector<Id> values_ = std::vector<Id>(64, -1);
  size_t mask_ = 63, size_ = 0;
};

// A growing array of 64-bit keys in blocks: the keys never move, so that there is no second copy while it grows.
class KeyArray {
 public:
  size_t size() const { return size_; }
  uint64_t operator[](size_t place) const { return blocks_[place / BLOCK][place % BLOCK]; }

  // Makes room for `count` more keys, so that adding them cannot fail.
  void reserve(size_t count) {
    while (blocks_.size() * BLOCK < size_ + count) {
      reserve_more(blocks_, 1);
      blocks_.push_back(std::make_unique_for_overwrite<uint64_t[]>(BLOCK));
    }
  }
  void push_back(uint64_t key) {
    blocks_[size_ / BLOCK][size_ % BLOCK] = key;
    ++size_;
  }
  void truncate(size_t size) { size_ = size; }

 private:
  static constexpr size_t BLOCK = 1 << 13;
  std::vector<std::unique_ptr<uint64_t[]>> blocks_;
  size_t size_ = 0;
};

// Places of 64-bit keys in an array of the owner, which every call gets: a slot takes 4 bytes, for tables of many millions of keys.
class KeyPlaces {
 public:
  // The place of a key, -1 for one that is new: the caller sets it to the size of the array and adds the key there. There is room.
  Id& operator()(uint64_t key, const KeyArray& keys) { return slots_[slot(key, keys)]; }

  // Makes room for `count` more keys.
  void reserve(size_t count, const KeyArray& keys) {
    const size_t wanted = 4 * (keys.size() + count) / 3 + 1;  // at most three of four slots are taken
    if (wanted <= slots_.size()) return;
    slots_ = {};  // the places follow from the keys: both tables are never there at once
    slots_.assign(std::bit_ceil(wanted), -1);
    for (size_t place = 0; place < keys.size(); ++place) (*this)(keys[place], keys) = static_cast<Id>(place);
  }

  // Removes a key, which is still in the array. Later keys of its probe sequence move up, so that they are still found.
  void remove(uint64_t key, const KeyArray& keys) {
    size_t hole = slot(key, keys);
    for (size_t place = next(hole); slots_[place] >= 0; place = next(place)) {
      const size_t steps = (place - mix(keys[slots_[place]])) & mask();  // from the first slot of the key
      if (steps < ((place - hole) & mask())) continue;                   // which lies behind the hole
      slots_[hole] = slots_[place];
      hole = place;
    }
    slots_[hole] = -1;
  }

 private:
  size_t mask() const { return slots_.size() - 1; }
  size_t next(size_t place) const { return (place + 1) & mask(); }

  // The slot of a key, or the free one where it belongs.
  size_t slot(uint64_t key, const KeyArray& keys) const {
    size_t place = mix(key) & mask();
    while (slots_[place] >= 0 && keys[slots_[place]] != key) place = next(place);
    return place;
  }

  std::vector<Id> slots_ = std::vector<Id>(64, -1);
};

}  // namespace ck
