// Phrases of METEOR's paraphrase table while a lexicon is built: a trie over word numbers.
#pragma once

#include <string>
#include <vector>

#include "meteor_lexicon_format.hpp"
#include "span.hpp"
#include "vocabulary.hpp"

namespace ck {

// Node 0 is the root, each other node the end of an edge from its parent.
//
// The table has millions of nodes, so that a step down the trie is a wait for memory. The phrases of a batch therefore take each step
// together: all places are fetched first and read afterwards.
class PhraseTrie {
 public:
  // Sets `nodes` to the node of each phrase, a line with its line feed; words and nodes that are new are added. Words end at the blanks of
  // Java's StringTokenizer. Appends a few bytes to `phrases`.
  void find_or_add(std::string& phrases, std::vector<Id>& nodes);

  Vocabulary& words() { return words_; }
  // The edge into each node, and the nodes by edge, as meteor_lexicon_format.hpp defines them.
  const std::vector<uint64_t>& edges() const { return edges_; }
  const std::vector<uint64_t>& slots() const { return slots_; }
  // Node of the phrases that begin with a word.
  Id root(Id word) const { return roots_[word]; }

 private:
  // A phrase on its way down the trie.
  struct Walk {
    uint32_t place;      // in the batch
    uint32_t next, end;  // its remaining words
    Id node;
    uint64_t hash;  // of the next edge
  };
  struct RecentWord {
    uint64_t start, end;
    uint32_t size;
    Id id;
  };
  static constexpr int RECENT_BITS = 15;

  void split(std::string& phrases);
  Id word_id(const char* word, size_t size);
  void take_first_steps();
  void take_steps();
  void drop_finished_walks(std::vector<Id>& nodes);
  Id child(Id node, Id word, uint64_t hash);
  Id add_node(Id parent, Id word);
  void grow();
  size_t first_slot_of(uint64_t hash) const { return first_slot(hash, slots_.size()); }

  Vocabulary words_;
  std::vector<RecentWord> recent_words_ = std::vector<RecentWord>(1 << RECENT_BITS);
  std::vector<Id> roots_;              // by word, -1 for none
  std::vector<uint64_t> edges_ = {0};
  std::vector<uint64_t> slots_ = std::vector<uint64_t>(1 << 16);
  std::vector<Id> batch_words_;
  std::vector<Walk> walks_;
};

}  // namespace ck
