#include "texts.hpp"

#include <fstream>
#include <iterator>

namespace driver {

namespace {

const char* const WORDS[] = {
    "a", "the", "A", "dog", "dogs", "running", "runs", "quickly", "cat", "mat", "on", "of", "beside", "next to", "in front of", "red",
    "generously", "skies", "dying", "communism", "y", "'", "cannot", "gonna", "I'm", "they've", "O'Neill", "ma'am", "dog's", "dogs'",
    "12", "3 1/2", "1,000.50", "3-D", "5th", "½", "90's", "1990s", "$5.99", "US$", "€3", "50%", "10:30", "1/2/2003", "555-1234",
    "(555) 123-4567", "U.S.", "Mr.", "etc.", "Ave S.", "St.", "a.m.", "Fig. 2", "e.g.", "www.example.com", "http://a.b/c?d=e",
    "me@example.com", "#tag", "@name", ":-)", ";)", "<b>", "</p>", "<!-- x -->", "&amp;", "&lt;", "&quot;", "&nbsp;", "...", ". . .", "--",
    "\xE2\x80\x94", "\xE2\x80\x93", "\xE2\x80\x99s", "\xE2\x80\x9Cquoted\xE2\x80\x9D", "``", "''", "\"", "(", ")", "[", "]", "{", "}",
    "well-dressed", "pre-1990", "and/or", "co\xC2\xADop", "\xC2\xA0", "\xE2\x80\x83", "caf\xC3\xA9", "\xC3\x89", "\xE6\x9D\xB1\xE4\xBA\xAC",
    "\xF0\x9F\x90\x95", "\xE2\x80\x8D", "\xED\xA0\x80", "\xED\xB0\x80", "\xEF\xBF\xBD", "\xFF", "\xC0\x80", "\xE2\x82", "\xC4\xB0",
    "\n", "\r\n", "\t", "\v", "\x1C", "\x85", "\xE2\x80\xA8", "!", "?", ",", ";", ":", ".", "-", "_", "*", "=", "+", "~", "|||", "\\", "/",
};
constexpr int64_t N_WORDS = sizeof(WORDS) / sizeof(WORDS[0]);
constexpr int64_t LONGEST = 3000;

std::string random_bytes(Random& random) {
  std::string text;
  for (int64_t k = random.below(40); k > 0; --k) text.push_back(static_cast<char>(random.below(256)));
  return text;
}

std::string repeated(Random& random) {
  std::string unit = WORDS[random.below(N_WORDS)], text;
  if (random.below(2)) unit += ' ';
  for (int64_t k = random.below(LONGEST); k > 0; --k) text += unit;
  return text;
}

std::string caption(Random& random) {
  std::string text;
  for (int64_t k = random.below(14); k > 0; --k) {
    text += WORDS[random.below(N_WORDS)];
    if (random.below(8)) text += ' ';
    if (random.below(60) == 0) text.push_back('\0');
  }
  return text;
}

}  // namespace

std::string make_text(Random& random) {
  switch (random.below(200)) {
    case 0:
      return repeated(random);
    case 1:
    case 2:
    case 3:
      return random_bytes(random);
    default:
      return caption(random);
  }
}

std::vector<std::string> read_texts(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::string whole{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::vector<std::string> texts;
  for (size_t start = 0; start < whole.size();) {
    const size_t end = std::min(whole.find('\n', start), whole.size());
    texts.push_back(whole.substr(start, end - start));
    start = end + 1;
  }
  if (whole.size() < 1 << 20) texts.push_back(whole);
  return texts;
}

}  // namespace driver
