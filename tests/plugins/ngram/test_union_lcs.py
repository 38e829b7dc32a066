"""The union of common subsequences against the table of lengths,
walked cell by cell.
"""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from harness_metrics.ngram.union_lcs import Summary, union_hits

sentences = st.lists(
    st.lists(st.sampled_from("abcd"), max_size=9).map(tuple), max_size=4
).map(tuple)
long = st.lists(
    st.lists(st.sampled_from("ab"), min_size=60, max_size=140).map(tuple),
    min_size=1,
    max_size=2,
).map(tuple)


def places_of(first, second):
    """Return the places in the first sentence of the common subsequence that
    rouge_score reads out of the table.
    """
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, word in enumerate(first, 1):
        for j, other in enumerate(second, 1):
            table[i][j] = (
                table[i - 1][j - 1] + 1
                if word == other
                else max(table[i - 1][j], table[i][j - 1])
            )
    places = set()
    i = len(first)
    j = len(second)
    while i and j:
        if first[i - 1] == second[j - 1]:
            places.add(i - 1)
            i = i - 1
            j = j - 1
        elif table[i][j - 1] > table[i - 1][j]:
            j -= 1
        else:
            i -= 1
    return places


def expected_hits(reference, candidate):
    left = Counter(word for sentence in candidate for word in sentence)
    hits = 0
    for sentence in reference:
        for place in sorted(
            set().union(*(places_of(sentence, other) for other in candidate))
        ):
            if left[sentence[place]] > 0:
                left[sentence[place]] -= 1
                hits += 1
    return hits


@settings(max_examples=200, deadline=None)
@given(sentences, sentences)
def test_hits_equal_those_of_the_table(reference, candidate):
    assert union_hits(Summary(reference), Summary(candidate)) == expected_hits(
        reference, candidate
    )


@settings(max_examples=5, deadline=None)
@given(long, long)
def test_hits_of_sentences_longer_than_a_machine_word(reference, candidate):
    assert union_hits(Summary(reference), Summary(candidate)) == expected_hits(
        reference, candidate
    )


def test_a_word_counts_as_often_as_the_candidate_has_it():
    assert (
        union_hits(Summary((("a", "b"), ("a", "c"))), Summary((("a", "b", "c"),))) == 3
    )
