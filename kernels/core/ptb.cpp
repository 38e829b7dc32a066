#include "ptb.hpp"

#include <algorithm>

#include "ck_text.h"
#include "utf8.hpp"

namespace ck {

namespace {

#include "ptb_words.inc"

constexpr int64_t MOST_PIECES = 1 << 18;     // size at which a memo is cleared
constexpr size_t LONGEST_REMEMBERED = 64;    // bytes of a piece; longer ones hardly come twice
constexpr std::string_view NEXT_LINE = "\nz";  // text after a caption: a line in lower case

// Bytes that call for a closer look at a caption before it is split at blanks.
enum Kind : uint8_t { LINE_BREAK = 1, NOT_ASCII = 2, ACROSS = 4, STOP = 8 };

struct Kinds {
  uint8_t of[256] = {};
  constexpr Kinds() {
    for (unsigned char c : {'\n', '\r', '\v', '\f'}) of[c] = LINE_BREAK;
    for (int c = 0x80; c < 0x100; ++c) of[c] = NOT_ASCII;
    for (int c = '0'; c <= '9'; ++c) of[c] = ACROSS;
    of[static_cast<int>('<')] = of[static_cast<int>('\t')] = ACROSS;
    of[static_cast<int>('.')] = STOP;
  }
};
constexpr Kinds KINDS;

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

bool is_word(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_letter); }

bool is_mark(char c) { return std::string_view(".,;:!?").find(c) != std::string_view::npos; }

bool is_digit(char32_t c) { return c < 0x80 ? c >= '0' && c <= '9' : contains(DECIMAL_DIGITS, c); }

template <size_t Size>
bool is_one_of(const std::string_view (&words)[Size], std::string_view text) {
  return std::find(words, words + Size, text) != words + Size;
}

uint8_t kinds_of(std::string_view text) {
  uint8_t kinds = 0;
  for (char c : text) kinds |= KINDS.of[static_cast<unsigned char>(c)];
  return kinds;
}

// Blanks for the characters that end a line for the Java program.
void replace_line_breaks(std::string_view caption, std::string& line) {
  line.clear();
  for (size_t k = 0; k < caption.size(); ++k) {
    const bool is_separator = caption.substr(k, 3) == "\u2028" || caption.substr(k, 3) == "\u2029";
    const bool is_break = is_separator || KINDS.of[static_cast<unsigned char>(caption[k])] == LINE_BREAK;
    line.push_back(is_break ? ' ' : caption[k]);
    if (is_separator) k += 2;
  }
}

// Whether a construct may extend across a blank: mark-up, spaced dots, numbers of two words, white space inside a token.
bool may_extend_across_blanks(std::string_view text) {
  char32_t last = 0, before = 0;
  while (!text.empty()) {
    const Character character = first_character(text);
    const char32_t c = character.code;
    if (c == '<' || c == '\t' || c == 0xA0 || (c >= 0x2000 && c <= 0x200A) || c == 0x3000) return true;
    if (last == ' ' && before == '.' && (c == ' ' || c == '.')) return true;
    if (last == ' ' && (before == ')' || is_digit(before)) && is_digit(c)) return true;
    before = last;
    last = c;
    text.remove_prefix(character.size);
  }
  return false;
}

}  // namespace

void PtbTokenizer::append_tokens(std::string_view caption, Memo& memo, std::vector<Id>& out) {
  if (caption.empty()) return;
  // A full stop at the end precedes no blank.
  const uint8_t kinds = kinds_of(caption.substr(0, caption.size() - 1)) | (kinds_of(caption.substr(caption.size() - 1)) & ~STOP);
  std::string_view text = caption;
  if (kinds & (LINE_BREAK | NOT_ASCII)) {
    replace_line_breaks(caption, line_);
    text = line_;
  }
  if (kinds && may_extend_across_blanks(text)) {
    found_.clear();
    scan(text, NEXT_LINE, memo.has_punctuation);
    out.insert(out.end(), found_.begin(), found_.end());
    return;
  }
  for (size_t first = 0; first < text.size();) {
    const size_t blank = std::min(text.find(' ', first), text.size());
    const std::string_view piece = text.substr(first, blank - first);
    size_t end_of_key = blank;
    // The full stop may belong to an abbreviation, depending on the next word.
    if (!piece.empty() && piece.back() == '.' && blank < text.size() && may_abbreviate(piece)) {
      end_of_key = std::min(text.find(' ', blank + 1), text.size());
    }
    if (!piece.empty()) append_piece(piece, text.substr(first, end_of_key - first), memo, out);
    first = blank + 1;
  }
}

// Appends the words of a piece. `key` is the piece, or the piece, a blank and the next piece.
void PtbTokenizer::append_piece(std::string_view piece, std::string_view key, Memo& memo, std::vector<Id>& out) {
  const Id known = memo.pieces.find(key);
  if (known >= 0) {
    const auto [first, size] = memo.places[static_cast<size_t>(known)];
    for (size_t k = first; k < first + size; ++k) out.push_back(memo.words[k]);
    return;
  }
  read_piece(piece, key.substr(piece.size()), memo.has_punctuation);
  out.insert(out.end(), found_.begin(), found_.end());
  if (key.size() > LONGEST_REMEMBERED) return;
  if (memo.pieces.size() >= MOST_PIECES) memo = Memo{memo.has_punctuation, {}, {}, {}};
  // The key comes last, so that a failed allocation leaves no key without words.
  if (memo.places.size() == memo.places.capacity()) memo.places.reserve(2 * memo.places.size() + 16);
  const size_t first = memo.words.size();
  memo.words.insert(memo.words.end(), found_.begin(), found_.end());
  memo.pieces.intern(key);
  memo.places.emplace_back(first, found_.size());
}

