"""Provenance of a run: a typed view on manifest.json.

Shapes of manifest.json and results.json are checked before use: the files may be
damaged, or of somebody else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal, TypeVar, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.contracts import Parameters, Values
from harness.errors import InputError, did_you_mean
from harness.rundir.file_names import MANIFEST
from harness.rundir.format import MANIFEST_SCHEMA, RESULTS_SCHEMA, JsonObject
from harness.rundir.records import ResultRecord
from harness.spec.models import DatasetSpec, ViewSpec


@dataclass(frozen=True)
class ModelEntry:
    """One model of a run."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")
    label: str
    adapter: str
    params: Parameters
    fingerprint: str
    source: Parameters | str | None = None
    """Description that the adapter gives of itself
    (:class:`~harness.contracts.Describes`), such as the commit of its weights.
    """


@dataclass(frozen=True)
class MetricEntry:
    """One metric of a run."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")
    label: str
    name: str
    params: Parameters
    signature: str


@dataclass(frozen=True)
class Provenance:
    """Provenance of a run: spec, data, models, metrics, versions."""

    content: JsonObject
    """The JSON object of manifest.json."""

    def _text(self, name: str) -> str:
        return str(self.content.get(name) or "")

    @property
    def kind(self) -> str:
        """``judgments`` for a run that judges metrics; empty for a run of models."""
        return self._text("kind")

    @property
    def task(self) -> str:
        """Name of the task."""
        return self._text("task")

    @property
    def signature(self) -> str:
        """Short identity of the run:
        ``coco|n:10|m:5|refs:random(0)|limit:200|seed:0|harness:0.1.0``.
        """
        return self._text("signature")

    @property
    def digest(self) -> str:
        """Hash of everything that could change a number."""
        return self._text("digest")

    @property
    def readings(self) -> list[JsonObject]:
        """The reading of each file of candidates and references
        (:class:`harness.contracts.Reading`, without captions).
        """
        return list(cast("list[JsonObject]", self.content.get("readings") or []))

    @property
    def local_code(self) -> list[JsonObject]:
        """Registries of working directories whose code was used: ``registry``,
        ``provider``, and ``modules`` (name -> hash).
        """
        return list(cast("list[JsonObject]", self.content.get("local_code") or []))

    @property
    def stopped(self) -> JsonObject:
        """End of a run with conditions: ``examples``, ``of``, ``level`` and
        ``conditions``; empty for others.
        """
        return cast("JsonObject", self.content.get("stopped") or {})

    @property
    def variant(self) -> str:
        """Variant of the spec that was run."""
        return self._text("variant")

    @property
    def data(self) -> Parameters:
        """Data set: ``reader``, ``fingerprint``, ``source``,
        ``examples``, ``references``.
        """
        return cast("Parameters", self.content.get("data") or {})

    @property
    def spec(self) -> Parameters:
        """The resolved spec."""
        return cast("Values", self.content.get("spec") or {})

    @property
    def reference_subset(self) -> str:
        """Choice of the references that count, ``random(SEED)`` or ``first``; empty
        where the run uses all of them.
        """
        references = self.spec.get("references")
        if isinstance(references, Mapping):
            references = cast("Values", references).get("first")
        sizes: list[int] = []
        if isinstance(references, list):
            sizes = cast("list[int]", references)
        elif isinstance(references, int):
            sizes = [references]

        # Sizes that no example exceeds cut nothing.
        available = cast("list[int]", self.data.get("references") or [0])
        is_cut = any(size < max(available) for size in sizes)
        if self.spec.get("sizes") != "equal" and not is_cut:
            return ""

        fields = self.signature.split("|")
        marks = [field for field in fields if field.startswith("refs:")]
        return marks[-1].removeprefix("refs:") if marks else "first"

    @cached_property
    def views(self) -> tuple[ViewSpec, ...]:
        """Views of the spec; a run of judgments has none."""
        return tuple(
            ViewSpec.model_validate(view) for view in self.spec.get("views") or ()
        )

    @property
    def models(self) -> tuple[ModelEntry, ...]:
        """Models, in the order of the spec."""
        entries = cast("list[Values]", self.content.get("models") or [])
        return tuple(ModelEntry(**entry) for entry in entries)

    @property
    def metrics(self) -> tuple[MetricEntry, ...]:
        """Metrics, in the order of the spec."""
        entries = cast("list[Values]", self.content.get("metrics") or [])
        return tuple(MetricEntry(**entry) for entry in entries)

    def model(self, label: str) -> ModelEntry:
        """Return the model with a label; raise :class:`InputError` for a model that
        only results.json or samples.parquet name.
        """
        return _find_label(label, "model", self.models)

    def metric(self, label: str) -> MetricEntry:
        """Return the metric with a label; raise :class:`InputError` for a metric that
        only results.json or samples.parquet name.
        """
        return _find_label(label, "metric", self.metrics)


Entry = TypeVar("Entry", ModelEntry, MetricEntry)


def _find_label(label: str, kind: str, entries: Sequence[Entry]) -> Entry:
    for entry in entries:
        if entry.label == label:
            return entry
    nearest = did_you_mean(label, [entry.label for entry in entries])
    raise InputError(
        f"has no {kind} '{label}'{nearest}; its run directory is damaged: "
        "run the spec again",
        MANIFEST,
    )


class Results(BaseModel):
    """Content of results.json."""

    results: list[ResultRecord]
    slices: list[ResultRecord] = []
    """Results of slices of the examples, each with its
    :attr:`~harness.rundir.records.ResultRecord.slice`.
    """
    failed: dict[str, str] = {}
    """Examples that a model could not process: ``model/example`` -> reason."""
    notes: list[str] = []
    samples_sha256: str | None = None
    costs: dict[str, Values] = {}
    """Model -> work of its adapter in the last session of the run."""


class _Spec(BaseModel):
    dataset: DatasetSpec | None = None
    views: list[ViewSpec] = []


class _Data(BaseModel):
    reader: str = ""
    fingerprint: str = ""
    examples: int
    references: list[int] = []


_Number = float | Literal["inf", "-inf"] | None
"""A number as JSON of a run has it: infinities are texts, and NaN is null."""


class _StoredPath(BaseModel):
    at: list[str | int]
    content: str
    given: str


class _Reading(BaseModel):
    path: str = ""
    role: str = ""
    form: str = ""
    id: str | None = None
    columns: list[str] = []
    items: int
    texts: int
    left_out: dict[str, int] = {}
    other_ids: list[str] = []
    other_columns: list[str] = []
    remarks: list[str] = []


class _LocalCode(BaseModel):
    registry: str
    provider: str
    modules: dict[str, str] = {}


class _Look(BaseModel):
    n: int
    difference: _Number
    low: _Number
    high: _Number


class _Sequence(BaseModel):
    systems: str
    path: list[_Look]


class _Condition(BaseModel):
    condition: str
    verdict: str
    waits: list[str] = []
    sequences: list[_Sequence]


class _Stopped(BaseModel):
    examples: int
    of: int
    level: float
    conditions: list[_Condition]


class _Manifest(BaseModel):
    task: str
    signature: str
    digest: str
    notice: str = ""
    variant: str = ""
    spec: _Spec = _Spec()
    data: _Data = _Data(examples=0)
    models: list[ModelEntry] = []
    metrics: list[MetricEntry] = []
    versions: dict[str, str] = {}
    plugins: list[Values] = []
    paths: list[_StoredPath] = []
    readings: list[_Reading] = []
    local_code: list[_LocalCode] = []
    stopped: _Stopped | None = None


def check_manifest(content: JsonObject, path: Path) -> None:
    """Raise :class:`InputError` with the key when the content of manifest.json has not
    the shape of a manifest, or the schema of a newer version.
    """
    _check_schema(content, MANIFEST_SCHEMA, path)
    _check(_Manifest, content, path, "is no manifest of a run")


def check_results(content: JsonObject, path: Path) -> Results:
    """Return the content of results.json; raise :class:`InputError` with the key when
    it has not the shape of results, or the schema of a newer version.
    """
    _check_schema(content, RESULTS_SCHEMA, path)
    return _check(Results, content, path, "holds no results of a run")


def _check_schema(content: JsonObject, newest: int, path: Path) -> None:
    schema = content.get("schema", newest)
    if not isinstance(schema, int) or schema > newest:
        raise InputError(
            f"has the schema {schema!r}; this version reads schemas up to {newest}: "
            "update the harness, or run the spec again",
            str(path),
        )


Shape = TypeVar("Shape", bound=BaseModel)


def _check(shape: type[Shape], content: JsonObject, path: Path, text: str) -> Shape:
    try:
        return shape.model_validate(content)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_context=False)[0]
        key = ".".join(map(str, problem["loc"]))
        message = problem["msg"].removeprefix("Value error, ")
        reason = message[:1].lower() + message[1:]
        raise InputError(
            f"{text}: {key}: {reason}; found {problem['input']!r:.80}", str(path)
        ) from None
