"""JSON Schema of a spec file: that of the pydantic model, with the keys of loading, the
registered names and their parameters.
"""

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
from harness.registry.manifest_schema import Entry
from harness.registry.source_description import describe
from harness.spec.models import Spec
from harness.spec.task_kinds import TaskKind, kinds_of_specs

VARIABLE = "Variable"
"""Name of the definition of a text with an environment variable, which any value may
be.
"""
_RANGE: Values = {
    "type": "string",
    "pattern": r"^\s*-?\d+\s*\.\.\s*-?\d+\s*$",
    "description": "a range: 1..10",
}
_TEXTS: Values = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
}
AXES = ("metrics",)
"""Kinds whose parameters may be lists of values, axes of a grid."""
_SECTION = re.compile(
    r"^Parameters\n-{3,}\n(.*?)(?=\n\n\w[^\n]*\n-{3,}\n|\Z)", re.MULTILINE | re.DOTALL
)
_ITEM = re.compile(
    r"^(\w+(?:, \w+)*) *:[^\n]*\n((?:[ \t]+[^\n]*\n?|\n)*)", re.MULTILINE
)
_ROLE = re.compile(r":[a-z]+(?::[a-z]+)*:`~?(?:[\w.]*\.)?([^`.]+)`|``([^`]*)``")
"""A cross reference, or a name in backquotes, in a docstring."""


def json_schema() -> Values:
    """Return the JSON Schema (draft 2020-12) of a spec file.

    Components of installed packages are imported for the types of their parameters; the
    code of a local ``registry.yaml`` is read, not imported.
    """
    schema = Spec.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "harness spec"
    schema["$defs"][VARIABLE] = {
        "type": "string",
        "pattern": r"\$\{",
        "description": "with an environment variable: ${NAME}",
    }
    schema["$defs"]["Condition"] = {
        "type": "object",
        "description": "holds where every path exists "
        "and every distribution is installed",
        "properties": {"exists": _TEXTS, "installed": _TEXTS},
        "additionalProperties": False,
        "minProperties": 1,
    }

    # Keys of loading, which the model does not have.
    properties = schema["properties"]
    properties.pop("variant", None)
    properties["include"] = _TEXTS
    properties["variants"] = {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "when": {"$ref": "#/$defs/Condition"},
            },
        },
        "description": "the first variant whose 'when' holds is merged into the spec",
    }

    for kind in kinds_of_specs().values():
        _add_kind(schema, kind)
    schema.pop("required", None)
    schema["anyOf"] = [{"required": [name]} for name in ("task", "include", "variants")]
    _add_short_forms(schema)
    properties["models"]["items"] = _component("adapters")
    properties["metrics"]["items"] = _component("metrics")
    _add_readers(schema["$defs"]["DatasetSpec"])
    return schema


def _add_readers(dataset: Values) -> None:
    """Add the names of the readers and, for each name, its parameters, which are keys
    beside ``reader``.
    """
    registry = current()
    entries = {
        registry.bare_name(entry): entry for entry in registry.entries("readers")
    }
    dataset["properties"]["reader"]["enum"] = list(entries)
    rules: list[Values] = []
    for name, entry in entries.items():
        of_reader = parameters_schema(entry)
        is_reader: Values = {"reader": {"const": name}}
        then: Values = {
            "properties": {**is_reader, **of_reader["properties"]},
            "additionalProperties": of_reader["additionalProperties"],
        }
        if "required" in of_reader:
            then["required"] = of_reader["required"]
        condition = {"properties": is_reader, "required": ["reader"]}
        rules.append({"if": condition, "then": then})
    dataset["allOf"] = rules


def _add_kind(schema: Values, kind: TaskKind) -> None:
    """Add the keys of another kind of task; ``references`` has a meaning of its own
    there.
    """
    added = kind.spec.model_json_schema()
    schema["$defs"] = {**added.get("$defs", {}), **schema["$defs"]}
    properties = schema["properties"]
    for name, value in added["properties"].items():
        if name == "references":
            properties[name] = {"anyOf": [properties[name], value]}
        elif name not in (*properties, "variant"):
            properties[name] = value


