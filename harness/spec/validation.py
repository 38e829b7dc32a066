"""Checks of the content of a spec, and its mistakes as errors with file and line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast, get_args

import yaml
from pydantic import BaseModel, ValidationError

from harness.errors import InputError, did_you_mean
from harness.files.captions import check_text
from harness.files.yaml_source import Key, Located, YamlValue
from harness.spec.models import Spec

MAX_BITS = 1024
"""Maximum size of a whole number."""


def check_scalars(tree: Located) -> None:
    """Raise :class:`InputError` for texts that are no Unicode, and for numbers that no
    parameter holds, which cannot be printed either.
    """
    for key, value in tree.walk():
        if isinstance(value, str) and not value.isascii():
            check_text(value, tree.where(key), what="value")
        if isinstance(value, int) and value.bit_length() > MAX_BITS:
            raise InputError(
                f"a whole number of {value.bit_length():,} bits; "
                f"expected at most {MAX_BITS}",
                tree.where(key),
            )


def explain(
    error: ValidationError, tree: Located, model: type[BaseModel] = Spec
) -> InputError:
    """Return the first problem of a validation as an error with file and line, the
    value and the expected ones.
    """
    # An unknown key first: it is often the cause of what is missing.
    problem = min(
        error.errors(),
        key=lambda e: (e["type"] != "extra_forbidden", tuple(map(str, e["loc"]))),
    )
    loc: Key = tuple(
        step for step in problem["loc"] if _in_data(tree.data, problem["loc"], step)
    )
    location = tree.where(loc)
    label = ".".join(map(str, loc))
    if problem["type"] == "extra_forbidden":
        options = _fields_at(loc[:-1], model)
        hint = did_you_mean(str(loc[-1]), options)
        return InputError(
            f"unknown key '{loc[-1]}'{hint}; keys here are {', '.join(options)}",
            location,
        )
    if problem["type"] == "missing":
        name = ".".join(map(str, (*loc, problem["loc"][-1])))
        return InputError(f"'{name}' is missing", location)

    message = problem["msg"].removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    suffix = "" if "found" in message else f"; found {shorten(problem.get('input'))}"
    return InputError(f"{label}: {message}{suffix}" if label else message, location)


def _in_data(data: YamlValue, loc: Sequence[Any], last_step: YamlValue) -> bool:
    """Return True when the last step of a pydantic location is a key of the data, not
    the name of a union branch.
    """
    here: YamlValue = data
    for step in loc:
        is_key = isinstance(here, dict) and step in here
        is_index = False
        if isinstance(here, list) and isinstance(step, int):
            is_index = step < len(cast("list[YamlValue]", here))
        if step == last_step:
            return is_key or is_index
        if is_key or is_index:
            here = cast("Any", here)[step]
    return False


def _fields_at(loc: Key, root: type[BaseModel]) -> list[str]:
    """Return the field names of the model at a path of ``root``; empty where there is
    none.
    """
    model: type[BaseModel] | None = root
    for step in loc:
        if isinstance(step, int):
            continue
        field = model.model_fields.get(str(step)) if model is not None else None
        model = _model_in(field.annotation) if field is not None else None
    if model is None:
        return []
    names = [name for name in model.model_fields if name != "variant"]
    # Keys of loading stand at the top, and are gone before the validation.
    return names if loc else [*names, "include", "variants"]


def _model_in(annotation: object) -> type[BaseModel] | None:
    """Return the first model in a type annotation, such as that of
    ``list[ViewSpec] | None``.
    """
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in get_args(annotation):
        model = _model_in(argument)
        if model is not None:
            return model
    return None


def shorten(value: YamlValue) -> str:
    """Return a value as YAML on one line of at most 80 characters."""
    if isinstance(value, str):
        text = repr(value)
    else:
        dumped = yaml.safe_dump(value, default_flow_style=True)
        text = dumped.strip().removesuffix("\n...")
    return text if len(text) <= 80 else text[:77] + "..."
