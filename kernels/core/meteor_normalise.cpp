// The order of the steps, and in each step the replacement from left to right without overlaps, are those of meteor-1.5.jar: a character
// that one replacement consumes is not part of the next match. After Denkowski & Lavie (2014), "Meteor Universal", and the behaviour of
// the jar; caption_kernels_reference/meteor/normaliser.py has the regular expressions.
#include "meteor_normalise.hpp"

#include <algorithm>

#include "code_points.hpp"
#include "strings.hpp"

namespace ck {
namespace {

constexpr std::u32string_view DOT = U"DOT", PLACEHOLDER = U"DOTMULTI";  // the jar's marks for runs of dots
constexpr Range LETTERS[] = {{'A', 'Z'},       {'a', 'z'},         {0xC0, 0xD6},     {0xD8, 0xF6},    {0xF8, 0x17E},
                             {0x400, 0x527},   {0x1D00, 0x1D7F},   {0xA640, 0xA66E}, {0xA67E, 0xA697}};
constexpr Range WIDE_BLANKS[] = {{' ', ' '}, {0xA0, 0xA0}, {0x2000, 0x200A}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}};

bool is_digit(char32_t c) { return c >= '0' && c <= '9'; }
bool is_letter(char32_t c) { return c < 0x80 ? (c | 32) >= 'a' && (c | 32) <= 'z' : contains(LETTERS, c); }
bool is_among(char32_t c, std::u32string_view marks) { return marks.find(c) != std::u32string_view::npos; }
bool is_control_or_blank(char32_t c) { return c <= ' '; }
bool separates_words(char32_t c) { return is_among(c, U" \t\n\r\f"); }
bool has(const std::u32string& text, std::u32string_view part) { return text.find(part) != std::u32string::npos; }

bool is_plain_text(std::string_view text) {
  const auto is_plain = [](unsigned char c) { return c == ' ' || (c < 0x80 && (is_digit(c) || is_letter(c))); };
  return std::all_of(text.begin(), text.end(), is_plain) && text.find("DOTMULTI") == std::string_view::npos;
}

void strip(std::u32string& text) {
  text.erase(std::find_if_not(text.rbegin(), text.rend(), is_control_or_blank).base(), text.end());
  text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), is_control_or_blank));
}

void replace_all(std::u32string& text, std::u32string_view from, std::u32string_view to) {
  size_t match = text.find(from);
  if (match == std::u32string::npos) return;
  std::u32string out;
  size_t done = 0;
  for (; match != std::u32string::npos; match = text.find(from, done)) {
    out.append(text, done, match - done).append(to);
    done = match + from.size();
  }
  text = out.append(text, done);
}

// Replaces `mark` by `middle` between a character of one kind and a character of another.
void replace_between(std::u32string& text, auto&& before, char32_t mark, auto&& after, std::u32string_view middle) {
  std::u32string out;
  out.reserve(text.size() + 16);
  for (size_t k = 0; k < text.size(); ++k) {
    out.push_back(text[k]);
    if (k + 2 >= text.size() || text[k + 1] != mark || !before(text[k]) || !after(text[k + 2])) continue;
    out.append(middle).push_back(text[k + 2]);
    k += 2;
  }
  text.swap(out);
}

void separate_marks(std::u32string& text) {
  std::u32string out;
  out.reserve(text.size() + 16);
  for (const char32_t c : text) {
    if (is_digit(c) || is_letter(c) || is_among(c, U" \t\n\v\f\r.'`,-\u2018\u2019")) {
      out.push_back(c);
    } else {
      out.append({U' ', c, U' '});
    }
  }
  text.swap(out);
}

bool stands_at(const std::u32string& text, size_t place, std::u32string_view part) {
  return text.compare(place, part.size(), part) == 0;
}

// Hides runs of dots from the rules for full stops: n dots become n - 1 times DOT and the placeholder, between blanks.
//
// The jar gets there by repeated replacement, which also turns a placeholder of the text itself with a single dot after it into DOT, the
// placeholder and a blank; without the blank where its first letter was consumed by such a replacement directly before it.
void hide_runs_of_dots(std::u32string& text) {
  if (!has(text, U"..") && !has(text, U"DOTMULTI.")) return;
  std::u32string out;
  size_t consumed = 0;  // the place that the last replacement of a single dot consumed; 0 for none
  for (size_t k = 0; k < text.size();) {
    const size_t start = stands_at(text, k, PLACEHOLDER) ? k + PLACEHOLDER.size() : k;
    const size_t end = std::min(text.find_first_not_of(U'.', start), text.size()), dots = end - start;
    if (start == k && dots > 1) {
      out.push_back(' ');
      for (size_t dot = 1; dot < dots; ++dot) out.append(DOT);
      out.append(PLACEHOLDER).push_back(' ');
      consumed = dots == 2 ? end : 0;
      k = end;
    } else if (start > k && dots == 1) {
      out.append(DOT).append(PLACEHOLDER);
      if (consumed != k) out.push_back(' ');
      consumed = consumed == k ? 0 : end;
      k = end;
    } else {
      out.push_back(text[k++]);
    }
  }
  text.swap(out);
}

// Turns the marks back: n - 1 times DOT and the placeholder become n dots.
void restore_runs_of_dots(std::u32string& text) {
  if (!has(text, PLACEHOLDER)) return;
  std::u32string out;
  for (size_t k = 0; k < text.size();) {
    size_t end = k;
    while (stands_at(text, end, DOT)) end += DOT.size();
    if (end == k) {
      out.push_back(text[k++]);
    } else if (stands_at(text, end, U"MULTI")) {
      out.append((end - k) / DOT.size(), '.');
      k = end + PLACEHOLDER.size() - DOT.size();
    } else {
      out.append(text, k, end - k);
      k = end;
    }
  }
  text.swap(out);
}

