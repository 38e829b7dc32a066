"""The English word lists of METEOR, as they stand in meteor-1.5.jar."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class WordLists(NamedTuple):
    """Content of the four lists of words; words are UTF-8."""

    function_words: list[bytes]
    prefixes: dict[bytes, bool]
    """Words after which a dot is no full stop; True if only before a number."""
    exceptions: list[tuple[bytes, bytes]]
    """Irregular forms, each with one of its base forms."""
    synset_words: list[bytes]
    """Distinct words of the list of synonym sets."""
    members: np.ndarray
    """(memberships,) int64: a place in ``synset_words``, ascending; several memberships
    of a word are next to each other.
    """
    synsets: np.ndarray
    """(memberships,) int32: its synonym set, numbered from 0 in the order of their
    numbers in the list; ascending for each word.
    """
    n_synsets: int


def read_lists(
    function_words: bytes, prefixes: bytes, exceptions: bytes, synsets: bytes
) -> WordLists:
    """Return the contents of the lists.

    Parameters
    ----------
    function_words : bytes
        ``function/english.words``: one word per line.
    prefixes : bytes
        ``nonbreaking/english.prefixes``: a word and perhaps ``#NUMERIC_ONLY#`` per
        line; other lines that begin with # are comments.
    exceptions : bytes
        ``synonym/english.exceptions``: a line with a base form, a line with its
        irregular forms.
    synsets : bytes
        ``synonym/english.synsets``: a line with a word, a line with the numbers of its
        synonym sets. The last line of a word counts.

    Raises
    ------
    ValueError
        If a list is not of its form, or no UTF-8.
    """
    for text in (function_words, prefixes, exceptions, synsets):
        text.decode("utf-8")

    sets = dict(_line_pairs(synsets))
    members = np.repeat(
        np.arange(len(sets)), [len(numbers.split()) for numbers in sets.values()]
    )
    numbers, number_indices = np.unique(
        _numbers(b" ".join(sets.values()).split()), return_inverse=True
    )

    # A word that is a member of a synset twice counts once.
    pairs = np.unique(members * max(len(numbers), 1) + number_indices)

    kinds = (
        line.split()
        for line in _lines(prefixes)
        if line.strip() and not line.startswith(b"#")
    )

    return WordLists(
        _lines(function_words),
        {first: b"#NUMERIC_ONLY#" in fields for first, *fields in kinds},
        [
            (form, base)
            for base, forms in _line_pairs(exceptions)
            for form in forms.split()
        ],
        list(sets),
        pairs // max(len(numbers), 1),
        (pairs % max(len(numbers), 1)).astype(np.int32),
        len(numbers),
    )


def _lines(text: bytes) -> list[bytes]:
    return text.replace(b"\r\n", b"\n").removesuffix(b"\n").split(b"\n")


def _line_pairs(text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Return each odd line with the line behind it."""
    lines = _lines(text)
    return zip(lines[0::2], lines[1::2], strict=True)


def _numbers(digits: list[bytes]) -> np.ndarray:
    if digits and not (b"".join(digits).isdigit() and max(map(len, digits)) <= 18):
        raise ValueError("expected numbers of synonym sets")
    return np.array(list(map(int, digits)), dtype=np.int64)
