// What becomes of the text of a token; each function is that of caption_kernels/reference/ptb/rules.py.
#pragma once

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
  for (char32_t c : text) {
    if (c == '(') append(token, "-LRB-");
    else if (c == ')') append(token, "-RRB-");
    else token.push_back(c);
  }
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
  switch (text[0]) {
    case 0xBC: return append(token, "1/4");
    case 0xBD: return append(token, "1/2");
    case 0xBE: return append(token, "3/4");
    case 0x2153: return append(token, "1/3");
    case 0x2154: return append(token, "2/3");
    default: token = text;
  }
}

inline void currency(Text text, Token& token, std::string_view) {
  switch (text[0]) {
    case 0xA2: return append(token, "cents");
    case 0xA3: return append(token, "#");
    case 0x80: case 0xA4: case 0x20A0: case 0x20AC: return append(token, "$");
    default: token = text;
  }
}

// Straight quotes take the form that their place gives them, curved ones the form of their own shape.
inline void quotes(Text text, Token& token, std::string_view single, std::string_view twin) {
  while (!text.empty()) {
    const bool is_apos = begins_with(text, "&apos;", false), is_quot = begins_with(text, "&quot;", false);
    const char32_t c = text[0];
    if (is_apos || c == '\'') append(token, single);
    else if (is_quot || c == '"') append(token, twin);
    else if (c == 0x91 || c == 0x2018 || c == 0x201B || c == 0x2039) append(token, "`");
    else if (c == 0x92 || c == 0x2019 || c == 0x203A) append(token, "'");
    else if (c == 0x93 || c == 0x201C || c == 0xAB) append(token, "``");
    else if (c == 0x94 || c == 0x201D || c == 0xBB) append(token, "''");
    else token.push_back(c);
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
