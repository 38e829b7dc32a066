"""Answers of models that refuse to describe, in place of a caption."""

from __future__ import annotations

import re

_CANNOT = r"(?:I|we)\s*(?:['’]m|am|are|['’]re)?\s*(?:can['’]?t|cannot|can not|won['’]t|(?:currently )?(?:unable|not able) to|do(?:n['’]t| not))\b"
_VERB = (
    r"(?:help|assist|describe|provide|view|see|identify|comply|fulfil|fulfill|process|access|analy[sz]e|generate|create|caption|interpret|"
    r"recogni[sz]e|determine|display|open|produce|continue|answer|engage)"
)
_MEDIA = r"(?:image|picture|photo|photograph|video|audio|clip|content|request|file|attachment|link|person|people|individual)s?"
_REFUSALS = (
    rf"\W*(?:(?:I['’]m|I am)\s+(?:very |so |really |truly )?sorry|sorry|(?:my )?apologies|I apologi[sz]e|unfortunately)\b[^.!?\n]{{0,60}}?\b{_CANNOT}"
    rf"\s+(?:\w+\s+){{0,2}}?{_VERB}\b",
    rf"\W*{_CANNOT}\s+(?:help|assist)\s+(?:you\s+)?with\s+(?:that|this|your|the|such)\b",
    rf"\W*{_CANNOT}\s+(?:\w+\s+){{0,2}}?{_VERB}\s+(?:\w+\s+){{0,4}}?{_MEDIA}\b",
    r"\W*(?:(?:I['’]m|I am)\s+sorry,?\s+(?:but\s+)?)?as an? (?:AI|artificial intelligence|(?:large |text-based )?(?:AI )?language model)\b[^.!?\n]{0,80}?\bI\b",
    rf"\W*(?:please|could you(?: please)?) (?:provide|upload|share|attach) (?:the|an|your|a)\s+(?:\w+\s+)?{_MEDIA}\b",
)
_REFUSAL = re.compile("|".join(f"(?:{pattern})" for pattern in _REFUSALS), re.IGNORECASE)
TRIGGERS = (
    "sorry", "apolog", "unfortunately", "n't", "n’t", "cant", "cannot", "can not", "unable to", "not able to", "do not", "as an a",
    "language model", "please ", "could you",
)  # fmt: skip
"""Lower-case texts, one of which stands in every refusal."""


def is_refusal(text: str) -> bool:
    """Return True for a text that begins with a refusal to describe.

    >>> is_refusal("I'm sorry, but I can't help with that."), is_refusal("a dog looks sorry")
    (True, False)
    """
    return bool(_REFUSAL.match(text))
