// BLEU with the constants of the COCO toolkit (Papineni et al. 2002, section 2).
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "local_texts.hpp"
#include "math.hpp"

namespace ck {

namespace {

constexpr double TINY = 1e-15;  // added to matches and lengths by the toolkit, so that a product without matches is not 0
constexpr double SMALL = 1e-9;  // added to what they are divided by

void raise_limits(std::span<const LocalEntry> entries, std::vector<int32_t>& limits) {
  for (const LocalEntry& entry : entries) limits[entry.number] = std::max(limits[entry.number], entry.count);
}

void sum_matches(std::span<const LocalEntry> entries, const RowGrams& grams, const std::vector<int32_t>& limits, int64_t* matches) {
  int32_t e = 0;
  for (int order = 0; order < ORDERS; ++order) {
    matches[order] = 0;
    for (; e < grams.ends[order]; ++e) matches[order] += std::min(entries[e].count, limits[entries[e].number]);
  }
}

double mean_precision(const auto* matches, const auto* guesses, int order) {
  double product = 1.0;
  for (int k = 0; k < order; ++k) product *= (static_cast<double>(matches[k]) + TINY) / (static_cast<double>(guesses[k]) + SMALL);
  return pow(product, 1.0 / order);
}

double brevity(double length, double reference_length) {
  const double ratio = (length + TINY) / (reference_length + SMALL);
  return ratio < 1 ? exp(1 - 1 / ratio) : 1.0;
}

// Sets of texts are bits, 64 a word.
size_t words_of_sets(int64_t texts) { return static_cast<size_t>(texts + 63) / 64; }

void put(uint64_t* set, int64_t text) { set[text / 64] |= uint64_t{1} << (text % 64); }

bool meet(const std::vector<uint64_t>& set, const uint64_t* other) {
  uint64_t common = 0;
  for (size_t w = 0; w < set.size(); ++w) common |= set[w] & other[w];
  return common != 0;
}

// What a set of texts adds to the clipped counts when one of them is a reference.
struct Gain {
  std::vector<uint64_t> set;
  int64_t levels[ORDERS];
};

// A clipped count is the number of levels 1..c (c = the count in text i) that at least one reference reaches. Each level of each
// n-gram gives the set of the other texts that reach it; equal sets are merged, so that a relabeling tests few sets.
std::vector<Gain> find_gains(std::span<const LocalEntry> entries, const RowGrams& grams, const std::vector<int32_t>& table, int64_t i,
                             int64_t size, int order) {
  std::vector<Gain> gains;
  int32_t e = 0;
  for (int k = 0; k < order; ++k) {
    for (; e < grams.ends[k]; ++e) {
      const int32_t* counts = table.data() + entries[e].number * size;
      for (int32_t level = 1; level <= entries[e].count; ++level) {
        std::vector<uint64_t> set(words_of_sets(size));
        for (int64_t j = 0; j < size; ++j)
          if (j != i && counts[j] >= level) put(set.data(), j);
        if (!meet(set, set.data())) break;
        auto same = std::ranges::find(gains, set, &Gain::set);
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
  std::ranges::stable_sort(order, {}, [&](int64_t j) { return std::pair(std::abs(lengths[j] - lengths[i]), lengths[j]); });
  return order;
}

// Adds BLEU of text i as a candidate to the scores of the relabelings in which it is one. `references` are their sets of references.
void add_scores(const std::vector<Gain>& gains, const std::vector<int64_t>& lengths, int64_t i, const ck_relabelings& relabelings,
                const std::vector<uint64_t>& references, int order, double* scores) {
  const std::vector<int64_t> by_length = sort_by_length(lengths, i);
  const size_t width = words_of_sets(relabelings.texts);
  int64_t guesses[ORDERS], last[ORDERS] = {-1, -1, -1, -1};
  for (int k = 0; k < ORDERS; ++k) guesses[k] = std::max<int64_t>(0, lengths[i] - k);
  double precision = 0.0;
  for (int64_t p = 0; p < relabelings.n; ++p) {
    const uint8_t* is_candidate = relabelings.labels + p * relabelings.texts;
    if (!is_candidate[i]) continue;
    int64_t matches[ORDERS] = {};
    for (const Gain& gain : gains)
      if (meet(gain.set, references.data() + p * width))
        for (int k = 0; k < order; ++k) matches[k] += gain.levels[k];
    if (!std::equal(matches, matches + order, last)) {  // consecutive relabelings mostly have equal counts
      std::copy(matches, matches + order, last);
      precision = mean_precision(matches, guesses, order);
    }
    const auto closest = std::ranges::find_if(by_length, [&](int64_t j) { return !is_candidate[j]; });
    scores[p] += precision * brevity(static_cast<double>(lengths[i]), static_cast<double>(lengths[*closest]));
  }
}

}  // namespace

}  // namespace ck

using namespace ck;

ck_status ck_clip(const ck_index* index, ck_pairs pairs, int each, int64_t* matches) {
  return guarded([&] {
    LocalTexts texts(*index);
    std::vector<int32_t> limits;
    for (int64_t b = 0; b < pairs.examples; ++b) {
      texts.read(rows_of(pairs, b));
      limits.assign(texts.n_grams(), 0);
      const int64_t m = each ? pairs.m : 1;
      const auto sum_all = [&](int64_t j) {
        for (int64_t i = 0, hyp = b * pairs.n; i < pairs.n; ++i, ++hyp)
          sum_matches(texts.entries(i), index->grams(pairs.hyp[hyp]), limits, matches + (hyp * m + j) * ORDERS);
      };
      for (int64_t j = 0; j < pairs.m; ++j) {
        raise_limits(texts.entries(pairs.n + j), limits);
        if (!each) continue;
        sum_all(j);
        for (const LocalEntry& entry : texts.entries(pairs.n + j)) limits[entry.number] = 0;
      }
      if (!each) sum_all(0);
    }
  });
}

ck_status ck_bleu(const double* matches, const double* guesses, const double* lengths, const double* reference_lengths, int64_t size,
                  int order, double* scores) {
  return guarded([&] {
    if (order < 1 || order > ORDERS) fail(CK_BAD_ARGUMENT);
    for (int64_t k = 0; k < size; ++k)
      scores[k] = mean_precision(matches + k * ORDERS, guesses + k * ORDERS, order) * brevity(lengths[k], reference_lengths[k]);
  });
}

ck_status ck_bleu_relabel(const ck_index* index, const int64_t* rows, ck_relabelings relabelings, int order, double* scores) {
  return guarded([&] {
    if (order < 1 || order > ORDERS) fail(CK_BAD_ARGUMENT);
    check_labels(relabelings);
    const auto [labels, examples, size, n] = relabelings;
    const size_t width = words_of_sets(size);
    std::vector<uint64_t> references(static_cast<size_t>(n) * width);
    std::vector<int64_t> n_candidates(n), lengths(size);
    for (int64_t p = 0; p < n; ++p)
      for (int64_t j = 0; j < size; ++j) {
        n_candidates[p] += labels[p * size + j] != 0;
        if (!labels[p * size + j]) put(references.data() + p * width, j);
      }
    LocalTexts texts(*index);
    for (int64_t b = 0; b < examples; ++b, rows += size, scores += n) {
      texts.read(items(rows, size));
      std::vector<int32_t> table(texts.n_grams() * size);  // counts of each n-gram in each text
      for (int64_t j = 0; j < size; ++j) {
        for (const LocalEntry& entry : texts.entries(j)) table[entry.number * size + j] = entry.count;
        lengths[j] = index->length(rows[j]);
      }
      std::fill(scores, scores + n, 0.0);
      for (int64_t i = 0; i < size; ++i) {
        const std::vector<Gain> gains = find_gains(texts.entries(i), index->grams(rows[i]), table, i, size, order);
        add_scores(gains, lengths, i, relabelings, references, order, scores);
      }
      for (int64_t p = 0; p < n; ++p) scores[p] /= static_cast<double>(n_candidates[p]);
    }
  });
}
