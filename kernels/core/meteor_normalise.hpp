// Words of a raw text in METEOR 1.5 (`-l en -norm`), and Java's hash by which it compares words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "meteor_lexicon.hpp"

namespace ck {

// The lower-case words of a text; each punctuation mark is a word. An unpaired surrogate is read as U+FFFD.
std::vector<std::string> normalise(std::string_view text, const MeteorLexicon& lexicon);

// True when the rules only change a word to lower case, in any text of such words: ASCII letters and digits.
bool is_plain_word(std::string_view word);

// String.hashCode() of Java: a polynomial of the UTF-16 code units.
uint32_t java_hash(std::string_view word);

}  // namespace ck
