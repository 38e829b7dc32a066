// Binding of METEOR: paraphrase table, lexicon, words of texts, alignment and score.
#include "index.hpp"

namespace {

using namespace binding;

template <class T, size_t Dimensions>
using Output = Aligned<nb::ndarray<T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>>;

constexpr size_t STATISTICS = CK_METEOR_STATISTICS;

// A lexicon in the buffer of another Python object, which it keeps alive.
struct Lexicon : Bytes, Handle<ck_lexicon, ck_lexicon_free> {
  explicit Lexicon(nb::handle source)
      : Bytes(source), Handle("METEOR's lexicon", [&](ck_lexicon** out) { return ck_lexicon_open(data(), size(), out); }) {}
};

// The Python class ParaphraseReader.
struct Paraphrases : Handle<ck_paraphrases, ck_paraphrases_free> {
  Paraphrases() : Handle("METEOR's lexicon", ck_paraphrases_new) {}

  void feed(nb::handle data) {
    const Bytes block(data);
    change("METEOR's lexicon", [&](ck_paraphrases* handle) { return ck_paraphrases_feed(handle, block.data(), block.size()); });
  }
};

nb::tuple finish(nb::object self, nb::handle words) {
  const Texts read(words);
  auto& table = nb::cast<Paraphrases&>(self);
  ck_string sections[CK_PARAPHRASE_SECTIONS];
  const nb::object numbers = table.fill_changing("METEOR's lexicon", {read.size()}, [&](ck_paraphrases* handle, int64_t* out) {
    return ck_paraphrases_finish(handle, read.data(), read.size(), out, sections);
  });
  nb::list arrays;
  for (const ck_string& section : sections)
    arrays.append(nb::cast(nb::ndarray<nb::numpy, const uint8_t, nb::ndim<1>>(section.data, {static_cast<size_t>(section.size)}, self)));
  return nb::make_tuple(numbers, arrays);
}

nb::list normalise(nb::handle texts, const Lexicon& lexicon) {
  const Texts read(texts);
  const nb::list lines = lexicon.list_reading("METEOR", [&](const ck_lexicon* handle, ck_strings** out) {
    return ck_normalise(handle, read.data(), read.size(), out);
  });
  nb::list rows;
  for (const nb::handle line : lines) rows.append(nb::len(line) ? line.attr("split")(" ") : nb::list());
  return rows;
}

// The Python class MeteorTexts.
class MeteorTable : public Handle<ck_meteor, ck_meteor_free> {
 public:
  explicit MeteorTable(const Lexicon& lexicon)
      : Handle("METEOR", [&](ck_meteor** out) { return lexicon.read([&](const ck_lexicon* data) { return ck_meteor_new(data, out); }); }) {}

  nb::object intern(nb::handle texts) {
    const Texts read(texts);
    return fill_changing("METEOR", {read.size()}, [&](ck_meteor* handle, int64_t* ids) {
      return ck_meteor_intern(handle, read.data(), read.size(), ids);
    });
  }

  nb::object add_rows(nb::object index, const Input<int64_t, 1>& rows) {
    if (!nb::isinstance<Index>(index)) throw nb::type_error("expected a TextIndex");
    const auto& source = nb::cast<const Index&>(index);
    return fill_changing("METEOR", {rows.size()}, [&](ck_meteor* handle, int64_t* ids) {
      return source.read([&](const ck_index* texts) {
        std::swap(index_, index);  // the last index must live until another one takes its place
        return ck_meteor_add_rows(handle, texts, rows.data(), length(rows), ids);
      });
    });
  }

  nb::object same_words(const Input<int64_t, 2>& ids) const {
    return fill_reading<int64_t>("METEOR", {ids.shape(0), ids.shape(1)}, [&](const ck_meteor* handle, int64_t* numbers) {
      return ck_meteor_same_words(handle, ids.data(), static_cast<int64_t>(ids.size()), numbers);
    });
  }

  int64_t n_words(int64_t text) const {
    int64_t length = 0;
    check(read([&](const ck_meteor* handle) { return ck_meteor_length(handle, text, &length); }), "METEOR");
    return length;
  }

