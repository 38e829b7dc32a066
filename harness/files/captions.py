"""Checks of single values in users' records (texts, captions, ids, counts), and texts
per example from Python values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import Any, cast

from harness.errors import InputError, counted
from harness.files.columns import PIPELINE_COLUMNS
from harness.files.records import kind
from harness.files.written_values import parse_written
from harness.files.yaml_source import YamlValue

_SURROGATE = re.compile("[\ud800-\udfff]")


def check_text(value: YamlValue, location: str, *, what: str = "caption") -> str:
    """Return one text unchanged when it is valid; an empty text is valid.

    Parameters
    ----------
    value : object
        Value to check.
    location : str
        Place of the value for the message, such as ``file:line``.
    what : str, default "caption"
        Noun for the value in the message.

    Raises
    ------
    InputError
        When the value is not a string, or contains NUL or an unpaired surrogate.

    Examples
    --------
    >>> check_text("a dog", "captions.json: record 1")
    'a dog'
    """
    if not isinstance(value, str):
        holds = ""
        if isinstance(value, Mapping) and value:
            holds = f" with {quote_list(value, 5)}"
        raise InputError(f"the {what} is {kind(value)}{holds}; expected text", location)
    if "\0" in value:
        raise InputError(f"the {what} holds the character NUL: {value!r:.80}", location)
    if not value.isascii() and _SURROGATE.search(value):
        raise InputError(
            f"the {what} holds an unpaired surrogate, half of a character: "
            f"{value!r:.80}",
            location,
        )
    return value


def count_words(text: str) -> int:
    """Return the number of words of a text, by its blanks."""
    return text.count(" ") + 1


def caption(
    value: YamlValue, location: str, *, what: str = "caption", allow_empty: bool = False
) -> str:
    """Return one caption unchanged; raise :class:`InputError` as :func:`check_text`,
    and for a blank one unless allowed.
    """
    text = check_text(value, location, what=what)
    if not allow_empty and not text.strip():
        raise InputError(
            f"empty {what} {text!r} (allow_empty: true keeps it)", location
        )
    return text


def captions(
    value: YamlValue, location: str, *, what: str = "caption", allow_empty: bool = False
) -> tuple[str, ...]:
    """Return the captions of a string, an object with its caption (:func:`text_field`),
    or a list of these.

    A string that holds a list of texts or objects, as pandas and the csv module write
    one into a cell, is read as that list
    (:func:`~harness.files.written_values.parse_written`). Raises :class:`InputError`
    for a value that :func:`caption` refuses, and for a string that begins and ends as a
    list and is none.

    >>> captions(["a dog", {"raw": "a cat"}], "here")
    ('a dog', 'a cat')
    >>> captions("['a dog', 'the dog']", "here")
    ('a dog', 'the dog')
    """
    if isinstance(value, str):
        written = parse_written(value, location, what=what)
        if written is None:
            return (caption(value, location, what=what, allow_empty=allow_empty),)
        items: Sequence[YamlValue] = written
    else:
        items = value if isinstance(value, (list, tuple)) else [value]
    return tuple(
        caption(_inner(item), location, what=what, allow_empty=allow_empty)
        for item in items
    )


def text_field(item: YamlValue) -> str | None:
    """Return the field of an object that holds its caption, such as ``caption`` of
    annotations and ``generated_text`` of answers; None for anything else.

    ``caption`` and ``raw`` name one whatever they hold.
    """
    if not isinstance(item, Mapping):
        return None
    for name in ("caption", "raw", "sentence", *PIPELINE_COLUMNS, "text"):
        if isinstance(item.get(name), str):
            return name
    for name in ("caption", "raw"):
        if name in item:
            return name
    return None


def _inner(item: YamlValue) -> YamlValue:
    """Return the caption that an object holds; anything else as it is."""
    if isinstance(item, Mapping):
        name = text_field(item)
        return item if name is None else item[name]
    return item


def identity(value: YamlValue, location: str, column: str) -> str:
    """Return an id as text.

    Accepts text, integers, and floats with integer values (Parquet and JSON tables
    store integers beside gaps as floats). Raises :class:`InputError` that names
    ``column`` for other values and for an empty id.

    >>> identity(7.0, "here", "image_id")
    '7'
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise InputError(
            f"'{column}' is {kind(value)}; expected an id (a whole number or text)",
            location,
        )
    text = str(value)
    if not text:
        raise InputError(f"'{column}' is empty; expected an id", location)
    return caption(text, location, what="id")


