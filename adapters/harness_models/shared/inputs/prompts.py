"""Prompts of examples: a text with fields, ``{source}``,
``{id}`` and keys of the example's meta.

The language is fixed and has no other construct, because prompts come with specs of
others: Python's own formats reach attributes of objects, and pad a text to any width.
"""

from __future__ import annotations

import re

from harness.contracts import Example
from harness.errors import InputError

_PLACES = re.compile(r"\{\{|\}\}|\{(\w[\w -]*)\}|\{[^{}]*\}?|\}")
"""Doubled braces, fields, and everything else with a brace, which is refused."""


def fill_prompt(prompt: str, example: Example) -> str:
    """Return a prompt with its fields filled: ``{source}``, ``{id}``, and keys of
    ``Example.meta``; ``{{`` and ``}}`` are braces.

    Raises :class:`InputError` for a field that the example does not have, and for other
    text in braces.
    """
    values = {**example.meta, "id": example.id}
    if example.source is not None:
        values["source"] = example.source

    def fill(place: re.Match[str]) -> str:
        name = place[1]
        if place[0] in ("{{", "}}"):
            return place[0][0]
        if name not in values:
            fields = ", ".join(f"{{{key}}}" for key in sorted(values))
            raise InputError(
                f"the prompt {prompt!r} has '{place[0]}'; "
                f"the fields of example '{example.id}' are {fields}; "
                "a brace is written twice",
                parameter="prompt",
            )
        return str(values[name])

    return _PLACES.sub(fill, prompt)