def _add_short_forms(schema: Values) -> None:
    """Add the forms that the validators of single keys expand: ranges, and one value in
    place of a mapping or a list.
    """
    properties = schema["properties"]
    method = schema["$defs"]["SignificanceSpec"]["properties"]["method"]
    properties["significance"] = {
        "anyOf": [{"enum": method["enum"]}, properties["significance"]]
    }
    properties["groups"]["anyOf"].append({"type": "string"})
    reference = schema["$defs"]["ViewSpec"]["properties"]["reference"]
    # Values in the spec itself are a mapping too.
    reference["anyOf"] = reference.pop("oneOf")
    published = properties["published"]
    properties["published"] = {"anyOf": [published, published["items"]]}

    with_axes = [properties]
    for name in ("DecodingSpec", "FirstReferences"):
        with_axes.append(schema["$defs"][name]["properties"])
    for values in with_axes:
        for value in values.values():
            _add_ranges(value)


def _add_ranges(value: Values) -> None:
    """Add ranges to the forms of an axis of whole numbers."""
    choices = [*value.get("anyOf", ()), *value.get("oneOf", ())]
    arrays = [choice for choice in choices if choice.get("type") == "array"]
    if arrays and any(choice.get("type") == "integer" for choice in choices):
        value["anyOf"].append(_RANGE)
        arrays[0]["items"] = {"anyOf": [arrays[0]["items"], _RANGE]}
    for choice in choices:
        _add_ranges(choice)


def _component(kind: str) -> Values:
    """Return the schema of a component: a registered name, or a mapping of one name to
    its parameters.
    """
    registry = current()
    entries = {registry.bare_name(entry): entry for entry in registry.entries(kind)}
    names: list[str] = []
    for label, entry in entries.items():
        names += [label, *entry.aliases]

    properties: Values = {
        label: parameters_schema(entry) for label, entry in entries.items()
    }
    for label, entry in entries.items():
        properties.update(dict.fromkeys(entry.aliases, properties[label]))
    properties["when"] = {"$ref": "#/$defs/Condition"}
    # One name, and its condition.
    with_parameters = {
        "type": "object",
        "properties": properties,
        "minProperties": 1,
        "maxProperties": 2,
    }
    return {"anyOf": [{"enum": list(dict.fromkeys(names))}, with_parameters]}


def parameters_schema(entry: Entry) -> Values:
    """Return the schema of the parameters of a component: an object, or null for none.

    The constructor is read from the imported component, or from its source where the
    component is local or a package that it imports is missing; the schema then has the
    names without their types. A component that cannot be read accepts anything.
    """
    properties: Values = {}
    required: list[str] = []
    closed = True
    try:
        if entry.local and not entry.declaration:
            text, names = describe(entry.folder, entry.target)
        else:
            factory = current().load(entry.kind, entry.full_name)
            text = _docstring(factory)
            names = {}
            properties, required, closed = _of_signature(factory)
    except MissingExtra:
        text, names = _of_source(entry.target)
    except HarnessError:
        return _whole({}, [], False, entry.summary)
    for name, default in names.items():
        properties[name] = {}
        if default == "(required)":
            required.append(name)

    descriptions = docstring_parameters(text)
    for name, value in properties.items():
        description = descriptions.get(name, "")
        properties[name] = _property(entry.kind, name, cast(Values, value), description)
    if entry.kind == "adapters":
        properties["label"] = {
            "type": "string",
            "description": "Name of the model in tables.",
        }
    return _whole(properties, required, closed, entry.summary)


