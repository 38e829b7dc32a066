"""Prompts of examples."""

from __future__ import annotations

from harness.contracts import Example
from harness.errors import InputError


def fill_prompt(prompt: str, example: Example) -> str:
    """Return a prompt with its fields filled: ``{source}``, ``{id}``, and keys of ``Example.meta``.

    Raises :class:`InputError` for a field that the example does not have.
    """
    if "{source}" in prompt and example.source is None:
        raise InputError(f"example '{example.id}' has no source text for the prompt {prompt!r}")
    try:
        return prompt.format(**{**example.meta, "source": example.source, "id": example.id})
    except (KeyError, IndexError, ValueError) as error:
        raise InputError(f"the prompt {prompt!r} asks for {error}, which example '{example.id}' does not have") from error
