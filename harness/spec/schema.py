"""The JSON Schema of a spec file: the pydantic model's, with loading keys and the registry's names added."""

from __future__ import annotations

from typing import Any

from harness.registry import current
from harness.spec.models import Spec


def json_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a spec file."""
    schema = Spec.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "harness spec"
    properties = schema["properties"]
    properties.pop("variant", None)
    properties["include"] = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    properties["variants"] = {
        "type": "array",
        "items": {"type": "object"},
        "description": "the first whose 'when' holds is merged in",
    }
    schema["required"] = ["task"]
    properties["models"]["items"] = _component("adapters")
    properties["metrics"]["items"] = _component("metrics")
    schema["$defs"]["DatasetSpec"]["properties"]["reader"]["enum"] = [
        entry.name for entry in current().entries("readers")
    ]
    return schema


def _component(kind: str) -> dict[str, Any]:
    entries = current().entries(kind)
    names = [name for entry in entries for name in (entry.name, *entry.aliases)]
    properties = {entry.name: {"type": ["object", "null"], "description": entry.summary} for entry in entries}
    return {
        "anyOf": [
            {"enum": names},
            {"type": "object", "properties": properties, "minProperties": 1, "maxProperties": 1},
        ]
    }
