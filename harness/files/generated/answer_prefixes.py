"""Words with which models introduce a caption: "Caption:", "Here is a caption of the
image:", "Sure!".
"""

from __future__ import annotations

import re

from harness.files.generated.late_pattern import late_pattern

_NOUN = r"(?:captions?|descriptions?|answers?|responses?|outputs?|summary|alt[ -]text)"
_QUALITY = (
    r"(?:the|a|an|my|your|one|short|brief|concise|detailed|simple|final|possible|"
    r"suggested|generated|image|photo|picture|video|audio|"
    r"scene|one-sentence|one sentence|single-sentence|english)"
)
_MARKUP = r"[\s*_#>\"'“‘`]*"
_SURE = r"(?:sure|certainly|of course|absolutely)(?:\s+thing)?"
_PREFIX = late_pattern(
    rf"{_MARKUP}(?:"
    rf"(?:{_QUALITY}\s+){{0,5}}{_NOUN}(?:\s+\d+)?"
    r"(?:\s+(?:for|of)\s+(?:the|this|your)\s+\w+)?[*_]*"
    r"(?:\s+(?:is|would be|could be))?\s*[:：]"
    rf"|(?:(?:{_SURE}|okay|ok)[!,.]?\s*)?here(?:['’]s| is| are)\b"
    rf"[^:：\n]{{0,120}}?\b{_NOUN}\b[^:：\n]{{0,80}}[:：]"
    rf"|{_SURE}!"
    r")[*_]*\s*",
    re.IGNORECASE,
)
_QUOTES = (('"', '"'), ("“", "”"), ("'", "'"), ("‘", "’"))
TRIGGERS = (":", "：", "sure!", "thing!", "certainly!", "course!", "absolutely!")
"""Lower-case texts, one of which stands in every text that :func:`strip_prefix`
changes.
"""


def strip_prefix(text: str) -> str:
    """Return a text without the words that introduce a caption and quotes around what
    follows; the text itself where there are none.

    >>> (
    ...     strip_prefix("**Caption:** a dog runs"),
    ...     strip_prefix('Here is a caption: "A dog runs."'),
    ... )
    ('a dog runs', 'A dog runs.')
    >>> strip_prefix("a sign that reads: caption")
    'a sign that reads: caption'
    """
    start = _prefix_end(text)
    if not start:
        return text

    # A last mark alone: its partner stood before the prefix.
    answer = text[start:].strip()
    for mark in ("**", "__"):
        if answer.endswith(mark) and answer.count(mark) == 1:
            answer = answer.removesuffix(mark).rstrip()

    # Quotes around the whole answer, not around its first and last words.
    for first, last in _QUOTES:
        inner = answer[1:-1]
        is_quoted = len(answer) > 1 and answer[0] == first and answer[-1] == last
        if is_quoted and first not in inner and last not in inner:
            return inner.strip()

    # A last quote alone: its partner stood before the prefix.
    is_open = any(mark in text[:start] for mark in '"“')
    is_last = not any(mark in answer[:-1] for mark in '"“”')
    if answer[-1:] in ('"', "”") and is_open and is_last:
        return answer[:-1].rstrip()
    return answer


def _prefix_end(text: str) -> int:
    """Return the end of the words that introduce a caption, which may be several
    phrases; 0 without any.
    """
    end = 0
    while prefix := _PREFIX().match(text, end):
        end = prefix.end()
    return end


def find_prefix(text: str) -> list[str]:
    """Return the words that introduce a caption."""
    return [text[: _prefix_end(text)].strip()]
