// The steps have the names of the algorithm's description: Porter, "The English (Porter2) stemming algorithm", snowballstem.org.
#include "stemmer.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <span>
#include <vector>

#include "ck_text.h"
#include "guard.hpp"
#include "span.hpp"
#include "utf8.hpp"

namespace ck {
namespace {

constexpr char OTHER = '\x80';  // stands for a character that is not ASCII

struct Replacement {
  std::string_view from, to;
};

// Words that are not stemmed by the rules.
constexpr Replacement WHOLE_WORDS[] = {
    {"skis", "ski"},   {"skies", "sky"},    {"dying", "die"},    {"lying", "lie"},  {"tying", "tie"},       {"idly", "idl"},
    {"gently", "gentl"}, {"ugly", "ugli"},  {"early", "earli"},  {"only", "onli"},  {"singly", "singl"},    {"sky", "sky"},
    {"news", "news"},  {"howe", "howe"},    {"atlas", "atlas"},  {"cosmos", "cosmos"}, {"bias", "bias"},    {"andes", "andes"}};
// Words that are complete after step 1a.
constexpr std::string_view COMPLETE[] = {"inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed"};
// Beginnings after which region R1 starts.
constexpr std::string_view BEGINNINGS[] = {"gener", "commun", "arsen"};

// Suffixes, longer ones before those that they end in.
constexpr Replacement STEP_2[] = {
    {"ization", "ize"}, {"ational", "ate"}, {"fulness", "ful"}, {"ousness", "ous"}, {"iveness", "ive"}, {"tional", "tion"},
    {"biliti", "ble"},  {"lessli", "less"}, {"entli", "ent"},   {"ation", "ate"},   {"alism", "al"},    {"aliti", "al"},
    {"ousli", "ous"},   {"iviti", "ive"},   {"fulli", "ful"},   {"enci", "ence"},   {"anci", "ance"},   {"abli", "able"},
    {"izer", "ize"},    {"ator", "ate"},    {"alli", "al"},     {"bli", "ble"},     {"ogi", "og"},      {"li", ""}};
constexpr Replacement STEP_3[] = {{"ational", "ate"}, {"tional", "tion"}, {"alize", "al"}, {"icate", "ic"}, {"iciti", "ic"},
                                  {"ative", ""},      {"ical", "ic"},     {"ness", ""},    {"ful", ""}};
constexpr std::string_view STEP_4[] = {"ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism",
                                       "ate",   "iti",  "ous",  "ive",  "ize",  "ion",  "al",  "er",  "ic"};

bool is_among(char letter, std::string_view letters) { return letters.find(letter) != std::string_view::npos; }

// A y that counts as a consonant is Y.
bool is_vowel(char letter) { return is_among(letter, "aeiouy"); }

// A word on its way to its stem: ASCII, with OTHER for each other character.
class Stemming {
 public:
  explicit Stemming(std::string word) : word_(std::move(word)) {}

  std::string stem() {
    if (word_.size() < 3) return word_;
    for (const auto& [word, result] : WHOLE_WORDS)
      if (word_ == word) return std::string(result);
    if (word_[0] == '\'') word_.erase(0, 1);
    const bool has_consonant_y = mark_consonant_y();
    mark_regions();
    step_0();
    step_1a();
    if (std::find(std::begin(COMPLETE), std::end(COMPLETE), word_) == std::end(COMPLETE)) {
      step_1b();
      step_1c();
      step_2();
      step_3();
      step_4();
      step_5();
    }
    if (has_consonant_y) std::replace(word_.begin(), word_.end(), 'Y', 'y');
    return word_;
  }

 private:
  // A y at the start or after a vowel is a consonant.
  bool mark_consonant_y() {
    bool found = false;
    for (size_t k = 0; k < word_.size(); ++k) {
      if (word_[k] != 'y' || (k > 0 && !is_vowel(word_[k - 1]))) continue;
      word_[k] = 'Y';
      found = true;
    }
    return found;
  }

  // R1 is what follows the first consonant after a vowel; R2 the same within R1.
  void mark_regions() {
    r1_ = after_vowel_and_consonant(0);
    for (const std::string_view beginning : BEGINNINGS)
      if (word_.starts_with(beginning)) r1_ = beginning.size();
    r2_ = after_vowel_and_consonant(r1_);
  }

  size_t after_vowel_and_consonant(size_t from) const {
    while (from < word_.size() && !is_vowel(word_[from])) ++from;
    while (from < word_.size() && is_vowel(word_[from])) ++from;
    return std::min(from + 1, word_.size());
  }

  bool ends_in(std::string_view suffix) const { return std::string_view(word_).ends_with(suffix); }
  bool is_in_r1(std::string_view suffix) const { return word_.size() >= r1_ + suffix.size(); }
  bool is_in_r2(std::string_view suffix) const { return word_.size() >= r2_ + suffix.size(); }
  char before(std::string_view suffix) const { return word_.size() > suffix.size() ? word_[word_.size() - suffix.size() - 1] : '\0'; }

  void replace(std::string_view suffix, std::string_view ending) { word_.replace(word_.size() - suffix.size(), suffix.size(), ending); }

  // Whether one of the first `size` characters is a vowel.
  bool has_vowel(size_t size) const { return std::any_of(word_.begin(), word_.begin() + static_cast<std::ptrdiff_t>(size), is_vowel); }

