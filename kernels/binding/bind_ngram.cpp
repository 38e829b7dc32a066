// Binding of the index of texts, BLEU, ROUGE-L and CIDEr.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include "convert.hpp"
#include "index.hpp"

namespace binding {

using Rows = Input<int64_t, 2>;
using Labels = nb::ndarray<const uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

namespace {

constexpr size_t ORDERS = 4;

struct Shape {
  int64_t examples, n, m;
};

// Shape of hypotheses (B, n) and references (B, m).
Shape shape_of(const Rows& hyp, const Rows& ref) {
  if (hyp.shape(0) != ref.shape(0)) throw nb::value_error("hypotheses and references of different numbers of examples");
  return {static_cast<int64_t>(hyp.shape(0)), static_cast<int64_t>(hyp.shape(1)), static_cast<int64_t>(ref.shape(1))};
}

using PairFunction = ck_status (*)(const ck_index*, const int64_t*, const int64_t*, int64_t, int64_t, int64_t, int64_t*);

nb::object count_pairs(const Index& index, const Rows& hyp, const Rows& ref, std::vector<size_t> shape, PairFunction function,
                       const char* name) {
  const Shape sizes = shape_of(hyp, ref);
  int64_t* out = nullptr;
  nb::object array = new_array(std::move(shape), out);
  index.read([&](const ck_index* handle) { return function(handle, hyp.data(), ref.data(), sizes.examples, sizes.n, sizes.m, out); }, name);
  return array;
}

nb::object clip_pairs(const Index& index, const Rows& hyp, const Rows& ref) {
  return count_pairs(index, hyp, ref, {hyp.shape(0), hyp.shape(1), ref.shape(1), ORDERS}, ck_clip_pairs, "BLEU");
}

nb::object clip_all(const Index& index, const Rows& hyp, const Rows& ref) {
  return count_pairs(index, hyp, ref, {hyp.shape(0), hyp.shape(1), ORDERS}, ck_clip_all, "BLEU");
}

nb::object lcs_pairs(const Index& index, const Rows& hyp, const Rows& ref) {
  return count_pairs(index, hyp, ref, {hyp.shape(0), hyp.shape(1), ref.shape(1)}, ck_lcs_pairs, "ROUGE-L");
}

nb::object bleu_scores(const Input<double, 2>& matches, const Input<double, 2>& guesses, const Input<double, 1>& lengths,
                       const Input<double, 1>& reference_lengths, int order) {
  const size_t size = lengths.shape(0);
  if (matches.shape(0) != size || guesses.shape(0) != size || reference_lengths.shape(0) != size || matches.shape(1) != ORDERS ||
      guesses.shape(1) != ORDERS) {
    throw nb::value_error("expected matches and guesses of shape (size, 4), lengths of shape (size,)");
  }
  double* out = nullptr;
  nb::object array = new_array({size}, out);
  check(ck_bleu(matches.data(), guesses.data(), lengths.data(), reference_lengths.data(), static_cast<int64_t>(size), order, out), "BLEU");
  return array;
}

nb::object bleu_relabel(const Index& index, const Rows& rows, const Labels& labels, int order) {
  if (rows.shape(1) != labels.shape(1)) throw nb::value_error("rows and labels of different numbers of texts");
  double* out = nullptr;
  nb::object array = new_array({rows.shape(0), labels.shape(0)}, out);
  index.read(
      [&](const ck_index* handle) {
        return ck_bleu_relabel(handle, rows.data(), labels.data(), static_cast<int64_t>(rows.shape(0)), static_cast<int64_t>(rows.shape(1)),
                               static_cast<int64_t>(labels.shape(0)), order, out);
      },
      "BLEU");
  return array;
}

nb::object rouge_relabel(const Input<int64_t, 3>& lcs, const Rows& lengths, const Labels& labels, double beta) {
  if (lcs.shape(0) != lengths.shape(0) || lcs.shape(1) != lcs.shape(2) || lcs.shape(1) != lengths.shape(1) ||
      lcs.shape(1) != labels.shape(1)) {
    throw nb::value_error("expected lcs (B, N, N), lengths (B, N) and labels (P, N)");
  }
  double* out = nullptr;
  nb::object array = new_array({lcs.shape(0), labels.shape(0)}, out);
  ck_status status;
  {
    nb::gil_scoped_release unlocked;
    status = ck_rouge_relabel(lcs.data(), lengths.data(), labels.data(), static_cast<int64_t>(lcs.shape(0)),
                              static_cast<int64_t>(lcs.shape(1)), static_cast<int64_t>(labels.shape(0)), beta, out);
  }
  check(status, "ROUGE-L");
  return array;
}

nb::object best_relabel(const Input<double, 3>& pairs, const Labels& labels) {
  if (pairs.shape(1) != pairs.shape(2) || pairs.shape(1) != labels.shape(1)) {
    throw nb::value_error("expected scores (B, N, N) and labels (P, N)");
  }
  double* out = nullptr;
  nb::object array = new_array({pairs.shape(0), labels.shape(0)}, out);
  ck_status status;
  {
    nb::gil_scoped_release unlocked;
    status = ck_best_relabel(pairs.data(), labels.data(), static_cast<int64_t>(pairs.shape(0)), static_cast<int64_t>(pairs.shape(1)),
                             static_cast<int64_t>(labels.shape(0)), out);
  }
  check(status, "scores by the best reference");
  return array;
}

nb::object cider_pairs(const Index& index, const Input<double, 1>& idf, double unseen, const Rows& hyp, const Rows& ref, bool clip,
                       double sigma) {
  const Shape sizes = shape_of(hyp, ref);
  double* out = nullptr;
  nb::object array = new_array({hyp.shape(0), hyp.shape(1), ref.shape(1)}, out);
  index.read(
      [&](const ck_index* handle) {
        return ck_cider_pairs(handle, idf.data(), static_cast<int64_t>(idf.shape(0)), unseen, hyp.data(), ref.data(), sizes.examples,
                              sizes.n, sizes.m, clip, sigma, out);
      },
      "CIDEr");
  return array;
}

nb::object cider_repetition(const Index& index, const Rows& hyp, const Rows& ref) {
  const Shape sizes = shape_of(hyp, ref);
  double* out = nullptr;
  nb::object array = new_array({hyp.shape(0), hyp.shape(1), ref.shape(1)}, out);
  index.read(
      [&](const ck_index* handle) { return ck_cider_repetition(handle, hyp.data(), ref.data(), sizes.examples, sizes.n, sizes.m, out); },
      "CIDEr-R");
  return array;
}

nb::object cider_idf(const Input<int64_t, 1>& frequencies, double documents) {
  double* out = nullptr;
  nb::object array = new_array({frequencies.shape(0)}, out);
  check(ck_cider_idf(frequencies.data(), static_cast<int64_t>(frequencies.shape(0)), documents, out), "CIDEr");
  return array;
}

}  // namespace

nb::object Index::add(nb::handle texts) {
  const Texts read(texts);
  int64_t* rows = nullptr;
  nb::object array = new_array({static_cast<size_t>(read.size())}, rows);
  change([&] { return ck_index_add(handle_, read.data(), read.size(), rows); }, "texts");
  return array;
}

nb::object Index::add_tokens(const Input<int64_t, 1>& tokens, const Input<int64_t, 1>& starts, int64_t end, bool keep_end) {
  const size_t size = starts.shape(0);
  if (size == 0 || starts.data()[0] != 0 || starts.data()[size - 1] != static_cast<int64_t>(tokens.shape(0))) {
    throw nb::value_error("expected bounds that begin with 0 and end with the number of tokens");
  }
  int64_t* rows = nullptr;
  nb::object array = new_array({size - 1}, rows);
  change([&] { return ck_index_add_tokens(handle_, tokens.data(), starts.data(), static_cast<int64_t>(size) - 1, end, keep_end, rows); },
         "token ids");
  return array;
}

nb::object Index::gram_rows(const Input<int64_t, 1>& rows) {
  int64_t* out = nullptr;
  nb::object array = new_array({rows.shape(0)}, out);
  change([&] { return ck_index_gram_rows(handle_, rows.data(), static_cast<int64_t>(rows.shape(0)), out); }, "rows");
  return array;
}

nb::object Index::lengths(const Input<int64_t, 1>& rows) const {
  int64_t* out = nullptr;
  nb::object array = new_array({rows.shape(0)}, out);
  read([&](const ck_index* handle) { return ck_index_lengths(handle, rows.data(), static_cast<int64_t>(rows.shape(0)), out); }, "rows");
  return array;
}

nb::list Index::texts(const Input<int64_t, 1>& rows) const {
  const std::shared_lock<std::shared_mutex> shared(mutex_);
  nb::list out;
  std::string text;
  std::vector<int32_t> words;
  for (size_t k = 0; k < rows.shape(0); ++k) {
    int64_t length = 0;
    check(ck_index_lengths(handle_, rows.data() + k, 1, &length), "rows");
    words.resize(static_cast<size_t>(length));
    check(ck_index_words(handle_, rows.data()[k], words.data()), "rows");
    text.clear();
    for (size_t w = 0; w < words.size(); ++w) {
      ck_string word;
      check(ck_index_word(handle_, words[w], &word), "words");
      if (w) text += ' ';
      text.append(word.data, static_cast<size_t>(word.size));
    }
    out.append(to_str(text.data(), static_cast<int64_t>(text.size())));
  }
  return out;
}

nb::tuple Index::entries(int64_t row) const {
  const std::shared_lock<std::shared_mutex> shared(mutex_);
  int64_t length = 0;
  check(ck_index_lengths(handle_, &row, 1, &length), "rows");
  std::vector<int32_t> grams(ORDERS * static_cast<size_t>(length) + 1), counts(grams.size());
  int32_t ends[ORDERS];
  check(ck_index_entries(handle_, row, ends, grams.data(), counts.data()), "n-grams");
  nb::list orders;
  for (size_t order = 0, first = 0; order < ORDERS; ++order) {
    const size_t last = static_cast<size_t>(ends[order]);
    int64_t *ids = nullptr, *numbers = nullptr;
    nb::object id_array = new_array({last - first}, ids), count_array = new_array({last - first}, numbers);
    for (size_t e = first; e < last; ++e) ids[e - first] = grams[e], numbers[e - first] = counts[e];
    orders.append(nb::make_tuple(id_array, count_array));
    first = last;
  }
  return nb::tuple(orders);
}

nb::object Index::intern_grams(nb::handle grams) {
  const Texts read(grams);
  std::vector<int32_t> ids(static_cast<size_t>(read.size()));
  change([&] { return ck_index_intern_grams(handle_, read.data(), read.size(), ids.data()); }, "n-grams of one to four words");
  int64_t* out = nullptr;
  nb::object array = new_array({ids.size()}, out);
  for (size_t k = 0; k < ids.size(); ++k) out[k] = ids[k];
  return array;
}

nb::list Index::gram_texts() const {
  const std::shared_lock<std::shared_mutex> shared(mutex_);
  nb::list out;
  std::string text(64, '\0');
  const int64_t n_grams = ck_index_mark(handle_).grams;
  for (int64_t gram = 0; gram < n_grams; ++gram) {
    int64_t size = 0;
    check(ck_index_gram_text(handle_, static_cast<int32_t>(gram), text.data(), static_cast<int64_t>(text.size()), &size), "n-grams");
    if (size > static_cast<int64_t>(text.size())) {
      text.resize(static_cast<size_t>(size));
      check(ck_index_gram_text(handle_, static_cast<int32_t>(gram), text.data(), size, &size), "n-grams");
    }
    out.append(to_str(text.data(), size));
  }
  return out;
}

nb::object Index::document_frequencies(const Input<int64_t, 1>& rows, const Input<int64_t, 1>& starts) const {
  if (starts.shape(0) == 0 || starts.data()[starts.shape(0) - 1] > static_cast<int64_t>(rows.shape(0))) {
    throw nb::value_error("expected bounds of the documents within the rows");
  }
  std::vector<int64_t> df;
  read(
      [&](const ck_index* handle) {
        df.assign(static_cast<size_t>(ck_index_mark(handle).grams), 0);
        return ck_document_frequencies(handle, rows.data(), starts.data(), static_cast<int64_t>(starts.shape(0)) - 1, df.data());
      },
      "document frequencies");
  int64_t* out = nullptr;
  nb::object array = new_array({df.size()}, out);
  std::copy(df.begin(), df.end(), out);
  return array;
}

nb::tuple Index::state() const {
  const std::shared_lock<std::shared_mutex> shared(mutex_);
  nb::list words;
  for (int64_t k = 0; k < ck_index_n_words(handle_); ++k) {
    ck_string word;
    check(ck_index_word(handle_, static_cast<int32_t>(k), &word), "words");
    words.append(to_str(word.data, word.size));
  }
  uint64_t* keys = nullptr;
  nb::object array = new_array({static_cast<size_t>(ck_index_mark(handle_).grams)}, keys);
  check(ck_index_gram_keys(handle_, keys), "n-grams");
  return nb::make_tuple(ptb_ ? "ptb" : "none", words, array);
}

void Index::restore(nb::handle words, const Input<uint64_t, 1>& keys) {
  const Texts read(words);
  change([&] { return ck_index_restore(handle_, read.data(), read.size(), keys.data(), static_cast<int64_t>(keys.shape(0))); },
         "state of an index");
}

nb::tuple Index::mark() const {
  const ck_mark mark = sizes();
  return nb::make_tuple(mark.rows, mark.grams, mark.entries, mark.resolved);
}

void Index::rollback(std::tuple<int64_t, int64_t, int64_t, int64_t> mark, bool keep_grams) {
  const ck_mark state{std::get<0>(mark), std::get<1>(mark), std::get<2>(mark), std::get<3>(mark)};
  change([&] { return ck_index_rollback(handle_, state, keep_grams); }, "mark of another index");
}

}  // namespace binding

