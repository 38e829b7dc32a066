// Binding of the index of texts, BLEU, ROUGE-L and CIDEr.
#include <nanobind/stl/tuple.h>

#include <algorithm>

#include "index.hpp"

namespace {

using namespace binding;
using Rows = Input<int64_t, 2>;
using Labels = Input<uint8_t, 2>;
using State = std::tuple<std::string, nb::object, Input<uint64_t, 1>>;
using Mark = std::tuple<int64_t, int64_t, int64_t, int64_t>;

constexpr size_t ORDERS = 4;

nb::object add(Index& index, nb::handle texts) {
  const Texts read(texts);
  return index.fill_changing("texts", {read.size()}, [&](ck_index* handle, int64_t* rows) {
    return ck_index_add(handle, read.data(), read.size(), rows);
  });
}

nb::object add_tokens(Index& index, const Input<int64_t, 1>& tokens, const Input<int64_t, 1>& starts, int64_t end, bool keep_end) {
  const int64_t n = length(starts) - 1;
  require(n >= 0 && starts.data()[0] == 0 && starts.data()[n] == length(tokens),
          "expected bounds that begin with 0 and end with the number of tokens");
  return index.fill_changing("token ids", {static_cast<size_t>(n)}, [&](ck_index* handle, int64_t* rows) {
    return ck_index_add_tokens(handle, tokens.data(), starts.data(), n, end, keep_end, rows);
  });
}

nb::object gram_rows(Index& index, const Input<int64_t, 1>& rows) {
  return index.fill_changing("rows", {rows.size()}, [&](ck_index* handle, int64_t* out) {
    return ck_index_gram_rows(handle, rows.data(), length(rows), out);
  });
}

nb::object intern_grams(Index& index, nb::handle grams) {
  const Texts read(grams);
  return index.fill_changing("n-grams of one to four words", {read.size()}, [&](ck_index* handle, int64_t* ids) {
    return ck_index_intern_grams(handle, read.data(), read.size(), ids);
  });
}

nb::object lengths(const Index& index, const Input<int64_t, 1>& rows) {
  return index.fill_reading<int64_t>("rows", {rows.size()}, [&](const ck_index* handle, int64_t* out) {
    return ck_index_lengths(handle, rows.data(), length(rows), out);
  });
}

nb::list texts(const Index& index, const Input<int64_t, 1>& rows) {
  return index.list_reading("rows", [&](const ck_index* handle, ck_strings** out) {
    return ck_index_texts(handle, rows.data(), length(rows), out);
  });
}

nb::list gram_texts(const Index& index) { return index.list_reading("n-grams", ck_index_grams); }

nb::tuple entries(const Index& index, int64_t row) {
  int64_t ends[ORDERS];
  check(index.read([&](const ck_index* handle) { return ck_index_entries(handle, row, ends, nullptr, nullptr); }), "n-grams");
  const nb::object both = index.fill_reading<int64_t>("n-grams", {2, static_cast<size_t>(ends[3])}, [&](const ck_index* handle, int64_t* out) {
    int64_t present[ORDERS];
    const ck_status status = ck_index_entries(handle, row, present, nullptr, nullptr);
    if (status != CK_OK) return status;
    // Another thread may have changed the row since its entries were counted.
    return std::equal(present, present + ORDERS, ends) ? ck_index_entries(handle, row, present, out, out + ends[3]) : CK_OUT_OF_RANGE;
  });
  nb::list orders;
  for (size_t order = 0; order < ORDERS; ++order) {
    const nb::slice part(nb::int_(order ? ends[order - 1] : 0), nb::int_(ends[order]), nb::none());
    orders.append(nb::make_tuple(both[0][part], both[1][part]));
  }
  return nb::tuple(orders);
}

nb::object document_frequencies(const Index& index, const Input<int64_t, 1>& rows, const Input<int64_t, 1>& starts) {
  const int64_t n = length(starts) - 1, n_grams = index.read(ck_index_mark).grams;
  require_bounds(starts, length(rows), "expected rising bounds of the documents within the rows");
  return index.fill_reading<int64_t>("document frequencies", {static_cast<size_t>(n_grams)}, [&](const ck_index* handle, int64_t* df) {
    return ck_document_frequencies(handle, rows.data(), starts.data(), n, df, n_grams);
  });
}

nb::tuple mark(const Index& index) {
  const ck_mark mark = index.read(ck_index_mark);
  return nb::make_tuple(mark.rows, mark.grams, mark.entries, mark.resolved);
}

void rollback(Index& index, const Mark& mark, bool keep_grams) {
  const auto [rows, grams, entries, resolved] = mark;
  const ck_mark state = {rows, grams, entries, resolved};
  index.change("mark of another index", [&](ck_index* handle) { return ck_index_rollback(handle, state, keep_grams); });
}

// Words and n-grams without rows, for copies in other processes.
nb::tuple get_state(const Index& index) {
  const size_t n_grams = index.read(ck_index_mark).grams;
  const nb::object keys = index.fill_reading<uint64_t>("n-grams", {n_grams}, [&](const ck_index* handle, uint64_t* out) {
    const bool is_same = ck_index_mark(handle).grams == static_cast<int64_t>(n_grams);  // or another thread has added some
    return is_same ? ck_index_gram_keys(handle, out) : CK_OUT_OF_RANGE;
  });
  return nb::make_tuple(index.ptb ? "ptb" : "none", index.list_reading("words", ck_index_words), keys);
}

void set_state(Index& index, const State& state) {
  const auto& [tokenizer, words, keys] = state;
  const Texts read(words);
  new (&index) Index(tokenizer);
  index.change("state of an index", [&](ck_index* handle) {
    return ck_index_restore(handle, read.data(), read.size(), keys.data(), length(keys));
  });
}

// Number of examples with `texts` texts in all. Where they have none there is nothing to do, for however many of them: a shape such as
// (2^40, 0) takes no memory.
int64_t count_examples(const auto& array, size_t texts) { return texts ? length(array) : 0; }

ck_pairs pairs_of(const Rows& hyp, const Rows& ref) {
  require(hyp.shape(0) == ref.shape(0), "hypotheses and references of different numbers of examples");
  return {hyp.data(), ref.data(), count_examples(hyp, hyp.size() + ref.size()), length(hyp, 1), length(ref, 1)};
}

nb::object clip(const Index& index, const Rows& hyp, const Rows& ref, bool each) {
  const ck_pairs pairs = pairs_of(hyp, ref);
  std::vector<size_t> shape = {hyp.shape(0), hyp.shape(1), ORDERS};
  if (each) shape.insert(shape.begin() + 2, ref.shape(1));
  return index.fill_reading<int64_t>("BLEU", shape, [&](const ck_index* handle, int64_t* out) { return ck_clip(handle, pairs, each, out); });
}

nb::object clip_pairs(const Index& index, const Rows& hyp, const Rows& ref) { return clip(index, hyp, ref, true); }

nb::object clip_all(const Index& index, const Rows& hyp, const Rows& ref) { return clip(index, hyp, ref, false); }

// A new array with a number for each pair.
template <class T>
nb::object fill_pairs(const Index& index, const char* what, const Rows& hyp, const Rows& ref, auto&& work) {
  const ck_pairs pairs = pairs_of(hyp, ref);
  const std::vector<size_t> shape = {hyp.shape(0), hyp.shape(1), ref.shape(1)};
  return index.fill_reading<T>(what, shape, [&](const ck_index* handle, T* out) { return work(handle, pairs, out); });
}

nb::object lcs_pairs(const Index& index, const Rows& hyp, const Rows& ref) {
  return fill_pairs<int64_t>(index, "ROUGE-L", hyp, ref, ck_lcs);
}

nb::object cider_pairs(const Index& index, const Input<double, 1>& idf, double unseen, const Rows& hyp, const Rows& ref, bool clip,
                       double sigma) {
  const ck_idf weights = {idf.data(), length(idf), unseen};
  return fill_pairs<double>(index, "CIDEr", hyp, ref, [&](const ck_index* handle, const ck_pairs& pairs, double* out) {
    return ck_cider(handle, weights, pairs, clip, sigma, out);
  });
}

nb::object cider_repetition(const Index& index, const Rows& hyp, const Rows& ref) {
  return fill_pairs<double>(index, "CIDEr-R", hyp, ref, ck_cider_repetition);
}

nb::object cider_idf(const Input<int64_t, 1>& frequencies, double documents) {
  return fill<double>("CIDEr", {frequencies.size()},
                      [&](double* out) { return ck_cider_idf(frequencies.data(), length(frequencies), documents, out); });
}

nb::object bleu_scores(const Input<double, 2>& matches, const Input<double, 2>& guesses, const Input<double, 1>& lengths,
                       const Input<double, 1>& reference_lengths, int order) {
  const int64_t n = length(lengths);
  require(length(matches) == n && length(guesses) == n && length(reference_lengths) == n && matches.shape(1) == ORDERS &&
              guesses.shape(1) == ORDERS,
          "expected matches and guesses of shape (size, 4), lengths of shape (size,)");
  return fill<double>("BLEU", {lengths.size()}, [&](double* out) {
    return ck_bleu(matches.data(), guesses.data(), lengths.data(), reference_lengths.data(), n, order, out);
  });
}

// A new array with a mean for each example and relabeling.
nb::object fill_means(const char* what, const auto& examples, const Labels& labels, auto&& work) {
  require(labels.shape(1) == examples.shape(1), "expected labels (P, N) of the N texts of each example");
  const ck_relabelings relabelings = {labels.data(), count_examples(examples, examples.size()), length(labels, 1), length(labels)};
  return fill<double>(what, {examples.shape(0), labels.shape(0)}, [&](double* out) { return work(relabelings, out); });
}

nb::object bleu_relabel(const Index& index, const Rows& rows, const Labels& labels, int order) {
  return fill_means("BLEU", rows, labels, [&](const ck_relabelings& relabelings, double* out) {
    return index.read([&](const ck_index* handle) { return ck_bleu_relabel(handle, rows.data(), relabelings, order, out); });
  });
}

nb::object rouge_relabel(const Input<int64_t, 3>& lcs, const Rows& lengths, const Labels& labels, double beta) {
  require(lcs.shape(0) == lengths.shape(0) && lcs.shape(1) == lcs.shape(2) && lcs.shape(1) == lengths.shape(1),
          "expected lcs (B, N, N) and lengths (B, N)");
  return fill_means("ROUGE-L", lcs, labels, [&](const ck_relabelings& relabelings, double* out) {
    return ck_rouge_relabel(lcs.data(), lengths.data(), relabelings, beta, out);
  });
}

nb::object best_relabel(const Input<double, 3>& pairs, const Labels& labels) {
  require(pairs.shape(1) == pairs.shape(2), "expected scores (B, N, N)");
  return fill_means("scores by the best reference", pairs, labels,
                    [&](const ck_relabelings& relabelings, double* out) { return ck_best_relabel(pairs.data(), relabelings, out); });
}

}  // namespace

