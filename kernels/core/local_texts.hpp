// The n-grams of the texts of one example, numbered within the example.
#pragma once

#include <span>
#include <vector>

#include "text_index.hpp"

namespace ck {

struct LocalEntry {
  Id number;
  int32_t count;
};

class LocalTexts {
 public:
  // Reads gram rows of an index; fails for a row that is not counted.
  void read(const TextIndex& index, std::span<const int64_t> hyp, std::span<const int64_t> ref) {
    size_t total = 0;
    for (const auto rows : {hyp, ref})
      for (int64_t row : rows) {
        if (row < 0 || row >= index.n_rows() || !index.is_counted(row)) fail(CK_OUT_OF_RANGE);
        total += index.entries(row).size();
      }
    numbers_.reset(total);
    entries_.clear();
    entries_.reserve(total);
    grams_.clear();
    starts_.assign(1, 0);
    for (const auto rows : {hyp, ref})
      for (int64_t row : rows) {
        for (const Entry& entry : index.entries(row)) {
          const Id number = numbers_.number(entry.gram);
          if (static_cast<size_t>(number) == grams_.size()) grams_.push_back(entry.gram);
          entries_.push_back({number, entry.count});
        }
        starts_.push_back(entries_.size());
      }
  }

  size_t n_grams() const { return grams_.size(); }
  // n-gram of each number.
  const std::vector<Id>& grams() const { return grams_; }
  std::span<const LocalEntry> entries(size_t text) const {
    return {entries_.data() + starts_[text], starts_[text + 1] - starts_[text]};
  }

 private:
  LocalNumbers numbers_;
  std::vector<LocalEntry> entries_;
  std::vector<Id> grams_;
  std::vector<size_t> starts_;
};

}  // namespace ck
