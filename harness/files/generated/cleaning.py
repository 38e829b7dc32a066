"""Cleaning of captions on request, of thinking, marks of chats, prompts, words that
introduce a caption, Markdown, repeats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from harness.errors import InputError
from harness.files.generated.answer_prefixes import TRIGGERS as PREFIX_TRIGGERS
from harness.files.generated.answer_prefixes import find_prefix, strip_prefix
from harness.files.generated.chat_marks import TRIGGERS as CHAT_TRIGGERS
from harness.files.generated.chat_marks import find_chat_marks, strip_chat_marks
from harness.files.generated.markdown import TRIGGERS as MARKDOWN_TRIGGERS
from harness.files.generated.markdown import find_markdown, strip_markdown
from harness.files.generated.prompt_echoes import TRIGGERS as ECHO_TRIGGERS
from harness.files.generated.prompt_echoes import find_echo, strip_echo
from harness.files.generated.thinking import TRIGGERS as THINKING_TRIGGERS
from harness.files.generated.thinking import find_thinking, strip_thinking

REPEATS = "repeats"
"""Name of repeated records of an id, of which one is kept."""


@dataclass(frozen=True)
class Removable:
    """Something around a caption that can be removed."""

    name: str
    """Name in ``--clean``."""
    strip: Callable[[str], str]
    """Returns a text without it; the text itself where it is not there."""
    find: Callable[[str], list[str]]
    """Returns what was found, for messages, of a text that :attr:`strip` changes."""
    triggers: tuple[str, ...]
    """Lower-case texts, one of which stands in every text that :attr:`strip` changes.
    """


REMOVABLE = (
    Removable("think", strip_thinking, find_thinking, THINKING_TRIGGERS),
    Removable("marks", strip_chat_marks, find_chat_marks, CHAT_TRIGGERS),
    Removable("echo", strip_echo, find_echo, ECHO_TRIGGERS),
    Removable("prefix", strip_prefix, find_prefix, PREFIX_TRIGGERS),
    Removable("markdown", strip_markdown, find_markdown, MARKDOWN_TRIGGERS),
)
"""In the order in which they stand around a caption, from the outside."""
CLEAN = (*(item.name for item in REMOVABLE), REPEATS)
"""Names that ``--clean`` takes."""


def check_clean(names: str | Iterable[str] | None) -> tuple[str, ...]:
    """Return what to remove, in the order of :data:`CLEAN`, from names or a text of
    names with commas.

    Raises :class:`~harness.errors.InputError` for a name that is not among them.

    >>> check_clean("prefix,think")
    ('think', 'prefix')
    """
    texts = [names] if isinstance(names, str) else list(names or ())
    selection = [name.strip() for text in texts for name in str(text).split(",")]
    for name in selection:
        if name and name not in CLEAN:
            raise InputError.of_name(
                "clean has no", name, CLEAN, "expected some of", parameter="clean"
            )
    return tuple(name for name in CLEAN if name in selection)


def clean(text: str, names: Sequence[str]) -> str:
    """Return a caption without what is named; the text itself where there is nothing of
    it.

    Cleaning a cleaned text changes nothing. An empty text is left of one without a
    caption.

    Parameters
    ----------
    text : str
        Caption.
    names : sequence of str
        Names of :data:`CLEAN`; ``repeats`` is about several texts
        (:func:`drop_repeats`).

    Examples
    --------
    >>> clean(
    ...     "<think>A dog.</think> **Caption:** a dog runs<|im_end|>",
    ...     ["think", "marks", "prefix"],
    ... )
    'a dog runs'
    >>> clean("a  dog ", ["think", "marks", "prefix"])
    'a  dog '
    """
    removable = [item for item in REMOVABLE if item.name in names]
    while True:  # what is removed may have hidden something else
        before = text
        lowered = text.lower()
        for item in removable:
            if any(trigger in lowered for trigger in item.triggers):
                text = item.strip(text)
        if text == before:
            return text


def drop_repeats(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return one of several equal texts; texts that differ as they are.

    >>> drop_repeats(("a dog", "a dog")), drop_repeats(("a dog", "a cat", "a dog"))
    (('a dog',), ('a dog', 'a cat', 'a dog'))
    """
    return texts[:1] if len(set(texts)) == 1 else texts
