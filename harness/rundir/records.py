"""Result records: one number of one metric for one model and decoding,
as in results.json.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from numbers import Real
from typing import Annotated, Any, cast

from pydantic import BeforeValidator

from harness.contracts import Decoding, Level, Parameters, Values
from harness.rundir.format import JsonObject, plain

_SHORT = {
    "temperature": "T",
    "candidates": "n",
    "references": "m",
    "top_p": "p",
    "top_k": "k",
    "strategy": "",
}
_ORDER = (*(item.name for item in fields(Decoding)), "references")
"""Order of the fields of a decoding in texts,
whatever the order in which a file has them.
"""
_WITHOUT_VALUE = {"candidates": "all", "references": "all"}
"""Text of a field that has no value where others have one;
of those that are not listed ``none``.
"""
_WRITTEN_AS_NULL = ("higher_is_better", "ci95", "p_value", "p_method")
"""Fields that results.json has even without a value; others are left out."""


def number(value: object) -> float:
    """Return a JSON number as float: NaN for null, infinities for ``"inf"`` and
    ``"-inf"``; raise ValueError for anything else.
    """
    if value is None:
        return math.nan
    is_number = not isinstance(value, bool) and isinstance(value, Real)
    if value not in ("inf", "-inf") and not is_number:
        raise ValueError("expected a number or null")
    try:
        return float(cast("float | str", value))
    except OverflowError:
        raise ValueError("expected a number of at most 1.8e308") from None


def _check_number(value: object) -> object:
    number(value)
    return value


Number = Annotated[float, BeforeValidator(number)]
"""A number that is read from JSON as float."""
CheckedNumber = Annotated[Any, BeforeValidator(_check_number)]
"""A number or null that stays as it is in JSON, such as a whole number."""


UNDEFINED = "undefined: "
"""Beginning of an ``interval_note`` that says why a record has no value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRecord:
    """One result: value, interval and p-value of a metric for a model and decoding.

    The fields, in this order, are the keys of a result in results.json, and their types
    are what :mod:`harness.rundir.provenance` checks.
    """

    model: str
    """Label of the model."""
    model_params: Parameters = field(default_factory=Values)
    task: str = ""
    decoding: Parameters = field(default_factory=Values)
    """Decoding fields that differ from the defaults,
    and ``references`` where the spec cuts them.
    """
    metric: str
    """Label of the metric."""
    statistic: str | None = None
    """Agreement with people that the value is, such as ``kendall_c``;
    None for the score of a model.
    """
    group: str | None = None
    """Group of judgments of which ``statistic`` is taken: ``all``, ``mean``,
    or a label.
    """
    params: Parameters = field(default_factory=Values)
    higher_is_better: bool | None = None
    level: Level = "item"
    signature: str = ""
    value: Number = math.nan
    """The corpus number; NaN where undefined."""
    ci95: tuple[Number, Number] | None = None
    """95 % interval."""
    interval_note: str | None = None
    """Reason for no interval, or a property of the interval;
    written only where there is one.
    """
    p_value: Number | None = None
    """Combined p-value over the examples, in (0, 1]; None without p-values."""
    p_method: str | None = None
    """Test of one example and combination, such as ``exact, fisher-discrete``."""
    n: int = 0
    """Number of examples for which the metric is defined."""
    skipped: int = 0
    """Number of examples without a score."""
    sizes: Mapping[str, Sequence[int]] | None = None
    """Set sizes that occur: ``candidates`` and ``references``."""
    depends_on: Sequence[str] | None = None
    """Set sizes on which the number depends
    (:attr:`harness.contracts.MetricSpec.depends_on`); None: those of the level.
    """
    seconds: Number = 0.0
    details: Parameters | None = None
    p: Mapping[str, CheckedNumber] | None = None
    """Combined p-values and counts: ``calibrated``, ``harmonic_mean``, ...
    (:func:`harness.run.combined_p_values.combine_p_values`), and ``floor``, the
    smallest p-value that one example can have.
    """
    p_note: str | None = None
    """Reason why there is no p-value although one was requested,
    to follow the metric's name.
    """
    statistics: str | None = None
    """Name of the artifact that holds the sufficient statistics (``scores/NAME.npz``).
    """
    slice: str | None = None
    """Slice of the examples that the number is of, such as ``domain=near-domain``
    (:mod:`harness.rundir.slices`); None: all examples.
    """

    @property
    def decoding_key(self) -> str:
        """The decoding as sorted JSON, as in the column ``decoding`` of the samples."""
        return decoding_key(self.decoding)

    @property
    def agreement(self) -> str:
        """The statistic with its group of judgments,
        such as ``kendall_c`` and ``accuracy (HC)``.
        """
        return f"{self.statistic}" + ("" if self.group == "all" else f" ({self.group})")

    @property
    def compared_sizes(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Set sizes within which the number compares with others of the metric: those
        that it depends on, with their values.
        """
        names = (
            sizes_of_level(self.level) if self.depends_on is None else self.depends_on
        )
        return tuple(
            (name, tuple(self.sizes[name]))
            for name in names
            if self.sizes and name in self.sizes
        )

    @property
    def harmonic_p(self) -> float | None:
        """Harmonic mean of the p-values of the examples; None without p-values."""
        return (self.p or {}).get("harmonic_mean")

    def to_dict(self) -> JsonObject:
        """Return the record as in results.json,
        without the fields that a subclass adds.
        """
        values: Values = {f.name: getattr(self, f.name) for f in fields(ResultRecord)}
        values["ci95"] = list(self.ci95) if self.ci95 else None

        content: JsonObject = {}
        for name, value in values.items():
            if isinstance(value, Mapping):
                content[name] = dict(cast("Parameters", value))
            elif value is not None or name in _WRITTEN_AS_NULL:
                content[name] = value
        return content


def sizes_of_level(level: Level) -> Sequence[str]:
    """Return the set sizes on which the numbers of a level depend unless the metric
    says otherwise.
    """
    if level == "model":
        return []
    return ["references"] if level == "item" else ["candidates", "references"]


def lookup(record: ResultRecord, path: str) -> Any:
    """Return ``model``, ``metric``, ``decoding.temperature``, ``params.distance`` of a
    record; None where absent.

    A record names only the decoding fields that differ from the defaults; the others
    are taken from the defaults.

    >>> lookup(
    ...     ResultRecord(model="a", metric="cider", decoding={"temperature": 0.5}),
    ...     "decoding.temperature",
    ... )
    0.5
    """
    root, *steps = path.split(".")
    here: Any = getattr(record, root, None)
    for step in steps:
        if not isinstance(here, Mapping) or step not in here:
            is_field = path == f"decoding.{step}"
            return getattr(Decoding(), step, None) if is_field else None
        here = cast("Parameters", here)[step]
    return here


def changed_fields(decoding: Decoding) -> Values:
    """Return the fields of a decoding that differ from the defaults,
    for results and tables.
    """
    default = Decoding()
    changed: Values = {}
    for field_of_decoding in fields(Decoding):
        name = field_of_decoding.name
        value = getattr(decoding, name)
        if value != getattr(default, name):
            changed[name] = dict(value) if name == "options" else value
    return changed


def decoding_key(decoding: Parameters) -> str:
    """Return the fields of a decoding as sorted JSON.

    >>> decoding_key({"temperature": 0.7, "candidates": 10})
    '{"candidates": 10, "temperature": 0.7}'
    """
    return json.dumps(plain(dict(decoding)), sort_keys=True)


def decoding_text(decoding: Parameters) -> str:
    """Return a short text of the decoding fields that differ from the defaults.

    >>> decoding_text({"candidates": 10, "strategy": "nucleus", "temperature": 0.7})
    'nucleus T=0.7 n=10'
    """
    return text_of_fields(decoding, decoding)


def text_of_fields(decoding: Parameters, names: Iterable[str]) -> str:
    """Return a short text of some fields of a decoding,
    with their values also where these are the defaults.

    >>> text_of_fields({"candidates": 10}, ["temperature", "top_p"])
    'T=1 p=none'
    """

    def position(name: str) -> int:
        return _ORDER.index(name) if name in _ORDER else len(_ORDER)

    settings: list[str] = []
    for name in sorted(names, key=position):
        label = _SHORT.get(name, name)
        text = _text_of_value(name, _setting(decoding, name))
        settings.append(f"{label}={text}" if label else text)
    return " ".join(settings)


def _text_of_value(name: str, value: object) -> str:
    if value is None:
        return _WITHOUT_VALUE.get(name, "none")
    # six digits, unless they are another number
    if isinstance(value, float) and float(f"{value:g}") == value:
        return f"{value:g}"
    return str(value)


def _setting(decoding: Parameters, name: str) -> object:
    """Return the value of a field of a decoding, or its default."""
    return decoding.get(name, getattr(Decoding(), name, None))


def varying_fields(decodings: Iterable[Parameters]) -> list[str]:
    """Return the fields in which decodings differ.

    >>> varying_fields([{"candidates": 5, "temperature": 0.5}, {"candidates": 5}])
    ['temperature']
    """
    items = list(decodings)
    names = dict.fromkeys(name for decoding in items for name in decoding)
    return [
        name
        for name in names
        if len({repr(_setting(decoding, name)) for decoding in items}) > 1
    ]
