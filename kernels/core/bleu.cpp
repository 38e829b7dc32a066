#include "bleu.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "local_texts.hpp"
#include "math.hpp"

namespace ck {

namespace {

constexpr double TINY = 1e-15;  // added to matches and lengths by the toolkit, so that a product without matches is not 0
constexpr double SMALL = 1e-9;  // added to what they are divided by

// Counts of one text's n-grams by local number.
void put_counts(std::span<const LocalEntry> entries, std::vector<int32_t>& counts, bool keep_larger) {
  for (const LocalEntry& entry : entries) {
    int32_t& count = counts[entry.number];
    count = keep_larger ? std::max(count, entry.count) : entry.count;
  }
}

void clear_counts(std::span<const LocalEntry> entries, std::vector<int32_t>& counts) {
  for (const LocalEntry& entry : entries) counts[entry.number] = 0;
}

void sum_matches(std::span<const LocalEntry> entries, const RowGrams& grams, const std::vector<int32_t>& limits, int64_t* matches) {
  int32_t first = 0;
  for (int order = 0; order < ORDERS; ++order) {
    matches[order] = 0;
    for (int32_t e = first; e < grams.ends[order]; ++e) matches[order] += std::min(entries[e].count, limits[entries[e].number]);
    first = grams.ends[order];
  }
}

size_t to_size(int64_t count) { return static_cast<size_t>(count); }

}  // namespace

double bleu(const double* matches, const double* guesses, double length, double reference_length, int order) {
  double product = (matches[0] + TINY) / (guesses[0] + SMALL);
  for (int k = 1; k < order; ++k) product = product * ((matches[k] + TINY) / (guesses[k] + SMALL));
  const double ratio = (length + TINY) / (reference_length + SMALL);
  return pow(product, 1.0 / order) * (ratio < 1 ? exp(1 - 1 / ratio) : 1.0);
}

void clip_pairs(const TextIndex& index, const int64_t* hyp, const int64_t* ref, int64_t examples, int64_t n, int64_t m, int64_t* matches) {
  LocalTexts texts;
  std::vector<int32_t> limits;
  for (int64_t b = 0; b < examples; ++b, hyp += n, ref += m, matches += n * m * ORDERS) {
    texts.read(index, {hyp, to_size(n)}, {ref, to_size(m)});
    limits.assign(texts.n_grams(), 0);
    for (int64_t j = 0; j < m; ++j) {
      put_counts(texts.entries(n + j), limits, false);
      for (int64_t i = 0; i < n; ++i) sum_matches(texts.entries(i), index.grams(hyp[i]), limits, matches + (i * m + j) * ORDERS);
      clear_counts(texts.entries(n + j), limits);
    }
  }
}

void clip_all(const TextIndex& index, const int64_t* hyp, const int64_t* ref, int64_t examples, int64_t n, int64_t m, int64_t* matches) {
  LocalTexts texts;
  std::vector<int32_t> limits;
  for (int64_t b = 0; b < examples; ++b, hyp += n, ref += m, matches += n * ORDERS) {
    texts.read(index, {hyp, to_size(n)}, {ref, to_size(m)});
    limits.assign(texts.n_grams(), 0);
    for (int64_t j = 0; j < m; ++j) put_counts(texts.entries(n + j), limits, true);
    for (int64_t i = 0; i < n; ++i) sum_matches(texts.entries(i), index.grams(hyp[i]), limits, matches + i * ORDERS);
  }
}

namespace {

// Sets of texts as bits, 64 a word.
class TextSets {
 public:
  explicit TextSets(int64_t texts) : width_(to_size((texts + 63) / 64)) {}
  size_t width() const { return width_; }

  static void put(uint64_t* set, int64_t text) { set[text >> 6] |= uint64_t{1} << (text & 63); }
  bool meet(const uint64_t* a, const uint64_t* b) const {
    uint64_t common = 0;
    for (size_t w = 0; w < width_; ++w) common |= a[w] & b[w];
    return common != 0;
  }

