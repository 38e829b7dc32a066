"""Models of a spec.

Unknown keys are errors; a list in a field that is documented as an axis makes a grid.

Loading from YAML (``include``, ``variants``, ``--set``, environment variables) is in
:mod:`harness.spec.loading`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from harness.contracts import Values
from harness.files.yaml_source import YamlValue
from harness.spec.published import PublishedTable, reference_kind

MAX_RANGE = 10_000
"""Maximum number of values of a range, and of points of the grid of decodings."""
MAX_COUNT = 1_000_000
"""Maximum of sizes, numbers of draws and numbers of resamples."""
_RANGE = re.compile(r"\s*(-?\d{1,18})\s*\.\.\s*(-?\d{1,18})\s*")
_NAMES = {"anyOf": [{"type": "string"}, {"items": {"type": "string"}, "type": "array"}]}
"""JSON Schema of a name or a list of names."""


def expand_ranges(value: YamlValue) -> YamlValue:
    """Return a value with ranges such as ``"1..4"`` (alone or in a list) expanded to
    ``[1, 2, 3, 4]``.

    >>> expand_ranges(["1..3", 8])
    [1, 2, 3, 8]

    Raises :class:`ValueError` for a range of more than :data:`MAX_RANGE` values.
    """
    if isinstance(value, str):
        match = _RANGE.fullmatch(value)
        if not match:
            return value
        values = range(int(match[1]), int(match[2]) + 1)
        if len(values) > MAX_RANGE:
            raise ValueError(
                f"found {value}: {len(values):,} values; "
                f"a range has at most {MAX_RANGE:,}"
            )
        return list(values)
    if isinstance(value, list):
        out: list[YamlValue] = []
        for item in cast("list[YamlValue]", value):
            out.extend(_items(expand_ranges(item)))
            if len(out) > MAX_RANGE:
                raise ValueError(
                    f"a list of more than {MAX_RANGE:,} values; found {len(out):,}"
                )
        return out
    return value


def _items(value: YamlValue) -> list[YamlValue]:
    """Return the items of an axis: those of a list, or the value alone."""
    return cast("list[YamlValue]", value) if isinstance(value, list) else [value]


def _task_name(value: str) -> str:
    """Raise ValueError for a name that would leave the folder of runs."""
    folders = value.split("/")
    if value.startswith("/") or any(name in ("", ".", "..") for name in folders):
        raise ValueError(
            f"found {value}; expected a name for the folder of the run, "
            "without '..' and '.'"
        )
    return value


TaskName = Annotated[
    str, Field(min_length=1, pattern=r"^[^\x00-\x1f\x7f]+$"), AfterValidator(_task_name)
]
"""Name of a task, below which its run is written: it does not leave the folder of runs.
"""


def _finite(value: YamlValue) -> YamlValue:
    """Raise ValueError for NaN and infinity, alone or in a list."""
    for item in _items(value):
        if isinstance(item, float) and not math.isfinite(item):
            raise ValueError(f"found {item}; expected a finite number")
    return value


def _not_empty(value: YamlValue) -> YamlValue:
    """Raise ValueError for an empty list."""
    if value == []:
        raise ValueError(
            "no value; expected one or several, since an empty list leaves nothing "
            "to run"
        )
    return value


def _component(value: YamlValue) -> YamlValue:
    """Return a name, or one name with its parameters as a mapping; raise ValueError for
    anything else.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and len(cast("dict[Any, Any]", value)) == 1:
        name, params = next(iter(cast("dict[Any, Any]", value).items()))
        if params is None or isinstance(params, dict):
            return {str(name): dict(cast("Values", params or {}))}
    raise ValueError(
        f"expected a name or one name with its parameters (name: {{parameter: "
        f"value}}); found {value!r}"
    )


Component = Annotated[str | dict[str, Values], BeforeValidator(_component)]
Count = Annotated[int, Field(ge=1, le=MAX_COUNT)]
CountAxis = Annotated[
    Count | list[Count], BeforeValidator(_not_empty), BeforeValidator(expand_ranges)
]
Reference = Annotated[
    Annotated[PublishedTable, Tag("table")] | Annotated[Values, Tag("columns")],
    Discriminator(reference_kind),
]
FloatAxis = Annotated[
    float | list[float], BeforeValidator(_not_empty), BeforeValidator(_finite)
]