  // Whether the first `size` characters end in a short syllable.
  bool ends_in_short_syllable(size_t size) const {
    if (size < 2 || is_vowel(word_[size - 1]) || !is_vowel(word_[size - 2])) return false;
    if (size == 2) return true;
    return !is_among(word_[size - 1], "wxY") && !is_vowel(word_[size - 3]);
  }

  void step_0() {
    for (const std::string_view suffix : {"'s'", "'s", "'"})
      if (ends_in(suffix)) return replace(suffix, "");
  }

  void step_1a() {
    if (ends_in("sses")) return replace("sses", "ss");
    if (ends_in("ied") || ends_in("ies")) return word_.resize(word_.size() - (word_.size() >= 5 ? 2 : 1));
    if (ends_in("us") || ends_in("ss") || !ends_in("s")) return;
    if (word_.size() >= 2 && has_vowel(word_.size() - 2)) word_.pop_back();
  }

  void step_1b() {
    for (const std::string_view suffix : {"eedly", "eed"})
      if (ends_in(suffix)) return is_in_r1(suffix) ? replace(suffix, "ee") : void();
    for (const std::string_view suffix : {"ingly", "edly", "ing", "ed"})
      if (ends_in(suffix)) return has_vowel(word_.size() - suffix.size()) ? mend_without(suffix) : void();
  }

  // Removes a suffix of step 1b and restores the end of the word.
  void mend_without(std::string_view suffix) {
    replace(suffix, "");
    const char last = word_.back();
    if (ends_in("at") || ends_in("bl") || ends_in("iz")) {
      word_.push_back('e');
    } else if (word_.size() >= 2 && word_[word_.size() - 2] == last && is_among(last, "bdfgmnprt")) {
      word_.pop_back();
    } else if (word_.size() == r1_ && ends_in_short_syllable(word_.size())) {
      word_.push_back('e');
    }
  }

  void step_1c() {
    if ((ends_in("y") || ends_in("Y")) && word_.size() > 2 && !is_vowel(before("y"))) word_.back() = 'i';
  }

  void step_2() {
    for (const auto& [suffix, ending] : STEP_2) {
      if (!ends_in(suffix)) continue;
      if (!is_in_r1(suffix) || (suffix == "ogi" && before(suffix) != 'l')) return;
      if (suffix == "li" && !is_among(before(suffix), "cdeghkmnrt")) return;
      return replace(suffix, ending);
    }
  }

  void step_3() {
    for (const auto& [suffix, ending] : STEP_3) {
      if (!ends_in(suffix)) continue;
      if (!is_in_r1(suffix) || (suffix == "ative" && !is_in_r2(suffix))) return;
      return replace(suffix, ending);
    }
  }

  void step_4() {
    for (const std::string_view suffix : STEP_4) {
      if (!ends_in(suffix)) continue;
      if (!is_in_r2(suffix) || (suffix == "ion" && !is_among(before(suffix), "st"))) return;
      return replace(suffix, "");
    }
  }

  void step_5() {
    const size_t rest = word_.empty() ? 0 : word_.size() - 1;
    if (ends_in("e") && (is_in_r2("e") || (is_in_r1("e") && !ends_in_short_syllable(rest)))) return word_.pop_back();
    if (ends_in("ll") && is_in_r2("l")) word_.pop_back();
  }

  std::string word_;
  size_t r1_ = 0, r2_ = 0;
};

}  // namespace

std::string stem_english(std::string_view word) {
  std::string letters, other;  // the ASCII form and the UTF-8 of its other characters
  std::vector<size_t> ends;    // of each of these in `other`
  while (!word.empty()) {
    const Character first = first_character(word);
    letters.push_back(first.code < 0x80 ? static_cast<char>(first.code) : OTHER);
    if (first.code >= 0x80) {
      append_encoded(first.code, other);
      ends.push_back(other.size());
    }
    word.remove_prefix(first.size);
  }
  const std::string stem = Stemming(std::move(letters)).stem();
  if (ends.empty()) return stem;
  std::string out;  // the rules add and remove ASCII alone, so the other characters are still all there
  size_t next = 0;
  for (const char letter : stem) {
    if (letter != OTHER) {
      out.push_back(letter);
      continue;
    }
    const size_t start = next ? ends[next - 1] : 0;
    out.append(other, start, ends[next] - start);
    ++next;
  }
  return out;
}

}  // namespace ck

struct ck_stems {
  std::vector<std::string> stems;
};

extern "C" {

ck_status ck_stems_new(const ck_string* words, int64_t size, ck_stems** out) {
  return ck::guarded([&] {
    auto stems = std::make_unique<ck_stems>();
    stems->stems.reserve(static_cast<size_t>(size));
    for (const ck_string& word : std::span(words, static_cast<size_t>(size))) stems->stems.push_back(ck::stem_english(ck::view(word)));
    *out = stems.release();
  });
}

ck_string ck_stems_get(const ck_stems* stems, int64_t k) {
  const std::string& stem = stems->stems[static_cast<size_t>(k)];
  return {stem.data(), static_cast<int64_t>(stem.size())};
}

void ck_stems_free(ck_stems* stems) { delete stems; }

}  // extern "C"
