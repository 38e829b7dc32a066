#include "meteor_lexicon.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "code_points.hpp"

namespace ck {
namespace {

struct Detachment {
  std::string_view suffix, ending;
};

// WordNet's rules of detachment (morphy; Fellbaum 1998) in the order in which they are tried: nouns, verbs, adjectives.
constexpr Detachment DETACHMENTS[] = {
    {"s", ""},  {"ses", "s"}, {"xes", "x"}, {"zes", "z"}, {"ches", "ch"}, {"shes", "sh"}, {"men", "man"}, {"ies", "y"},
    {"s", ""},  {"ies", "y"}, {"es", "e"},  {"es", ""},   {"ed", "e"},    {"ed", ""},     {"ing", "e"},   {"ing", ""},
    {"er", ""}, {"est", ""},  {"er", "e"},  {"est", "e"}};

constexpr size_t MANY_SYNSETS = size_t{1} << 20;  // no word has so many; in a damaged buffer they would fill the memory

// Entries of `values` from starts[k] to starts[k + 1]; none if they lie outside.
template <class Bound, class T>
std::span<const T> run(std::span<const Bound> starts, std::span<const T> values, int64_t k) {
  if (k < 0 || k + 1 >= static_cast<int64_t>(starts.size())) return {};
  const int64_t first = starts[k], last = starts[k + 1];
  if (first < 0 || last < first || last > static_cast<int64_t>(values.size())) return {};
  return values.subspan(static_cast<size_t>(first), static_cast<size_t>(last - first));
}

// Whether a word is at most two UTF-16 code units.
bool has_at_most_two_units(std::string_view word) {
  int units = 0;
  for_each_character(word, [&](char32_t code) { units += code > 0xFFFF ? 2 : 1; });
  return units <= 2;
}

}  // namespace

MeteorLexicon::MeteorLexicon(const void* data, int64_t size) {
  if (size < 0 || reinterpret_cast<uintptr_t>(data) % 8) fail(CK_BAD_ARGUMENT);
  const auto require = [](bool holds) { holds ? void() : fail(CK_BAD_DATA); };
  LexiconHeader header;
  require(size >= static_cast<int64_t>(sizeof header));
  std::memcpy(&header, data, sizeof header);
  require(std::ranges::equal(header.magic, LEXICON_MAGIC) && header.version == LEXICON_VERSION);
  require(header.n_sections == N_LEXICON_SECTIONS && header.size == size && size % 8 == 0);
  const auto read = [&]<class T>(LexiconSection name, std::span<const T>& section) {
    const auto [offset, bytes] = header.sections[name];
    require(offset >= static_cast<int64_t>(sizeof header) && offset % 8 == 0 && bytes >= 0 && bytes % static_cast<int64_t>(sizeof(T)) == 0);
    require(offset <= size && bytes <= size - offset);
    section = {reinterpret_cast<const T*>(static_cast<const char*>(data) + offset), static_cast<size_t>(bytes) / sizeof(T)};
  };
  read(SLOTS, slots_), read(WORD_STARTS, word_starts_), read(WORD_BYTES, word_bytes_), read(FLAGS, flags_);
  read(SYNSET_STARTS, synset_starts_), read(SYNSETS, synsets_), read(BASE_STARTS, base_starts_), read(BASES, bases_);
  read(EDGE_SLOTS, edge_slots_), read(EDGES, edges_), read(FIRST_TARGET, first_target_), read(TARGETS, targets_);
  for (const size_t n_starts : {word_starts_.size(), synset_starts_.size(), base_starts_.size()}) require(n_starts == flags_.size() + 1);
  require(std::has_single_bit(slots_.size()) && std::has_single_bit(edge_slots_.size()));
  require(first_target_.size() == edges_.size() + 1 && flags_.size() <= INT32_MAX && edges_.size() <= INT32_MAX);
  require(header.n_synsets >= 0 && header.n_synsets <= INT32_MAX);
  n_synsets_ = header.n_synsets;
}

Id MeteorLexicon::find(std::string_view text) const {
  const size_t mask = slots_.size() - 1;
  size_t place = hash_bytes(text) & mask;
  for (size_t probe = 0; probe < slots_.size(); ++probe, place = (place + 1) & mask) {
    const Id id = slots_[place];
    if (id < 0 || id >= static_cast<int64_t>(flags_.size())) return -1;
    if (word(id) == text) return id;
  }
  return -1;
}

std::string_view MeteorLexicon::word(Id id) const {
  const auto bytes = run(word_starts_, word_bytes_, id);
  return {bytes.data(), bytes.size()};
}

bool MeteorLexicon::is_function_word(std::string_view word) const { return flags(find(word)) & IS_FUNCTION_WORD; }

int MeteorLexicon::prefix_kind(std::string_view word) const {
  const uint8_t bits = flags(find(word));
  return !(bits & IS_PREFIX) ? 0 : bits & IS_NUMERIC_PREFIX ? 2 : 1;
}

std::vector<int32_t> MeteorLexicon::synsets(std::string_view word) const {
  std::vector<int32_t> out;
  const Id id = find(word);
  const auto append = [&](Id form) {
    const auto sets = run(synset_starts_, synsets_, form);
    out.insert(out.end(), sets.begin(), sets.end());
  };
  append(id);
  Id found = -1;
  for (const Id base : base_forms(word, id, found)) {
    if (out.size() > MANY_SYNSETS) break;
    append(base);
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// The base forms of an irregular word, else the result of the first rule that gives a word of the list of synonym sets, kept in
// `found`.
//
// meteor-1.5.jar removes "-ful" first and appends it to the result. No rule applies to a word in "-ful", so such a word has no base form.
std::span<const Id> MeteorLexicon::base_forms(std::string_view word, Id id, Id& found) const {
  if (const auto listed = run(base_starts_, bases_, id); !listed.empty()) return listed;
  if (word.ends_with("ss") || has_at_most_two_units(word)) return {};
  std::string base;
  for (const auto& [suffix, ending] : DETACHMENTS) {
    if (!word.ends_with(suffix)) continue;
    base.assign(word.substr(0, word.size() - suffix.size())).append(ending);
    found = find(base);
    if (flags(found) & HAS_SYNSETS) return {&found, 1};
  }
  return {};
}

Id MeteorLexicon::paraphrase_child(Id node, Id word) const {
  const uint64_t edge = pair_key(node, word), hash = mix(edge);
  size_t place = first_slot(hash, edge_slots_.size());
  for (size_t probe = 0; probe < edge_slots_.size(); ++probe, place = (place + 1) & (edge_slots_.size() - 1)) {
    const uint64_t slot = edge_slots_[place];
    if (slot == 0) break;
    const uint64_t child = slot & ~HASH_IN_SLOT;
    if (((slot ^ hash) & HASH_IN_SLOT) == 0 && child < edges_.size() && edges_[child] == edge) return static_cast<Id>(child);
  }
  return -1;
}

std::span<const Id> MeteorLexicon::paraphrase_targets(Id node) const { return run(first_target_, targets_, node); }

}  // namespace ck

ck_status ck_lexicon_open(const void* data, int64_t size, ck_lexicon** out) {
  return ck::guarded([&] { *out = new ck_lexicon(data, size); });
}

void ck_lexicon_free(ck_lexicon* lexicon) { delete lexicon; }
