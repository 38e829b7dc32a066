"""Shapes of manifest.json and results.json: a file of somebody else, or a damaged one, is checked before it is used."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, StrictBool, StrictStr, ValidationError

from harness.errors import InputError
from harness.rundir.format import JsonObject
from harness.spec.models import ViewSpec


def _number(value: object) -> object:
    """Return a number as it is; raise ValueError for anything but a number, null, ``"inf"`` and ``"-inf"``."""
    if (
        value is not None
        and value not in ("inf", "-inf")
        and (isinstance(value, bool) or not isinstance(value, (int, float)))
    ):
        raise ValueError("expected a number or null")
    return value


Number = Annotated[Any, BeforeValidator(_number)]
Mapping = dict[StrictStr, Any]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="allow")


class _Record(_Shape):
    model: StrictStr
    metric: StrictStr
    model_params: Mapping = {}
    task: StrictStr = ""
    decoding: Mapping = {}
    params: Mapping = {}
    higher_is_better: StrictBool | None = None
    level: Literal["item", "set", "corpus", "model"] = "item"
    signature: StrictStr = ""
    value: Number = None
    ci95: tuple[Number, Number] | None = None
    interval_note: StrictStr | None = None
    p_value: Number = None
    p_method: StrictStr | None = None
    n: int = 0
    skipped: int = 0
    sizes: dict[StrictStr, list[int]] | None = None
    seconds: Number = 0.0
    details: Mapping | None = None
    p: dict[StrictStr, Number] | None = None
    p_note: StrictStr | None = None
    statistics: StrictStr | None = None


class _Results(_Shape):
    results: list[_Record]
    failed: dict[StrictStr, StrictStr] = {}
    notes: list[StrictStr] = []
    samples_sha256: StrictStr | None = None


class _Spec(_Shape):
    views: list[ViewSpec] = []


class _Data(_Shape):
    reader: StrictStr = ""
    fingerprint: StrictStr = ""
    examples: int
    references: list[int] = []


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")
    label: StrictStr
    adapter: StrictStr
    params: Mapping
    fingerprint: StrictStr
    source: StrictStr | Mapping = ""


class _Metric(BaseModel):
    model_config = ConfigDict(extra="forbid")
    label: StrictStr
    name: StrictStr
    params: Mapping
    signature: StrictStr


class _Manifest(_Shape):
    task: StrictStr
    signature: StrictStr
    digest: StrictStr
    notice: StrictStr = ""
    variant: StrictStr = ""
    spec: _Spec = _Spec()
    data: _Data = _Data(examples=0)
    models: list[_Model] = []
    metrics: list[_Metric] = []
    versions: dict[StrictStr, StrictStr] = {}
    plugins: list[Mapping] = []


def check_manifest(content: JsonObject, path: Path) -> None:
    """Raise :class:`InputError` with the key when the content of manifest.json has not the shape of a manifest."""
    _check(_Manifest, content, path, "is no manifest of a run")


def check_results(content: JsonObject, path: Path) -> None:
    """Raise :class:`InputError` with the key when the content of results.json has not the shape of results."""
    _check(_Results, content, path, "holds no results of a run")


def _check(shape: type[BaseModel], content: JsonObject, path: Path, text: str) -> None:
    try:
        shape.model_validate(content)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_context=False)[0]
        key = ".".join(map(str, problem["loc"]))
        message = problem["msg"].removeprefix("Value error, ")
        raise InputError(
            f"{text}: {key}: {message[:1].lower()}{message[1:]}; found {problem['input']!r:.80}", str(path)
        ) from None
