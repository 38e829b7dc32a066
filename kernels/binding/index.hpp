// The Python class TextIndex.
#pragma once

#include <mutex>
#include <shared_mutex>
#include <string>
#include <tuple>
#include <vector>

#include "convert.hpp"

namespace binding {

class Index {
 public:
  explicit Index(const std::string& tokenizer) {
    if (tokenizer != "ptb" && tokenizer != "none") throw nb::value_error("unknown tokenizer; expected 'ptb' or 'none'");
    ptb_ = tokenizer == "ptb";
    handle_ = ck_index_new(ptb_);
    if (!handle_) throw std::bad_alloc();
  }
  ~Index() { ck_index_free(handle_); }
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;

  const ck_index* handle() const { return handle_; }

  // Reads the handle without the interpreter lock; several threads may read at a time, none while the handle changes.
  template <class Work>
  void read(Work&& work, const char* what) const {
    ck_status status;
    {
      nb::gil_scoped_release unlocked;
      const std::shared_lock<std::shared_mutex> shared(mutex_);
      status = work(handle_);
    }
    check(status, what);
  }

  ck_mark sizes() const {
    const std::shared_lock<std::shared_mutex> shared(mutex_);
    return ck_index_mark(handle_);
  }
  int64_t n_words() const {
    const std::shared_lock<std::shared_mutex> shared(mutex_);
    return ck_index_n_words(handle_);
  }

  nb::object add(nb::handle texts);
  nb::object add_tokens(const Input<int64_t, 1>& tokens, const Input<int64_t, 1>& starts, int64_t end, bool keep_end);
  nb::object gram_rows(const Input<int64_t, 1>& rows);
  nb::object lengths(const Input<int64_t, 1>& rows) const;
  nb::list texts(const Input<int64_t, 1>& rows) const;
  nb::tuple entries(int64_t row) const;
  nb::object intern_grams(nb::handle grams);
  nb::list gram_texts() const;
  nb::object document_frequencies(const Input<int64_t, 1>& rows, const Input<int64_t, 1>& starts) const;
  nb::tuple mark() const;
  // Words and n-grams without rows, for copies in other processes.
  nb::tuple state() const;
  void restore(nb::handle words, const Input<uint64_t, 1>& keys);
  void rollback(std::tuple<int64_t, int64_t, int64_t, int64_t> mark, bool keep_grams);

 private:
  // Changes the handle without the interpreter lock, one thread at a time.
  template <class Work>
  void change(Work&& work, const char* what) {
    ck_status status;
    {
      nb::gil_scoped_release unlocked;
      const std::unique_lock<std::shared_mutex> alone(mutex_);
      status = work();
    }
    check(status, what);
  }

  ck_index* handle_ = nullptr;
  bool ptb_ = false;
  mutable std::shared_mutex mutex_;
};

}  // namespace binding