// Puts blanks around punctuation marks, commas, quotes, dashes and apostrophes.
void separate(std::u32string& text) {
  const auto any = [](auto... kinds) { return [=](char32_t c) { return (kinds(c) || ...); }; };
  const auto none = [](auto... kinds) { return [=](char32_t c) { return !(kinds(c) || ...); }; };
  const auto is_dot = [](char32_t c) { return c == '.'; };
  const auto is_s = [](char32_t c) { return c == 's'; };
  strip(text);
  text.insert(text.begin(), ' ');
  text.push_back(' ');
  separate_marks(text);
  hide_runs_of_dots(text);
  if (has(text, U",")) {
    replace_between(text, none(is_digit), ',', none(is_digit), U" , ");
    replace_between(text, is_digit, ',', none(is_digit), U" , ");
    replace_between(text, none(is_digit), ',', is_digit, U" , ");
  }
  for (const std::u32string_view mark : {U"`", U"\u2018", U"\u2019"}) replace_all(text, mark, U"'");
  for (const std::u32string_view mark : {U"\u201C", U"\u201D", U"''"}) replace_all(text, mark, U" \" ");
  replace_all(text, U"\u2013", U"-");
  replace_all(text, U"--", U"-");
  if (has(text, U"-")) replace_between(text, any(is_digit, is_letter, is_dot), '-', any(is_digit, is_letter, is_dot), U" ");
  if (has(text, U"'")) {
    replace_between(text, none(is_letter), '\'', none(is_letter), U" ' ");
    replace_between(text, none(is_letter, is_digit), '\'', is_letter, U" ' ");
    replace_between(text, is_letter, '\'', none(is_letter), U" ' ");
    replace_between(text, is_letter, '\'', is_letter, U" '");
    replace_between(text, is_digit, '\'', is_s, U" '");
  }
}

// Calls visit(word) for each word.
void for_each_word(std::u32string_view text, auto&& visit) {
  for (size_t first = 0, k = 0; k <= text.size(); ++k) {
    if (k < text.size() && !separates_words(text[k])) continue;
    if (k > first) visit(text.substr(first, k - first));
    first = k + 1;
  }
}

// Appends a word that ends in a dot: with the dot split off, without dots (an acronym) or unchanged (a prefix).
void append_without_full_stop(std::u32string_view word, char32_t following, const MeteorLexicon& lexicon, std::u32string& out) {
  const std::u32string_view rest = word.substr(0, word.size() - 1);
  if (is_among('.', rest) && std::any_of(rest.begin(), rest.end(), is_letter)) {
    std::copy_if(word.begin(), word.end(), std::back_inserter(out), [](char32_t c) { return c != '.'; });
    return;
  }
  const int kind = lexicon.prefix_kind(encoded(rest));
  const bool keeps_dot = kind == 1 || (following >= 'a' && following <= 'z') || (kind == 2 && is_digit(following));
  out.append(keeps_dot ? word : rest);
  if (!keeps_dot) out.append(U" .");
}

// Splits full stops from the words before them; dots of abbreviations stay.
void split_full_stops(std::u32string& text, const MeteorLexicon& lexicon) {
  std::vector<std::u32string_view> words;
  for_each_word(text, [&](std::u32string_view word) { words.push_back(word); });
  std::u32string out;
  out.reserve(text.size() + 16);
  for (size_t k = 0; k < words.size(); ++k) {
    if (k > 0) out.push_back(' ');
    if (words[k].size() > 1 && words[k].back() == '.') {
      append_without_full_stop(words[k], k + 1 < words.size() ? words[k + 1][0] : U'\0', lexicon, out);
    } else {
      out.append(words[k]);
    }
  }
  restore_runs_of_dots(out);
  std::replace_if(out.begin(), out.end(), [](char32_t c) { return contains(WIDE_BLANKS, c); }, U' ');
  strip(out);
  text.swap(out);
}

}  // namespace

std::vector<std::string> normalise(std::string_view text, const MeteorLexicon& lexicon) {
  std::u32string wide = decoded(text);
  if (!is_plain_text(text)) {
    std::ranges::replace_if(wide, [](char32_t c) { return c >= 0xD800 && c < 0xE000; }, U'\uFFFD');
    separate(wide);
    split_full_stops(wide, lexicon);
  }
  make_lower(wide);
  std::vector<std::string> words;
  for_each_word(wide, [&](std::u32string_view word) { words.push_back(encoded(word)); });
  return words;
}

bool is_plain_word(std::string_view word) { return !word.empty() && word.find(' ') == std::string_view::npos && is_plain_text(word); }

uint32_t java_hash(std::string_view word) {
  uint32_t hash = 0;
  for_each_character(word, [&](char32_t code) {
    if (code > 0xFFFF) {
      hash = hash * 31 + (0xD7C0 + (code >> 10));
      code = 0xDC00 | (code & 0x3FF);
    }
    hash = hash * 31 + code;
  });
  return hash;
}

}  // namespace ck

ck_status ck_normalise(const ck_lexicon* lexicon, const ck_string* texts, int64_t n, ck_strings** out) {
  return ck::give_strings(out, [&](ck_strings& lines) {
    for (const ck_string& text : ck::items(texts, n)) {
      std::string line;
      for (const std::string& word : ck::normalise(ck::view(text), *lexicon)) line.append(line.empty() ? "" : " ").append(word);
      lines.add(line);
    }
  });
}
