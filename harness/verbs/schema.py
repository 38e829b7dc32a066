"""The JSON Schema of a spec."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from harness.contracts import Values, VerbResult, arrow_table
from harness.spec.schema import json_schema


class Schema(VerbResult, dict[str, Any]):
    """The JSON Schema of a spec with the registered names."""

    def to_dict(self) -> Values:
        """Return the schema."""
        return dict(self)

    def blocks(self) -> Iterator[str]:
        """Yield the schema as JSON."""
        yield json.dumps(self, indent=1)

    def to_arrow(self) -> Any:
        """Return a row for each key of a spec, with its schema as JSON."""
        return arrow_table(
            [
                {"key": key, "schema": json.dumps(value)}
                for key, value in self["properties"].items()
            ]
        )


def schema() -> Schema:
    """Return the JSON Schema of a spec with the registered names, for completion in
    editors.
    """
    return Schema(json_schema())
