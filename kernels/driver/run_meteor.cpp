// METEOR: lexicon, words, alignment.
#include <cstring>
#include <memory>

#include "areas.hpp"

namespace driver {

namespace {

const char* const PHRASES[] = {"a dog", "the dog", "dog", "dogs", "next to", "beside", "in front of", "a", "runs", "running quickly", "cat"};
constexpr int64_t N_PHRASES = sizeof(PHRASES) / sizeof(PHRASES[0]);

struct FreeBuilder {
  void operator()(ck_lexicon_builder* builder) const { ck_lexicon_builder_free(builder); }
};
struct FreeWords {
  void operator()(ck_words* words) const { ck_words_free(words); }
};
struct FreeMeteor {
  void operator()(ck_meteor* meteor) const { ck_meteor_free(meteor); }
};
struct FreeIndex {
  void operator()(ck_index* index) const { ck_index_free(index); }
};
struct FreeLexicon {
  void operator()(ck_lexicon* lexicon) const { ck_lexicon_free(lexicon); }
};

// Lists in the form of METEOR's data, with invented content.
struct Sources {
  std::string table;
  std::string lists[4] = {
      "a\nthe\nof\nto\nin\non\n",
      "# words\nMr\nSt\nNo #NUMERIC_ONLY#\n",
      "dog\ndogges\nrun\nran running\n",
      "dog\n10 20\nhound\n10\ncat\n20 30\nrun\n5\n",
  };