// Reads the words of a piece. `next` is empty or the blank and the piece behind it, where they can change its tokens.
void PtbTokenizer::read_piece(std::string_view piece, std::string_view next, bool punctuation) {
  found_.clear();
  if (read_plain_piece(piece, punctuation)) return;
  scan(piece, next.empty() ? std::string(NEXT_LINE) : std::string(next) + " ", punctuation);
}

// Reads a piece of ASCII letters with at most one mark behind them, for which the rules have no surprise.
bool PtbTokenizer::read_plain_piece(std::string_view piece, bool punctuation) {
  const bool marked = is_mark(piece.back());
  const std::string_view word = piece.substr(0, piece.size() - marked);
  if (!is_word(word) || (piece.back() == '.' && may_abbreviate(piece))) return false;
  lower_.clear();
  for (char c : word) lower_.push_back(static_cast<char>(c | 0x20));
  if (is_one_of(SPLIT_WORDS, lower_)) return false;
  take(lower_, punctuation);
  if (marked) take(piece.substr(piece.size() - 1), punctuation);
  return true;
}

// Reads the words of a text, followed by `after`, by the rules.
void PtbTokenizer::scan(std::string_view text, std::string_view after, bool punctuation) {
  text_.clear();
  append_decoded(text, text_);
  const size_t length = text_.size();
  append_decoded(after, text_);
  matcher_.set_text(text_);
  for (size_t position = 0; position < length;) {
    position = matcher_.read_token(position, token_);
    if (token_.empty()) continue;
    lower_.clear();
    for (char32_t c : token_) append_encoded(c, lower_);
    take(lower_, punctuation);
  }
}

void PtbTokenizer::take(std::string_view token, bool punctuation) {
  if (punctuation || !is_one_of(PUNCTUATION, token)) found_.push_back(words_.intern(token));
}

// Whether the text behind the full stop of a piece can change its tokens; false for plain words.
bool PtbTokenizer::may_abbreviate(std::string_view piece) {
  const std::string_view word = piece.substr(0, piece.size() - 1);
  if (!is_word(word)) return true;
  text_.assign(word.begin(), word.end());
  matcher_.set_text(text_);
  return matcher_.is_abbreviation();
}

}  // namespace ck

struct ck_tokenizer {
  ck::Vocabulary words;
  ck::PtbTokenizer tokenizer{words};
  std::vector<ck::Id> ids;
  std::vector<int64_t> bounds;
};

namespace {

using Append = void (ck::PtbTokenizer::*)(std::string_view, std::vector<ck::Id>&);

ck_status tokenize(ck_tokenizer* handle, const ck_string* texts, int64_t n_texts, Append append, ck_tokens* out) {
  return ck::guarded([&] {
    if (n_texts < 0) ck::fail(CK_BAD_ARGUMENT);
    handle->ids.clear();
    handle->bounds.assign(1, 0);
    handle->bounds.reserve(static_cast<size_t>(n_texts) + 1);
    for (int64_t k = 0; k < n_texts; ++k) {
      if (texts[k].size < 0) ck::fail(CK_BAD_ARGUMENT);
      (handle->tokenizer.*append)(ck::view(texts[k]), handle->ids);
      handle->bounds.push_back(static_cast<int64_t>(handle->ids.size()));
    }
    *out = {handle->ids.data(), handle->bounds.data(), n_texts};
  });
}

}  // namespace

extern "C" {

ck_status ck_tokenizer_new(ck_tokenizer** out) {
  return ck::guarded([&] { *out = new ck_tokenizer; });
}

void ck_tokenizer_free(ck_tokenizer* tokenizer) { delete tokenizer; }

ck_status ck_tokenizer_tokenize(ck_tokenizer* tokenizer, const ck_string* texts, int64_t n_texts, ck_tokens* out) {
  return tokenize(tokenizer, texts, n_texts, &ck::PtbTokenizer::append, out);
}

ck_status ck_tokenizer_tokenize_raw(ck_tokenizer* tokenizer, const ck_string* texts, int64_t n_texts, ck_tokens* out) {
  return tokenize(tokenizer, texts, n_texts, &ck::PtbTokenizer::append_raw, out);
}

int64_t ck_tokenizer_n_words(const ck_tokenizer* tokenizer) { return tokenizer->words.size(); }

ck_status ck_tokenizer_word(const ck_tokenizer* tokenizer, int64_t id, ck_string* out) {
  return ck::guarded([&] {
    if (id < 0 || id >= tokenizer->words.size()) ck::fail(CK_OUT_OF_RANGE);
    const std::string_view word = tokenizer->words[static_cast<ck::Id>(id)];
    *out = {word.data(), static_cast<int64_t>(word.size())};
  });
}

}  // extern "C"
