"""The readable version against the jar's golden alignments, and its parts one by one."""

from __future__ import annotations

import gzip
import json

import pytest

from harness.plugins.meteor.lexicon.disk_cache import installed_lexicon, load_lexicon
from harness.plugins.meteor.reference import (
    EXACT,
    PARAPHRASE,
    STEM,
    SYNONYM,
    Aligner,
    Match,
    Path,
    search,
    statistics_of,
)


@pytest.fixture
def aligner(tiny_sources):
    return Aligner(load_lexicon(tiny_sources))


def test_golden_alignments_and_statistics(golden):
    with gzip.open(golden / "meteor/meteor_golden.jsonl.gz", "rt", encoding="utf-8") as lines:
        items = [item for item in map(json.loads, lines) if "alignment" in item]
    aligner = Aligner(installed_lexicon())
    for item in [*items[::4], *(item for item in items if item["kind"] in ("edge", "shuffled_stress"))]:
        alignment = [list(match) for match in aligner.align(item["hyp_tokens"], item["ref_tokens"])]
        assert alignment == item["alignment"]
        assert aligner.statistics(item["hyp"], item["refs"]) == item["stats"]


def test_matches_by_module(aligner):
    assert aligner.matches(["dog"], ["dogs"]) == [Match(0, 1, 0, 1, STEM), Match(0, 1, 0, 1, SYNONYM)]
    assert Match(0, 1, 0, 1, SYNONYM) in aligner.matches(["hound"], ["dog"])
    assert aligner.matches(["a", "dog"], ["the", "dog"])[0] == Match(1, 1, 1, 1, EXACT)
    assert aligner.matches(["a", "dog"], ["the", "dog"]).count(Match(0, 2, 0, 2, PARAPHRASE)) == 2  # listed both ways


def test_equal_texts_have_exact_matches_only(aligner):
    assert {match.module for match in aligner.matches(["a", "dog"], ["a", "dog"])} == {EXACT}
    assert {match.module for match in aligner.matches(["em"], ["aé"])} == {EXACT}  # equal Java hashes


def test_matches_without_overlap_are_all_in_the_alignment():
    matches = [Match(0, 1, 2, 1, EXACT), Match(1, 1, 1, 1, STEM), Match(2, 2, 3, 1, PARAPHRASE)]
    assert search(matches, 4) == matches


def test_search_prefers_more_words_then_fewer_chunks_then_the_earlier_path():
    crossed = [Match(0, 1, 0, 1, EXACT), Match(0, 1, 1, 1, EXACT), Match(1, 1, 0, 1, EXACT)]
    assert search(crossed, 2) == crossed[1:]
    contiguous = [Match(0, 1, 1, 1, EXACT), Match(1, 1, 0, 1, EXACT), Match(1, 1, 2, 1, EXACT)]
    assert search(contiguous, 2) == [contiguous[0], contiguous[2]]
    phrase, word = Match(0, 2, 0, 2, PARAPHRASE), Match(1, 1, 0, 1, EXACT)
    assert search([word, phrase], 2) == [phrase]  # both count two words in one chunk


def test_path_counts_words_and_chunks():
    path = Path({}, set(), set())
    path.count(Match(0, 1, 0, 1, EXACT))
    path.count(Match(1, 3, 1, 3, PARAPHRASE))  # the same chunk; half of three words, rounded down
    assert (path.hyp_count, path.ref_count, path.chunks, path.next_ref, path.chunk_end) == (2, 2, 0, 4, 4)
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
    hyp, ref = ["a", "dog", "runs"], ["the", "hound", "dog", "runs", "."]
    alignment = [Match(2, 1, 1, 1, EXACT), Match(3, 1, 2, 1, EXACT), Match(4, 1, 0, 1, STEM)]
    stats = statistics_of(alignment, hyp, ref, frozenset({"a", "the", "."}))
    assert stats == [3, 5, 1, 2, *[2, 2, 0, 0], *[0, 0, 1, 1], *[0] * 8, 2, 3, 3]


def test_first_of_equally_good_references(aligner):
    assert aligner.statistics("a dog", ["x y", "a b c"])[1] == 3
    assert aligner.statistics("q", ["x y", "a b c"])[1] == 2
