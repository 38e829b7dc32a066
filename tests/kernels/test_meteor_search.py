"""The readable version against the jar's golden alignments,
and its parts one by one.
"""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

import caption_kernels_reference as reference
from caption_kernels.lexicon.installed import MissingSources, build, find_sources
from caption_kernels_reference.meteor.aligner import (
    Text,
    Word,
    find_matches,
    statistics_of,
)
from caption_kernels_reference.meteor.search import (
    EXACT,
    PARAPHRASE,
    STEM,
    SYNONYM,
    Match,
    Path,
    search,
)


@pytest.fixture(scope="module")
def golden_items(golden):
    with gzip.open(
        golden / "meteor/meteor_golden.jsonl.gz", "rt", encoding="utf-8"
    ) as lines:
        return [item for item in map(json.loads, lines) if "alignment" in item]


@pytest.fixture(scope="module")
def installed_texts():
    try:
        return reference.MeteorTexts(reference.Lexicon(build(find_sources())))
    except MissingSources as error:
        pytest.skip(str(error))


def text_of(table, words):
    """Return the analysed text of words in an engine's table."""
    return table._texts[int(table.intern([" ".join(words)])[0])]


@pytest.mark.slow
def test_golden_alignments_and_statistics(golden_items, installed_texts):
    for item in [
        *golden_items[::4],
        *(item for item in golden_items if item["kind"] in ("edge", "shuffled_stress")),
    ]:
        hyp, *refs = (
            installed_texts._texts[i]
            for i in installed_texts.intern([item["hyp"], *item["refs"]]).tolist()
        )
        rows = [
            statistics_of(search(find_matches(hyp, ref), len(ref.words)), hyp, ref)
            for ref in refs
        ]
        scores = reference.meteor_score(np.array(rows, dtype=np.float64))
        best = int(scores.argmax())  # the first of equals
        assert rows[best] == item["stats"]
        alignment = search(find_matches(hyp, refs[best]), len(refs[best].words))
        assert [list(match) for match in alignment] == item["alignment"]


@pytest.fixture
def matches(new_meteor_texts):
    """Return a function that returns the matches of two lists of words."""
    table = new_meteor_texts(reference)
    return lambda hyp, ref: find_matches(text_of(table, hyp), text_of(table, ref))


def test_matches_by_module(matches):
    assert matches(["dog"], ["dogs"]) == [
        Match(0, 1, 0, 1, STEM),
        Match(0, 1, 0, 1, SYNONYM),
    ]
    assert Match(0, 1, 0, 1, SYNONYM) in matches(["hound"], ["dog"])
    assert matches(["a", "dog"], ["the", "dog"])[0] == Match(1, 1, 1, 1, EXACT)
    # one for each entry, either way
    assert (
        matches(["a", "dog"], ["the", "dog"]).count(Match(0, 2, 0, 2, PARAPHRASE)) == 3
    )


def test_equal_texts_have_exact_matches_only(matches):
    assert {match.module for match in matches(["a", "dog"], ["a", "dog"])} == {EXACT}
    # equal Java hashes
    assert {match.module for match in matches(["em"], ["aé"])} == {EXACT}


def test_matches_without_overlap_are_all_in_the_alignment():
    alone = [
        Match(0, 1, 2, 1, EXACT),
        Match(1, 1, 1, 1, STEM),
        Match(2, 2, 3, 1, PARAPHRASE),
    ]
    assert search(alone, 4) == alone


def test_search_prefers_more_words_then_fewer_chunks_then_the_earlier_path():
    crossed = [
        Match(0, 1, 0, 1, EXACT),
        Match(0, 1, 1, 1, EXACT),
        Match(1, 1, 0, 1, EXACT),
    ]
    assert search(crossed, 2) == crossed[1:]
    contiguous = [
        Match(0, 1, 1, 1, EXACT),
        Match(1, 1, 0, 1, EXACT),
        Match(1, 1, 2, 1, EXACT),
    ]
    assert search(contiguous, 2) == [contiguous[0], contiguous[2]]
    phrase = Match(0, 2, 0, 2, PARAPHRASE)
    word = Match(1, 1, 0, 1, EXACT)
    assert search([word, phrase], 2) == [phrase]  # both count two words in one chunk


def test_path_counts_words_and_chunks():
    path = Path({}, set(), set())
    path.count(Match(0, 1, 0, 1, EXACT))
    # the same chunk; half of three words, rounded down
    path.count(Match(1, 3, 1, 3, PARAPHRASE))
    assert (
        path.hyp_count,
        path.ref_count,
        path.chunks,
        path.next_ref,
        path.chunk_end,
    ) == (2, 2, 0, 4, 4)
    copy = path.copy()
    copy.count(Match(4, 1, 9, 1, EXACT))
    assert (copy.chunks, path.chunks) == (1, 0)
    path.close_chunk()
    path.close_chunk()
    assert path.chunks == 1
    assert path.order() == (-4, 1, 0)


def test_path_with_a_used_word_is_not_free():
    path = Path({}, used_hyp={2}, used_ref={5})
    assert path.is_free(Match(0, 2, 0, 2, PARAPHRASE))
    assert not path.is_free(Match(4, 2, 0, 1, PARAPHRASE))
    assert not path.is_free(Match(0, 1, 1, 2, PARAPHRASE))


def test_statistics_of_an_alignment():
    hyp, ref = (
        Text(
            tuple(
                Word(k, k, frozenset(), function)
                for k, function in enumerate(functions)
            ),
            (),
        )
        for functions in ([True, False, False], [True, False, False, False, True])
    )
    alignment = [
        Match(2, 1, 1, 1, EXACT),
        Match(3, 1, 2, 1, EXACT),
        Match(4, 1, 0, 1, STEM),
    ]
    assert statistics_of(alignment, hyp, ref) == [
        3,
        5,
        1,
        2,
        *[2, 2, 0, 0],
        *[0, 0, 1, 1],
        *[0] * 8,
        2,
        3,
        3,
    ]
