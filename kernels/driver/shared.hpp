// An index and a table of METEOR's texts, filled once and then only read.
#pragma once

#include "areas.hpp"

namespace driver {

class Shared {
 public:
  Shared() = default;
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared();

  ck_status build(const ck_lexicon* lexicon, const Texts& texts);
  // Only reads the handles: any number of threads may call it at a time.
  ck_status read(Random& random) const;
  // Adds texts while allocation `number` fails, then again, and reads old and new texts.
  ck_status recover(const Texts& more, int64_t number);

 private:
  ck_status add();

  const ck_lexicon* lexicon_ = nullptr;
  ck_index* index_ = nullptr;
  ck_meteor* meteor_ = nullptr;
  Texts texts_;
  Ids rows_, grams_, ids_;
};

}  // namespace driver
