// The steps have the names of the algorithm's description: Porter, "The English (Porter2) stemming algorithm", snowballstem.org.
#include "stemmer.hpp"

#include <algorithm>

#include "span.hpp"
#include "strings.hpp"
#include "code_points.hpp"

namespace ck {
namespace {

using Text = std::u32string_view;

struct Replacement {
  Text from, to;
};

// Words that are not stemmed by the rules.
constexpr Replacement WHOLE_WORDS[] = {
    {U"skis", U"ski"},     {U"skies", U"sky"},    {U"dying", U"die"},     {U"lying", U"lie"},   {U"tying", U"tie"},
    {U"idly", U"idl"},     {U"gently", U"gentl"}, {U"ugly", U"ugli"},     {U"early", U"earli"}, {U"only", U"onli"},
    {U"singly", U"singl"}, {U"sky", U"sky"},      {U"news", U"news"},     {U"howe", U"howe"},   {U"atlas", U"atlas"},
    {U"bias", U"bias"},    {U"andes", U"andes"},  {U"cosmos", U"cosmos"}};
// Words that are complete after step 1a.
constexpr Text COMPLETE[] = {U"inning", U"outing", U"canning", U"herring", U"earring", U"proceed", U"exceed", U"succeed"};
// Beginnings after which region R1 starts.
constexpr Text BEGINNINGS[] = {U"gener", U"commun", U"arsen"};

// A suffix that is replaced where it lies in region R1 or R2, if one of some letters is before it.
struct Rule {
  Text suffix, ending;
  int region = 1;
  Text before = {};  // empty: any letter
};

// Suffixes, longer ones before those that they end in.
constexpr Rule STEP_2[] = {
    {U"ization", U"ize"}, {U"ational", U"ate"}, {U"fulness", U"ful"}, {U"ousness", U"ous"}, {U"iveness", U"ive"}, {U"tional", U"tion"},
    {U"biliti", U"ble"},  {U"lessli", U"less"}, {U"entli", U"ent"},   {U"ation", U"ate"},   {U"alism", U"al"},    {U"aliti", U"al"},
    {U"ousli", U"ous"},   {U"iviti", U"ive"},   {U"fulli", U"ful"},   {U"enci", U"ence"},   {U"anci", U"ance"},   {U"abli", U"able"},
    {U"izer", U"ize"},    {U"ator", U"ate"},    {U"alli", U"al"},     {U"bli", U"ble"},     {U"ogi", U"og", 1, U"l"},
    {U"li", U"", 1, U"cdeghkmnrt"}};
constexpr Rule STEP_3[] = {{U"ational", U"ate"}, {U"tional", U"tion"}, {U"alize", U"al"}, {U"icate", U"ic"}, {U"iciti", U"ic"},
                           {U"ative", U"", 2},   {U"ical", U"ic"},     {U"ness", U""},    {U"ful", U""}};
constexpr Rule STEP_4[] = {{U"ement", U"", 2}, {U"ance", U"", 2}, {U"ence", U"", 2}, {U"able", U"", 2}, {U"ible", U"", 2},
                           {U"ment", U"", 2},  {U"ant", U"", 2},  {U"ent", U"", 2},  {U"ism", U"", 2},  {U"ate", U"", 2},
                           {U"iti", U"", 2},   {U"ous", U"", 2},  {U"ive", U"", 2},  {U"ize", U"", 2},  {U"ion", U"", 2, U"st"},
                           {U"al", U"", 2},    {U"er", U"", 2},   {U"ic", U"", 2}};

bool is_among(char32_t letter, Text letters) { return letters.find(letter) != Text::npos; }

// A y that counts as a consonant is Y.
bool is_vowel(char32_t letter) { return is_among(letter, U"aeiouy"); }

// A word on its way to its stem.
class Stemming {
 public:
  explicit Stemming(std::u32string word) : word_(std::move(word)) {}

  std::u32string stem() {
    if (word_.size() < 3) return word_;
    for (const auto& [word, result] : WHOLE_WORDS)
      if (word_ == word) return std::u32string(result);
    if (word_[0] == '\'') word_.erase(0, 1);
    const bool has_consonant_y = mark_consonant_y();
    mark_regions();
    step_0();
    step_1a();
    if (std::ranges::find(COMPLETE, word_) == std::end(COMPLETE)) {
      step_1b();
      step_1c();
      replace_suffix(STEP_2);
      replace_suffix(STEP_3);
      replace_suffix(STEP_4);
      step_5();
    }
    if (has_consonant_y) std::ranges::replace(word_, U'Y', U'y');
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
    for (const Text beginning : BEGINNINGS)
      if (word_.starts_with(beginning)) r1_ = beginning.size();
    r2_ = after_vowel_and_consonant(r1_);
  }

