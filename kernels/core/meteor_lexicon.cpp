#include "meteor_lexicon.hpp"

#include <algorithm>
#include <bit>
#include <memory>

#include "ck_meteor.h"
#include "guard.hpp"
#include "meteor_lexicon_format.hpp"
#include "utf8.hpp"

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

// The array of a section; false if the header places it outside the buffer.
template <class T>
bool read_section(std::span<const std::byte> bytes, const LexiconHeader& header, LexiconSection name, std::span<const T>& out) {
  const int64_t offset = header.sections[name].offset, size = header.sections[name].size;
  if (offset < static_cast<int64_t>(sizeof header) || offset % 8 || size < 0 || size % static_cast<int64_t>(sizeof(T))) return false;
  if (offset > header.size || size > header.size - offset) return false;
  out = {reinterpret_cast<const T*>(bytes.data() + offset), static_cast<size_t>(size) / sizeof(T)};
  return true;
}

// Whether a word is at most two UTF-16 code units.
bool has_at_most_two_units(std::string_view word) {
  for (int units = 0; !word.empty();) {
    const Character first = first_character(word);
    units += first.code > 0xFFFF ? 2 : 1;
    if (units > 2) return false;
    word.remove_prefix(first.size);
  }
  return true;
}

}  // namespace

ck_status MeteorLexicon::open(const void* data, int64_t size, MeteorLexicon& out) {
  if (size < 0 || reinterpret_cast<uintptr_t>(data) % 8) return CK_BAD_ARGUMENT;
  LexiconHeader header;
  if (size < static_cast<int64_t>(sizeof header)) return CK_BAD_DATA;
  std::memcpy(&header, data, sizeof header);
  if (std::memcmp(header.magic, LEXICON_MAGIC, sizeof LEXICON_MAGIC) != 0 || header.version != LEXICON_VERSION) return CK_BAD_DATA;
  if (header.n_sections != N_LEXICON_SECTIONS || header.size != size || size % 8) return CK_BAD_DATA;

  MeteorLexicon opened;
  opened.bytes_ = {static_cast<const std::byte*>(data), static_cast<size_t>(size)};
  opened.n_synsets_ = header.n_synsets;
  const auto read = [&](LexiconSection name, auto& section) { return read_section(opened.bytes_, header, name, section); };
  if (!read(SLOTS, opened.slots_) || !read(WORD_STARTS, opened.word_starts_) || !read(WORD_BYTES, opened.word_bytes_) ||
      !read(FLAGS, opened.flags_) || !read(SYNSET_STARTS, opened.synset_starts_) || !read(SYNSETS, opened.synsets_) ||
      !read(BASE_STARTS, opened.base_starts_) || !read(BASES, opened.bases_) || !read(ROOTS, opened.roots_) ||
      !read(EDGE_SLOTS, opened.edge_slots_) || !read(EDGES, opened.edges_) ||
      !read(FIRST_TARGET, opened.first_target_) || !read(TARGETS, opened.targets_))
    return CK_BAD_DATA;
  const size_t n_words = opened.flags_.size(), n_nodes = opened.edges_.size();
  for (const size_t n_starts : {opened.word_starts_.size(), opened.synset_starts_.size(), opened.base_starts_.size()})
    if (n_starts != n_words + 1) return CK_BAD_DATA;
  if (!std::has_single_bit(opened.slots_.size()) || !std::has_single_bit(opened.edge_slots_.size())) return CK_BAD_DATA;
  if (opened.roots_.size() > n_words || opened.first_target_.size() != n_nodes + 1) return CK_BAD_DATA;
  if (n_words > INT32_MAX || n_nodes > INT32_MAX || header.n_synsets < 0 || header.n_synsets > INT32_MAX) return CK_BAD_DATA;
  out = opened;
  return CK_OK;
}

ck_status MeteorLexicon::verify() const {
  LexiconHeader header;
  if (bytes_.size() < sizeof header) return CK_BAD_DATA;
  std::memcpy(&header, bytes_.data(), sizeof header);
  return lexicon_checksum(bytes_) == header.checksum ? CK_OK : CK_BAD_DATA;
}

Id MeteorLexicon::find(std::string_view text) const {
  const size_t mask = slots_.size() - 1;
  size_t place = hash_bytes(text) & mask;
  for (size_t probe = 0; probe < slots_.size(); ++probe, place = (place + 1) & mask) {
    const Id id = slots_[place];
    if (id < 0 || id >= n_words()) return -1;
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

void MeteorLexicon::append_synsets(std::string_view word, std::vector<int32_t>& out) const {
  const size_t before = out.size();
  const Id id = find(word);
  const auto append = [&](Id form) {
    const auto sets = run(synset_starts_, synsets_, form);
    out.insert(out.end(), sets.begin(), sets.end());
  };
  append(id);
  Id found = -1;
  for (const Id base : base_forms(word, id, found)) {
    if (out.size() - before > MANY_SYNSETS) break;
    append(base);
  }
  const auto first = out.begin() + static_cast<std::ptrdiff_t>(before);
  std::sort(first, out.end());
  out.erase(std::unique(first, out.end()), out.end());
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

Id MeteorLexicon::paraphrase_word(std::string_view word) const {
  const Id id = find(word);
  return id < n_paraphrase_words() ? id : -1;
}

Id MeteorLexicon::paraphrase_root(Id word) const { return word < 0 || word >= n_paraphrase_words() ? -1 : node_or_none(roots_[word]); }

Id MeteorLexicon::paraphrase_child(Id node, Id word) const {
  if (node == 0) return paraphrase_root(word);
  const uint64_t edge = edge_of(node, word), hash = edge_hash(edge);
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

extern "C" {

ck_status ck_lexicon_open(const void* data, int64_t size, ck_lexicon** out) {
  return ck::guarded([&] {
    auto lexicon = std::make_unique<ck_lexicon>();
    if (const ck_status status = ck::MeteorLexicon::open(data, size, lexicon->view); status != CK_OK) ck::fail(status);
    *out = lexicon.release();
  });
}

ck_status ck_lexicon_verify(const ck_lexicon* lexicon) { return lexicon->view.verify(); }

void ck_lexicon_free(ck_lexicon* lexicon) { delete lexicon; }

}  // extern "C"