  int64_t align(const Input<int64_t, 1>& text_starts, const Input<int64_t, 1>& texts, const Input<int64_t, 1>& pair_starts,
                const Input<int32_t, 1>& hyps, const Input<int32_t, 1>& refs, const Input<int64_t, 1>& rows, int64_t start, int64_t stop,
                const Output<double, 1>& scores, const Output<int32_t, 2>& statistics) const {
    const int64_t groups = length(text_starts) - 1, pairs = length(hyps);
    require(groups >= 0 && length(pair_starts) == groups + 1, "expected bounds of the same number of groups");
    require(length(refs) == pairs && length(rows) == pairs && length(scores) == pairs && statistics.shape(1) == STATISTICS,
            "expected hyps, refs, rows and scores of one length, and statistics with 23 columns");
    const ck_meteor_pairs given{groups,      length(texts), pairs,       text_starts.data(), texts.data(), pair_starts.data(),
                                hyps.data(), refs.data(),   rows.data()};
    int64_t excess = -1;
    run("METEOR", [&] {
      return read([&](const ck_meteor* handle) {
        return ck_meteor_align(handle, &given, start, stop, scores.data(), statistics.data(), length(statistics), &excess);
      });
    });
    return excess;
  }

 private:
  nb::object index_;  // whose rows were added last
};

nb::object meteor_score(const Input<double, 2>& statistics) {
  require(statistics.shape(1) == STATISTICS, "expected statistics of shape (n, 23)");
  return fill<double>("METEOR", {statistics.shape(0)}, [&](double* out) {
    ck_meteor_scores(statistics.data(), length(statistics), out);
    return CK_OK;
  });
}

}  // namespace

void bind_meteor(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Paraphrases>(module, "ParaphraseReader", "Reads METEOR's paraphrase table from blocks that end anywhere.")
      .def(nb::init<>())
      .def("feed", &Paraphrases::feed, "data"_a, nb::sig("def feed(self, data: collections.abc.Buffer) -> None"),
           "Read the next block of the table, which may end anywhere.")
      .def("finish", &finish, "words"_a,
           nb::sig("def finish(self, words: collections.abc.Sequence[str]) -> "
                   "tuple[numpy.ndarray, list[numpy.ndarray]]"),
           "End the table; return numbers of words, also of words that it lacks, and the first sections of a lexicon.");
  nb::class_<Lexicon>(module, "Lexicon", "A lexicon in a buffer; opening checks its header and lengths.")
      .def(nb::init<nb::handle>(), "buffer"_a, nb::sig("def __init__(self, buffer: collections.abc.Buffer) -> None"));
  module.def("normalise", normalise, "texts"_a, "lexicon"_a,
             nb::sig("def normalise(texts: collections.abc.Sequence[str], lexicon: Lexicon) -> list[list[str]]"),
             "Return the lower-case words of each text by METEOR's rules for punctuation.");
  nb::class_<MeteorTable>(module, "MeteorTexts", "Texts prepared for METEOR's alignment; see caption_kernels_reference.MeteorTexts.")
      .def(nb::init<const Lexicon&>(), "lexicon"_a, nb::keep_alive<1, 2>())
      .def("intern", &MeteorTable::intern, "texts"_a)
      .def("add_rows", &MeteorTable::add_rows, "index"_a, "rows"_a.noconvert())
      .def("same_words", &MeteorTable::same_words, "ids"_a.noconvert())
      .def("n_words", &MeteorTable::n_words, "text"_a)
      .def("align", &MeteorTable::align, "text_starts"_a.noconvert(), "texts"_a.noconvert(), "pair_starts"_a.noconvert(),
           "hyps"_a.noconvert(), "refs"_a.noconvert(), "rows"_a.noconvert(), "start"_a, "stop"_a, "scores"_a.noconvert(),
           "statistics"_a.noconvert());
  module.def("meteor_score", &meteor_score, "statistics"_a.noconvert());
}
