// Runs of values one after another in memory, such as the words of several texts.
#pragma once

#include <span>
#include <vector>

namespace ck {

template <class T>
class Runs {
 public:
  void clear() {
    values_.clear();
    ends_.clear();
  }
  // Drops the runs from number `size` on, and the values of the run that is not ended.
  void truncate(size_t size) {
    ends_.resize(size);
    values_.resize(size > 0 ? ends_.back() : 0);
  }
  // Appends a value to the run that is not ended.
  void add(const T& value) { values_.push_back(value); }
  void end_run() { ends_.push_back(values_.size()); }

  size_t size() const { return ends_.size(); }
  std::span<const T> operator[](size_t run) const {
    const size_t first = run > 0 ? ends_[run - 1] : 0;
    return {values_.data() + first, ends_[run] - first};
  }
  // The values of all runs, and those of the run that is not ended.
  const std::vector<T>& values() const { return values_; }
  std::span<T> open_run() { return std::span(values_).subspan(ends_.empty() ? 0 : ends_.back()); }

 private:
  std::vector<T> values_;
  std::vector<size_t> ends_;
};

}  // namespace ck
