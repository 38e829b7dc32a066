"""JSON Schema of a spec file: that of the pydantic model, with the keys of loading, the registered names and their parameters."""

from __future__ import annotations

from harness.contracts import Values
from harness.registry import current
from harness.spec.judgment_models import JudgmentSpec
from harness.spec.models import Spec
from harness.spec.parameter_schema import parameters_schema

VARIABLE = "Variable"
"""Name of the definition of a text with an environment variable, which any value may be."""
_RANGE: Values = {"type": "string", "pattern": r"^\s*-?\d+\s*\.\.\s*-?\d+\s*$", "description": "a range: 1..10"}
_TEXTS: Values = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}


def json_schema() -> Values:
    """Return the JSON Schema (draft 2020-12) of a spec file.

    Components of installed packages are imported for the types of their parameters; the code of a local ``registry.yaml`` is
    read, not imported.
    """
    schema = Spec.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "harness spec"
    schema["$defs"][VARIABLE] = {"type": "string", "pattern": r"\$\{", "description": "with an environment variable: ${NAME}"}
    schema["$defs"]["Condition"] = {
        "type": "object",
        "description": "holds where every path exists and every distribution is installed",
        "properties": {"exists": _TEXTS, "installed": _TEXTS},
        "additionalProperties": False,
        "minProperties": 1,
    }
    properties = schema["properties"]
    properties.pop("variant", None)
    properties["include"] = _TEXTS
    properties["variants"] = {
        "type": "array",
        "items": {"type": "object", "properties": {"name": {"type": "string"}, "when": {"$ref": "#/$defs/Condition"}}},
        "description": "the first variant whose 'when' holds is merged into the spec",
    }
    _add_judgments(schema)
    schema.pop("required", None)
    schema["anyOf"] = [{"required": [name]} for name in ("task", "include", "variants")]
    _add_short_forms(schema)
    properties["models"]["items"] = _component("adapters")
    properties["metrics"]["items"] = _component("metrics")
    _add_readers(schema["$defs"]["DatasetSpec"])
    return schema


def _add_readers(dataset: Values) -> None:
    """Add the names of the readers and, for each name, its parameters, which are keys beside ``reader``."""
    registry = current()
    entries = {registry.bare_name(entry): entry for entry in registry.entries("readers")}
    dataset["properties"]["reader"]["enum"] = list(entries)
    rules: list[Values] = []
    for name, entry in entries.items():
        of_reader = parameters_schema(entry)
        keys: Values = {"reader": {"const": name}, **of_reader["properties"]}
        then: Values = {"properties": keys, "additionalProperties": of_reader["additionalProperties"]}
        if required := of_reader.get("required"):
            then["required"] = required
        rules.append({"if": {"properties": {"reader": {"const": name}}, "required": ["reader"]}, "then": then})
    dataset["allOf"] = rules


def _add_judgments(schema: Values) -> None:
    """Add the keys of a task of human judgments; ``references`` is a number there, or a policy here."""
    judgments = JudgmentSpec.model_json_schema()
    schema["$defs"] = {**judgments["$defs"], **schema["$defs"]}
    properties = schema["properties"]
    for name, value in judgments["properties"].items():
        if name == "references":
            properties[name] = {"anyOf": [properties[name], value]}
        elif name not in (*properties, "variant"):
            properties[name] = value


def _add_short_forms(schema: Values) -> None:
    """Add the forms that the validators of single keys expand: ranges, and one value in place of a mapping or a list."""
    properties = schema["properties"]
    method = schema["$defs"]["SignificanceSpec"]["properties"]["method"]
    properties["significance"] = {"anyOf": [{"enum": method["enum"]}, properties["significance"]]}
    properties["groups"]["anyOf"].append({"type": "string"})
    properties["published"] = {"anyOf": [properties["published"], properties["published"]["items"]]}
    for values in (properties, *(schema["$defs"][name]["properties"] for name in ("DecodingSpec", "FirstReferences"))):
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
    """Return the schema of a component: a registered name, or a mapping of one name to its parameters."""
    registry = current()
    entries = {registry.bare_name(entry): entry for entry in registry.entries(kind)}
    names = list(dict.fromkeys(name for label, entry in entries.items() for name in (label, *entry.aliases)))
    properties: Values = {label: parameters_schema(entry) for label, entry in entries.items()}
    for entry in entries.values():
        properties.update({alias: properties[registry.bare_name(entry)] for alias in entry.aliases})
    properties["when"] = {"$ref": "#/$defs/Condition"}
    return {"anyOf": [{"enum": names}, {"type": "object", "properties": properties, "minProperties": 1, "maxProperties": 2}]}