 private:
  size_t width_;
};

// What a set of texts adds to the clipped counts when one of them is a reference.
struct Gain {
  std::vector<uint64_t> set;
  int64_t levels[ORDERS];
};

// A clipped count is the number of levels 1..c (c = the count in text i) that at least one reference reaches. Each level of each
// n-gram gives the set of the other texts that reach it; equal sets are merged, so that a relabeling tests few sets.
std::vector<Gain> find_gains(const LocalTexts& texts, const RowGrams& grams, const std::vector<int32_t>& table, int64_t i, int64_t size,
                             int order, const TextSets& sets) {
  std::vector<Gain> gains;
  std::vector<uint64_t> set(sets.width());
  int32_t first = 0;
  for (int k = 0; k < order; first = grams.ends[k], ++k) {
    for (int32_t e = first; e < grams.ends[k]; ++e) {
      const LocalEntry entry = texts.entries(i)[e];
      const int32_t* counts = table.data() + entry.number * size;
      for (int32_t level = 1; level <= entry.count; ++level) {
        std::ranges::fill(set, 0);
        bool any = false;
        for (int64_t j = 0; j < size; ++j) {
          if (j == i || counts[j] < level) continue;
          TextSets::put(set.data(), j);
          any = true;
        }
        if (!any) break;
        auto same = std::ranges::find_if(gains, [&](const Gain& gain) { return gain.set == set; });
        if (same == gains.end()) same = gains.insert(same, Gain{set, {}});
        ++same->levels[k];
      }
    }
  }
  return gains;
}

// Texts by increasing difference in length from text i, the shorter first on ties.
std::vector<int64_t> sort_by_length(const std::vector<int64_t>& lengths, int64_t i) {
  std::vector<int64_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
    const int64_t gap_a = std::abs(lengths[a] - lengths[i]), gap_b = std::abs(lengths[b] - lengths[i]);
    return gap_a != gap_b ? gap_a < gap_b : lengths[a] < lengths[b];
  });
  return order;
}

}  // namespace

void relabel_bleu(const TextIndex& index, const int64_t* rows, const uint8_t* labels, int64_t examples, int64_t size, int64_t relabelings,
                  int order, double* scores) {
  const TextSets sets(size);
  std::vector<uint64_t> references(relabelings * sets.width(), 0);
  std::vector<int64_t> n_candidates(relabelings, 0);
  for (int64_t p = 0; p < relabelings; ++p)
    for (int64_t j = 0; j < size; ++j) {
      if (labels[p * size + j]) ++n_candidates[p];
      else TextSets::put(references.data() + p * sets.width(), j);
    }
  LocalTexts texts;
  std::vector<int32_t> table;
  std::vector<int64_t> lengths(size);
  for (int64_t b = 0; b < examples; ++b, rows += size, scores += relabelings) {
    texts.read(index, {rows, to_size(size)}, {});
    table.assign(texts.n_grams() * size, 0);
    for (int64_t j = 0; j < size; ++j) {
      for (const LocalEntry& entry : texts.entries(j)) table[entry.number * size + j] = entry.count;
      lengths[j] = index.length(rows[j]);
    }
    std::fill(scores, scores + relabelings, 0.0);
    for (int64_t i = 0; i < size; ++i) {
      const std::vector<Gain> gains = find_gains(texts, index.grams(rows[i]), table, i, size, order, sets);
      const std::vector<int64_t> by_length = sort_by_length(lengths, i);
      int64_t last[ORDERS] = {-1, -1, -1, -1};
      double root = 0.0;
      for (int64_t p = 0; p < relabelings; ++p) {
        const uint8_t* is_candidate = labels + p * size;
        if (!is_candidate[i]) continue;
        int64_t matches[ORDERS] = {};
        for (const Gain& gain : gains)
          if (sets.meet(gain.set.data(), references.data() + p * sets.width()))
            for (int k = 0; k < order; ++k) matches[k] += gain.levels[k];
        if (!std::equal(matches, matches + order, last)) {  // consecutive relabelings mostly have equal counts
          std::copy(matches, matches + order, last);
          double product = 1.0;
          for (int k = 0; k < order; ++k)
            product *= (static_cast<double>(matches[k]) + TINY) / (static_cast<double>(std::max<int64_t>(0, lengths[i] - k)) + SMALL);
          root = pow(product, 1.0 / order);
        }
        int64_t closest = 0;
        for (int64_t j : by_length)
          if (!is_candidate[j]) {
            closest = lengths[j];
            break;
          }
        const double ratio = (static_cast<double>(lengths[i]) + TINY) / (static_cast<double>(closest) + SMALL);
        scores[p] += ratio < 1 ? root * exp(1 - 1 / ratio) : root;
      }
    }
    for (int64_t p = 0; p < relabelings; ++p) scores[p] /= static_cast<double>(n_candidates[p]);
  }
}

}  // namespace ck
