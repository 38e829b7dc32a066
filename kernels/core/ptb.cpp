#include "ptb.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "strings.hpp"
#include "code_points.hpp"

namespace ck {

namespace {

#include "ptb_words.inc"

constexpr int64_t MOST_WORDS = 1 << 20;       // number of words at which a tokeniser forgets those that it met
constexpr int64_t MOST_PIECES = 1 << 18;     // size at which a memo is cleared
constexpr size_t LONGEST_REMEMBERED = 64;    // bytes of a piece; longer ones hardly come twice
constexpr std::string_view NEXT_LINE = "\nz";  // text after a caption: a line in lower case

// Bytes that call for a closer look at a caption before it is split at blanks.
enum Kind : uint8_t { LINE_BREAK = 1, NOT_ASCII = 2, ACROSS = 4, STOP = 8 };

constexpr auto KINDS = [] {
  std::array<uint8_t, 256> kinds{};
  std::fill(kinds.begin() + 0x80, kinds.end(), NOT_ASCII);
  for (const unsigned char c : {'\n', '\r', '\v', '\f'}) kinds[c] = LINE_BREAK;
  for (const unsigned char c : {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '<', '\t'}) kinds[c] = ACROSS;
  kinds['.'] = STOP;
  return kinds;
}();

bool is_digit(char32_t c) { return c < 0x80 ? c >= '0' && c <= '9' : contains(DECIMAL_DIGITS, c); }

uint8_t kinds_of(std::string_view text) {
  uint8_t kinds = 0;
  for (char c : text) kinds |= KINDS[static_cast<unsigned char>(c)];
  return kinds;
}

// Whether a construct may extend across a blank: mark-up, spaced dots, numbers of two words, white space inside a token.
bool may_extend_across_blanks(std::string_view text) {
  char32_t last = 0, before = 0;
  bool found = false;
  for_each_character(text, [&](char32_t c) {
    found = found || c == '<' || c == '\t' || c == 0xA0 || (c >= 0x2000 && c <= 0x200A) || c == 0x3000 ||
            (last == ' ' && before == '.' && (c == ' ' || c == '.')) ||
            (last == ' ' && (before == ')' || is_digit(before)) && is_digit(c));
    before = last;
    last = c;
  });
  return found;
}

// Blanks for the characters that end a line for the Java program.
std::string without_line_breaks(std::string_view caption) {
  std::string line;
  for (size_t k = 0; k < caption.size(); ++k) {
    const bool is_separator = caption.substr(k, 3) == "\u2028" || caption.substr(k, 3) == "\u2029";
    line.push_back(is_separator || KINDS[static_cast<unsigned char>(caption[k])] == LINE_BREAK ? ' ' : caption[k]);
    if (is_separator) k += 2;
  }
  return line;
}

}  // namespace

void PtbTokenizer::append(std::string_view caption, std::vector<Id>& out) {
  if (caption.empty()) return;
  // A full stop at the end precedes no blank.
  const uint8_t kinds = kinds_of(caption.substr(0, caption.size() - 1)) | (kinds_of(caption.substr(caption.size() - 1)) & ~STOP);
  std::string line;
  std::string_view text = caption;
  if (kinds & (LINE_BREAK | NOT_ASCII)) text = line = without_line_breaks(caption);
  if (kinds && may_extend_across_blanks(text)) return scan(text, NEXT_LINE, out);
  for (size_t first = 0; first < text.size();) {
    const size_t blank = std::min(text.find(' ', first), text.size());
    const std::string_view piece = text.substr(first, blank - first);
    size_t end_of_key = blank;
    // The full stop may belong to an abbreviation, depending on the next word.
    if (piece.ends_with('.') && blank < text.size()) end_of_key = std::min(text.find(' ', blank + 1), text.size());
    if (!piece.empty()) append_piece(piece, text.substr(first, end_of_key - first), out);
    first = blank + 1;
  }
}

// Appends the words of a piece. `key` is the piece, or the piece, a blank and the next piece.
void PtbTokenizer::append_piece(std::string_view piece, std::string_view key, std::vector<Id>& out) {
  if (const Id known = memo_.pieces.find(key); known >= 0) {
    const std::span<const Id> words = memo_.words[known];
    out.insert(out.end(), words.begin(), words.end());
    return;
  }
  const size_t first = out.size();
  const bool is_alone = key.size() == piece.size();
  scan(piece, is_alone ? std::string(NEXT_LINE) : std::string(key.substr(piece.size())) + " ", out);
  if (key.size() > LONGEST_REMEMBERED) return;
  if (memo_.pieces.size() >= MOST_PIECES) memo_ = {};
  // What a failed call left behind is dropped; the key comes last, so that it never lacks its words.
  memo_.words.truncate(memo_.pieces.size());
  for (const Id word : std::span(out).subspan(first)) memo_.words.add(word);
  memo_.words.end_run();
  memo_.pieces.intern(key);
}

// Appends the words of a text, followed by `after`, by the rules.
void PtbTokenizer::scan(std::string_view text, std::string_view after, std::vector<Id>& out) {
  const std::u32string characters = decoded(text), whole = characters + decoded(after);
  std::u32string token;
  matcher_.set_text(whole);
  for (size_t position = 0; position < characters.size();) {
    position = matcher_.read_token(position, token);
    if (token.empty()) continue;
    const std::string word = encoded(token);
    if (punctuation_ || std::ranges::find(PUNCTUATION, word) == std::end(PUNCTUATION)) out.push_back(words_.intern(word));
  }
}

}  // namespace ck

struct ck_tokenizer {
  // A tokeniser that keeps or removes punctuation, and its words.
  struct Mode {
    ck::Vocabulary words;
    ck::PtbTokenizer tokenizer;
    explicit Mode(bool punctuation) : tokenizer(words, punctuation) {}
  };
  std::unique_ptr<Mode> modes[2];
};

ck_status ck_tokenizer_new(ck_tokenizer** out) {
  return ck::guarded([&] { *out = new ck_tokenizer; });
}

void ck_tokenizer_free(ck_tokenizer* tokenizer) { delete tokenizer; }

ck_status ck_tokenize(ck_tokenizer* tokenizer, const ck_string* texts, int64_t n, int punctuation, ck_strings** out) {
  return ck::give_strings(out, [&](ck_strings& lines) {
    auto& mode = tokenizer->modes[punctuation != 0];
    std::vector<ck::Id> ids;
    for (const ck_string& text : ck::items(texts, n)) {
      if (!mode || mode->words.size() > ck::MOST_WORDS) mode = std::make_unique<ck_tokenizer::Mode>(punctuation != 0);
      ids.clear();
      mode->tokenizer.append(ck::view(text), ids);
      for (size_t k = 0; k < ids.size(); ++k) {
        if (k > 0) lines.bytes.push_back(punctuation ? '\n' : ' ');
        lines.bytes += mode->words[ids[k]];
      }
      lines.end_string();
    }
  });
}
