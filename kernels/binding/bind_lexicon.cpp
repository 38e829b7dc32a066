// METEOR's lexicon: builder, look-ups, words of texts.
#include <mutex>

#include "lexicon.hpp"
#include "meteor_lexicon.hpp"

namespace binding {
namespace {

// The bytes of a Python object that has a buffer.
class Bytes {
 public:
  explicit Bytes(nb::handle source) {
    if (PyObject_GetBuffer(source.ptr(), &buffer_, PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  ~Bytes() { PyBuffer_Release(&buffer_); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  ck_string view() const { return {static_cast<const char*>(buffer_.buf), buffer_.len}; }

 private:
  Py_buffer buffer_ = {};
};

class LexiconBuilder {
 public:
  LexiconBuilder() {
    ck_lexicon_builder* handle = nullptr;
    check(ck_lexicon_builder_new(&handle), "METEOR's lexicon");
    handle_ = Handle(handle, ck_lexicon_builder_free);
  }

  void feed(nb::handle data) {
    const Bytes block(data);
    work([&] { return ck_lexicon_builder_feed(handle_.get(), block.view().data, block.view().size); });
  }

  nb::object finish(nb::handle function_words, nb::handle prefixes, nb::handle exceptions, nb::handle synsets) {
    const Bytes read[] = {Bytes(function_words), Bytes(prefixes), Bytes(exceptions), Bytes(synsets)};
    const ck_lexicon_lists lists = {read[0].view(), read[1].view(), read[2].view(), read[3].view()};
    const void* data = nullptr;
    int64_t size = 0;
    work([&] { return ck_lexicon_builder_finish(handle_.get(), &lists, &data, &size); });
    const nb::capsule owner(new Handle(handle_), [](void* handle) noexcept { delete static_cast<Handle*>(handle); });
    return nb::cast(nb::ndarray<nb::numpy, const uint8_t, nb::ndim<1>>(data, {static_cast<size_t>(size)}, owner));
  }

 private:
  using Handle = std::shared_ptr<ck_lexicon_builder>;

  template <class Work>
  void work(Work&& call) {
    ck_status status;
    {
      nb::gil_scoped_release unlocked;
      const std::lock_guard<std::mutex> alone(mutex_);
      status = call();
    }
    check(status, "METEOR's lexicon");
  }

  Handle handle_;
  std::mutex mutex_;
};

void verify(const Lexicon& lexicon) {
  ck_status status;
  {
    nb::gil_scoped_release unlocked;
    status = ck_lexicon_verify(lexicon.handle());
  }
  check(status, "METEOR's lexicon");
}

const ck::MeteorLexicon& look_into(const Lexicon& lexicon) { return lexicon.handle()->view; }

std::string_view word_view(nb::handle word, std::vector<nb::object>& keep) {
  const ck_string text = utf8(word, keep);
  return {text.data, static_cast<size_t>(text.size)};
}

// A method that looks a word up.
template <class Answer>
auto look_up(Answer&& answer) {
  return [answer](const Lexicon& lexicon, nb::handle word) {
    std::vector<nb::object> keep;
    return answer(look_into(lexicon), word_view(word, keep));
  };
}

nb::list list_of(std::span<const int32_t> numbers) {
  nb::list out;
  for (const int32_t number : numbers) out.append(number);
  return out;
}

nb::list normalise(nb::handle texts, const Lexicon& lexicon) {
  const Texts read(texts);
  using Words = std::unique_ptr<ck_words, decltype(&ck_words_free)>;
  std::vector<Words> found;
  found.reserve(static_cast<size_t>(read.size()));
  ck_status status = CK_OK;
  {
    nb::gil_scoped_release unlocked;
    for (int64_t k = 0; k < read.size() && status == CK_OK; ++k) {
      ck_words* words = nullptr;
      status = ck_normalise(lexicon.handle(), read.data()[k], &words);
      found.emplace_back(words, ck_words_free);
    }
  }
  check(status, "METEOR");
  nb::list out;
  for (const Words& words : found) {
    nb::list row;
    for (int64_t k = 0; k < ck_words_size(words.get()); ++k) {
      const ck_string word = ck_words_get(words.get(), k);
      row.append(to_str(word.data, word.size));
    }
    out.append(row);
  }
  return out;
}

}  // namespace
}  // namespace binding

void bind_lexicon(nb::module_& module) {
  using namespace binding;
  using ck::MeteorLexicon;

  nb::class_<LexiconBuilder>(module, "LexiconBuilder", "Builds METEOR's lexicon from its paraphrase table and word lists.")
      .def(nb::init<>())
      .def("feed", &LexiconBuilder::feed, nb::arg("data"), nb::sig("def feed(self, data: collections.abc.Buffer) -> None"),
           "Read the next block of the paraphrase table, which may end anywhere.")
      .def("finish", &LexiconBuilder::finish, nb::arg("function_words"), nb::arg("prefixes"), nb::arg("exceptions"), nb::arg("synsets"),
           nb::sig("def finish(self, function_words: collections.abc.Buffer, prefixes: collections.abc.Buffer, "
                   "exceptions: collections.abc.Buffer, synsets: collections.abc.Buffer) -> collections.abc.Buffer"),
           "End the table, read the English lists of the jar and return the lexicon.");

  nb::class_<Lexicon>(module, "Lexicon", "A lexicon in a buffer; opening checks its header and lengths.")
      .def(nb::init<nb::handle>(), nb::arg("buffer"), nb::sig("def __init__(self, buffer: collections.abc.Buffer) -> None"))
      .def("verify", verify, "Raise ValueError if a byte of the lexicon has changed.")
      .def_prop_ro("n_synsets", [](const Lexicon& self) { return look_into(self).n_synsets(); }, "Number of synonym sets.")
      .def_prop_ro("n_paraphrase_words", [](const Lexicon& self) { return look_into(self).n_paraphrase_words(); },
                   "Number of words of the paraphrase table.")
      .def("is_function_word", look_up([](const MeteorLexicon& self, std::string_view word) { return self.is_function_word(word); }),
           nb::arg("word"), nb::sig("def is_function_word(self, word: str) -> bool"), "Return True for a function word.")
      .def("prefix_kind", look_up([](const MeteorLexicon& self, std::string_view word) { return self.prefix_kind(word); }),
           nb::arg("word"), nb::sig("def prefix_kind(self, word: str) -> int"),
           "Return 1 for a word after which a dot is no full stop, 2 if only before a number, else 0.")
      .def("synsets", look_up([](const MeteorLexicon& self, std::string_view word) {
             std::vector<int32_t> sets;
             self.append_synsets(word, sets);
             return list_of(sets);
           }),
           nb::arg("word"), nb::sig("def synsets(self, word: str) -> list[int]"),
           "Return the synonym sets of a word and of its base forms, ascending.")
      .def("paraphrase_word", look_up([](const MeteorLexicon& self, std::string_view word) { return self.paraphrase_word(word); }),
           nb::arg("word"), nb::sig("def paraphrase_word(self, word: str) -> int"),
           "Return the number of a word of the paraphrase table, or -1.")
      .def("paraphrase_root", [](const Lexicon& self, int32_t word) { return look_into(self).paraphrase_root(word); }, nb::arg("word"),
           "Return the node of the phrases that begin with a word, or -1.")
      .def("paraphrase_child", [](const Lexicon& self, int32_t node, int32_t word) { return look_into(self).paraphrase_child(node, word); },
           nb::arg("node"), nb::arg("word"), "Return the node that a word leads to, or -1.")
      .def("paraphrase_targets", [](const Lexicon& self, int32_t node) { return list_of(look_into(self).paraphrase_targets(node)); },
           nb::arg("node"), nb::sig("def paraphrase_targets(self, node: int) -> list[int]"),
           "Return the nodes of the paraphrases of a phrase, in the order of the table.");

  module.def("normalise", normalise, nb::arg("texts"), nb::arg("lexicon"),
             nb::sig("def normalise(texts: collections.abc.Sequence[str], lexicon: Lexicon) -> list[list[str]]"),
             "Return the lower-case words of each text by METEOR's rules for punctuation.");
}
