// The n-grams of the texts of one example, numbered within the example: work arrays are short and stay in the cache.
#pragma once

#include <span>
#include <vector>

#include "key_map.hpp"
#include "runs.hpp"
#include "text_index.hpp"

namespace ck {

struct LocalEntry {
  Id number;
  int32_t count;
};

// Each relabeling needs a candidate and a reference.
inline void check_labels(const ck_relabelings& relabelings) {
  for (int64_t p = 0; p < relabelings.n; ++p) {
    const std::span<const uint8_t> labels = items(relabelings.labels + p * relabelings.texts, relabelings.texts);
    const int64_t references = std::ranges::count(labels, 0);
    if (references == 0 || references == relabelings.texts) fail(CK_BAD_ARGUMENT);
  }
}

// The rows of example b: first the hypotheses, then the references.
inline std::vector<int64_t> rows_of(const ck_pairs& pairs, int64_t b) {
  const auto hyp = items(pairs.hyp + b * pairs.n, pairs.n), ref = items(pairs.ref + b * pairs.m, pairs.m);
  std::vector<int64_t> rows(hyp.begin(), hyp.end());
  rows.insert(rows.end(), ref.begin(), ref.end());
  return rows;
}

class LocalTexts {
 public:
  explicit LocalTexts(const TextIndex& index) : index_(index) {}

  // Reads the texts of an example; fails for a row that is not counted.
  void read(std::span<const int64_t> rows) {
    size_t total = 0;
    for (const int64_t row : rows) {
      index_.check_counted(row);
      total += index_.entries(row).size();
    }
    numbers_.reset(total);
    entries_.clear();
    grams_.clear();
    for (const int64_t row : rows) {
      for (const Entry& entry : index_.entries(row)) {
        const Id number = numbers_.number(static_cast<uint64_t>(entry.gram));
        if (static_cast<size_t>(number) == grams_.size()) grams_.push_back(entry.gram);
        entries_.add({number, entry.count});
      }
      entries_.end_run();
    }
  }

  size_t n_grams() const { return grams_.size(); }
  // n-gram of each number.
  const std::vector<Id>& grams() const { return grams_; }
  std::span<const LocalEntry> entries(size_t text) const { return entries_[text]; }

 private:
  const TextIndex& index_;
  KeyMap numbers_;
  Runs<LocalEntry> entries_;
  std::vector<Id> grams_;
};

}  // namespace ck
