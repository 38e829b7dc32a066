"""Recognition of a judged caption among the references of its item."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from harness.errors import InputError

SIMILAR = 0.9
"""Smallest similarity of a caption to the reference that it is, when case, spaces and punctuation are removed."""


def plain(text: str) -> str:
    """Return the letters and digits of a text in lower case.

    >>> plain("A dog , runs .")
    'adogruns'
    """
    return "".join(character for character in text.lower() if character.isalnum())


def marked_reference(caption: str, references: Sequence[str], location: str) -> int:
    """Return the position of the reference most similar to a caption that is marked as a reference.

    Raises :class:`InputError` when no reference has a similarity of at least :data:`SIMILAR`.
    """
    position = similar_reference(caption, references)
    if position is None:
        raise InputError(
            f"the caption {caption!r:.60} is marked as a reference, but no reference is similar to it", location
        )
    return position


def similar_reference(caption: str, references: Sequence[str]) -> int | None:
    """Return the position of the reference most similar to a caption; None when none has a similarity of :data:`SIMILAR`."""
    if caption in references:
        return references.index(caption)
    text = plain(caption)
    ratios = [difflib.SequenceMatcher(None, text, plain(reference)).ratio() for reference in references]
    return ratios.index(max(ratios)) if max(ratios, default=0) >= SIMILAR else None


def equal_references(caption: str, references: Sequence[str]) -> tuple[int, ...]:
    """Return the positions of all references that equal a caption character by character.

    >>> equal_references("a", ["a", "b", "a"])
    (0, 2)
    """
    return tuple(k for k, reference in enumerate(references) if reference == caption)
