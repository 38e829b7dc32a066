// ROUGE-L (Lin 2004, section 3), and scores by the best reference under relabelings.
#include <bit>
#include <numeric>

#include "local_texts.hpp"

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

// Pair scores (texts, texts), and the columns of each row by decreasing value; equal values keep their order, undefined ones come last.
class Ranking {
 public:
  void read(std::vector<double> values, int64_t texts) {
    values_ = std::move(values);
    columns_.resize(values_.size());
    texts_ = texts;
    for (int64_t i = 0; i < texts; ++i) {
      const double* row = values_.data() + i * texts;
      const std::span<int64_t> columns = std::span(columns_).subspan(i * texts, texts);
      std::iota(columns.begin(), columns.end(), 0);
      std::ranges::stable_sort(columns, [row](int64_t a, int64_t b) {
        return row[a] == row[a] && (row[b] != row[b] || row[a] > row[b]);
      });
    }
  }

  // The best value of a row among the references.
  double best(int64_t row, const uint8_t* is_candidate) const {
    const int64_t* column = columns_.data() + row * texts_;
    while (is_candidate[*column]) ++column;
    return values_[row * texts_ + *column];
  }

 private:
  std::vector<double> values_;
  std::vector<int64_t> columns_;
  int64_t texts_ = 0;
};

// Writes the mean of `score(i, is_candidate)` over the candidates i of each relabeling. Scores are added in the order of the texts, or
// `sorted`: then relabelings with equal scores have exactly equal means.
void average(const ck_relabelings& relabelings, bool sorted, auto&& score, double* means) {
  std::vector<double> scores;
  for (int64_t p = 0; p < relabelings.n; ++p) {
    const uint8_t* is_candidate = relabelings.labels + p * relabelings.texts;
    scores.clear();
    for (int64_t i = 0; i < relabelings.texts; ++i) {
      if (!is_candidate[i]) continue;
      const double value = score(i, is_candidate);
      scores.insert(sorted ? std::ranges::find_if(scores, [value](double other) { return other > value; }) : scores.end(), value);
    }
    means[p] = std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(scores.size());
  }
}

}  // namespace

}  // namespace ck

using namespace ck;

ck_status ck_lcs(const ck_index* index, ck_pairs pairs, int64_t* lengths) {
  return guarded([&] {
    KeyMap numbers;
    Positions positions;
    Runs<Id> texts;
    for (int64_t b = 0; b < pairs.examples; ++b, lengths += pairs.n * pairs.m) {
      const std::vector<int64_t> rows = rows_of(pairs, b);
      size_t total = 0;
      for (const int64_t row : rows) {
        index->check_row(row);
        total += index->words(row).size();
      }
      numbers.reset(total);
      texts.clear();
      for (const int64_t row : rows) {
        for (const Id word : index->words(row)) texts.add(numbers.number(static_cast<uint64_t>(word)));
        texts.end_run();
      }
      for (int64_t j = 0; j < pairs.m; ++j) {
        positions.read(texts[pairs.n + j], numbers.size());
        for (int64_t i = 0; i < pairs.n; ++i) lengths[i * pairs.m + j] = positions.lcs(texts[i]);
      }
    }
  });
}

ck_status ck_rouge_relabel(const int64_t* lcs, const int64_t* lengths, ck_relabelings relabelings, double beta, double* scores) {
  return guarded([&] {
    check_labels(relabelings);
    const int64_t texts = relabelings.texts;
    const double weight = beta * beta;
    Ranking precisions, recalls;
    for (int64_t b = 0; b < relabelings.examples; ++b, lcs += texts * texts, lengths += texts, scores += relabelings.n) {
      std::vector<double> by_candidate, by_reference;
      for (int64_t i = 0; i < texts; ++i)
        for (int64_t j = 0; j < texts; ++j) {
          by_candidate.push_back(static_cast<double>(lcs[i * texts + j]) / static_cast<double>(lengths[i]));
          by_reference.push_back(static_cast<double>(lcs[i * texts + j]) / static_cast<double>(lengths[j]));
        }
      precisions.read(std::move(by_candidate), texts);
      recalls.read(std::move(by_reference), texts);
      const auto f_measure = [&](int64_t i, const uint8_t* is_candidate) {
        const double precision = precisions.best(i, is_candidate), recall = recalls.best(i, is_candidate);
        return precision != 0.0 && recall != 0.0 ? (1 + weight) * precision * recall / (recall + weight * precision) : 0.0;
      };
      average(relabelings, false, f_measure, scores);
    }
  });
}

ck_status ck_best_relabel(const double* pairs, ck_relabelings relabelings, double* scores) {
  return guarded([&] {
    check_labels(relabelings);
    const int64_t texts = relabelings.texts;
    Ranking ranking;
    for (int64_t b = 0; b < relabelings.examples; ++b, pairs += texts * texts, scores += relabelings.n) {
      ranking.read({pairs, pairs + texts * texts}, texts);
      average(relabelings, true, [&](int64_t i, const uint8_t* is_candidate) { return ranking.best(i, is_candidate); }, scores);
    }
  });
}
