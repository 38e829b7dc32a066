// Texts: the PTB tokeniser and the stemmer.
#include <mutex>

#include "convert.hpp"

void bind_stemmer(nb::module_& module);

namespace {

using binding::Texts;
using binding::check;

constexpr int64_t MOST_WORDS = 1 << 20;  // number of words at which a tokeniser forgets those that it met

// Tokens as bytes one behind the other, copied from the handle.
struct Copied {
  std::string bytes;
  std::vector<int64_t> token_ends;
  std::vector<int64_t> text_ends;  // in tokens
};

class Tokenizer {
 public:
  Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;
  ~Tokenizer() { ck_tokenizer_free(handle_); }

  nb::list tokenize(nb::handle texts) {
    const Copied tokens = read(Texts(texts), ck_tokenizer_tokenize);
    nb::list lines;
    std::string line;
    int64_t token = 0, start = 0;
    for (int64_t text_end : tokens.text_ends) {
      line.clear();
      for (; token < text_end; start = tokens.token_ends[token++]) {
        if (!line.empty()) line.push_back(' ');
        line.append(tokens.bytes, static_cast<size_t>(start), static_cast<size_t>(tokens.token_ends[token] - start));
      }
      lines.append(binding::to_str(line.data(), static_cast<int64_t>(line.size())));
    }
    return lines;
  }

  nb::list tokens_raw(nb::handle texts) {
    const Copied tokens = read(Texts(texts), ck_tokenizer_tokenize_raw);
    nb::list rows;
    int64_t token = 0, start = 0;
    for (int64_t text_end : tokens.text_ends) {
      nb::list row;
      for (; token < text_end; start = tokens.token_ends[token++]) {
        row.append(binding::to_str(tokens.bytes.data() + start, tokens.token_ends[token] - start));
      }
      rows.append(row);
    }
    return rows;
  }

 private:
  using Function = ck_status (*)(ck_tokenizer*, const ck_string*, int64_t, ck_tokens*);

  // The handle is used without the interpreter lock, and no Python object is made while another thread may wait for it.
  Copied read(const Texts& texts, Function function) {
    Copied copied;
    ck_status status;
    {
      const nb::gil_scoped_release unlocked;
      const std::lock_guard<std::mutex> alone(mutex_);
      status = read_alone(texts, function, copied);
    }
    check(status, "PTB tokeniser");
    return copied;
  }

  ck_status read_alone(const Texts& texts, Function function, Copied& copied) {
    if (handle_ && ck_tokenizer_n_words(handle_) > MOST_WORDS) {
      ck_tokenizer_free(handle_);
      handle_ = nullptr;
    }
    if (!handle_) {
      if (const ck_status status = ck_tokenizer_new(&handle_); status != CK_OK) return status;
    }
    ck_tokens tokens;
    if (const ck_status status = function(handle_, texts.data(), texts.size(), &tokens); status != CK_OK) return status;
    for (int64_t k = 0; k < tokens.bounds[tokens.n_texts]; ++k) {
      ck_string word;
      if (const ck_status status = ck_tokenizer_word(handle_, tokens.ids[k], &word); status != CK_OK) return status;
      copied.bytes.append(word.data, static_cast<size_t>(word.size));
      copied.token_ends.push_back(static_cast<int64_t>(copied.bytes.size()));
    }
    copied.text_ends.assign(tokens.bounds + 1, tokens.bounds + tokens.n_texts + 1);
    return CK_OK;
  }

  std::mutex mutex_;
  ck_tokenizer* handle_ = nullptr;
};

}  // namespace

void bind_text(nb::module_& module) {
  nb::class_<Tokenizer>(module, "Tokenizer", "The Penn Treebank tokeniser of the COCO caption toolkit.")
      .def(nb::init<>())
      .def("tokenize", &Tokenizer::tokenize, nb::arg("texts"),
           nb::sig("def tokenize(self, texts: collections.abc.Sequence[str]) -> list[str]"),
           "Return the tokens of each text in lower case, without the toolkit's punctuation, joined by one blank.")
      .def("tokens_raw", &Tokenizer::tokens_raw, nb::arg("texts"),
           nb::sig("def tokens_raw(self, texts: collections.abc.Sequence[str]) -> list[list[str]]"),
           "Return all tokens of each text in lower case.");
  bind_stemmer(module);
}
