"""Marks in single captions: what stands around a caption, unknown words, refusals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.files.generated.cleaning import REMOVABLE
from harness.files.generated.late_pattern import late_pattern
from harness.files.generated.refused_captions import TRIGGERS as REFUSAL_TRIGGERS
from harness.files.generated.refused_captions import is_refusal

_UNKNOWN_WORD = late_pattern(r"<unk>|<\|unk\|>|\[UNK\]|(?<![\w-])(?:UNK|unk)(?![\w-])")


@dataclass(frozen=True)
class MarkKind:
    """A kind of mark, as it is looked for."""

    name: str
    triggers: tuple[str, ...]
    """Lower-case texts, one of which stands in every text with such a mark."""
    find: Callable[[str], list[str] | None]
    """Returns the signs of a text, None without any."""
    strip: Callable[[str], str] = str
    """Returns a text without the mark."""


def _finder(
    strip: Callable[[str], str], find: Callable[[str], list[str]]
) -> Callable[[str], list[str] | None]:
    """Return a function that finds what ``strip`` removes: a text has a mark exactly
    where removing it changes the text.
    """
    return lambda text: find(text) if strip(text) != text else None


MARK_KINDS = (
    *(
        MarkKind(item.name, item.triggers, _finder(item.strip, item.find), item.strip)
        for item in REMOVABLE
    ),
    MarkKind("unknown", ("unk",), lambda text: _UNKNOWN_WORD().findall(text) or None),
    MarkKind(
        "refusal", REFUSAL_TRIGGERS, lambda text: [] if is_refusal(text) else None
    ),
)


def caption_marks(text: str) -> list[tuple[str, list[str]]]:
    """Return the kinds of marks of a caption, each with what was found, from the
    outside.

    >>> caption_marks("<think>A dog.</think> **Caption:** a dog")
    [('think', ['<think>', '</think>']), ('prefix', ['**Caption:**'])]
    """
    lowered = text.lower()
    possible = [
        kind
        for kind in MARK_KINDS
        if any(trigger in lowered for trigger in kind.triggers)
    ]
    return marks_of(text, possible)


def marks_of(text: str, kinds: Sequence[MarkKind]) -> list[tuple[str, list[str]]]:
    """Return the marks of a caption among some kinds; what stands within thinking, for
    example, is none of the caption.
    """
    marks: list[tuple[str, list[str]]] = []
    for kind in kinds:
        signs = kind.find(text)
        if signs is not None:
            marks.append((kind.name, signs))
            text = kind.strip(text)
    return marks