def quote_list(ids: Iterable[object], limit: int = 3) -> str:
    """Return the first ``limit`` ids or names, quoted and separated by commas.

    >>> quote_list(["1", "2", "3", "4"])
    "'1', '2', '3', ..."
    """
    names = list(ids)
    listed = ", ".join(f"'{name}'" for name in names[:limit])
    return f"{listed}, ..." if len(names) > limit else listed


def texts_per_example(value: object, name: str) -> list[tuple[str, ...]]:
    """Return the texts of each example.

    Parameters
    ----------
    value : sequence
        One list of texts per example, or one text per example. A text may be an object
        with the key ``caption``. Arrays, Series and columns of data sets are sequences
        too.
    name : str
        ``candidates`` or ``references``, for messages.

    Raises
    ------
    InputError
        With the place of a value that is neither, of an empty list, and of texts beside
        lists.

    Examples
    --------
    >>> texts_per_example(["a dog", "a cat"], "candidates")
    [('a dog',), ('a cat',)]
    >>> texts_per_example([["a dog", {"caption": "the dog"}], ["a cat"]], "references")
    [('a dog', 'the dog'), ('a cat',)]
    """
    items = _sequence(value, name, "with one list of texts, or one text, per example")
    for k, item in enumerate(items):
        if item is None or isinstance(item, (int, float)):
            raise InputError(
                f"expected a text or a list of texts; found {item!r}",
                f"{name}: example {k}",
            )

    # Texts beside lists are a mistake: one text each is one candidate each.
    single = [_is_text(item) for item in items]
    if any(single) and not all(single):
        first = single.index(not single[0])
        kinds = ("a text", "a list") if single[0] else ("a list", "a text")
        raise InputError(
            f"is {kinds[1]}, example 0 is {kinds[0]}; expected one kind",
            f"{name}: example {first}",
        )
    return [texts_of(item, f"{name}: example {k}") for k, item in enumerate(items)]


def texts_of(value: object, location: str) -> tuple[str, ...]:
    """Return the texts of one example: a text, or a list of texts; raise
    :class:`InputError` with ``location`` for anything else.
    """
    # A list of strings is the usual case, and there may be a million of them.
    if isinstance(value, (list, tuple)) and value:
        strings = cast("Sequence[str]", value)
        if all(type(text) is str for text in strings):
            return tuple(check_text(text, location) for text in strings)

    texts = [value] if _is_text(value) else _sequence(value, location, "of texts")
    if isinstance(value, str):  # a column of a table that was written and read again
        written = parse_written(value, location)
        texts = texts if written is None else written
    if not texts:
        raise InputError("the list is empty; expected at least one text", location)
    return tuple(check_text(_inner(cast(YamlValue, item)), location) for item in texts)


def _is_text(value: object) -> bool:
    return isinstance(value, str) or text_field(cast(YamlValue, value)) is not None


def _sequence(value: object, location: str, content: str) -> list[object]:
    # Arrays and columns of data sets have a length and are iterated, and are no
    # Sequence by their class.
    has_items = isinstance(value, Sequence) or (
        isinstance(value, Sized) and isinstance(value, Iterable)
    )
    if isinstance(value, (str, bytes, Mapping, set, frozenset)) or not has_items:
        raise InputError(f"expected a list {content}; found {value!r:.60}", location)
    return list(cast("Iterable[object]", value))


def by_text_id(values: Mapping[Any, object], name: str) -> dict[str, object]:
    """Return a mapping with its ids as texts, as in files: 42 and ``"42"`` are one id.

    Raises :class:`InputError` where two ids of a mapping are one.

    >>> by_text_id({42: "a dog"}, "candidates")
    {'42': 'a dog'}
    """
    ids = {str(key): value for key, value in values.items()}
    if len(ids) == len(values):
        return ids
    twice = [key for key in values if not isinstance(key, str) and str(key) in values]
    raise InputError(
        f"{counted(len(twice), 'id', 'occurs/occur')} as a number and as a text: "
        f"{quote_list(twice)}",
        name,
    )


