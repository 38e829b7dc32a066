"""Fields of a reference that say that it is not to be scored, such as ``is_rejected`` of VizWiz."""

from __future__ import annotations

from harness.contracts import Parameters
from harness.files.yaml_source import YamlValue

_TRUE = ("is_rejected", "isRejected", "rejected", "is_precanned", "isPrecanned", "precanned")
_FALSE = ("is_valid", "isValid", "valid")
_MARKS = frozenset((*_TRUE, *_FALSE))


def find_mark(fields: Parameters) -> str | None:
    """Return the field that excludes a reference, as ``NAME`` or ``NAME: false``; None for a reference to be scored.

    >>> find_mark({"caption": "a dog", "is_rejected": True}), find_mark({"caption": "a dog", "valid": "false"})
    ('is_rejected', 'valid: false')
    >>> find_mark({"caption": "a dog", "is_rejected": 0, "rejected": "a cat"}) is None
    True
    """
    if _MARKS.isdisjoint(fields):
        return None
    excluded = next((name for name in _TRUE if _truth(fields.get(name)) is True), None)
    return excluded or next((f"{name}: false" for name in _FALSE if _truth(fields.get(name)) is False), None)


def _truth(value: YamlValue) -> bool | None:
    """Return the truth of a flag, which tables write as a text or a number; None for any other value."""
    texts = {"true": True, "1": True, "1.0": True, "yes": True, "false": False, "0": False, "0.0": False, "no": False}
    return texts.get(str(value).strip().lower())
