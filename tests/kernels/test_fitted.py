"""Scorers that are fitted once: the toolkit's numbers, token ids, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from caption_kernels.coco import Bleu as ToolkitBleu
from caption_kernels.coco import Cider as ToolkitCider
from caption_kernels.scorers import Bleu, Cider, CiderD
from caption_kernels.scorers.df_table import Table

REFERENCES = [
    ["a dog runs on grass", "the dog runs"],
    ["a cat sat"],
    ["one cat on a mat", "a mat", "the cat"],
]
CANDIDATES = ["a dog runs", "a cat sat", "a mat of cats"]
WORDS = sorted(
    {w for texts in [*REFERENCES, CANDIDATES] for t in texts for w in t.split()}
)
NUMBERS = {word: k + 3 for k, word in enumerate(WORDS)}


def ids(text):
    return [NUMBERS[word] for word in text.split()]


def gts_and_res():
    return (
        dict(enumerate(REFERENCES)),
        {k: [text] for k, text in enumerate(CANDIDATES)},
    )


def test_cider_is_that_of_the_toolkit():
    scorer = CiderD(references=REFERENCES, tokenizer="none")
    expected = ToolkitCider().compute_score(*gts_and_res())[1]
    np.testing.assert_allclose(scorer.score(CANDIDATES, REFERENCES), expected, 1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_bleu_is_that_of_the_toolkit(n):
    scores = Bleu(n, tokenizer="none").score(CANDIDATES, REFERENCES)
    expected = ToolkitBleu(n).compute_score(*gts_and_res(), verbose=0)[1][n - 1]
    assert scores.tolist() == expected


def test_frequencies_of_references_and_of_a_mapping_are_the_same():
    frequencies = {}
    for texts in REFERENCES:
        grams = {
            " ".join(words[k : k + n])
            for words in map(str.split, texts)
            for n in range(1, 5)
            for k in range(len(words) - n + 1)
        }
        for gram in grams:
            frequencies[gram] = frequencies.get(gram, 0) + 1
    counted = CiderD(references=REFERENCES, tokenizer="none")
    given = CiderD(df=frequencies, documents=len(REFERENCES), tokenizer="none")
    np.testing.assert_array_equal(
        counted.score(CANDIDATES, REFERENCES), given.score(CANDIDATES, REFERENCES)
    )


@pytest.mark.parametrize("scorer", [CiderD, Cider])
def test_token_ids_are_words(scorer):
    by_words = scorer(references=REFERENCES, tokenizer="none")
    id_references = [[ids(text) for text in texts] for texts in REFERENCES]
    by_ids = scorer(references=id_references, token_ids=True, end=0)
    expected = by_words.score(CANDIDATES, REFERENCES)
    id_candidates = [ids(text) for text in CANDIDATES]
    assert by_ids.score(id_candidates, id_references).tolist() == expected.tolist()

    # an array is padded behind the end
    array = np.zeros((3, 6), dtype=np.int64)
    for row, candidate in zip(array, id_candidates):
        row[: len(candidate)] = candidate
    assert by_ids.score(array, id_references).tolist() == expected.tolist()
    sets = by_ids.score(array[:, None].repeat(2, axis=1), id_references)
    assert sets.shape == (3, 2)
    assert sets.tolist() == np.stack([expected, expected], axis=1).tolist()


def test_the_end_is_a_word_where_it_is_kept():
    settings = {"token_ids": True, "end": 0, "keep_end": True}
    scores = Bleu(1, **settings).score([[4, 5, 0, 9]], [[[4, 5, 0]]])
    assert scores[0] == pytest.approx(1.0)
    assert Bleu(1, token_ids=True, end=0).score([[4, 0, 9]], [[[4, 5, 0]]])[0] < 1


def test_sets_of_candidates_have_the_scores_of_each():
    scorer = CiderD(references=REFERENCES)
    sets = [[text, "a dog"] for text in CANDIDATES]
    scores = scorer.score(sets, REFERENCES)
    assert scores.shape == (3, 2)
    assert scores[:, 0].tolist() == scorer.score(CANDIDATES, REFERENCES).tolist()
    assert scores[:, 1].tolist() == scorer.score(["a dog"] * 3, REFERENCES).tolist()
    assert scorer.score([], []).tolist() == []


def test_references_are_indexed_once_and_candidates_leave_no_trace():
    scorer = CiderD(references=REFERENCES)
    indexed = scorer.index_references(REFERENCES)
    assert indexed.size == 3
    first = scorer.score(CANDIDATES, indexed)
    scorer.score(["words that nobody has seen", "x y z", "q"], indexed)
    size = scorer._index.n_grams
    scorer.score(["other words of another call", "u v w", "p"], indexed)
    assert scorer._index.n_grams == size
    assert scorer.score(CANDIDATES, indexed).tolist() == first.tolist()


def test_counts_are_clipped_by_cider_d_alone():
    repeated = ["dog dog dog dog"] * 3
    clipped = CiderD(references=REFERENCES).score(repeated, REFERENCES)
    assert clipped[0] < Cider(references=REFERENCES).score(repeated, REFERENCES)[0]


@pytest.mark.parametrize(
    ("candidates", "references", "message"),
    [
        (["a"], REFERENCES, "1 examples have candidates but 3 have references"),
        (["a"], [[]], "example 0 has no reference"),
        ([["a"], ["a", "b"]], REFERENCES[:2], "with 1 and with 2 candidates"),
        # Letters of a text are no texts.
        ([["a", "b"], "ab"], REFERENCES[:2], "example 1 has one text, and those"),
        (["ab", ["a", "b"]], REFERENCES[:2], "example 1 has several texts, and"),
        (["a"], ["a dog"], "references of example 0 are one text; expected a list"),
        (["a"] * 2, [["a"], "a dog"], "references of example 1 are one text"),
    ],
)
def test_texts_of_another_form_are_refused(candidates, references, message):
    with pytest.raises(ValueError, match=message):
        Bleu().score(candidates, references)


@pytest.mark.parametrize(
    ("candidates", "references", "message"),
    [
        ([[1, 2]], [[1, 2]], "references of example 0 are one text"),
        ([[1, 2], [[1], [2]]], [[[1]]] * 2, "example 1 has several texts"),
        ([[[1], [2]], [1, 2]], [[[1]]] * 2, "example 1 has one text"),
        ([[1.5]], [[[1]]], "token ids of type float64; expected whole numbers"),
        (np.zeros(3, dtype=int), [[[1]]], r"1 dimensions; expected \(B, L\)"),
    ],
)
def test_token_ids_of_another_form_are_refused(candidates, references, message):
    with pytest.raises(ValueError, match=message):
        Bleu(token_ids=True).score(candidates, references)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "expected either df or references"),
        ({"df": {}, "references": REFERENCES}, "expected either df or references"),
        ({"references": []}, "no references"),
        ({"references": ["a dog", "a cat"]}, "example 0 are one text"),
        ({"df": {"a": 1}}, "needs the number of documents; documents is None"),
        ({"df": {"a": 1}, "documents": 0}, "documents is 0"),
        (
            {"df": Table(["a"], np.array([1]), 2, "none")},
            "the table's tokenizer is 'none', but the scorer's is 'ptb'",
        ),
    ],
)
def test_frequencies_that_cannot_be_used_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        CiderD(**settings)


@pytest.mark.parametrize("n", [0, 5])
def test_orders_that_do_not_exist_are_refused(n):
    with pytest.raises(ValueError, match=f"n is {n}; expected 1, 2, 3 or 4"):
        Bleu(n)
