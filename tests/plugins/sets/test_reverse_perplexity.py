"""``reverse-perplexity``: probabilities by the definition, sums of 1, contract,
what it falls and rises with.
"""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import metric as find_metric
from harness.testing import parametrize_with_checks
from harness_metrics.sets.reverse_perplexity import (
    DISCOUNT,
    ReversePerplexity,
    word_probabilities,
)
from harness_metrics.words.grams import words_of
from harness_metrics.words.keys import Vocabulary

TEXTS = st.lists(st.lists(st.sampled_from("abcd"), max_size=5), min_size=1, max_size=5)


@pytest.mark.slow
@parametrize_with_checks([ReversePerplexity(), ReversePerplexity(n=1)])
def test_contract(check):
    check()


def grams(sentences, n, order):
    """Return the n-grams of an order of sentences with n-1 starts and an end,
    one for each word and end.
    """
    padded = [["<s>"] * (n - 1) + list(words) + ["</s>"] for words in sentences]
    return [
        tuple(words[k - order + 1 : k + 1])
        for words in padded
        for k in range(n - 1, len(words))
    ]


def by_definition(candidates, references, n):
    """Return the probabilities of interpolated Kneser-Ney smoothing,
    recursively from dictionaries of counts.
    """
    counts = {n: Counter(grams(candidates, n, n))}
    for order in range(n - 1, 0, -1):
        counts[order] = Counter(
            gram[1:] for gram in set(grams(candidates, n, order + 1))
        )
    vocabulary = {
        gram[0] for side in (candidates, references) for gram in grams(side, n, 1)
    }

    def probability(gram):
        if not gram:
            return 1 / len(vocabulary)
        seen = {
            word: count
            for word, count in counts[len(gram)].items()
            if word[:-1] == gram[:-1]
        }
        if not seen:
            return probability(gram[1:])
        total = sum(seen.values())
        return max(seen.get(gram, 0) - DISCOUNT, 0) / total + DISCOUNT * len(
            seen
        ) / total * probability(gram[1:])

    return [probability(gram) for gram in grams(references, n, n)]


def probabilities(candidates, references, n):
    vocabulary = Vocabulary()
    return word_probabilities(
        *(words_of(side, vocabulary) for side in (candidates, references)), n
    )


@given(TEXTS, TEXTS, st.integers(1, 4))
def test_probabilities_by_the_definition(candidates, references, n):
    assert probabilities(candidates, references, n) == pytest.approx(
        by_definition(candidates, references, n), rel=1e-12
    )


@given(TEXTS, st.integers(1, 3), st.lists(st.sampled_from("abcd"), max_size=3))
def test_probabilities_of_all_next_words_sum_to_one(candidates, n, history):
    """The references are the history followed by each word of the vocabulary,
    and by the end.
    """
    texts = [[*history, word] for word in "abcd"]
    words = probabilities(candidates, texts, n).reshape(4, -1)[:, len(history)]
    end = (
        by_definition(candidates, texts, n)[-1:]
        and probabilities(candidates, [*texts, history], n)[-1]
    )
    assert words.sum() + end == pytest.approx(1.0)


def test_value_by_hand():
    """With n = 1 the words a, a and the end have counts 2 and 1 of 3: p(a) = 1.25/3 +
    .5/2, p(end) = .25/3 + .5/2.
    """
    value = find_metric("reverse-perplexity", n=1, tokenizer="none")(
        [["a a"]], [["a"]]
    ).value
    assert value == pytest.approx(1 / np.sqrt((1.25 / 3 + 0.25) * (0.25 / 3 + 0.25)))


def test_copies_of_one_caption_predict_people_worse_than_other_people_do():
    references = [
        ["a dog runs on grass", "the brown dog runs fast"],
        ["a cat sits on a mat", "one grey cat indoors"],
    ]
    metric = find_metric("reverse-perplexity")
    varied = [["the dog runs on grass"], ["a grey cat sits indoors"]]
    copies = [["a dog runs on grass"]] * 2
    assert metric(varied, references).value < metric(copies, references).value
