"""Records of judgment files in any of the usual formats, and values of their fields."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from harness.contracts import Parameters, Values
from harness.errors import InputError
from harness.files.dataset_source import DatasetSource
from harness.files.record_files import read_records
from harness.files.records import Record, kind
from harness.files.yaml_source import YamlValue
from harness.judgments.judgment_models import HuggingFaceSource

_WORDS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
"""Word -> its number as a rating or a mark."""


def rows(
    paths: Sequence[str | Path], hf: HuggingFaceSource | None = None
) -> Iterator[Record]:
    """Yield the records of files, one file after the other, or of a Hugging Face data
    set.

    Raises :class:`InputError` with the place of a mistake.
    """
    if hf is not None:
        source = DatasetSource(hf.name, hf.config, hf.split, hf.revision)
        for number, row in enumerate(source.rows(source.load()), 1):
            yield Record(f"{hf.name}: record {number}", row)
    for path in paths:
        yield from read_records(path, "file of judgments")


def lookup(fields: Parameters, path: str) -> YamlValue:
    """Return the value at a path such as ``a.b.*.c``; None where a step is missing.

    ``*`` collects from every item of a list.

    >>> lookup({"votes": [{"grade": 1}, {"grade": 3}]}, "votes.*.grade")
    [1, 3]
    """
    # A column may have dots in its name.
    if path in fields:
        return fields[path]

    here: YamlValue = fields
    steps = path.split(".")
    for depth, step in enumerate(steps):
        if step == "*":
            if not isinstance(here, (list, tuple)):
                return None
            tail = ".".join(steps[depth + 1 :])
            items = cast("Sequence[YamlValue]", here)
            return [
                lookup(cast("Parameters", item), tail)
                if tail and isinstance(item, Mapping)
                else item
                for item in items
            ]
        if isinstance(here, Mapping):
            here = cast("Mapping[str, YamlValue]", here).get(step)
        elif (
            isinstance(here, (list, tuple))
            and step.isdigit()
            and int(step) < len(cast("Sequence[YamlValue]", here))
        ):
            here = cast("Sequence[YamlValue]", here)[int(step)]
        else:
            return None
    return here


def column(
    path: str | None,
    usual: Sequence[str],
    first: Record,
    role: str,
    *,
    needed: bool = True,
) -> str | None:
    """Return the column of a role: the given one, else the first usual name that the
    first record has.

    Raises :class:`InputError` with the nearest column when the given one is missing, or
    when none is found and one is needed.
    """
    present = list(first.fields)
    if path is not None:
        if path not in present and path.split(".")[0] not in present:
            raise InputError.of_name(
                "no column", path, present, "the record has", first.where
            )
        return path

    name = next((name for name in usual if name in present), None)
    if name is None and needed:
        raise InputError(
            f"no column for the {role}; the record has {', '.join(present)} (name it "
            "with judgments.columns)",
            first.where,
        )
    return name


def number(value: YamlValue) -> float | None:
    """Return a number, a number in a text, or 1 and 0 for true and false; None for
    anything else and for NaN.

    >>> number("3.5"), number(True), number("x")
    (3.5, 1.0, None)
    """
    if isinstance(value, str):
        text = value.strip().lower()
        try:
            value = _WORDS[text] if text in _WORDS else float(text)
        except ValueError:
            return None
    if not isinstance(value, (int, float)):
        return None
    return float(value) if math.isfinite(value) else None


def ratings(value: YamlValue, location: str, name: str) -> tuple[float, ...]:
    """Return the ratings of a score: one number, or one per rater of a list without its
    gaps.

    Raises :class:`InputError` when there is no rating, or a value is no number.
    """
    values = (
        cast("Sequence[object]", value) if isinstance(value, (list, tuple)) else [value]
    )
    present = [item for item in values if item is not None and item != ""]
    if not present:
        if value is None:
            text = "missing"
        else:
            text = "an empty text" if value == "" else kind(value)
        raise InputError(
            f"'{name}' is {text}; expected a human score or a list of the raters' "
            "scores",
            location,
        )

    numbers = [number(item) for item in present]
    if None in numbers:
        wrong = present[numbers.index(None)]
        raise InputError(
            f"'{name}' holds {wrong!r:.40}; expected a finite number, true or false",
            location,
        )
    return tuple(cast("list[float]", numbers))


def votes_of_mean(
    mean: Sequence[float], raters: int, location: str, name: str
) -> tuple[float, ...]:
    """Return the whole-number votes, as close to each other as possible, that have the
    given mean.

    Raises :class:`InputError` when the mean of so many whole numbers cannot be that
    value (up to its printed digits).

    >>> votes_of_mean((2.667,), 3, "here", "score")
    (2.0, 3.0, 3.0)
    """
    total = round(mean[0] * raters)
    if len(mean) != 1 or abs(total - mean[0] * raters) > 0.01 * raters:
        text = mean[0] if len(mean) == 1 else list(mean)
        raise InputError(
            f"'{name}' is {text}; expected a mean of {raters} votes", location
        )
    low, higher = divmod(total, raters)
    return (float(low),) * (raters - higher) + (float(low + 1),) * higher


def is_marked(fields: Parameters, mark: str | Parameters | None) -> bool:
    """Return True for a record with a true value in the column ``mark``, or with every
    ``{column: value}`` of it.
    """
    if mark is None:
        return False
    if isinstance(mark, str):
        return bool(number(lookup(fields, mark)))
    return all(same(lookup(fields, name), value) for name, value in mark.items())


def same(value: YamlValue, expected: YamlValue) -> bool:
    """Return True for equal values, and for a number and the text of the same number.

    >>> same("6", 6), same("6.0", 6), same("en-de", "en-de")
    (True, True, True)
    """
    if value == expected or str(value) == str(expected):
        return True
    a = number(value)
    b = number(expected)
    return a is not None and a == b


def scalars(fields: Parameters, used: Sequence[str | None]) -> Values:
    """Return the fields of a record that are short texts, numbers or flags and are not
    used otherwise.
    """
    heads = {name.split(".")[0] for name in used if name}
    values: Values = {}
    for name, value in fields.items():
        is_short = isinstance(value, str) and len(value) <= 80
        if name not in heads and (is_short or isinstance(value, (int, float))):
            values[name] = value
    return values