def match_file_names(ids: Iterable[str], names: Iterable[str]) -> dict[str, str]:
    """Return id -> name where one of both is the file name of the other, or has its
    number at the end, without leading zeros, or its path below the folder of all.

    Empty unless all that either side has is matched, and every match is the only one.

    >>> match_file_names(
    ...     ["val2014/COCO_val2014_000000391895.jpg", "60623.jpg"],
    ...     ["391895", "60623", "7"],
    ... )
    {'val2014/COCO_val2014_000000391895.jpg': '391895', '60623.jpg': '60623'}
    """
    left = list(ids)
    right = list(names)
    for reduce in (_stems, _numbers, _paths):
        keys = dict(zip(reduce(left), left))
        targets = dict(zip(reduce(right), right))
        if len(keys) < len(left) or len(targets) < len(right):
            continue  # a match would not be the only one
        common = keys.keys() & targets.keys()
        if common and len(common) in (len(keys), len(targets)):
            return {item: targets.get(key, item) for key, item in keys.items()}
    return {}


def count_alike(ids: Iterable[str], names: Iterable[str]) -> int:
    """Return the number of ids that are alike a name by :func:`match_file_names`,
    though not all are.

    >>> count_alike(["1.jpg", "2.jpg", "x.jpg"], ["1", "2", "3"])
    2
    """
    left = list(ids)
    right = list(names)
    return max(
        len({reduce(item) for item in left} & {reduce(item) for item in right})
        for reduce in (_stem, _number)
    )


def name_keys(name: str) -> tuple[str, str]:
    """Return what :func:`match_file_names` compares of an id: the name of a file, and
    the number at its end.

    >>> name_keys("val2014/COCO_val2014_000000391895.jpg")
    ('COCO_val2014_000000391895', '391895')
    """
    return _stem(name), _number(name)


def _stem(name: str) -> str:
    """Return the name of a file without its folder and ending, and a whole number
    without its decimals; any other text as it is.

    Blanks around it and the signs of a text in a spreadsheet (``="42"``) are no part of
    it.
    """
    name = name.strip("\"'= \t")
    if "://" in name:  # what an address asks of its server is no part of the name
        name = re.split(r"[?#]", name, maxsplit=1)[0]
    # pandas writes whole numbers with decimals where the column has gaps.
    if name.endswith(".0") and name[:-2].isdigit():
        return name[:-2]
    return re.sub(r"(.*[/\\])?([^/\\]+?)(\.[A-Za-z]\w{1,4})?", r"\2", name)


def _stems(names: Sequence[str]) -> list[str]:
    return [_stem(name) for name in names]


def _numbers(names: Sequence[str]) -> list[str]:
    return [_number(name) for name in names]


def _paths(names: Sequence[str]) -> list[str]:
    """Return paths below the folder that all have in common, without their endings."""
    folders = [re.split(r"[/\\]", name)[:-1] for name in names]
    common = 0
    for steps in zip(*folders):
        if len(set(steps)) > 1:
            break
        common += 1
    return [
        "/".join([*steps[common:], _stem(name)]) for steps, name in zip(folders, names)
    ]


def _number(name: str) -> str:
    """Return the number at the end of the name of a file, without leading zeros; the
    name where it ends otherwise.
    """
    return re.sub(r"(?:.*\D)?0*(\d+)", r"\1", _stem(name))


def matched_ids(
    candidates: Mapping[str, object],
    references: Mapping[str, object],
    *,
    allow_missing: bool,
    allow_unknown: bool,
) -> list[str]:
    """Return the ids of two mappings to score, in the order of the references.

    Raises :class:`InputError` for ids without references and ids without candidates,
    unless they are allowed.
    """
    unknown = [key for key in candidates if key not in references]
    missing = [key for key in references if key not in candidates]
    if unknown and not allow_unknown:
        raise InputError(
            f"{counted(len(unknown), 'id', 'has/have')} no references: "
            f"{quote_list(unknown)} (allow_unknown: true ignores them)"
        )
    if missing and not allow_missing:
        raise InputError(
            f"{counted(len(missing), 'id', 'has/have')} no candidates: "
            f"{quote_list(missing)} (allow_missing: true scores the others)"
        )
    return [key for key in references if key in candidates]
