"""All matches of two texts in METEOR 1.5, and the statistics of their best alignment.

Denkowski & Lavie (2014), as meteor-1.5.jar computes it. The jar compares Java's 32-bit
hashes in place of strings, so that two words with equal hashes are equal to it.
"""

from __future__ import annotations

from typing import NamedTuple

from caption_kernels_reference.meteor.search import (
    EXACT,
    PARAPHRASE,
    STEM,
    SYNONYM,
    Match,
    hyp_span,
    ref_span,
    search,
)

MOST_MATCHES = 1 << 22


class Word(NamedTuple):
    """Keys of a word by which the matchers compare."""

    key: int
    """Java's hash of the word: words with equal keys match exactly."""
    stem: int
    """Java's hash of the stem."""
    synsets: frozenset[int]
    """Synonym sets of the word and of its base forms."""
    is_function: bool


class Occurrence(NamedTuple):
    """A phrase of the paraphrase table that occurs in a text."""

    at: int
    """Position of its first word."""
    length: int
    node: int
    targets: tuple[int, ...]
    """Nodes of its paraphrases, in the order of the table."""


class Text(NamedTuple):
    """A text with what the matchers know about it."""

    words: tuple[Word, ...]
    phrases: tuple[Occurrence, ...]
    """By position and length."""


class TooManyMatches(Exception):
    """Two repetitive texts of several thousand words each have more matches than fit
    into memory.
    """


def statistics(hyp: Text, ref: Text) -> list[int]:
    """Return the 23 statistics of two texts; see
    :func:`caption_kernels_reference.meteor.score.segment_score`.
    """
    return statistics_of(search(find_matches(hyp, ref), len(ref.words)), hyp, ref)


def find_matches(hyp: Text, ref: Text) -> list[Match]:
    """Return all matches of two texts.

    The modules add their matches one after another, each by reference position and then
    by hypothesis position. The search tries the matches at a reference word in this
    order, so among equally good alignments the earlier module wins. Words with equal
    keys are matched by the module exact alone, which is better than the others. Texts
    with equal keys have exact matches only: no other can be part of the best alignment.

    Raises :class:`TooManyMatches` for more than ``MOST_MATCHES``.
    """
    hyp_keys = [word.key for word in hyp.words]
    ref_keys = [word.key for word in ref.words]
    matches: list[Match] = []
    _add_word_matches(matches, hyp, ref, EXACT)
    if hyp_keys != ref_keys:
        _add_word_matches(matches, hyp, ref, STEM)
        _add_word_matches(matches, hyp, ref, SYNONYM)
        _add_paraphrases(matches, hyp, ref)
    return matches


def _add_word_matches(matches: list[Match], hyp: Text, ref: Text, module: int) -> None:
    for j, ref_word in enumerate(ref.words):
        for i, hyp_word in enumerate(hyp.words):
            if _words_match(hyp_word, ref_word, module):
                matches.append(Match(j, 1, i, 1, module))
        _check_number(matches)


def _words_match(hyp: Word, ref: Word, module: int) -> bool:
    if module == EXACT or hyp.key == ref.key:
        return module == EXACT and hyp.key == ref.key
    return (
        hyp.stem == ref.stem
        if module == STEM
        else not hyp.synsets.isdisjoint(ref.synsets)
    )


def _add_paraphrases(matches: list[Match], hyp: Text, ref: Text) -> None:
    """Append the matches of phrases: once for each entry of the table, which may list
    two phrases in either direction or in both.
    """
    for phrase in ref.phrases:
        for target in phrase.targets:
            matches += [
                Match(
                    phrase.at,
                    phrase.length,
                    hyp_phrase.at,
                    hyp_phrase.length,
                    PARAPHRASE,
                )
                for hyp_phrase in hyp.phrases
                if hyp_phrase.node == target
            ]
        _check_number(matches)

    for phrase in hyp.phrases:
        for target in phrase.targets:
            matches += [
                Match(
                    ref_phrase.at,
                    ref_phrase.length,
                    phrase.at,
                    phrase.length,
                    PARAPHRASE,
                )
                for ref_phrase in ref.phrases
                if ref_phrase.node == target
            ]
        _check_number(matches)


def _check_number(matches: list[Match]) -> None:
    if len(matches) > MOST_MATCHES:
        raise TooManyMatches


def statistics_of(alignment: list[Match], hyp: Text, ref: Text) -> list[int]:
    """Return the 23 statistics of one alignment,
    a list of matches by reference position.
    """
    is_hyp_function, is_ref_function = (
        [word.is_function for word in text.words] for text in (hyp, ref)
    )

    stats = [len(hyp.words), len(ref.words), sum(is_hyp_function), sum(is_ref_function)]
    for module in range(4):
        matches = [match for match in alignment if match.module == module]
        hyp_words = [is_hyp_function[i] for match in matches for i in hyp_span(match)]
        ref_words = [is_ref_function[j] for match in matches for j in ref_span(match)]
        stats += [
            hyp_words.count(False),
            ref_words.count(False),
            hyp_words.count(True),
            ref_words.count(True),
        ]
    return [
        *stats,
        _chunks(alignment),
        sum(m.hyp_length for m in alignment),
        sum(m.ref_length for m in alignment),
    ]


def _chunks(alignment: list[Match]) -> int:
    """Return the number of maximal runs of matches that are contiguous in both
    texts.
    """
    chunks = 0
    ref_end = -1
    hyp_end = -1
    for match in alignment:
        if (match.ref_start, match.hyp_start) != (ref_end, hyp_end):
            chunks += 1
        ref_end = match.ref_start + match.ref_length
        hyp_end = match.hyp_start + match.hyp_length
    return chunks
