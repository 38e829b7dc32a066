"""Texts per example from Python values: lists of texts, lists of lists, mappings of ids, dictionaries of pycocoevalcap."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import Any, cast

from harness.errors import InputError
from harness.files.captions import check_text, parse_list, quote_list


def texts_per_example(value: object, name: str) -> list[tuple[str, ...]]:
    """Return the texts of each example.

    Parameters
    ----------
    value : sequence
        One list of texts per example, or one text per example. A text may be an object with the key ``caption``. Arrays, Series and
        columns of data sets are sequences too.
    name : str
        ``candidates`` or ``references``, for messages.

    Raises
    ------
    InputError
        With the place of a value that is neither, of an empty list, and of texts beside lists.

    Examples
    --------
    >>> texts_per_example(["a dog", "a cat"], "candidates")
    [('a dog',), ('a cat',)]
    >>> texts_per_example([["a dog", {"caption": "the dog"}], ["a cat"]], "references")
    [('a dog', 'the dog'), ('a cat',)]
    """
    items = _sequence(value, name, "with one list of texts, or one text, per example")
    single = [_is_text(item) for item in items]
    absent = [k for k, item in enumerate(items) if item is None or isinstance(item, (int, float))]
    if absent:
        raise InputError(
            f"expected a text or a list of texts; found {items[absent[0]]!r}", f"{name}: example {absent[0]}"
        )
    if any(single) and not all(single):
        first = single.index(not single[0])
        kinds = ("a text", "a list") if single[0] else ("a list", "a text")
        raise InputError(f"is {kinds[1]}, example 0 is {kinds[0]}; expected one kind", f"{name}: example {first}")
    return [texts_of(item, f"{name}: example {k}") for k, item in enumerate(items)]


def texts_of(value: object, location: str) -> tuple[str, ...]:
    """Return the texts of one example: a text, or a list of texts; raise :class:`InputError` with ``location`` for anything else."""
    if (
        isinstance(value, (list, tuple))
        and value
        and all(type(text) is str for text in cast("Sequence[object]", value))
    ):
        return tuple(check_text(text, location) for text in cast("Sequence[str]", value))  # the usual case
    texts = [value] if _is_text(value) else _sequence(value, location, "of texts")
    if isinstance(value, str):  # a column of a table that was written and read again
        texts = parse_list(value, location) or texts
    if not texts:
        raise InputError("the list is empty; expected at least one text", location)
    captions = [
        cast("Mapping[str, object]", item)["caption"] if isinstance(item, Mapping) and _is_text(item) else item
        for item in texts
    ]
    return tuple(check_text(text, location) for text in captions)


def _is_text(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, Mapping) and "caption" in value)


def _sequence(value: object, location: str, content: str) -> list[object]:
    usual = isinstance(value, Sequence) or (isinstance(value, Sized) and isinstance(value, Iterable))
    if isinstance(value, (str, bytes, Mapping, set, frozenset)) or not usual:
        raise InputError(f"expected a list {content}; found {value!r:.60}", location)
    return list(cast("Iterable[object]", value))


def by_text_id(values: Mapping[Any, object], name: str) -> dict[str, object]:
    """Return a mapping with its ids as texts, as in files: 42 and ``"42"`` are one id.

    Raises :class:`InputError` where two ids of a mapping are one.

    >>> by_text_id({42: "a dog"}, "candidates")
    {'42': 'a dog'}
    """
    ids = {str(key): value for key, value in values.items()}
    if len(ids) < len(values):
        twice = [key for key in values if not isinstance(key, str) and str(key) in values]
        raise InputError(f"{len(twice)} ids occur as a number and as a text: {quote_list(twice)}", name)
    return ids


def matched_ids(
    candidates: Mapping[str, object], references: Mapping[str, object], *, allow_missing: bool, allow_unknown: bool
) -> list[str]:
    """Return the ids of two mappings to score, in the order of the references.

    Raises :class:`InputError` for ids without references and ids without candidates, unless they are allowed.
    """
    unknown = [key for key in candidates if key not in references]
    missing = [key for key in references if key not in candidates]
    if unknown and not allow_unknown:
        raise InputError(
            f"{len(unknown)} ids have no references: {quote_list(unknown)} (allow_unknown: true ignores them)"
        )
    if missing and not allow_missing:
        raise InputError(
            f"{len(missing)} ids have no candidates: {quote_list(missing)} (allow_missing: true scores the others)"
        )
    return [key for key in references if key in candidates]
