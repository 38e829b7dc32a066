#include "ptb_matcher.hpp"

#include <algorithm>
#include <bit>

#include "ptb_emit.hpp"

namespace ck {

namespace {

using namespace emit;

// A set of characters: bits for ASCII, ranges for the rest.
struct Set {
  uint64_t ascii[2];
  uint16_t first_range, n_ranges;
};

struct Rule {
  uint16_t address;  // of its program in CODE
  uint8_t need;      // a match has a character of this set
  void (*emit)(Text, Token&, std::string_view);
  std::string_view literal;
};

// Characters from `first` to the next entry: the needed sets that have them, and the rules that can begin with them.
struct Start {
  char32_t first;
  uint32_t needs;
  uint64_t rules[2];
};

#include "ptb_rules.inc"

constexpr uint16_t NO_LIMIT = 0xFFFF;
constexpr size_t MOST_RETRIES_KEPT = 1 << 16;

bool has(uint16_t set, char32_t c) {
  const Set& s = SETS[set];
  if (c < 0x80) return s.ascii[c >> 6] >> (c & 63) & 1;
  return contains({RANGES + s.first_range, s.n_ranges}, c);
}

const Start& start_of(char32_t c) {
  if (c < 0x80) return STARTS[c];
  return *(std::upper_bound(std::begin(OTHER_STARTS), std::end(OTHER_STARTS), c,
                            [](char32_t code, const Start& start) { return code < start.first; }) - 1);
}

}  // namespace

void PtbMatcher::set_text(std::u32string_view text) {
  text_ = text;
  if (retries_.capacity() > MOST_RETRIES_KEPT) std::vector<Retry>().swap(retries_);  // after a text of one endless word
  std::fill(needed_before_.begin(), needed_before_.end(), 0);
  needed_before_[0] = text.size();  // set 0 has all characters
  for (size_t k = 0; k < text.size(); ++k) {
    for (uint32_t needs = start_of(text[k]).needs & ~1u; needs; needs &= needs - 1) needed_before_[std::countr_zero(needs)] = k + 1;
  }
}

size_t PtbMatcher::read_token(size_t position, std::u32string& token) {
  const Rule* winner = nullptr;
  size_t longest = 0, token_end = position + 1;
  const Start& start = start_of(text_[position]);
  for (size_t half = 0; half < 2; ++half) {
    for (uint64_t rules = start.rules[half]; rules; rules &= rules - 1) {
      const Rule& rule = RULES[64 * half + static_cast<size_t>(std::countr_zero(rules))];
      if (needed_before_[rule.need] <= position || !match(rule.address, position)) continue;
      if (end_ > longest) longest = end_, token_end = token_end_, winner = &rule;  // the earlier rule wins a tie
    }
  }
  token.clear();
  if (winner) winner->emit(text_.substr(position, token_end - position), token, winner->literal);
  make_lower(token);
  return token_end;
}

// Runs the program of a rule. An instruction that fails sends the program back to its last choice.
bool PtbMatcher::match(uint16_t address, size_t start) {
  retries_.clear();
  const uint16_t* code = CODE + address;
  size_t at = start;
  for (;;) {
    const bool more = at < text_.size();
    bool fits = true;
    switch (code[0]) {
      case CHARACTER:
        fits = more && text_[at] == code[1];
        ++at, code += 2;
        break;
      case SET:
        fits = more && has(code[1], text_[at]);
        ++at, code += 2;
        break;
      case RUN:
      case WHOLE_RUN: {
        const size_t end = run_end(code[1], at, code[3] == NO_LIMIT ? SIZE_MAX : code[3]);
        const size_t lowest = at + code[2];
        fits = end >= lowest;
        const bool may_be_shorter = code[0] == RUN;
        code += 4;
        if (may_be_shorter && end > lowest) retries_.push_back({static_cast<uint16_t>(code - CODE), end - 1, lowest});
        at = end;
        break;
      }
      case TRY:
        if (more && has(code[1], text_[at])) {
          retries_.push_back({code[2], at, at});
          code += 3;
        } else {
          code = CODE + code[2];
        }
        break;
      case UNLESS:
        code = more && has(code[1], text_[at]) ? code + 3 : CODE + code[2];
        break;
      case PUSH:
        retries_.push_back({code[1], at, at});
        code += 2;
        break;
      case JUMP:
        code = CODE + code[1];
        break;
      case LOOK:
        fits = more && has(code[1], text_[at]);
        code += 2;
        break;
      case TOKEN_END:
        token_end_ = at;
        ++code;
        break;
      case MATCH:
        end_ = at;
        return true;
    }
    if (!fits && !step_back(code, at)) return false;
  }
}

bool PtbMatcher::step_back(const uint16_t*& code, size_t& at) {
  if (retries_.empty()) return false;
  Retry& last = retries_.back();
  code = CODE + last.address;
  at = last.at;
  if (last.at > last.lowest) --last.at;
  else retries_.pop_back();
  return true;
}

size_t PtbMatcher::run_end(uint16_t set, size_t at, size_t most) const {
  const size_t limit = most < text_.size() - at ? at + most : text_.size();
  while (at < limit && has(set, text_[at])) ++at;
  return at;
}

}  // namespace ck
