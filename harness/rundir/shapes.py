"""Shapes of manifest.json and results.json: a file of somebody else, or a damaged one, is checked before it is used."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from harness.contracts import Values
from harness.errors import InputError
from harness.rundir.format import JsonObject
from harness.rundir.provenance import MetricEntry, ModelEntry
from harness.rundir.records import ResultRecord
from harness.spec.models import ViewSpec


class Results(BaseModel):
    """Content of results.json."""

    results: list[ResultRecord]
    failed: dict[str, str] = {}
    """Examples that a model could not process: ``model/example`` -> reason."""
    notes: list[str] = []
    samples_sha256: str | None = None
    costs: dict[str, Values] = {}
    """Model -> work of its adapter in the last session of the run."""


class _Spec(BaseModel):
    views: list[ViewSpec] = []


class _Data(BaseModel):
    reader: str = ""
    fingerprint: str = ""
    examples: int
    references: list[int] = []


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


def check_manifest(content: JsonObject, path: Path) -> None:
    """Raise :class:`InputError` with the key when the content of manifest.json has not the shape of a manifest."""
    _check(_Manifest, content, path, "is no manifest of a run")


def check_results(content: JsonObject, path: Path) -> Results:
    """Return the content of results.json; raise :class:`InputError` with the key when it has not the shape of results."""
    return _check(Results, content, path, "holds no results of a run")


Shape = TypeVar("Shape", bound=BaseModel)


def _check(shape: type[Shape], content: JsonObject, path: Path, text: str) -> Shape:
    try:
        return shape.model_validate(content)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_context=False)[0]
        key = ".".join(map(str, problem["loc"]))
        message = problem["msg"].removeprefix("Value error, ")
        raise InputError(f"{text}: {key}: {message[:1].lower()}{message[1:]}; found {problem['input']!r:.80}", str(path)) from None
