// English Snowball stemmer (Porter2), version 2.
#pragma once

#include <string>
#include <string_view>

namespace ck {

// The stem of a lower-case word, both UTF-8.
std::string stem_english(std::string_view word);

}  // namespace ck