void bind_ngram(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Index>(module, "TextIndex", "Texts as rows of words and n-grams; see caption_kernels_reference.TextIndex.")
      .def(nb::init<const std::string&>(), "tokenizer"_a = "ptb")
      .def("add", &add, "texts"_a)
      .def("add_tokens", &add_tokens, "tokens"_a.noconvert(), "starts"_a.noconvert(), "end"_a = -1, "keep_end"_a = false)
      .def("gram_rows", &gram_rows, "rows"_a.noconvert())
      .def("lengths", &lengths, "rows"_a.noconvert())
      .def("texts", &texts, "rows"_a.noconvert())
      .def("entries", &entries, "row"_a)
      .def("intern_grams", &intern_grams, "grams"_a)
      .def("gram_texts", &gram_texts)
      .def("document_frequencies", &document_frequencies, "rows"_a.noconvert(), "starts"_a.noconvert())
      .def("mark", &mark)
      .def("__getstate__", &get_state)
      .def("__setstate__", &set_state)
      .def("rollback", &rollback, "mark"_a, "keep_grams"_a = false)
      .def_prop_ro("n_rows", [](const Index& index) { return index.read(ck_index_mark).rows; })
      .def_prop_ro("n_grams", [](const Index& index) { return index.read(ck_index_mark).grams; })
      .def_prop_ro("n_words", [](const Index& index) { return index.read(ck_index_n_words); });
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