  explicit Sources(Random& random) {
    for (int k = 0; k < 60; ++k) {
      table += "0.5\n";
      for (int side = 0; side < 2; ++side) table += std::string(PHRASES[random.below(N_PHRASES)]) + "\n";
    }
  }
  ck_lexicon_lists views() const { return {view(lists[0]), view(lists[1]), view(lists[2]), view(lists[3])}; }
};

ck_status build_lexicon(const Sources& sources, Random& random, std::vector<uint64_t>& buffer, int64_t& bytes) {
  ck_lexicon_builder* made = nullptr;
  CHECK(ck_lexicon_builder_new(&made));
  const std::unique_ptr<ck_lexicon_builder, FreeBuilder> builder(made);
  for (size_t start = 0; start < sources.table.size();) {
    const size_t size = std::min(sources.table.size() - start, static_cast<size_t>(1 + random.below(100)));
    CHECK(ck_lexicon_builder_feed(made, sources.table.data() + start, static_cast<int64_t>(size)));
    start += size;
  }
  const ck_lexicon_lists lists = sources.views();
  const void* data = nullptr;
  CHECK(ck_lexicon_builder_finish(made, &lists, &data, &bytes));
  buffer.assign(static_cast<size_t>(bytes + 7) / 8, 0);
  std::memcpy(buffer.data(), data, static_cast<size_t>(bytes));
  return CK_OK;
}

void damage(std::string& text, Random& random) {
  if (!text.empty()) text[static_cast<size_t>(random.below(static_cast<int64_t>(text.size())))] = static_cast<char>(random.below(256));
  if (random.below(3) == 0) text.resize(static_cast<size_t>(random.below(static_cast<int64_t>(text.size()) + 1)));
}

ck_status normalise(const ck_lexicon* lexicon, const Texts& texts) {
  for (const std::string& text : texts) {
    ck_words* made = nullptr;
    CHECK(ck_normalise(lexicon, view(text), &made));
    const std::unique_ptr<ck_words, FreeWords> words(made);
    for (int64_t k = 0; k < ck_words_size(made); ++k) {
      const ck_string word = ck_words_get(made, k);
      require(word.size > 0 && std::memchr(word.data, ' ', static_cast<size_t>(word.size)) == nullptr, "words of METEOR have no blank");
    }
  }
  return CK_OK;
}

}  // namespace

ck_status Lexicon::build(Random& random, int broken) {
  int64_t bytes = 0;
  if (const ck_status status = build_lexicon(Sources(random), random, buffer_, bytes); status != CK_OK) return status;
  for (int k = 0; k < broken; ++k) reinterpret_cast<unsigned char*>(buffer_.data())[random.below(bytes)] = static_cast<unsigned char>(random.next());
  if (broken && random.below(4) == 0) bytes = random.below(bytes);
  CHECK(ck_lexicon_open(buffer_.data(), bytes, &handle_));
  const ck_status verified = ck_lexicon_verify(handle_);
  require(broken || verified == CK_OK, "a new lexicon is whole");
  return CK_OK;
}

Lexicon::~Lexicon() { ck_lexicon_free(handle_); }

ck_status run_meteor(const ck_lexicon* lexicon, const Texts& texts, Random& random) {
  if (const ck_status status = normalise(lexicon, texts); status != CK_OK) return status;
  ck_meteor* made = nullptr;
  CHECK(ck_meteor_new(lexicon, &made));
  const std::unique_ptr<ck_meteor, FreeMeteor> meteor(made);
  const std::vector<ck_string> in = views(texts);
  const int64_t size = static_cast<int64_t>(in.size());
  Ids ids(in.size()), rows(in.size());
  CHECK(ck_meteor_intern(made, in.data(), size, ids.data()));
  enter_library();
  const std::unique_ptr<ck_index, FreeIndex> index(ck_index_new(1));
  leave_library();
  if (!index) return CK_NO_MEMORY;
  CHECK(ck_index_add(index.get(), in.data(), size, rows.data()));
  CHECK(ck_meteor_add_rows(made, index.get(), rows.data(), size, ids.data()));
  return align_texts(made, ids, random);
}

ck_status align_texts(const ck_meteor* meteor, const Ids& ids, Random& random) {
  const int64_t size = static_cast<int64_t>(ids.size());
  Ids numbers(ids.size()), statistic_rows;
  CHECK(ck_meteor_same_words(meteor, ids.data(), size, numbers.data()));
  const int32_t* words = nullptr;
  int64_t n_words = 0;
  for (int64_t id : ids) CHECK(ck_meteor_words(meteor, id, &words, &n_words));
  for (int64_t bad : {int64_t{-1}, INT64_MAX}) {
    require(ck_meteor_words(meteor, bad, &words, &n_words) == CK_OUT_OF_RANGE, "a text beyond the table is out of range");
    require(ck_meteor_same_words(meteor, &bad, 1, numbers.data()) == CK_OUT_OF_RANGE, "same_words refuses a text beyond the table");
  }

  const int64_t width = 4, groups = size / width, pairs = groups * 3;
  Ids text_starts, pair_starts;
  std::vector<int32_t> hyps, refs;
  for (int64_t g = 0; g <= groups; ++g) text_starts.push_back(g * width), pair_starts.push_back(g * 3);
  for (int64_t p = 0; p < pairs; ++p) {
    hyps.push_back(0), refs.push_back(static_cast<int32_t>(1 + p % 3));
    statistic_rows.push_back(random.below(3) ? p : -1);
  }
  ck_meteor_pairs work = {groups, groups * width, pairs, text_starts.data(), ids.data(), pair_starts.data(), hyps.data(), refs.data(),
                          statistic_rows.data()};
  std::vector<double> scores(static_cast<size_t>(pairs) + 1), numbers_of(static_cast<size_t>(pairs) * CK_METEOR_STATISTICS + 1);
  std::vector<int32_t> statistics(numbers_of.size());
  int64_t excess = -1;
  CHECK(ck_meteor_align(meteor, &work, 0, groups, scores.data(), statistics.data(), pairs, &excess));
  if (excess >= 0) return CK_OK;
  for (int64_t p = 0; p < pairs; ++p) {
    const double score = scores[static_cast<size_t>(p)];
    require(score >= 0 && score <= 1 + 1e-12, "scores of METEOR are in [0, 1]");
  }
  numbers_of.assign(statistics.begin(), statistics.end());
  std::vector<double> again(scores.size());
  ck_meteor_scores(numbers_of.data(), pairs, again.data());
  for (size_t p = 0; p < static_cast<size_t>(pairs); ++p)
    require(statistic_rows[p] < 0 || again[p] == scores[p], "statistics give the score that the alignment gave");
  Ids best(static_cast<size_t>(groups) + 1);
  if (groups) CHECK(ck_meteor_first_best(scores.data(), pair_starts.data(), groups, best.data()));
  if (groups) {
    refs[0] = 4;
    require(ck_meteor_align(meteor, &work, 0, groups, scores.data(), statistics.data(), pairs, &excess) != CK_OK, "a position beyond its group");
    refs[0] = 1, statistic_rows[0] = pairs;
    require(ck_meteor_align(meteor, &work, 0, groups, scores.data(), statistics.data(), pairs, &excess) != CK_OK, "a row beyond the statistics");
  }
  return CK_OK;
}

ck_status run_damaged_lexicons(const Texts& texts, Random& random, int64_t rounds) {
  for (int64_t round = 0; round < rounds; ++round) {
    Lexicon lexicon;
    const ck_status opened = lexicon.build(random, 1 + static_cast<int>(random.below(6)));
    require(opened == CK_OK || opened == CK_BAD_DATA || opened == CK_NO_MEMORY, "a damaged lexicon is bad data");
    if (opened == CK_NO_MEMORY) return opened;
    if (opened == CK_OK) {
      const ck_status used = run_meteor(lexicon.handle(), texts, random);
      if (used == CK_NO_MEMORY) return used;
    }
    Sources sources(random);
    damage(sources.table, random);
    damage(sources.lists[random.below(4)], random);
    std::vector<uint64_t> buffer;
    int64_t bytes = 0;
    const ck_status built = build_lexicon(sources, random, buffer, bytes);
    if (built == CK_NO_MEMORY) return built;
    require(built == CK_OK || built == CK_BAD_DATA, "damaged lists are bad data");
  }
  std::vector<uint64_t> noise(64);
  for (uint64_t& word : noise) word = random.next();
  for (int64_t size : {0, 1, 8, 64, 512}) {
    ck_lexicon* made = nullptr;
    const ck_status status = ck_lexicon_open(noise.data(), size, &made);
    const std::unique_ptr<ck_lexicon, FreeLexicon> opened(made);
    require(status == CK_BAD_DATA || status == CK_NO_MEMORY, "noise is no lexicon");
  }
  return CK_OK;
}

}  // namespace driver
