"""The bigram model of words: probabilities sum to 1 and equal the formula, references
are scored with their context.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from harness.contracts import Decoding, Example, Scorer
from harness.errors import HarnessError
from harness_models.baselines.word_model import END, WordModel, words_of

LINES = ["A dog runs.", "A dog sleeps.", "The cat sleeps on a mat."]


@pytest.fixture
def model(tmp_path):
    (tmp_path / "corpus.txt").write_text("\n".join(LINES) + "\n")
    return WordModel(corpus={"path": str(tmp_path / "corpus.txt")})


def formula(before: str, word: str) -> float:
    """Witten-Bell smoothing by its definition."""
    texts = [[*words_of(line), END] for line in LINES]
    single = Counter(token for text in texts for token in text)
    pairs = Counter(pair for text in texts for pair in zip([END, *text], text))
    after = {
        second: count for (first, second), count in pairs.items() if first == before
    }
    lower = (single[word] + len(single) / (len(single) + 1)) / (
        sum(single.values()) + len(single)
    )
    if not after:
        return lower
    return (after.get(word, 0) + len(after) * lower) / (
        sum(after.values()) + len(after)
    )


def test_probabilities_are_those_of_the_formula(model):
    for before in (END, "a", "dog", "zebra"):
        assert model.distribution(before).sum() == pytest.approx(1.0)
        for word, index in model._index.items():
            assert model.distribution(before)[index] == pytest.approx(
                formula(before, word)
            )
        assert model.distribution(before)[0] == pytest.approx(
            formula(before, "unknown")
        )


def test_references_are_scored_word_by_word(model):
    assert isinstance(model, Scorer)
    example = Example("e", ("A dog sleeps.", "zebra"), source="Is there a cat?")
    first, second = next(iter(model.score_references([example])))
    assert first.tokens == ("a", "dog", "sleeps", ".", END) and second.tokens == (
        "zebra",
        END,
    )
    expected = [
        formula("?", "a"),
        formula("a", "dog"),
        formula("dog", "sleeps"),
        formula("sleeps", "."),
        formula(".", END),
    ]
    np.testing.assert_allclose(np.exp(first.log_probs), expected)
    assert second.log_probs[0] == pytest.approx(math.log(formula("?", "zebra")))
    assert first.ranks[1] == 0 and first.ranks[4] == 0
    plain = next(iter(model.score_references([Example("p", ("A dog",))])))[0]
    assert plain.log_probs[0] == pytest.approx(math.log(formula(END, "a")))


def test_ranks_count_the_words_before(model):
    scores = next(iter(model.score_references([Example("e", ("mat mat zebra",))])))[0]
    for token, before, rank in zip(
        scores.tokens, (END, "mat", "mat", "zebra"), scores.ranks
    ):
        probabilities = model.distribution(before)
        index = model._index.get(token, 0)
        above = sum(
            p > probabilities[index] or (p == probabilities[index] and k < index)
            for k, p in enumerate(probabilities)
        )
        assert rank == above


def test_captions_and_bad_corpora_are_refused(model, tmp_path):
    with pytest.raises(
        HarnessError, match="word-model gives likelihoods and no captions"
    ):
        model.generate([Example("e", ("a",))], Decoding(), [0])
    with pytest.raises(
        HarnessError,
        match="word-model: corpus is 'text'; expected parameters of the reader 'lines'",
    ):
        WordModel(corpus="text")  # type: ignore[arg-type]
    (tmp_path / "other.txt").write_text("a\n")
    assert (
        WordModel(corpus={"path": str(tmp_path / "other.txt")}).fingerprint()
        != model.fingerprint()
    )
