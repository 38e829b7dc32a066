"""Answers of models that refuse to describe, in place of a caption."""

from __future__ import annotations

import re

from harness.files.generated.late_pattern import late_pattern

_CANNOT = (
    r"I\s*(?:['’]m|am)?\s*"
    r"(?:can['’]?t|cannot|can not|(?:currently )?(?:unable|not able) to|"
    r"won['’]t be able to|"
    r"do(?:n['’]t| not)(?: have the (?:ability|capability) to)?)\b"
)
_VERB = (
    r"(?:help|assist|describe|provide|view|see|identify|comply|fulfill?|process|access|"
    r"analy[sz]e|generate|create|caption|interpret|"
    r"recogni[sz]e|determine|display|open|produce|continue|answer|engage)"
)
_ADVERB = r"(?:(?:directly|currently|actually)\s+)?"
_DETERMINERS = (
    r"(?:(?:the|this|that|any|an?|your|these|those|such|specific|real|actual|attached|"
    r"provided|uploaded|of|in)\s+){0,3}"
)
_MEDIA = (
    r"(?:image|picture|photo|photograph|video|audio|clip|content|request|file|"
    r"attachment|link|person|people|individual)s?"
)
_SORRY = (
    r"(?:(?:I['’]m|I am)\s+(?:very |so |really |truly )?sorry|sorry|"
    r"(?:my )?apologies|I apologi[sz]e|unfortunately)\b"
)
_MODEL = (
    r"as an? (?:AI|artificial intelligence|"
    r"(?:large |text-based )?(?:AI )?language model)\b"
)
_REFUSALS = (
    rf"{_SORRY}[^.!?\n]{{0,60}}?\b{_CANNOT}\s+{_ADVERB}{_VERB}\b",
    rf"{_SORRY},?\s+(?:but\s+)?{_MODEL}",
    rf"{_SORRY},?\s+(?:but\s+)?(?:there is|there['’]s|I see) no {_MEDIA}\b",
    rf"{_MODEL}[^.!?\n]{{0,80}}?\bI\b",
    rf"{_CANNOT}\s+{_ADVERB}(?:help|assist)\s+(?:you\s+)?"
    r"with\s+(?:that|this|your|the|such)\b",
    rf"{_CANNOT}\s+{_ADVERB}{_VERB}\s+"
    r"(?:(?:an?|the|any)\s+(?:\w+\s+)?(?:captions?|descriptions?)\s+(?:for|of)\s+)?"
    rf"{_DETERMINERS}{_MEDIA}\b",
    r"(?:please|could you(?: please)?) (?:provide|upload|share|attach) "
    rf"(?:the|an|your|a)\s+(?:\w+\s+)?{_MEDIA}\b",
)
_REFUSAL = late_pattern(rf"\W*(?:{'|'.join(_REFUSALS)})", re.IGNORECASE)
TRIGGERS = (
    "sorry",
    "apolog",
    "unfortunately",
    "n't",
    "n’t",
    "cant",
    "cannot",
    "can not",
    "unable to",
    "not able to",
    "do not",
    "as an a",
    "language model",
    "please ",
    "could you",
)
"""Lower-case texts, one of which stands in every refusal."""


def is_refusal(text: str) -> bool:
    """Return True for a text that begins with a refusal to describe.

    >>> (
    ...     is_refusal("I'm sorry, but I can't help with that."),
    ...     is_refusal("a dog looks sorry"),
    ... )
    (True, False)
    """
    return bool(_REFUSAL().match(text))