class Strict(BaseModel):
    """Immutable model that refuses unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class FirstReferences(Strict):
    """References in the order of the data set, from the first."""

    first: CountAxis


def _references_form(value: object) -> str:
    """Return the tag of a form of ``references``."""
    return "in-order" if isinstance(value, (FirstReferences, Mapping)) else "drawn"


ReferenceCounts = Annotated[
    Annotated[CountAxis, Tag("drawn")] | Annotated[FirstReferences, Tag("in-order")],
    Discriminator(_references_form),
]


class DatasetSpec(BaseModel):
    """A reader by name. The other keys are its parameters."""

    model_config = ConfigDict(extra="allow", frozen=True)
    reader: str
    """Name of a reader (``harness list readers``)."""

    @property
    def params(self) -> Values:
        """Parameters of the reader."""
        return dict(self.model_extra or {})


class DecodingSpec(Strict):
    """Decoding settings.

    A list in a field is a grid axis. Filters apply in the order temperature,
    top-k, top-p.
    """

    strategy: Annotated[str | list[str], BeforeValidator(_not_empty)] = "greedy"
    temperature: FloatAxis = 1.0
    top_p: FloatAxis | None = None
    top_k: CountAxis | None = None
    beams: CountAxis | None = None
    length_penalty: FloatAxis = 0.0
    candidates: CountAxis | None = None
    """Number of captions per example; sets of different sizes are nested (the set of 2
    is the set of 1 and one more caption).
    """
    max_length: CountAxis | None = None
    options: Values = {}
    """Options of an adapter's own strategy."""

    @model_validator(mode="after")
    def _check_grid_size(self) -> DecodingSpec:
        axes = {
            name: len(_items(getattr(self, name))) for name in type(self).model_fields
        }
        points = math.prod(axes.values())
        if points > MAX_RANGE:
            sizes = " x ".join(str(size) for size in axes.values() if size > 1)
            raise ValueError(
                f"a grid of {sizes} decodings; a run has at most {MAX_RANGE:,}"
            )
        return self

    @field_validator("temperature")
    @classmethod
    def _positive(cls, value: YamlValue) -> YamlValue:
        for item in _items(value):
            if item <= 0:
                raise ValueError(
                    f"found {item:g}; a temperature is above 0 (use strategy: "
                    "greedy for the limit of 0)"
                )
        return value

    @field_validator("top_p")
    @classmethod
    def _share(cls, value: YamlValue) -> YamlValue:
        for item in _items(value):
            if item is not None and not 0 < item <= 1:
                raise ValueError(f"found {item:g}; expected a share in (0, 1]")
        return value


class SignificanceSpec(Strict):
    """Permutation p-values per example and their combination."""

    method: Literal["none", "exact", "monte-carlo"] = "none"
    """``exact`` enumerates all relabelings up to ``budget``, and uses Monte Carlo
    beyond it, which is reported.
    """
    budget: Annotated[int, Field(ge=1, le=10_000_000)] = 200_000
    draws: Count = 10_000
    scorings: Annotated[int, Field(ge=1, le=1_000_000_000)] = 200_000
    """Maximum number of scorings, examples times relabelings, of a metric that scores
    relabeled texts again; at least 99 relabelings per example.
    """
    aggregate: Literal["fisher-discrete", "harmonic-mean", "summed"] = "fisher-discrete"
    """Combination that is a record's ``p_value``: the calibrated one, or the harmonic
    mean of Chan et al. (2022), which is no p-value, both in every record; or
    ``summed``, the sum of the standardised statistics under ``draws`` joint
    relabelings.
    """
    fdr: Annotated[float, Field(gt=0, lt=1)] = 0.05


class UntilSpec(Strict):
    """Conditions on confidence sequences, which share the level .05."""

    conditions: Annotated[list[str], Field(min_length=1)]
    """``METRIC: SYSTEM > SYSTEM``, or ``METRIC ± HALF-WIDTH`` for every system."""
    population: bool = False
    """The claim is about the mean of this data set, in place of the population behind
    it.
    """


class BootstrapSpec(Strict):
    """Bootstrap over examples for the 95 % intervals; 0 samples: no intervals."""

    samples: Annotated[int, Field(ge=0, le=MAX_COUNT)] = 1000


