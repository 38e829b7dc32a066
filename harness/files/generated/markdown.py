"""Markdown in captions: bold, headings, lists, fences of code."""

from __future__ import annotations

from harness.files.generated.late_pattern import late_pattern

_BOLD = late_pattern(r"\*\*(?=\S)([^*\n]+?)\*\*|(?<!\w)__(?=[^\s_])([^_\n]+?)__(?!\w)")
_WHOLE_ITALIC = late_pattern(r"\s*\*(?=[^\s*])([^*\n]+)\*\s*")
_HEADING = late_pattern(r"(?m)^[ \t]{0,3}(?:#{2,6}[ \t]+(?=\S)|#[ \t]+(?=\S[^\n]*\n))")
"""Two signs or more; one where a line follows, since a sign before a number is one too.
"""
_BULLET = late_pattern(r"(?m)^[ \t]{0,8}(?:[-*•+]|\d{1,2}[.)])[ \t]+(?=\S)")
_FENCE = late_pattern(r"(?m)^[ \t]{0,3}```[^\n`]*$\n?")
MIN_BULLETS = 2
"""Lines of a list; one alone may be a dash or a number."""
TRIGGERS = ("*", "__", "#", "```", "\n")
"""Texts, one of which stands in every text that :func:`strip_markdown` changes."""


def strip_markdown(text: str) -> str:
    """Return a text without Markdown; the text itself where there is none.

    >>> strip_markdown("A **dog** runs."), strip_markdown("- a dog\\n- a cat")
    ('A dog runs.', 'a dog\\na cat')
    >>> strip_markdown("# 213 leans into a street"), strip_markdown("2 * 3 * 4")
    ('# 213 leans into a street', '2 * 3 * 4')
    """
    answer = _FENCE().sub("", text)
    answer = _HEADING().sub("", answer)
    if len(_BULLET().findall(answer)) >= MIN_BULLETS:
        answer = _BULLET().sub("", answer)
    answer = _BOLD().sub(lambda match: match[1] or match[2], answer)
    italic = _WHOLE_ITALIC().fullmatch(answer)
    if italic:
        answer = italic[1]
    return text if answer == text else answer.strip()


def find_markdown(text: str) -> list[str]:
    """Return the names of what a text has."""
    patterns = {"bold": _BOLD(), "a heading": _HEADING(), "a code fence": _FENCE()}
    names = [name for name, pattern in patterns.items() if pattern.search(text)]
    if len(_BULLET().findall(text)) >= MIN_BULLETS:
        names.append("a list")
    return names or ["italics"]