def _whole(
    properties: Values, required: list[str], closed: bool, summary: str
) -> Values:
    """Return the schema of an object of parameters, which may be left out where none is
    required.
    """
    schema: Values = {
        "type": "object" if required else ["object", "null"],
        "description": summary,
    }
    schema["properties"] = properties
    schema["additionalProperties"] = not closed
    return {**schema, "required": required} if required else schema


def _of_signature(factory: Any) -> tuple[Values, list[str], bool]:
    """Return parameter -> schema, the required parameters, and False when the
    constructor takes any name.
    """
    hints = type_hints(factory)
    signature = parameters(factory)
    kinds = {
        parameter.kind for parameter in inspect.signature(factory).parameters.values()
    }
    properties: Values = {}
    for name, parameter in signature.items():
        properties[name] = type_schema(hints[name]) if name in hints else {}
        default = parameter.default
        # NaN, which equals nothing, is no JSON.
        if isinstance(default, (bool, int, float, str)) and default == default:
            properties[name]["default"] = default
    required = [
        name
        for name, parameter in signature.items()
        if parameter.default is inspect.Parameter.empty
    ]
    return properties, required, inspect.Parameter.VAR_KEYWORD not in kinds


def type_schema(hint: Any) -> Values:
    """Return the schema of a type hint; empty, which accepts anything, for a type
    without one.

    >>> type_schema(int | None)
    {'anyOf': [{'type': 'integer'}, {'type': 'null'}]}
    """
    try:
        config = ConfigDict(arbitrary_types_allowed=True)
        schema = TypeAdapter[Any](hint, config=config).json_schema()
    except (PydanticUserError, SchemaError, NameError, TypeError):
        return {}
    return {} if "$defs" in schema or "$ref" in schema else schema


def _property(kind: str, name: str, schema: Values, description: str) -> Values:
    """Return the schema of one parameter: with its description, the names of a kind,
    and lists where they are axes.
    """
    default = {"default": schema.pop("default")} if "default" in schema else {}
    # A parameter called 'distance' takes the name of a distance, or a mapping of it.
    for plural, singular in SINGULAR.items():
        if singular == name:
            registry = current()
            names = sorted(map(registry.bare_name, registry.entries(plural)))
            schema = {"anyOf": [{"enum": names}, schema]}
    if schema:
        arrays = [{"type": "array", "items": schema}] if kind in AXES else []
        schema = {"anyOf": [schema, *arrays, {"$ref": "#/$defs/Variable"}]}
    if description:
        default["description"] = description
    return {**schema, **default}


def _of_source(target: str) -> tuple[str, Mapping[str, str]]:
    """Return docstring and parameters of ``package.module:Object`` from its source;
    nothing where they cannot be read.
    """
    module, _, name = target.partition(":")
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return "", {}
    file = Path(spec.origin)
    return describe(file.parent, f"{file.stem}:{name}")


def _docstring(factory: Any) -> str:
    """Return the docstrings of a class and of its constructor."""
    texts = [
        inspect.getdoc(factory),
        inspect.getdoc(factory.__init__) if inspect.isclass(factory) else None,
    ]
    return "\n\n".join(text for text in texts if text)


def docstring_parameters(text: str) -> dict[str, str]:
    """Return parameter -> description, from the numpydoc section *Parameters* of a
    docstring.

    >>> section = (
    ...     "Parameters\\n----------\\nn : int\\n    Longest ``n``-gram,\\n    1 to 4."
    ... )
    >>> docstring_parameters(f"Title.\\n\\n{section}\\n")
    {'n': 'Longest n-gram, 1 to 4.'}
    """
    out: dict[str, str] = {}
    for section in _SECTION.finditer(inspect.cleandoc(text) + "\n"):
        for names, body in _ITEM.findall(section[1] + "\n"):
            # Roles and backquotes of the page become plain names.
            line = " ".join(body.split())
            description = _ROLE.sub(lambda match: match[1] or match[2], line)
            out.update(dict.fromkeys(names.split(", "), description))
    return out
