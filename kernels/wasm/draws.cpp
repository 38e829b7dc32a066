// Random weights of examples and weighted sums, as harness.stats.draws and harness.stats.bootstrap compute them with NumPy.
//
// O'Neill (2014), PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms for Random Number Generation; SeedSequence and
// the methods `integers`, `bytes` and `multinomial` are those of NumPy's Generator.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "caption_kernels.h"
#include "caption_kernels_wasm.h"

namespace {

constexpr int DIGITS = 53;
constexpr double LARGEST_MEAN = 8;  // the weights of a draw sum to at most this many times the number of examples
constexpr int64_t BLOCK = 256;      // draws of one generator
constexpr size_t TILE = 16;         // columns whose sums are held in registers

// NumPy's SeedSequence: eight words of 32 bits from a list of numbers.
class Seeds {
 public:
  explicit Seeds(const std::vector<uint64_t>& numbers) {
    std::vector<uint32_t> entropy;
    for (uint64_t number : numbers) {
      entropy.push_back(static_cast<uint32_t>(number));
      if (number >> 32) entropy.push_back(static_cast<uint32_t>(number >> 32));
    }
    uint32_t multiplier = 0x43b0d7e5;
    for (size_t i = 0; i < 4; ++i) pool_[i] = hash(i < entropy.size() ? entropy[i] : 0, multiplier, 0x931e8875);
    for (size_t from = 0; from < 4; ++from)
      for (size_t to = 0; to < 4; ++to)
        if (from != to) pool_[to] = mix(pool_[to], hash(pool_[from], multiplier, 0x931e8875));
    for (size_t from = 4; from < entropy.size(); ++from)
      for (uint32_t& word : pool_) word = mix(word, hash(entropy[from], multiplier, 0x931e8875));
  }

  void fill(uint64_t (&state)[4]) const {
    uint32_t multiplier = 0x8b51f9dd;
    for (size_t i = 0; i < 4; ++i) {
      const uint64_t low = hash(pool_[2 * i % 4], multiplier, 0x58f38ded);
      state[i] = low | static_cast<uint64_t>(hash(pool_[(2 * i + 1) % 4], multiplier, 0x58f38ded)) << 32;
    }
  }

 private:
  static uint32_t hash(uint32_t value, uint32_t& multiplier, uint32_t factor) {
    value ^= multiplier;
    multiplier *= factor;
    value *= multiplier;
    return value ^ value >> 16;
  }
  static uint32_t mix(uint32_t x, uint32_t y) {
    const uint32_t result = 0xca01f9dd * x - 0x4973f715 * y;
    return result ^ result >> 16;
  }
  uint32_t pool_[4];
};

// PCG64 (XSL-RR) with the buffer for words of 32 bits.
class Generator {
 public:
  explicit Generator(const std::vector<uint64_t>& numbers) {
    uint64_t seed[4];
    Seeds(numbers).fill(seed);
    increment_ = (static_cast<Wide>(seed[2]) << 64 | seed[3]) << 1 | 1;
    step();
    state_ += static_cast<Wide>(seed[0]) << 64 | seed[1];
    step();
  }

  uint64_t next() {
    step();
    const uint64_t high = static_cast<uint64_t>(state_ >> 64), word = high ^ static_cast<uint64_t>(state_);
    const int turn = static_cast<int>(high >> 58);
    return word >> turn | word << (-turn & 63);
  }
  uint32_t next_half() {
    if (has_half_) {
      has_half_ = false;
      return half_;
    }
    const uint64_t word = next();
    has_half_ = true;
    half_ = static_cast<uint32_t>(word >> 32);
    return static_cast<uint32_t>(word);
  }
  double next_share() { return static_cast<double>(next() >> 11) * (1.0 / 9007199254740992.0); }

  // A number below `bound`, at least 1 (Lemire 2019).
  uint32_t below(uint32_t bound) {
    if (bound == 1) return 0;
    uint64_t product = static_cast<uint64_t>(next_half()) * bound;
    if (static_cast<uint32_t>(product) < bound) {
      const uint32_t threshold = -bound % bound;
      while (static_cast<uint32_t>(product) < threshold) product = static_cast<uint64_t>(next_half()) * bound;
    }
    return static_cast<uint32_t>(product >> 32);
  }

  // A binomial count by inversion, for a mean of at most 30.
  int64_t binomial(int64_t n, double p) {
    if (n == 0 || p == 0.0) return 0;
    if (p > 0.5) return n - invert(n, 1.0 - p);
    return invert(n, p);
  }

 private:
  using Wide = unsigned __int128;
  void step() { state_ = state_ * (static_cast<Wide>(0x2360ED051FC65DA4) << 64 | 0x4385DF649FCCF645) + increment_; }

  int64_t invert(int64_t n, double p) {
    const double q = 1.0 - p, mean = static_cast<double>(n) * p;
    double none;
    ck_log(&q, 1, &none);
    none *= static_cast<double>(n);
    ck_exp(&none, 1, &none);
    const int64_t bound = static_cast<int64_t>(std::min(static_cast<double>(n), mean + 10.0 * std::sqrt(mean * q + 1)));
    int64_t count = 0;
    double probability = none, share = next_share();
    while (share > probability) {
      if (++count > bound) {
        count = 0, probability = none, share = next_share();
      } else {
        share -= probability;
        probability = (static_cast<double>(n - count + 1) * p * probability) / (static_cast<double>(count) * q);
      }
    }
    return count;
  }

