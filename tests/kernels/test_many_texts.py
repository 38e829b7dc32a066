"""Long comparison of the compiled kernels with the readable ones: at least 100,000
random texts for the n-gram metrics and for METEOR.

An example of hypothesis is a vocabulary, a distribution of lengths and a seed; a
generator draws a thousand texts of them. A text drawn word by word by hypothesis takes
longer than its comparison.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import caption_kernels_reference as reference

compiled = pytest.importorskip("caption_kernels._compiled")
pytestmark = [pytest.mark.slow, pytest.mark.equal_bits]

ENGINES = [compiled, reference]
EXAMPLES = 110
"""Batches of each test."""
BATCH = 1000
"""Texts of a batch."""
GROUP = 5
"""Texts that are compared with one another."""
LONG = 1000
"""Words of a text from which it is compared with shorter ones only."""
CAPTION = [
    "a",
    "the",
    "dog",
    "dogs",
    "hound",
    "puppy",
    "is",
    "running",
    "run",
    "went",
    "in",
    "front",
    "of",
    "before",
    "on",
    "top",
    "over",
    "park",
    ".",
    "lady",
    "cat's",
    "café",
    "3\xa01/2",
    "Mr.",
    "No",
    "5",
]
ODD = [
    "",
    "\u2003",
    "é",
    "e\u0301",
    "\ud800",
    "\x00",
    "\x1cfast",
    "🐶",
    "שלום",
    "ΣΑΣ",
    "İ",
    "em",
    "aé",
    "a|||b",
    "--",
    "...",
    "\u2028",
    "1,000",
]


class Batch(NamedTuple):
    """The source of a batch of texts."""

    words: list[str]
    most: int
    """Most words of a text."""
    seed: int

    def texts(self, size: int = BATCH) -> list[str]:
        """Return the texts: one in twenty is empty,
        and of short lengths there are more.
        """
        rng = np.random.default_rng(self.seed)
        lengths = np.minimum(rng.geometric(2 / (2 + self.most), size) - 1, self.most)
        lengths[rng.random(size) < 0.05] = 0
        return [
            " ".join(self.words[k] for k in rng.integers(0, len(self.words), length))
            for length in lengths
        ]


def batches(most: int) -> st.SearchStrategy[Batch]:
    """Batches of texts of at most ``most`` words: of captions, odd words, any words of
    Unicode, or a few letters.
    """
    vocabularies = st.one_of(
        st.just(CAPTION),
        st.just([*CAPTION, *ODD]),
        st.lists(st.text(max_size=6), min_size=1, max_size=30),
        st.lists(
            st.one_of(st.text(max_size=4), st.sampled_from(CAPTION)),
            min_size=5,
            max_size=60,
        ),
        st.integers(2, 26).map(lambda size: list("abcdefghijklmnopqrstuvwxyz"[:size])),
    )
    return st.builds(
        Batch, vocabularies, st.integers(1, most), st.integers(0, 2**32 - 1)
    )


def long(test):
    """Run a test on all batches, without a limit of time."""
    checks = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
    return settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=checks)(
        test
    )


def ngram_numbers(engine, texts, n, order, clip, sigma):
    """Return every number of BLEU, ROUGE-L, CIDEr, CIDEr-D and CIDEr-R of groups of
    texts with ``n`` candidates.
    """
    index = engine.TextIndex("none")
    rows = index.add(texts)
    grams = index.gram_rows(rows).reshape(-1, GROUP)
    words = rows.reshape(-1, GROUP)

    hyp = np.ascontiguousarray(grams[:, :n])
    ref = np.ascontiguousarray(grams[:, n:])
    starts = np.arange(len(ref) + 1) * ref.shape[1]
    idf = engine.cider_idf(
        index.document_frequencies(ref.ravel(), starts), float(len(ref))
    )
    unseen = float(reference.log(float(len(ref))))

    matches = engine.clip_all(index, hyp, ref)
    lengths = index.lengths(grams.ravel()).reshape(grams.shape)
    guesses = np.maximum(0, lengths[:, :1] - np.arange(4)).astype(np.float64)
    counts = (
        matches[:, 0].astype(np.float64),
        guesses,
        lengths[:, 0].astype(np.float64),
        lengths[:, n].astype(np.float64),
    )

    labels = np.array(
        [[1] * n + [0] * (GROUP - n), [0] * n + [1] * (GROUP - n)], dtype=np.uint8
    )

    return [
        rows,
        grams,
        index.n_grams,
        matches,
        engine.clip_pairs(index, hyp, ref),
        engine.bleu_scores(*counts, order),
        engine.bleu_relabel(index, grams, labels, order),
        idf,
        engine.cider_pairs(index, idf[: len(idf) // 2], unseen, hyp, ref, clip, sigma),
        engine.cider_repetition(index, hyp, ref),
        *rouge_numbers(engine, index, words, labels),
    ]


def rouge_numbers(engine, index, words, labels):
    """Return every number of ROUGE-L; of long texts, whose readable version is
    quadratic, those of the first one with the others.
    """
    sizes = index.lengths(words.ravel()).reshape(words.shape)
    if sizes.max() > LONG:
        first = np.ascontiguousarray(words[:, :1])
        others = np.ascontiguousarray(words[:, 1:])
        return [
            engine.lcs_pairs(index, first, others),
            engine.lcs_pairs(index, others, first),
        ]
    common = engine.lcs_pairs(index, words, words)
    return [common, engine.rouge_relabel(common, sizes, labels, 1.2)]


def assert_ngrams_agree(texts, n=2, order=4, clip=True, sigma=6.0):
    for ours, theirs in zip(
        *(ngram_numbers(engine, texts, n, order, clip, sigma) for engine in ENGINES)
    ):
        np.testing.assert_array_equal(ours, theirs)


@long
@given(
    batches(16),
    st.integers(1, GROUP - 1),
    st.integers(1, 4),
    st.booleans(),
    st.sampled_from([6.0, math.inf]),
)
def test_ngram_metrics(batch, n, order, clip, sigma):
    assert_ngrams_agree(batch.texts(), n, order, clip, sigma)


@settings(max_examples=3, deadline=None)
@given(batches(1), st.integers(1, 4))
def test_ngram_metrics_of_ten_thousand_tokens(batch, n):
    words = np.random.default_rng(batch.seed).choice([*batch.words, "dog", "a"], 10_000)
    assert_ngrams_agree(
        [" ".join(words.tolist()), *batch._replace(most=9).texts(GROUP - 1)], n
    )


def meteor_numbers(engine, new_meteor_texts, texts):
    """Return scores and statistics of the first text of each group against the others,
    and back against one of them.
    """
    table = new_meteor_texts(engine)
    ids = table.intern(texts)
    groups = len(texts) // GROUP
    hyps = np.tile(np.array([0] * (GROUP - 1) + [1], dtype=np.int32), groups)
    refs = np.tile(np.array([*range(1, GROUP), 0], dtype=np.int32), groups)
    rows = np.arange(len(hyps), dtype=np.int64)
    scores = np.full(len(hyps), -1.0)
    statistics = np.full((len(hyps), 23), -1, dtype=np.int32)
    bounds = np.arange(groups + 1, dtype=np.int64) * GROUP
    found = table.align(
        bounds, ids, bounds, hyps, refs, rows, 0, groups, scores, statistics
    )
    return [ids, found, scores, statistics, table.same_words(ids[None])]


def assert_meteor_agrees(new_meteor_texts, texts):
    ours, theirs = (
        meteor_numbers(engine, new_meteor_texts, texts) for engine in ENGINES
    )
    assert ours[1] == -1
    for one, other in zip(ours, theirs):
        np.testing.assert_array_equal(one, other)


@long
@given(batches(10))
def test_meteor(new_meteor_texts, batch):
    assert_meteor_agrees(new_meteor_texts, batch.texts())


@settings(max_examples=3, deadline=None)
@given(batches(1))
def test_meteor_of_ten_thousand_tokens(new_meteor_texts, batch):
    words = np.random.default_rng(batch.seed).permutation(np.arange(10_000))
    texts = [" ".join(f"w{k}" for k in words), *batch._replace(most=9).texts(GROUP - 1)]
    assert_meteor_agrees(new_meteor_texts, texts)