class ViewSpec(Strict):
    """A plot or table of the report."""

    plot: Literal["line", "bar", "scatter", "heatmap", "table", "texts", "verdicts"]
    x: str = "model"
    y: str | list[str] = "*"
    by: str | None = None
    title: str = ""
    note: str = ""
    reference: Reference = {}
    """Published values that are printed beside the results: column -> number, or
    ``rows`` with a ``source``.
    """
    examples: Count | None = None
    """Number of examples of a view of texts (default 6)."""
    against: str | None = None
    """Label of the model that a view of verdicts compares the others with."""

    @property
    def metrics(self) -> list[str]:
        """The quantities of ``y`` as a list."""
        return [self.y] if isinstance(self.y, str) else list(self.y)

    @property
    def heading(self) -> str:
        """The title, or the quantities of ``y``."""
        names = ["all metrics" if name == "*" else name for name in self.metrics]
        return self.title or ", ".join(names)

    @property
    def remark(self) -> str:
        """The note, with the source of published values."""
        source = ""
        if isinstance(self.reference, PublishedTable):
            source = f"Published: {self.reference.source}."
        return f"{self.note} {source}".strip()

    @model_validator(mode="after")
    def _own_keys(self) -> ViewSpec:
        if (self.plot == "verdicts") != (self.against is not None):
            raise ValueError(
                "'plot: verdicts' and 'against: MODEL' go together; found plot: "
                f"{self.plot}, against: {self.against}"
            )
        if self.plot != "texts" and self.examples is not None:
            raise ValueError(
                f"examples belongs to 'plot: texts'; found plot: {self.plot}"
            )
        if self.plot == "texts" and not isinstance(self.y, str):
            raise ValueError(
                "the y of a view of texts is one metric, which selects the examples"
            )
        return self


class Spec(Strict):
    """One run: a task's data, models, decodings and metrics."""

    task: TaskName
    description: str = ""
    notice: str = ""
    """Notice that is printed when the run starts, and part of the manifest."""
    dataset: DatasetSpec
    models: Annotated[list[Component], Field(min_length=1)]
    """Adapters by name with their parameters; the parameter ``label`` is the name of
    the model in tables.
    """
    decoding: DecodingSpec = DecodingSpec()
    references: ReferenceCounts | None = None
    """Number of references that are used, drawn per example by its id and the seed, or
    ``{first: n}``; a list is a grid axis (nested sets).
    """
    sizes: Literal["all", "equal"] = "all"
    """``equal`` cuts the sets of all models to the smallest numbers of candidates and
    of references that occur.
    """
    metrics: Annotated[list[Component], Field(min_length=1)]
    """Metrics by name with their parameters; a list-valued parameter is a grid axis."""
    significance: SignificanceSpec = SignificanceSpec()
    bootstrap: BootstrapSpec = BootstrapSpec()
    cluster: str = ""
    """Metadata column whose equal values mark examples that are not independent, such
    as captions of one video: intervals and paired tests resample whole clusters.
    """
    slices: Annotated[list[str], BeforeValidator(_items), WithJsonSchema(_NAMES)] = []
    """Metadata columns whose values are slices: each slice has a result of its own
    beside that of all examples.
    """
    until: UntilSpec | None = None
    """Conditions under which the run stops before the end of the data."""
    same: Annotated[list[str], Field(min_length=2)] | None = None
    """Labels of models that are tested for one distribution of their captions; each of
    them has random numbers of its own.
    """
    views: list[ViewSpec] = []
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    limit: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    """Number of examples that are used, from the first; None: all."""
    variant: str = ""
    """Name of the variant of the file, set on loading."""

    @property
    def reference_counts(self) -> tuple[int | None, ...]:
        """Numbers of references on the axis of the grid; None: all."""
        counts = self.references
        if isinstance(counts, FirstReferences):
            counts = counts.first
        return tuple(dict.fromkeys(counts if isinstance(counts, list) else [counts]))

    @property
    def reference_subset(self) -> str:
        """``random(SEED)`` or ``first`` where references may be cut; empty where all of
        them are used.
        """
        if isinstance(self.references, FirstReferences):
            return "first"
        if self.references is not None or self.sizes == "equal":
            return f"random({self.seed})"
        return ""

    @model_validator(mode="before")
    @classmethod
    def _short_significance(cls, data: YamlValue) -> YamlValue:
        if not isinstance(data, dict):
            return data
        values = cast("Values", data)
        method = values.get("significance")
        if isinstance(method, str):
            return {**values, "significance": {"method": method}}
        return values
