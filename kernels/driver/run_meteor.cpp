// METEOR: lexicon, words, alignment.
#include <cstring>
#include <memory>

#include "areas.hpp"

namespace driver {

namespace {

const char* const PHRASES[] = {"a dog", "the dog", "dog", "dogs", "next to", "beside", "in front of", "a", "runs", "running quickly", "cat"};
constexpr int64_t N_PHRASES = sizeof(PHRASES) / sizeof(PHRASES[0]);

std::string lexicon_bytes;

ck_status normalise(const ck_lexicon* lexicon, const Texts& texts) {
  const std::vector<ck_string> in = views(texts);
  MAKE(ck_strings, lines, ck_normalise(lexicon, in.data(), static_cast<int64_t>(in.size()), &made));
  for (const std::string& line : strings_of(lines)) require(line.find("  ") == std::string::npos, "words of METEOR are not empty");
  return CK_OK;
}

}  // namespace

void Lexicon::read_file(const char* path) {
  lexicon_bytes = read_texts(path).back();
  require(lexicon_bytes.size() > 300, "the lexicon can be read");
}

ck_status Lexicon::open(Random& random, int broken) {
  int64_t bytes = static_cast<int64_t>(lexicon_bytes.size());
  buffer_.assign(lexicon_bytes.size() / 8, 0);
  std::memcpy(buffer_.data(), lexicon_bytes.data(), lexicon_bytes.size());
  for (int k = 0; k < broken; ++k)
    reinterpret_cast<unsigned char*>(buffer_.data())[random.below(random.below(2) ? bytes : 300)] = static_cast<unsigned char>(random.next());
  if (broken && random.below(4) == 0) bytes = random.below(bytes);
  MAKE(ck_lexicon, opened, ck_lexicon_open(buffer_.data(), bytes, &made));
  handle_ = std::move(opened);
  return CK_OK;
}

ck_status read_paraphrases(Random& random, bool damaged) {
  std::string table;
  for (int k = 0; k < 60; ++k) {
    table += "0.5\n";
    for (int side = 0; side < 2; ++side) table += std::string(PHRASES[random.below(N_PHRASES)]) + "\n";
  }
  if (damaged) table[static_cast<size_t>(random.below(static_cast<int64_t>(table.size())))] = static_cast<char>(random.below(256));
  if (damaged && random.below(3) == 0) table.resize(static_cast<size_t>(random.below(static_cast<int64_t>(table.size()))));
  MAKE(ck_paraphrases, reader, ck_paraphrases_new(&made));
  for (size_t start = 0; start < table.size();) {
    const size_t size = std::min(table.size() - start, static_cast<size_t>(1 + random.below(100)));
    CHECK(ck_paraphrases_feed(reader.get(), table.data() + start, static_cast<int64_t>(size)));
    start += size;
  }
  const ck_string word = {"zebra", 5};
  int64_t number = 0;
  ck_string sections[CK_PARAPHRASE_SECTIONS];
  CHECK(ck_paraphrases_finish(reader.get(), &word, 1, &number, sections));
  require(sections[1].size == 8 * (number + 2), "a new word comes last");
  require(ck_paraphrases_feed(reader.get(), "x", 1) == CK_BAD_ARGUMENT, "a table ends once");
  return CK_OK;
}

ck_status run_meteor(const ck_lexicon* lexicon, const Texts& texts, Random& random) {
  if (const ck_status status = normalise(lexicon, texts); status != CK_OK) return status;
  MAKE(ck_meteor, meteor, ck_meteor_new(lexicon, &made));
  const std::vector<ck_string> in = views(texts);
  const int64_t size = static_cast<int64_t>(in.size());
  Ids ids(in.size()), rows(in.size());
  CHECK(ck_meteor_intern(meteor.get(), in.data(), size, ids.data()));
  MAKE(ck_index, index, ck_index_new(1, &made));
  CHECK(ck_index_add(index.get(), in.data(), size, rows.data()));
  CHECK(ck_meteor_add_rows(meteor.get(), index.get(), rows.data(), size, ids.data()));
  return align_texts(meteor.get(), ids, random);
}

ck_status align_texts(const ck_meteor* meteor, const Ids& ids, Random& random) {
  const int64_t size = static_cast<int64_t>(ids.size());
  Ids numbers(ids.size()), statistic_rows;
  CHECK(ck_meteor_same_words(meteor, ids.data(), size, numbers.data()));
  int64_t n_words = 0;
  for (int64_t id : ids) CHECK(ck_meteor_length(meteor, id, &n_words));
  for (int64_t bad : {int64_t{-1}, INT64_MAX}) {
    require(ck_meteor_length(meteor, bad, &n_words) == CK_OUT_OF_RANGE, "a text beyond the table is out of range");
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
    const ck_status opened = lexicon.open(random, 1 + static_cast<int>(random.below(6)));
    require(opened == CK_OK || opened == CK_BAD_DATA || opened == CK_NO_MEMORY, "a damaged lexicon is bad data");
    if (opened == CK_NO_MEMORY) return opened;
    const ck_status used = opened == CK_OK ? run_meteor(lexicon.handle(), texts, random) : CK_OK;
    if (used == CK_NO_MEMORY) return used;
    const ck_status read = read_paraphrases(random, true);
    if (read == CK_NO_MEMORY) return read;
    require(read == CK_OK || read == CK_BAD_DATA, "a damaged table is bad data");
  }
  std::vector<uint64_t> noise(64);
  for (uint64_t& word : noise) word = random.next();
  for (int64_t size : {0, 1, 8, 64, 512}) {
    ck_lexicon* made = nullptr;
    const ck_status status = ck_lexicon_open(noise.data(), size, &made);
    const Handle<ck_lexicon> opened(made);
    require(status == CK_BAD_DATA || status == CK_NO_MEMORY, "noise is no lexicon");
  }
  return CK_OK;
}

}  // namespace driver
