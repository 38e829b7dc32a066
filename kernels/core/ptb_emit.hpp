// What becomes of the text of a token; each function is that of caption_kernels_reference/ptb/rules.py.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace ck::emit {

using Text = std::u32string_view;
using Token = std::u32string;

// Whether the text begins with lower-case ASCII letters or signs, in any case.
inline bool begins_with(Text text, std::string_view ascii, bool ignore_case) {
  if (text.size() < ascii.size()) return false;
  for (size_t k = 0; k < ascii.size(); ++k) {
    const bool is_capital = text[k] >= 'A' && text[k] <= 'Z';
    if ((is_capital && ignore_case ? text[k] + 32 : text[k]) != static_cast<char32_t>(ascii[k])) return false;
  }
  return true;
}

inline void append(Token& token, std::string_view ascii) { token.append(ascii.begin(), ascii.end()); }

struct Replacement {
  char32_t from;
  std::string_view to;
};

// Appends the replacement of a character, or the character.
template <size_t Size>
void append_replaced(Token& token, char32_t c, const Replacement (&table)[Size]) {
  const auto found = std::ranges::find(table, c, &Replacement::from);
  found == std::end(table) ? token.push_back(c) : append(token, found->to);
}

inline void plain(Text text, Token& token, std::string_view) { token = text; }

inline void drop(Text, Token&, std::string_view) {}

inline void literal(Text, Token& token, std::string_view value) { append(token, value); }

inline void no_soft_hyphens(Text text, Token& token, std::string_view) {
  for (char32_t c : text) {
    if (c != 0xAD) token.push_back(c);
  }
  if (token.empty()) token.push_back('-');
}

inline void blanks_bound(Text text, Token& token, std::string_view) {
  for (char32_t c : text) token.push_back(c == ' ' ? 0xA0 : c);
}

inline void brackets(Text text, Token& token, std::string_view) {
  constexpr Replacement BRACKETS[] = {{'(', "-LRB-"}, {')', "-RRB-"}};
  for (char32_t c : text) append_replaced(token, c, BRACKETS);
}

inline void phone(Text text, Token& token, std::string_view) {
  Token bound;
  blanks_bound(text, bound, {});
  brackets(bound, token, {});
}

inline void ampersand(Text text, Token& token, std::string_view) {
  while (!text.empty()) {
    const size_t entity = begins_with(text, "&amp;", true) ? 5 : 1;
    token.push_back(text[0]);
    text.remove_prefix(entity);
  }
}

inline void hyphens(Text text, Token& token, std::string_view) { token = text.size() == 3 || text.size() == 4 ? U"--" : text; }

inline void fraction(Text text, Token& token, std::string_view) {
  constexpr Replacement FRACTIONS[] = {{0xBC, "1/4"}, {0xBD, "1/2"}, {0xBE, "3/4"}, {0x2153, "1/3"}, {0x2154, "2/3"}};
  append_replaced(token, text[0], FRACTIONS);
}

inline void currency(Text text, Token& token, std::string_view) {
  constexpr Replacement CURRENCIES[] = {{0xA2, "cents"}, {0xA3, "#"}, {0x80, "$"}, {0xA4, "$"}, {0x20A0, "$"}, {0x20AC, "$"}};
  append_replaced(token, text[0], CURRENCIES);
}

// Straight quotes take the form that their place gives them, curved ones the form of their own shape.
inline void quotes(Text text, Token& token, std::string_view single, std::string_view twin) {
  constexpr Replacement CURVED[] = {{0x91, "`"},    {0x2018, "`"},  {0x201B, "`"},  {0x2039, "`"}, {0x92, "'"},
                                    {0x2019, "'"},  {0x203A, "'"},  {0x93, "``"},   {0x201C, "``"}, {0xAB, "``"},
                                    {0x94, "''"}, {0x201D, "''"}, {0xBB, "''"}};
  while (!text.empty()) {
    const bool is_apos = begins_with(text, "&apos;", false), is_quot = begins_with(text, "&quot;", false);
    if (is_apos || text[0] == '\'') append(token, single);
    else if (is_quot || text[0] == '"') append(token, twin);
    else append_replaced(token, text[0], CURVED);
    text.remove_prefix(is_apos || is_quot ? 6 : 1);
  }
}

inline void opening(Text text, Token& token, std::string_view) { quotes(text, token, "`", "``"); }

inline void closing(Text text, Token& token, std::string_view) { quotes(text, token, "'", "''"); }

inline void with_stop(Text text, Token& token, std::string_view) {
  token = text;
  token.push_back('.');
}

}  // namespace ck::emit
