"""JSON Schema of a spec file: that of the pydantic model, with the keys of loading and the registered names."""

from __future__ import annotations

from harness.contracts import Values
from harness.registry import current
from harness.spec.judgment_models import JudgmentSpec
from harness.spec.models import Spec


def json_schema() -> Values:
    """Return the JSON Schema (draft 2020-12) of a spec file."""
    schema = Spec.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "harness spec"
    properties = schema["properties"]
    properties.pop("variant", None)
    properties["include"] = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    properties["variants"] = {
        "type": "array",
        "items": {"type": "object"},
        "description": "the first variant whose 'when' holds is merged into the spec",
    }
    _add_judgments(schema)
    schema["required"] = ["task"]
    properties["models"]["items"] = _component("adapters")
    properties["metrics"]["items"] = _component("metrics")
    registry = current()
    readers = [registry.bare_name(entry) for entry in registry.entries("readers")]
    schema["$defs"]["DatasetSpec"]["properties"]["reader"]["enum"] = readers
    return schema


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


def _component(kind: str) -> Values:
    """Return the schema of a component: a registered name, or a mapping of one name to its parameters."""
    registry = current()
    entries = {registry.bare_name(entry): entry for entry in registry.entries(kind)}
    names = list(dict.fromkeys(name for label, entry in entries.items() for name in (label, *entry.aliases)))
    properties = {label: {"type": ["object", "null"], "description": e.summary} for label, e in entries.items()}
    return {
        "anyOf": [
            {"enum": names},
            {"type": "object", "properties": properties, "minProperties": 1, "maxProperties": 1},
        ]
    }
