// CIDEr and CIDEr-D (Vedantam et al. 2015, sections 4.1 and 4.2), and the penalty of CIDEr-R.
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

// tf-idf weights of the n-grams of a text, and the Euclidean norm of each order.
struct Weights {
  std::vector<double> values;
  double norms[ORDERS];

  void read(std::span<const LocalEntry> entries, const RowGrams& grams, const std::vector<double>& idf) {
    values.resize(entries.size());
    size_t e = 0;
    for (int order = 0; order < ORDERS; ++order) {
      double total = 0.0;
      for (; e < static_cast<size_t>(grams.ends[order]); ++e) {
        values[e] = entries[e].count * idf[entries[e].number];
        total += values[e] * values[e];
      }
      norms[order] = std::sqrt(total);
    }
  }
};

int64_t count_bigrams(const TextIndex& index, int64_t row) { return std::max<int64_t>(0, index.length(row) - 1); }

// Sum over orders of the cosines of a candidate and a reference, whose weights by local number are `there`.
double sum_cosines(std::span<const LocalEntry> entries, const RowGrams& grams, const Weights& own, const Weights& reference,
                   const std::vector<double>& there, bool clip, double decay) {
  double total = 0.0;
  size_t e = 0;
  for (int order = 0; order < ORDERS; ++order) {
    double product = 0.0;
    for (; e < static_cast<size_t>(grams.ends[order]); ++e) {
      const double other = there[entries[e].number];
      product += (clip ? std::min(own.values[e], other) : own.values[e]) * other;
    }
    const double scale = own.norms[order] * reference.norms[order];
    if (scale != 0.0) product /= scale;
    total += product * decay;
  }
  return total;
}

}  // namespace

}  // namespace ck

using namespace ck;

ck_status ck_cider(const ck_index* index, ck_idf idf, ck_pairs pairs, int clip, double sigma, double* scores) {
  return guarded([&] {
    LocalTexts texts(*index);
    Penalties penalties(sigma);
    std::vector<Weights> weights(static_cast<size_t>(pairs.n + pairs.m));
    std::vector<double> local_idf, there;  // by local number: idf, and the weights of one reference
    for (int64_t b = 0; b < pairs.examples; ++b, scores += pairs.n * pairs.m) {
      const std::vector<int64_t> rows = rows_of(pairs, b);
      const auto hyp = items(rows.data(), pairs.n), ref = items(rows.data() + pairs.n, pairs.m);
      texts.read(rows);
      local_idf.clear();
      for (const Id gram : texts.grams()) local_idf.push_back(gram < idf.size ? idf.weights[gram] : idf.unseen);
      for (size_t t = 0; t < rows.size(); ++t) weights[t].read(texts.entries(t), index->grams(rows[t]), local_idf);
      there.assign(texts.n_grams(), 0.0);
      for (size_t j = 0; j < ref.size(); ++j) {
        const Weights& reference = weights[hyp.size() + j];
        const std::span<const LocalEntry> entries = texts.entries(hyp.size() + j);
        for (size_t e = 0; e < entries.size(); ++e) there[entries[e].number] = reference.values[e];
        for (size_t i = 0; i < hyp.size(); ++i) {
          const int64_t difference = std::abs(count_bigrams(*index, hyp[i]) - count_bigrams(*index, ref[j]));
          const double decay = clip ? penalties.of(difference) : 1.0;
          const double total = sum_cosines(texts.entries(i), index->grams(hyp[i]), weights[i], reference, there, clip, decay);
          scores[i * ref.size() + j] = total / ORDERS * SCALE;
        }
        for (const LocalEntry& entry : entries) there[entry.number] = 0.0;
      }
    }
  });
}

ck_status ck_cider_repetition(const ck_index* index, ck_pairs pairs, double* penalties) {
  return guarded([&] {
    LocalTexts texts(*index);
    std::vector<int32_t> there;
    for (int64_t b = 0; b < pairs.examples; ++b, penalties += pairs.n * pairs.m) {
      const std::vector<int64_t> rows = rows_of(pairs, b);
      const auto hyp = items(rows.data(), pairs.n), ref = items(rows.data() + pairs.n, pairs.m);
      texts.read(rows);
      const auto words = [&](size_t text, int64_t row) { return texts.entries(text).first(index->grams(row).ends[0]); };
      for (size_t j = 0; j < ref.size(); ++j) {
        there.assign(texts.n_grams(), 0);
        for (const LocalEntry& entry : words(hyp.size() + j, ref[j])) there[entry.number] = entry.count;
        for (size_t i = 0; i < hyp.size(); ++i) {
          const std::span<const LocalEntry> own = words(i, hyp[i]);
          double total = 0.0;
          for (const LocalEntry& entry : own) {
            const int32_t other = there[entry.number];
            total += ck::log(1.0 + (other ? std::abs(entry.count - other) : entry.count - 1));
          }
          penalties[i * ref.size() + j] = own.empty() ? 1.0 : ck::exp(-total / static_cast<double>(own.size()));
        }
      }
    }
  });
}

ck_status ck_cider_idf(const int64_t* df, int64_t n, double documents, double* idf) {
  return guarded([&] {
    const double log_documents = ck::log(documents);
    std::vector<double> logs;  // frequencies are small numbers that repeat
    for (const int64_t frequency : items(df, n)) {
      if (frequency < 0) fail(CK_OUT_OF_RANGE);
      constexpr int64_t MOST = 1 << 16;
      while (frequency < MOST && static_cast<int64_t>(logs.size()) <= frequency)
        logs.push_back(logs.empty() ? 0.0 : ck::log(static_cast<double>(logs.size())));
      *idf++ = log_documents - (frequency < MOST ? logs[frequency] : ck::log(static_cast<double>(frequency)));
    }
  });
}