  size_t after_vowel_and_consonant(size_t from) const {
    while (from < word_.size() && !is_vowel(word_[from])) ++from;
    while (from < word_.size() && is_vowel(word_[from])) ++from;
    return std::min(from + 1, word_.size());
  }

  bool ends_in(Text suffix) const { return word_.ends_with(suffix); }
  bool is_in_region(int region, Text suffix) const { return word_.size() >= (region == 1 ? r1_ : r2_) + suffix.size(); }
  char32_t before(Text suffix) const { return word_.size() > suffix.size() ? word_[word_.size() - suffix.size() - 1] : U'\0'; }
  void replace(Text suffix, Text ending) { word_.replace(word_.size() - suffix.size(), suffix.size(), ending); }

  // Whether one of the first `size` characters is a vowel.
  bool has_vowel(size_t size) const { return std::any_of(word_.begin(), word_.begin() + static_cast<std::ptrdiff_t>(size), is_vowel); }

  // Whether the first `size` characters end in a short syllable.
  bool ends_in_short_syllable(size_t size) const {
    if (size < 2 || is_vowel(word_[size - 1]) || !is_vowel(word_[size - 2])) return false;
    return size == 2 || (!is_among(word_[size - 1], U"wxY") && !is_vowel(word_[size - 3]));
  }

  // Applies the rule of the first suffix that the word has.
  void replace_suffix(std::span<const Rule> rules) {
    const auto rule = std::ranges::find_if(rules, [this](const Rule& candidate) { return ends_in(candidate.suffix); });
    if (rule == rules.end() || !is_in_region(rule->region, rule->suffix)) return;
    if (rule->before.empty() || is_among(before(rule->suffix), rule->before)) replace(rule->suffix, rule->ending);
  }

  void step_0() {
    for (const Text suffix : {U"'s'", U"'s", U"'"})
      if (ends_in(suffix)) return replace(suffix, U"");
  }

  void step_1a() {
    if (ends_in(U"sses")) return replace(U"es", U"");
    if (ends_in(U"ied") || ends_in(U"ies")) return word_.resize(word_.size() - (word_.size() >= 5 ? 2 : 1));
    if (ends_in(U"us") || ends_in(U"ss") || !ends_in(U"s")) return;
    if (word_.size() >= 2 && has_vowel(word_.size() - 2)) word_.pop_back();
  }

  void step_1b() {
    for (const Text suffix : {U"eedly", U"eed"})
      if (ends_in(suffix)) return is_in_region(1, suffix) ? replace(suffix, U"ee") : void();
    for (const Text suffix : {U"ingly", U"edly", U"ing", U"ed"})
      if (ends_in(suffix)) return has_vowel(word_.size() - suffix.size()) ? mend_without(suffix) : void();
  }

  // Removes a suffix of step 1b and restores the end of the word.
  void mend_without(Text suffix) {
    replace(suffix, U"");
    if (ends_in(U"at") || ends_in(U"bl") || ends_in(U"iz")) {
      word_.push_back('e');
    } else if (word_.size() >= 2 && word_[word_.size() - 2] == word_.back() && is_among(word_.back(), U"bdfgmnprt")) {
      word_.pop_back();
    } else if (word_.size() == r1_ && ends_in_short_syllable(word_.size())) {
      word_.push_back('e');
    }
  }

  void step_1c() {
    if ((ends_in(U"y") || ends_in(U"Y")) && word_.size() > 2 && !is_vowel(before(U"y"))) word_.back() = 'i';
  }

  void step_5() {
    if (ends_in(U"e") && (is_in_region(2, U"e") || (is_in_region(1, U"e") && !ends_in_short_syllable(word_.size() - 1))))
      return word_.pop_back();
    if (ends_in(U"ll") && is_in_region(2, U"l")) word_.pop_back();
  }

  std::u32string word_;
  size_t r1_ = 0, r2_ = 0;
};

}  // namespace

std::string stem_english(std::string_view word) { return encoded(Stemming(decoded(word)).stem()); }

}  // namespace ck

ck_status ck_stem(const ck_string* words, int64_t n, ck_strings** out) {
  return ck::give_strings(out, [&](ck_strings& stems) {
    for (const ck_string& word : ck::items(words, n)) stems.add(ck::stem_english(ck::view(word)));
  });
}
