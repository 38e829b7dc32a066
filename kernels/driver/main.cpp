// Runs all functions of the C interface for the sanitizers:
//
//   driver LEXICON texts COUNT         generated texts, and lexicons of which bytes are damaged
//   driver LEXICON files FILE...       texts of files: vectors, findings of the fuzzer
//   driver LEXICON threads COUNT       the same work in four threads that share handles
//   driver LEXICON memory              each allocation in turn fails
#include <cstring>
#include <thread>

#include "shared.hpp"

namespace driver {

namespace {

constexpr int64_t BATCH = 100;  // texts of one call
constexpr uint64_t SEED = 20240607;

void require_ok(ck_status status, const char* what) {
  if (status != CK_OK) std::fprintf(stderr, "%s: status %d\n", what, static_cast<int>(status));
  require(status == CK_OK, "good texts give CK_OK");
}

void run_all(const ck_lexicon* lexicon, const Texts& texts, Random& random) {
  require_ok(run_text(texts), "tokeniser and stemmer");
  require_ok(run_ngram(texts, random), "index");
  require_ok(run_meteor(lexicon, texts, random), "METEOR");
}

Texts make_texts(Random& random, int64_t count) {
  Texts texts;
  for (int64_t k = 0; k < count; ++k) texts.push_back(make_text(random));
  return texts;
}

int run_texts(int64_t count) {
  Random random(SEED);
  require_ok(run_math(random), "math");
  for (int64_t done = 0; done < count; done += BATCH) {
    const Texts texts = make_texts(random, std::min(BATCH, count - done));
    Lexicon lexicon;
    require_ok(lexicon.open(random), "lexicon");
    run_all(lexicon.handle(), texts, random);
    require_ok(run_damaged_lexicons(Texts(texts.begin(), texts.begin() + static_cast<int64_t>(texts.size()) / 10), random, 4), "damage");
  }
  std::printf("%lld generated texts\n", static_cast<long long>(count));
  return 0;
}

int run_files(int n_files, char** files) {
  Random random(SEED);
  Lexicon lexicon;
  require_ok(lexicon.open(random), "lexicon");
  int64_t count = 0;
  for (int k = 0; k < n_files; ++k) {
    const Texts texts = read_texts(files[k]);
    for (size_t start = 0; start < texts.size(); start += BATCH) {
      const size_t stop = std::min(texts.size(), start + BATCH);
      run_all(lexicon.handle(), Texts(texts.begin() + static_cast<int64_t>(start), texts.begin() + static_cast<int64_t>(stop)), random);
    }
    count += static_cast<int64_t>(texts.size());
  }
  std::printf("%lld texts of %d files\n", static_cast<long long>(count), n_files);
  return 0;
}

int run_threads(int64_t count) {
  Random random(SEED);
  Lexicon lexicon;
  require_ok(lexicon.open(random), "lexicon");
  for (int64_t done = 0; done < count; done += BATCH) {
    const Texts texts = make_texts(random, BATCH);
    std::vector<std::thread> threads;
    Shared shared;
    require_ok(shared.build(lexicon.handle(), texts), "shared handles");
    for (uint64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        Random own(SEED + t);
        require_ok(shared.read(own), "shared handles");
        if (done == 0) run_all(lexicon.handle(), texts, own);  // handles of its own, and the shared lexicon
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::printf("%lld generated texts, four threads\n", static_cast<long long>(count));
  return 0;
}

// Lets each allocation of a piece of work fail, alone and with all later ones.
template <class Work>
void fail_each(const char* name, Work work) {
  int64_t total = 0, failed = 0;
  for (void (*fail)(int64_t) : {fail_from, fail_only}) {
    fail(-1);
    require_ok(work(), name);
    total = allocations();
    const int64_t step = std::max<int64_t>(1, total / 3000);
    for (int64_t number = 0; number < total; number += step) {
      fail(number);
      const ck_status status = work();
      fail(-1);
      require(status == CK_NO_MEMORY || status == CK_OK, "a failed allocation is CK_NO_MEMORY");
      require(status == CK_NO_MEMORY || fail == fail_only, "a failed allocation is not hidden");
      failed += status == CK_NO_MEMORY;
    }
    require(failed > 0, "failures are noticed");
  }
  std::printf("%s: %lld allocations, %lld failures\n", name, static_cast<long long>(total), static_cast<long long>(failed));
}

// A handle serves on after a failed allocation.
void recover(const ck_lexicon* lexicon, const Texts& texts, Random& random) {
  int64_t number = 0;
  for (bool failing = true; failing; number += 1 + number / 64) {
    Shared handles;
    require_ok(handles.build(lexicon, texts), "handles");
    require_ok(handles.recover(make_texts(random, 12), number), "handles after a failed allocation");
    failing = number < 20000;
  }
  std::printf("handles: failures up to allocation %lld\n", static_cast<long long>(number));
}

int run_memory() {
  Random random(SEED);
  const Texts texts = make_texts(random, 24);
  Lexicon lexicon;
  require_ok(lexicon.open(random), "lexicon");
  fail_each("tokeniser and stemmer", [&] { return run_text(texts); });
  fail_each("index", [&] {
    Random own(SEED);
    return run_ngram(texts, own);
  });
  fail_each("METEOR", [&] {
    Random own(SEED);
    return run_meteor(lexicon.handle(), texts, own);
  });
  fail_each("paraphrases", [&] {
    Random own(SEED);
    return read_paraphrases(own, false);
  });
  recover(lexicon.handle(), texts, random);
  return 0;
}

}  // namespace

}  // namespace driver

int main(int n, char** arguments) {
  const std::string mode = n > 2 ? arguments[2] : "";
  const int64_t count = n > 3 ? std::atoll(arguments[3]) : 0;
  if (n > 2) driver::Lexicon::read_file(arguments[1]);
  if (mode == "texts") return driver::run_texts(count);
  if (mode == "files") return driver::run_files(n - 3, arguments + 3);
  if (mode == "threads") return driver::run_threads(count);
  if (mode == "memory") return driver::run_memory();
  std::fprintf(stderr, "driver LEXICON texts COUNT | files FILE... | threads COUNT | memory\n");
  return 2;
}
