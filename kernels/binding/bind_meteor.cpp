// Binding of METEOR's texts, alignment and score.
#include <mutex>
#include <shared_mutex>

#include "convert.hpp"
#include "index.hpp"
#include "lexicon.hpp"

void bind_lexicon(nb::module_& module);

namespace binding {

namespace {

template <class T, size_t Dimensions>
using Output = nb::ndarray<T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;

constexpr size_t STATISTICS = CK_METEOR_STATISTICS;

// The Python class MeteorTexts.
class MeteorTable {
 public:
  explicit MeteorTable(const Lexicon& lexicon) { check(ck_meteor_new(lexicon.handle(), &handle_), "METEOR"); }
  ~MeteorTable() { ck_meteor_free(handle_); }
  MeteorTable(const MeteorTable&) = delete;
  MeteorTable& operator=(const MeteorTable&) = delete;

  nb::object intern(nb::handle texts) {
    const Texts read(texts);
    int64_t* ids = nullptr;
    nb::object array = new_array({static_cast<size_t>(read.size())}, ids);
    ck_status status;
    {
      nb::gil_scoped_release unlocked;
      const std::unique_lock<std::shared_mutex> alone(mutex_);
      status = ck_meteor_intern(handle_, read.data(), read.size(), ids);
    }
    check(status, "METEOR");
    return array;
  }

  nb::object add_rows(nb::object index, const Input<int64_t, 1>& rows) {
    if (!nb::isinstance<Index>(index)) throw nb::type_error("expected a TextIndex");
    const auto& source = nb::cast<const Index&>(index);
    int64_t* ids = nullptr;
    nb::object array = new_array({rows.shape(0)}, ids);
    source.read(
        [&](const ck_index* handle) {
          const std::unique_lock<std::shared_mutex> alone(mutex_);
          std::swap(index_, index);  // the last index must live until another one takes its place
          return ck_meteor_add_rows(handle_, handle, rows.data(), static_cast<int64_t>(rows.shape(0)), ids);
        },
        "METEOR");
    return array;
  }

  nb::object same_words(const Input<int64_t, 2>& ids) const {
    int64_t* numbers = nullptr;
    nb::object array = new_array({ids.shape(0), ids.shape(1)}, numbers);
    read([&] { return ck_meteor_same_words(handle_, ids.data(), static_cast<int64_t>(ids.size()), numbers); });
    return array;
  }

  int64_t n_words(int64_t text) const {
    const int32_t* words = nullptr;
    int64_t size = 0;
    read([&] { return ck_meteor_words(handle_, text, &words, &size); });
    return size;
  }

  int64_t align(const Input<int64_t, 1>& text_starts, const Input<int64_t, 1>& texts, const Input<int64_t, 1>& pair_starts,
                const Input<int32_t, 1>& hyps, const Input<int32_t, 1>& refs, const Input<int64_t, 1>& rows, int64_t start, int64_t stop,
                const Output<double, 1>& scores, const Output<int32_t, 2>& statistics) const {
    const size_t groups = text_starts.shape(0), pairs = hyps.shape(0);
    if (groups == 0 || pair_starts.shape(0) != groups) throw nb::value_error("expected bounds of the same number of groups");
    if (refs.shape(0) != pairs || rows.shape(0) != pairs || scores.shape(0) != pairs || statistics.shape(1) != STATISTICS) {
      throw nb::value_error("expected hyps, refs, rows and scores of one length, and statistics with 23 columns");
    }
    const ck_meteor_pairs given{static_cast<int64_t>(groups) - 1, static_cast<int64_t>(texts.shape(0)), static_cast<int64_t>(pairs),
                                text_starts.data(), texts.data(), pair_starts.data(), hyps.data(), refs.data(), rows.data()};
    int64_t excess = -1;
    read([&] {
      return ck_meteor_align(handle_, &given, start, stop, scores.data(), statistics.data(), static_cast<int64_t>(statistics.shape(0)),
                             &excess);
    });
    return excess;
  }

 private:
  // Reads the handle without the interpreter lock; several threads may read at a time, none while the handle changes.
  template <class Work>
  void read(Work&& work) const {
    ck_status status;
    {
      nb::gil_scoped_release unlocked;
      const std::shared_lock<std::shared_mutex> shared(mutex_);
      status = work();
    }
    check(status, "METEOR");
  }

  ck_meteor* handle_ = nullptr;
  nb::object index_;  // whose rows were added last
  mutable std::shared_mutex mutex_;
};

nb::object meteor_score(const Input<double, 2>& statistics) {
  if (statistics.shape(1) != STATISTICS) throw nb::value_error("expected statistics of shape (n, 23)");
  double* out = nullptr;
  nb::object array = new_array({statistics.shape(0)}, out);
  ck_meteor_scores(statistics.data(), static_cast<int64_t>(statistics.shape(0)), out);
  return array;
}

}  // namespace

}  // namespace binding

void bind_meteor(nb::module_& module) {
  using namespace binding;
  using namespace nb::literals;
  bind_lexicon(module);
  nb::class_<MeteorTable>(module, "MeteorTexts", "Texts prepared for METEOR's alignment; see caption_kernels.reference.MeteorTexts.")
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