  Wide state_ = 0, increment_ = 0;
  bool has_half_ = false;
  uint32_t half_ = 0;
};

// Columns split into two addends, multiples of a power of two, whose weighted sums are exact: one value in any order.
class Table {
 public:
  Table(const double* columns, int64_t examples, int32_t width) : width_(width) {
    int growth;
    std::frexp(LARGEST_MEAN * static_cast<double>(std::max<int64_t>(1, examples)), &growth);
    std::vector<std::vector<double>> parts;
    for (int32_t k = 0; k < width; ++k) {
      std::vector<double> leading(static_cast<size_t>(examples)), trailing(leading.size());
      for (int64_t i = 0; i < examples; ++i) leading[static_cast<size_t>(i)] = columns[i * width + k];
      split(leading, trailing, growth);
      std::vector<double> lost(leading.size());
      split(trailing, lost, growth);
      const bool fractional = std::any_of(trailing.begin(), trailing.end(), [](double value) { return value != 0; });
      second_.push_back(fractional ? static_cast<int32_t>(second_count_++) : -1);
      parts.push_back(std::move(leading));
      if (fractional) trailing_.push_back(std::move(trailing));
    }
    for (auto& part : trailing_) parts.push_back(std::move(part));
    tiles_.assign((parts.size() + TILE - 1) / TILE, std::vector<double>(static_cast<size_t>(examples) * TILE));
    for (size_t k = 0; k < parts.size(); ++k)
      for (size_t i = 0; i < static_cast<size_t>(examples); ++i) tiles_[k / TILE][i * TILE + k % TILE] = parts[k][i];
    totals_.resize(tiles_.size() * TILE);
  }

  void sum(const std::vector<uint32_t>& weights, double* sums) {
    chosen_.clear();
    for (size_t i = 0; i < weights.size(); ++i)
      if (weights[i]) chosen_.push_back({i, static_cast<double>(weights[i])});
    for (size_t tile = 0; tile < tiles_.size(); ++tile) {
      double total[TILE] = {};  // in registers
      const double* rows = tiles_[tile].data();
      for (const auto& [example, weight] : chosen_)
        for (size_t k = 0; k < TILE; ++k) total[k] += weight * rows[example * TILE + k];
      std::copy(total, total + TILE, totals_.data() + tile * TILE);
    }
    for (int32_t k = 0; k < width_; ++k) {
      const int32_t trailing = second_[static_cast<size_t>(k)];
      sums[k] = trailing < 0 ? totals_[static_cast<size_t>(k)] : totals_[static_cast<size_t>(k)] + totals_[static_cast<size_t>(width_ + trailing)];
    }
  }

 private:
  static void split(std::vector<double>& values, std::vector<double>& remainder, int growth) {
    double largest = 0;
    for (double value : values) largest = std::max(largest, std::abs(value));
    int exponent;
    std::frexp(largest, &exponent);
    const double unit = std::ldexp(1.0, std::max(exponent + growth - DIGITS, -1074));
    for (size_t i = 0; i < values.size(); ++i) {
      const double whole = std::rint(values[i] / unit) * unit;
      remainder[i] = values[i] - whole, values[i] = whole;
    }
  }

  int32_t width_;
  size_t second_count_ = 0;
  std::vector<int32_t> second_;  // of each column the number of its trailing addend, -1 for none
  std::vector<std::vector<double>> trailing_;
  std::vector<std::vector<double>> tiles_;  // columns in groups of TILE, by example
  std::vector<std::pair<size_t, double>> chosen_;
  std::vector<double> totals_;
};

void draw_multinomial(Generator& generator, std::vector<uint32_t>& counts) {
  std::fill(counts.begin(), counts.end(), 0u);
  const double share = 1.0 / static_cast<double>(counts.size());
  double remaining = 1.0;
  int64_t left = static_cast<int64_t>(counts.size());
  for (size_t i = 0; i + 1 < counts.size() && left > 0; ++i) {
    const int64_t count = generator.binomial(left, share / remaining);
    counts[i] = static_cast<uint32_t>(count);
    left -= count;
    remaining -= share;
  }
  if (left > 0) counts.back() = static_cast<uint32_t>(left);
}

}  // namespace

void ck_draw_sums(const double* columns, int64_t examples, int32_t width, ck_weights kind, int64_t draws, int64_t seed, double* sums) {
  Table table(columns, examples, width);
  std::vector<uint32_t> weights(static_cast<size_t>(examples));
  const uint64_t n = static_cast<uint64_t>(examples), first = static_cast<uint64_t>(seed);
  Generator generator({first, n});
  uint32_t word = 0;
  for (int64_t draw = 0; draw < draws; ++draw) {
    if (draw % BLOCK == 0 && (kind == CK_RESAMPLES || kind == CK_ASSIGNMENTS))
      generator = Generator({first, n, kind == CK_ASSIGNMENTS, static_cast<uint64_t>(draw / BLOCK)});
    if (kind == CK_MULTINOMIAL) {
      draw_multinomial(generator, weights);
    } else if (kind == CK_RESAMPLES) {
      std::fill(weights.begin(), weights.end(), 0u);
      for (int64_t k = 0; k < examples; ++k) ++weights[generator.below(static_cast<uint32_t>(examples))];
    } else if (kind == CK_PATTERNS) {
      for (int64_t k = 0; k < examples; ++k) weights[static_cast<size_t>(k)] = draw >> k & 1;
    } else {
      // Rows of whole bytes lie one behind another in words of 32 bits, the first byte lowest.
      const int64_t octets = (examples + 7) / 8, start = draw % BLOCK * octets;
      for (int64_t octet = 0; octet < octets; ++octet) {
        if ((start + octet) % 4 == 0) word = generator.next_half();
        const uint32_t bits = word >> 8 * ((start + octet) % 4);
        for (int64_t k = 8 * octet; k < std::min(examples, 8 * octet + 8); ++k) weights[static_cast<size_t>(k)] = bits >> (7 - k % 8) & 1;
      }
    }
    table.sum(weights, sums + draw * width);
  }
}
