"""Prompts that models repeat before their answer, because more than the new tokens was
decoded.
"""

from __future__ import annotations

import re

from harness.files.generated.late_pattern import late_pattern

_ASKER = late_pattern(
    r"\b(?:USER|HUMAN):|"
    r"(?m:^[ \t]*(?:User|Human|Question|Instruction|"
    r"### (?:Instruction|User|Human|Input))[ \t]*:)"
)
"""Head of the turn of a user, as in Vicuna, LLaVA, BLIP-2 and Alpaca: upper case
anywhere, else at the beginning of a line.
"""
_ANSWERER = late_pattern(
    r"\bASSISTANT:|"
    r"(?m:^[ \t]*(?:Assistant|AI|Answer|### (?:Response|Assistant))[ \t]*:)|"
    r"(?<=[.?!]) (?:Assistant|Short answer|Answer)\s*:"
)
"""Head of the turn of the model."""
_FIRST_ANSWERER = late_pattern(
    r"\s*(?:ASSISTANT|Assistant|### (?:Response|Assistant))\s*:"
)
_MEDIA_MARK = late_pattern(r"<(?:image|video|audio)>\s*", re.IGNORECASE)
MIN_PROMPT_WORDS = 2
"""Words of a prompt below which a text may begin with it by chance."""
TRIGGERS = (":",)
"""Texts, one of which stands in every text that :func:`strip_echo` changes."""


def strip_echo(text: str) -> str:
    """Return what follows the turn of a user and the head of the answer; the text
    itself where both are not there.

    >>> strip_echo("USER: Describe the picture. ASSISTANT: a red bus")
    'a red bus'
    >>> strip_echo("a sign that says: answer me")
    'a sign that says: answer me'
    """
    asker = _ASKER().search(text)
    if asker:
        answers = list(_ANSWERER().finditer(text, asker.end()))
        return text[answers[-1].end() :].strip() if answers else text
    answer = _FIRST_ANSWERER().match(text)
    return text[answer.end() :].strip() if answer else text


def strip_prompt(text: str, prompt: str) -> str:
    """Return a text without the prompt that it begins with; the text itself where it
    begins otherwise, or for a prompt of one word.

    >>> strip_prompt(
    ...     "Describe the picture. a red bus", "<image>\\nDescribe the picture."
    ... )
    'a red bus'
    """
    words = _MEDIA_MARK().sub("", prompt).strip()
    decoded = _MEDIA_MARK().sub("", text).lstrip() if "<" in text else text.lstrip()
    if len(words.split()) < MIN_PROMPT_WORDS or not decoded.startswith(words):
        return text

    # A prompt that ends within a word of the text is none.
    answer = decoded[len(words) :]
    return text if answer[:1].isalnum() else answer.strip()


def find_echo(text: str) -> list[str]:
    """Return the heads of turns in a text."""
    heads = [
        match[0].strip()
        for pattern in (_ASKER(), _ANSWERER())
        if (match := pattern.search(text))
    ]
    return list(dict.fromkeys(heads)) or [text.split(":")[0].strip() + ":"]
