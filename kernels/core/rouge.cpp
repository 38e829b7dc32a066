#include "rouge.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace ck {

namespace {

// Positions of each word of a reference as bits, 64 positions a block.
class Positions {
 public:
  void read(std::span<const Id> words, size_t n_words) {
    blocks_ = (words.size() + 63) / 64;
    bits_.assign(n_words * blocks_, 0);
    for (size_t p = 0; p < words.size(); ++p) bits_[static_cast<size_t>(words[p]) * blocks_ + p / 64] |= uint64_t{1} << (p % 64);
    free_.resize(blocks_);
    last_ = words.size() % 64 ? (uint64_t{1} << (words.size() % 64)) - 1 : ~uint64_t{0};
  }

  // Length of the longest common subsequence with `words`: the bit-parallel recurrence of Hyyro (2004), one addition per word and
  // block. A zero bit marks a position of the reference where the subsequence grows; the carry of an addition goes on to the next block.
  int64_t lcs(std::span<const Id> words) {
    std::ranges::fill(free_, ~uint64_t{0});
    for (Id word : words) {
      const uint64_t* bits = bits_.data() + static_cast<size_t>(word) * blocks_;
      uint64_t carry = 0;
      for (size_t w = 0; w < blocks_; ++w) {
        const uint64_t matches = free_[w] & bits[w];
        const uint64_t sum = free_[w] + matches, carried = sum + carry;
        carry = (sum < free_[w]) | (carried < sum);
        free_[w] = carried | (free_[w] - matches);
      }
    }
    int64_t length = 0;
    for (size_t w = 0; w < blocks_; ++w) length += std::popcount(~free_[w] & (w + 1 == blocks_ ? last_ : ~uint64_t{0}));
    return length;
  }

 private:
  std::vector<uint64_t> bits_, free_;
  size_t blocks_ = 0;
  uint64_t last_ = 0;
};

// Columns by decreasing value; equal values keep their order, undefined ones come last.
void rank_columns(const double* values, int64_t size, int64_t* columns) {
  std::iota(columns, columns + size, 0);
  std::stable_sort(columns, columns + size, [values](int64_t a, int64_t b) {
    const bool undefined = values[b] != values[b];
    return values[a] == values[a] && (undefined || values[a] > values[b]);
  });
}

// The first column of a ranking that is a reference.
int64_t best_reference(const int64_t* columns, const uint8_t* is_candidate) {
  while (is_candidate[*columns]) ++columns;
  return *columns;
}

// Each relabeling needs a candidate and a reference.
void check_labels(const uint8_t* labels, int64_t texts, int64_t relabelings) {
  for (int64_t p = 0; p < relabelings; ++p) {
    const int64_t candidates = std::count_if(labels + p * texts, labels + (p + 1) * texts, [](uint8_t label) { return label != 0; });
    if (candidates == 0 || candidates == texts) fail(CK_BAD_ARGUMENT);
  }
}

}  // namespace

void lcs_pairs(const TextIndex& index, const int64_t* hyp, const int64_t* ref, int64_t examples, int64_t n, int64_t m, int64_t* lengths) {
  LocalNumbers numbers;
  Positions positions;
  std::vector<Id> words;
  std::vector<size_t> starts;
  const auto text = [&](int64_t t) { return std::span<const Id>(words).subspan(starts[t], starts[t + 1] - starts[t]); };
  for (int64_t b = 0; b < examples; ++b, hyp += n, ref += m, lengths += n * m) {
    size_t total = 0;
    const auto row_of = [&](int64_t t) { return t < n ? hyp[t] : ref[t - n]; };
    for (int64_t t = 0; t < n + m; ++t) {
      if (row_of(t) < 0 || row_of(t) >= index.n_rows()) fail(CK_OUT_OF_RANGE);
      total += static_cast<size_t>(index.length(row_of(t)));
    }
    numbers.reset(total);
    words.clear();
    starts.assign(1, 0);
    for (int64_t t = 0; t < n + m; ++t) {
      for (Id word : index.words(row_of(t))) words.push_back(numbers.number(word));
      starts.push_back(words.size());
    }
    for (int64_t j = 0; j < m; ++j) {
      positions.read(text(n + j), numbers.size());
      for (int64_t i = 0; i < n; ++i) lengths[i * m + j] = positions.lcs(text(i));
    }
  }
}

void relabel_rouge(const int64_t* lcs, const int64_t* lengths, const uint8_t* labels, int64_t examples, int64_t texts, int64_t relabelings,
                   double beta, double* scores) {
  check_labels(labels, texts, relabelings);
  const double weight = beta * beta;
  std::vector<double> precisions(texts), recalls(texts);
  std::vector<int64_t> by_precision(texts * texts), by_recall(texts * texts);
  for (int64_t b = 0; b < examples; ++b, lcs += texts * texts, lengths += texts, scores += relabelings) {
    for (int64_t i = 0; i < texts; ++i) {
      for (int64_t j = 0; j < texts; ++j) {
        precisions[j] = static_cast<double>(lcs[i * texts + j]);  // all over the same length: the order of the precisions
        recalls[j] = static_cast<double>(lcs[i * texts + j]) / static_cast<double>(lengths[j]);
      }
      rank_columns(precisions.data(), texts, by_precision.data() + i * texts);
      rank_columns(recalls.data(), texts, by_recall.data() + i * texts);
    }
    for (int64_t p = 0; p < relabelings; ++p) {
      const uint8_t* is_candidate = labels + p * texts;
      double total = 0.0;
      int64_t n = 0;
      for (int64_t i = 0; i < texts; ++i) {
        if (!is_candidate[i]) continue;
        ++n;
        const int64_t precise = best_reference(by_precision.data() + i * texts, is_candidate);
        const int64_t complete = best_reference(by_recall.data() + i * texts, is_candidate);
        const double precision = static_cast<double>(lcs[i * texts + precise]) / static_cast<double>(lengths[i]);
        const double recall = static_cast<double>(lcs[i * texts + complete]) / static_cast<double>(lengths[complete]);
        if (precision != 0.0 && recall != 0.0) total += (1 + weight) * precision * recall / (recall + weight * precision);
      }
      scores[p] = total / static_cast<double>(n);
    }
  }
}

// Values are added in increasing order, so that relabelings with equal values have exactly equal means.
void relabel_best(const double* pairs, const uint8_t* labels, int64_t examples, int64_t texts, int64_t relabelings, double* scores) {
  check_labels(labels, texts, relabelings);
  std::vector<int64_t> ranked(texts * texts);
  std::vector<double> best;
  for (int64_t b = 0; b < examples; ++b, pairs += texts * texts, scores += relabelings) {
    for (int64_t i = 0; i < texts; ++i) rank_columns(pairs + i * texts, texts, ranked.data() + i * texts);
    for (int64_t p = 0; p < relabelings; ++p) {
      const uint8_t* is_candidate = labels + p * texts;
      best.clear();
      for (int64_t i = 0; i < texts; ++i) {
        if (!is_candidate[i]) continue;
        const double value = pairs[i * texts + best_reference(ranked.data() + i * texts, is_candidate)];
        best.insert(std::find_if(best.begin(), best.end(), [value](double other) { return other > value; }), value);
      }
      double total = 0.0;
      for (double value : best) total += value;
      scores[p] = total / static_cast<double>(best.size());
    }
  }
}

}  // namespace ck
