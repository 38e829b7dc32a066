"""JSON Schema of the parameters of components: types, defaults and the lines of the docstrings."""

from __future__ import annotations

import importlib.util
import inspect
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import ConfigDict, TypeAdapter
from pydantic.errors import PydanticUserError
from pydantic_core import SchemaError

from harness.contracts import Values
from harness.contracts.parameters import type_hints
from harness.errors import HarnessError, MissingExtra
from harness.registry import current, parameters
from harness.registry.component_kinds import SINGULAR
from harness.registry.local_code import describe
from harness.registry.manifest_schema import Entry

AXES = ("metrics",)
"""Kinds whose parameters may be lists of values, axes of a grid."""
_SECTION = re.compile(r"^Parameters\n-{3,}\n(.*?)(?=\n\n\w[^\n]*\n-{3,}\n|\Z)", re.MULTILINE | re.DOTALL)
_ITEM = re.compile(r"^(\w+(?:, \w+)*) *:[^\n]*\n((?:[ \t]+[^\n]*\n?|\n)*)", re.MULTILINE)
_ROLE = re.compile(r":[a-z]+(?::[a-z]+)*:`~?(?:[\w.]*\.)?([^`.]+)`|``([^`]*)``")


def parameters_schema(entry: Entry) -> Values:
    """Return the schema of the parameters of a component: an object, or null for none.

    The constructor is read from the imported component, or from its source where the component is local or a package that it
    imports is missing; the schema then has the names without their types. A component that cannot be read accepts anything.
    """
    properties: Values = {}
    required: list[str] = []
    closed = True
    try:
        if entry.local:
            text, names = describe(entry.folder, entry.target)
        else:
            factory = current().load(entry.kind, entry.full_name)
            text, names = _docstring(factory), {}
            properties, required, closed = _of_signature(factory)
    except MissingExtra:
        text, names = _of_source(entry.target)
    except HarnessError:
        return _whole({}, [], False, entry.summary)
    for name, default in names.items():
        properties[name] = {}
        if default == "(required)":
            required.append(name)
    described = docstring_parameters(text)
    for name, value in properties.items():
        properties[name] = _property(entry.kind, name, cast(Values, value), described.get(name, ""))
    if entry.kind == "adapters":
        properties["label"] = {"type": "string", "description": "Name of the model in tables."}
    return _whole(properties, required, closed, entry.summary)


def _whole(properties: Values, required: list[str], closed: bool, summary: str) -> Values:
    schema: Values = {"type": "object" if required else ["object", "null"], "description": summary}
    schema["properties"] = properties
    schema["additionalProperties"] = not closed
    return {**schema, "required": required} if required else schema


def _of_signature(factory: Any) -> tuple[Values, list[str], bool]:
    """Return parameter -> schema, the required parameters, and False when the constructor takes any name."""
    hints = type_hints(factory)
    signature = parameters(factory)
    kinds = {parameter.kind for parameter in inspect.signature(factory).parameters.values()}
    properties: Values = {}
    for name, parameter in signature.items():
        properties[name] = type_schema(hints[name]) if name in hints else {}
        default = parameter.default
        if isinstance(default, (bool, int, float, str)) and default == default:
            properties[name]["default"] = default
    required = [name for name, parameter in signature.items() if parameter.default is inspect.Parameter.empty]
    return properties, required, inspect.Parameter.VAR_KEYWORD not in kinds


def type_schema(hint: Any) -> Values:
    """Return the schema of a type hint; empty, which accepts anything, for a type without one.

    >>> type_schema(int | None)
    {'anyOf': [{'type': 'integer'}, {'type': 'null'}]}
    """
    try:
        schema = TypeAdapter[Any](hint, config=ConfigDict(arbitrary_types_allowed=True)).json_schema()
    except (PydanticUserError, SchemaError, NameError, TypeError):
        return {}
    return {} if "$defs" in schema or "$ref" in schema else schema


def _property(kind: str, name: str, schema: Values, description: str) -> Values:
    """Return the schema of one parameter: with its description, the names of a kind, and lists where they are axes."""
    default = {"default": schema.pop("default")} if "default" in schema else {}
    if name in SINGULAR.values():  # a parameter called 'distance' takes the name of a distance, or a mapping of it
        of_kind = next(plural for plural, singular in SINGULAR.items() if singular == name)
        schema = {"anyOf": [{"enum": sorted(map(current().bare_name, current().entries(of_kind)))}, schema]}
    if schema:
        arrays = [{"type": "array", "items": schema}] if kind in AXES else []
        schema = {"anyOf": [schema, *arrays, {"$ref": "#/$defs/Variable"}]}
    return {**schema, **default, **({"description": description} if description else {})}


def _of_source(target: str) -> tuple[str, Mapping[str, str]]:
    """Return docstring and parameters of ``package.module:Object`` from its source; nothing where they cannot be read."""
    module, _, name = target.partition(":")
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return "", {}
    file = Path(spec.origin)
    return describe(file.parent, f"{file.stem}:{name}")


def _docstring(factory: Any) -> str:
    """Return the docstrings of a class and of its constructor."""
    texts = [inspect.getdoc(factory), inspect.getdoc(factory.__init__) if inspect.isclass(factory) else None]
    return "\n\n".join(text for text in texts if text)


def docstring_parameters(text: str) -> dict[str, str]:
    """Return parameter -> description, from the numpydoc section *Parameters* of a docstring.

    >>> docstring_parameters("Title.\\n\\nParameters\\n----------\\nn : int\\n    Longest ``n``-gram,\\n    1 to 4.\\n")
    {'n': 'Longest n-gram, 1 to 4.'}
    """
    out: dict[str, str] = {}
    for section in _SECTION.finditer(inspect.cleandoc(text) + "\n"):
        for names, body in _ITEM.findall(section[1] + "\n"):
            description = _ROLE.sub(lambda match: match[1] or match[2], " ".join(body.split()))
            out.update(dict.fromkeys(names.split(", "), description))
    return out