void bind_ngram(nb::module_& module) {
  using namespace binding;
  using namespace nb::literals;
  nb::class_<Index>(module, "TextIndex", "Texts as rows of words and n-grams; see caption_kernels.reference.TextIndex.")
      .def(nb::init<const std::string&>(), "tokenizer"_a = "ptb")
      .def("add", &Index::add, "texts"_a)
      .def("add_tokens", &Index::add_tokens, "tokens"_a.noconvert(), "starts"_a.noconvert(), "end"_a = -1, "keep_end"_a = false)
      .def("gram_rows", &Index::gram_rows, "rows"_a.noconvert())
      .def("lengths", &Index::lengths, "rows"_a.noconvert())
      .def("texts", &Index::texts, "rows"_a.noconvert())
      .def("entries", &Index::entries, "row"_a)
      .def("intern_grams", &Index::intern_grams, "grams"_a)
      .def("gram_texts", &Index::gram_texts)
      .def("document_frequencies", &Index::document_frequencies, "rows"_a.noconvert(), "starts"_a.noconvert())
      .def("mark", &Index::mark)
      .def("__getstate__", &Index::state)
      .def("__setstate__",
           [](Index& index, const std::tuple<std::string, nb::object, Input<uint64_t, 1>>& state) {
             new (&index) Index(std::get<0>(state));
             index.restore(std::get<1>(state), std::get<2>(state));
           })
      .def("rollback", &Index::rollback, "mark"_a, "keep_grams"_a = false)
      .def_prop_ro("n_rows", [](const Index& index) { return index.sizes().rows; })
      .def_prop_ro("n_grams", [](const Index& index) { return index.sizes().grams; })
      .def_prop_ro("n_words", &Index::n_words);
  module.def("clip_pairs", &clip_pairs, "index"_a, "hyp"_a.noconvert(), "ref"_a.noconvert());
  module.def("clip_all", &clip_all, "index"_a, "hyp"_a.noconvert(), "ref"_a.noconvert());
  module.def("bleu_scores", &bleu_scores, "matches"_a.noconvert(), "guesses"_a.noconvert(), "lengths"_a.noconvert(),
             "reference_lengths"_a.noconvert(), "order"_a);
  module.def("bleu_relabel", &bleu_relabel, "index"_a, "rows"_a.noconvert(), "labels"_a.noconvert(), "order"_a);
  module.def("lcs_pairs", &lcs_pairs, "index"_a, "hyp"_a.noconvert(), "ref"_a.noconvert());
  module.def("rouge_relabel", &rouge_relabel, "lcs"_a.noconvert(), "lengths"_a.noconvert(), "labels"_a.noconvert(), "beta"_a);
  module.def("cider_pairs", &cider_pairs, "index"_a, "idf"_a.noconvert(), "unseen"_a, "hyp"_a.noconvert(), "ref"_a.noconvert(),
             "clip"_a = true, "sigma"_a = 6.0);
  module.def("cider_repetition", &cider_repetition, "index"_a, "hyp"_a.noconvert(), "ref"_a.noconvert());
  module.def("cider_idf", &cider_idf, "frequencies"_a.noconvert(), "documents"_a);
  module.def("best_relabel", &best_relabel, "pairs"_a.noconvert(), "labels"_a.noconvert());
}
