#include "cider.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "local_texts.hpp"
#include "math.hpp"

namespace ck {

namespace {

constexpr double SCALE = 10.0;
constexpr double E = 2.718281828459045;

// Length penalties of CIDEr-D by difference in bigrams, computed when they are first needed.
class Penalties {
 public:
  explicit Penalties(double sigma) : below_(2 * (sigma * sigma)) {}
  double of(int64_t difference) {
    while (static_cast<int64_t>(values_.size()) <= difference) {
      const double d = static_cast<double>(values_.size());
      values_.push_back(pow(E, -(d * d) / below_));
    }
    return values_[difference];
  }

 private:
  double below_;
  std::vector<double> values_;
};

// tf-idf weights of the texts of one example, and the Euclidean norm of each order.
class Weights {
 public:
  void read(const TextIndex& index, const LocalTexts& texts, const Idf& idf, const int64_t* rows, size_t first, size_t count) {
    for (size_t t = first; t < first + count; ++t) {
      const std::span<const LocalEntry> entries = texts.entries(t);
      const RowGrams& grams = index.grams(rows[t - first]);
      int32_t e = 0;
      for (int order = 0; order < ORDERS; ++order) {
        double total = 0.0;
        for (; e < grams.ends[order]; ++e) {
          const double weight = entries[e].count * idf.of(texts.grams()[entries[e].number]);
          values_.push_back(weight);
          total += weight * weight;
        }
        norms_.push_back(std::sqrt(total));
      }
      starts_.push_back(values_.size());
    }
  }
  void clear() {
    values_.clear();
    norms_.clear();
    starts_.assign(1, 0);
  }
  const double* of(size_t text) const { return values_.data() + starts_[text]; }
  double norm(size_t text, int order) const { return norms_[text * ORDERS + order]; }

 private:
  std::vector<double> values_, norms_;
  std::vector<size_t> starts_;
};

}  // namespace

void cider_pairs(const TextIndex& index, const Idf& idf, const int64_t* hyp, const int64_t* ref, int64_t examples, int64_t n, int64_t m,
                 bool clip, double sigma, double* scores) {
  LocalTexts texts;
  Weights weights;
  Penalties penalties(sigma);
  std::vector<double> there;  // weights of one reference by local number
  for (int64_t b = 0; b < examples; ++b, hyp += n, ref += m, scores += n * m) {
    texts.read(index, {hyp, static_cast<size_t>(n)}, {ref, static_cast<size_t>(m)});
    weights.clear();
    weights.read(index, texts, idf, hyp, 0, static_cast<size_t>(n));
    weights.read(index, texts, idf, ref, static_cast<size_t>(n), static_cast<size_t>(m));
    there.assign(texts.n_grams(), 0.0);
    for (int64_t j = 0; j < m; ++j) {
      const size_t reference = static_cast<size_t>(n + j);
      const std::span<const LocalEntry> reference_entries = texts.entries(reference);
      for (size_t e = 0; e < reference_entries.size(); ++e) there[reference_entries[e].number] = weights.of(reference)[e];
      const int64_t reference_bigrams = std::max<int64_t>(0, index.length(ref[j]) - 1);
      for (int64_t i = 0; i < n; ++i) {
        const size_t candidate = static_cast<size_t>(i);
        const std::span<const LocalEntry> entries = texts.entries(candidate);
        const double* own = weights.of(candidate);
        const RowGrams& grams = index.grams(hyp[i]);
        const int64_t bigrams = std::max<int64_t>(0, index.length(hyp[i]) - 1);
        const double decay = clip ? penalties.of(std::abs(bigrams - reference_bigrams)) : 1.0;
        double total = 0.0;
        int32_t e = 0;
        for (int order = 0; order < ORDERS; ++order) {
          double product = 0.0;
          for (; e < grams.ends[order]; ++e) {
            const double other = there[entries[e].number];
            product += (clip ? std::min(own[e], other) : own[e]) * other;
          }
          const double scale = weights.norm(candidate, order) * weights.norm(reference, order);
          if (scale != 0.0) product /= scale;
          total += product * decay;
        }
        scores[i * m + j] = total / ORDERS * SCALE;
      }
      for (const LocalEntry& entry : reference_entries) there[entry.number] = 0.0;
    }
  }
}

// Geometric mean over the words of a text of 1 / (1 + x), where x is the difference of the counts in both texts, or the count minus 1
// for a word that the reference lacks.
void cider_repetition(const TextIndex& index, const int64_t* hyp, const int64_t* ref, int64_t examples, int64_t n, int64_t m,
                      double* penalties) {
  LocalTexts texts;
  std::vector<int32_t> there;
  for (int64_t b = 0; b < examples; ++b, hyp += n, ref += m, penalties += n * m) {
    texts.read(index, {hyp, static_cast<size_t>(n)}, {ref, static_cast<size_t>(m)});
    for (int64_t j = 0; j < m; ++j) {
      there.assign(texts.n_grams(), 0);
      const std::span<const LocalEntry> reference = texts.entries(static_cast<size_t>(n + j));
      for (int32_t e = 0; e < index.grams(ref[j]).ends[0]; ++e) there[reference[e].number] = reference[e].count;
      for (int64_t i = 0; i < n; ++i) {
        const int32_t n_words = index.grams(hyp[i]).ends[0];
        double total = 0.0;
        for (const LocalEntry& entry : texts.entries(static_cast<size_t>(i)).first(static_cast<size_t>(n_words))) {
          const int32_t other = there[entry.number];
          total += log(1.0 + (other ? std::abs(entry.count - other) : entry.count - 1));
        }
        penalties[i * m + j] = n_words ? exp(-total / n_words) : 1.0;
      }
    }
  }
}

}  // namespace ck
