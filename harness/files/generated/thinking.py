"""Thinking that models write before their answer: tags, channels, and what is left of
them.
"""

from __future__ import annotations

import re

from harness.files.generated.late_pattern import late_pattern

_NAMES = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis"
_TAG = late_pattern(
    rf"(?P<open><(?:seed:)?(?:{_NAMES})(?:\s[^<>]{{0,80}})?>|◁think▷|\[THINK\]|"
    r"<\|begin_of_thought\|>|<\|START_THINKING\|>)"
    rf"|</(?:seed:)?(?:{_NAMES})\s*>|◁/think▷|\[/THINK\]|"
    r"<\|end_of_thought\|>|<\|END_THINKING\|>",
    re.IGNORECASE,
)
"""Tags that open or close thinking: DeepSeek-R1 and Qwen (``<think>``), Seed, Kimi
(``◁think▷``), Magistral, Sky-T1, Command A.
"""
_ANSWER_TAG = late_pattern(
    r"</?answer>|<\|(?:begin|end)_of_solution\|>|<\|(?:START|END)_RESPONSE\|>",
    re.IGNORECASE,
)
"""Tags around the answer, of models that mark both."""
_CHANNEL = late_pattern(
    r"(?:<\|start\|>\s*assistant\s*)?<\|channel\|>\s*(?P<name>\w*)"
    r"[^<]{0,80}(?:<\|message\|>)?"
)
"""Head of a message in OpenAI's harmony format: channels ``analysis``, ``commentary``,
``final``.
"""
_CHANNEL_END = late_pattern(r"<\|(?:end|return|call|start)\|>")
_BARE_CHANNEL = "analysis"
_BARE_FINAL = "assistantfinal"
"""Text between the channels of harmony where the special tokens were dropped:
``analysisThe user wants ... assistantfinalA dog.``
"""
TRIGGERS = ("<", "◁", "[think]", "[/think]", _BARE_FINAL)
"""Lower-case texts, one of which stands in every text that :func:`strip_thinking`
changes.
"""


def strip_thinking(text: str) -> str:
    """Return a text without thinking; the text itself where there is none.

    - What stands between a tag and its end is removed.
    - An end without a beginning (chat templates write the first tag into the prompt)
      removes all that stands before it.
    - A beginning without an end, as in an answer that was cut off, removes all that
      follows.
    - Of the channels of the harmony format the last ``final`` one stays.

    >>> strip_thinking("<think>A dog, I see.</think> a dog runs")
    'a dog runs'
    >>> (
    ...     strip_thinking("A dog, I see.</think> a dog runs"),
    ...     strip_thinking("<think>A dog, I"),
    ... )
    ('a dog runs', '')
    """
    answer = _strip_tags(_strip_channels(text))
    answer = _ANSWER_TAG().sub(" ", answer)
    return text if answer == text else answer.strip()


def find_thinking(text: str) -> list[str]:
    """Return the tags and channels of a text, in their order."""
    tags = [
        match[0]
        for pattern in (_CHANNEL(), _TAG(), _ANSWER_TAG())
        for match in pattern.finditer(text)
    ]
    return tags or [f"{_BARE_CHANNEL} … {_BARE_FINAL}"]


def _strip_tags(text: str) -> str:
    """Return a text without tags of thinking and what stands between them."""
    pieces: list[str] = []
    position = 0
    is_thinking = False
    for tag in _TAG().finditer(text):
        if tag["open"]:
            if not is_thinking:
                pieces.append(text[position : tag.start()])
            is_thinking = True
        else:
            if not is_thinking:  # the prompt had the first tag
                pieces.clear()
            position = tag.end()
            is_thinking = False

    # Behind a beginning without an end there is no answer.
    if not is_thinking:
        pieces.append(text[position:])
    return "".join(pieces)


def _strip_channels(text: str) -> str:
    """Return the last message of the channel ``final``; what stands before the channels
    where there is none, and a text without channels as it is.
    """
    heads = list(_CHANNEL().finditer(text))
    if heads:
        finals = [head for head in heads if head["name"] == "final"]
        if not finals:  # cut off before the answer
            return text[: heads[0].start()]
        answer = text[finals[-1].end() :]
        end = _CHANNEL_END().search(answer)
        return answer[: end.start()] if end else answer

    if text.startswith(_BARE_CHANNEL) and _BARE_FINAL in text:
        return text.rpartition(_BARE_FINAL)[2]
    return text
