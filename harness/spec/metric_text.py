"""Metrics as texts of the command line: ``NAME:PARAMETER=VALUE,...``."""

from __future__ import annotations

import yaml

from harness.contracts import Values
from harness.errors import HarnessError


def parse_metric(text: str) -> dict[str, Values]:
    """Return ``trm:distance=bert,pooling=per-direction`` as ``{"trm": {...}}``.

    Values are YAML; a comma inside brackets belongs to the value. Raises :class:`HarnessError` for any other form.

    >>> parse_metric("trm:distance={cider: {df: x, tokenizer: none}},pooling=pooled")
    {'trm': {'distance': {'cider': {'df': 'x', 'tokenizer': 'none'}}, 'pooling': 'pooled'}}
    """
    name, _, rest = text.partition(":")
    params: Values = {}
    for part in filter(None, split_outside_brackets(rest)):
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise HarnessError(
                f"metric '{text}': expected NAME or NAME:PARAMETER=VALUE,...; found '{part}'", value=text
            )
        try:
            params[key.strip()] = yaml.safe_load(value)
        except yaml.YAMLError:
            raise HarnessError(
                f"metric '{text}': the value of '{key.strip()}' is not readable: '{value}'", parameter=key.strip()
            ) from None
    return {name.strip(): params}


def split_outside_brackets(text: str) -> list[str]:
    """Return the text split at the commas that are outside of ``[]`` and ``{}``.

    >>> split_outside_brackets("a=[1,2],b")
    ['a=[1,2]', 'b']
    """
    parts, depth = [""], 0
    for character in text:
        depth += (character in "[{") - (character in "]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts
