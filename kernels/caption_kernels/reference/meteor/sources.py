"""The English word lists of METEOR, as they stand in meteor-1.5.jar."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class WordLists(NamedTuple):
    """What the four lists say about words; words are UTF-8."""

    function_words: list[bytes]
    prefixes: dict[bytes, bool]
    """Words after which a dot is no full stop; True if only before a number."""
    exceptions: dict[bytes, list[bytes]]
    """Irregular form -> base forms."""
    synsets: dict[bytes, list[int]]
    """Word -> its synonym sets, numbered from 0 in the order of their numbers in the list, ascending."""
    n_synsets: int


def read_lists(function_words: bytes, prefixes: bytes, exceptions: bytes, synsets: bytes) -> WordLists:
    """Return the contents of the lists.

    Parameters
    ----------
    function_words : bytes
        ``function/english.words``: one word per line.
    prefixes : bytes
        ``nonbreaking/english.prefixes``: a word and perhaps ``#NUMERIC_ONLY#`` per line; other lines that begin with # are comments.
    exceptions : bytes
        ``synonym/english.exceptions``: a line with a base form, a line with its irregular forms.
    synsets : bytes
        ``synonym/english.synsets``: a line with a word, a line with the numbers of its synonym sets.

    Raises
    ------
    ValueError
        If a list is not of its form.
    """
    sets = {word: sorted({_number(digits) for digits in numbers}) for word, numbers in _line_pairs(synsets)}
    places = {number: place for place, number in enumerate(sorted({n for numbers in sets.values() for n in numbers}))}
    bases: dict[bytes, list[bytes]] = {}
    for base, forms in _line_pairs(exceptions):
        for form in forms:
            bases.setdefault(form, []).append(base)
    kinds = (line.split() for line in _lines(prefixes) if line.strip() and not line.startswith(b"#"))
    return WordLists(
        _lines(function_words),
        {first: b"#NUMERIC_ONLY#" in rest for first, *rest in kinds},
        bases,
        {word: [places[number] for number in numbers] for word, numbers in sets.items()},
        len(places),
    )


def _lines(text: bytes) -> list[bytes]:
    return text.replace(b"\r\n", b"\n").removesuffix(b"\n").split(b"\n")


def _line_pairs(text: bytes) -> Iterator[tuple[bytes, list[bytes]]]:
    lines = _lines(text)
    for head, tail in zip(lines[0::2], lines[1::2], strict=True):
        yield head, tail.split()


def _number(digits: bytes) -> int:
    if not (digits.isdigit() and len(digits) <= 18):
        raise ValueError(f"{digits!r} is not a number of a synonym set")
    return int(digits)
