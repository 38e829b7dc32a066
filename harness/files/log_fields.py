"""Fields of objects in the logs of other programs, as columns."""

from __future__ import annotations

from collections.abc import Mapping

from harness.contracts import Values
from harness.files.yaml_source import YamlValue


def prefix_fields(prefix: str, values: YamlValue) -> Values:
    """Return the texts, numbers and lists of texts of an object as ``PREFIX.NAME``."""
    if not isinstance(values, Mapping):
        return {}
    return {
        f"{prefix}.{name}": value for name, value in values.items() if _is_plain(value)
    }


def _is_plain(value: YamlValue) -> bool:
    """Return True for a text, a number and a list of texts."""
    if isinstance(value, list):
        return all(isinstance(item, str) for item in value)
    return isinstance(value, (str, int, float))
