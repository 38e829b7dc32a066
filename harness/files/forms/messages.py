"""Texts of messages, as programs that talk to language models write them."""

from __future__ import annotations

from collections.abc import Mapping

from harness.errors import InputError
from harness.files.yaml_source import YamlValue

ASSISTANTS = frozenset(
    (
        "assistant",
        "gpt",
        "model",
        "chatgpt",
        "bot",
        "chatbot",
        "ai",
        "bard",
        "bing",
        "claude",
        "output",
    )
)
"""Roles of the model in a conversation."""
USERS = frozenset(("user", "human", "prompter", "input"))
"""Roles of the person who talks to it."""


def content_text(content: YamlValue, joint: str = "\n") -> str | None:
    """Return the text of a message: a text, or the parts of a list that are texts;
    None where there is none.

    Thoughts and tool calls are no text of the answer.

    >>> content_text([{"type": "image"}, {"type": "text", "text": "a dog"}])
    'a dog'
    """
    if isinstance(content, str):
        return content
    texts: list[str] = []
    for piece in content if isinstance(content, list) else []:
        if isinstance(piece, str):
            texts.append(piece)
        elif isinstance(piece, Mapping) and _is_answer(piece):
            texts.append(str(piece["text"]))
    return joint.join(texts) if texts else None


def _is_answer(piece: Mapping[str, YamlValue]) -> bool:
    """Return True for a part of a message that is text of the answer."""
    return (
        isinstance(piece.get("text"), str)
        and piece.get("type", "text") in ("text", "output_text")
        and not piece.get("thought")
    )


def is_conversation(value: YamlValue) -> bool:
    """Return True for a list of turns, each with a role and a text."""
    turns = value if isinstance(value, list) else []
    return bool(turns) and all(
        isinstance(turn, Mapping) and bool(turn_role(turn)) for turn in turns
    )


def turn_role(turn: Mapping[str, YamlValue]) -> str:
    """Return the role of a turn (``role`` with ``content``, ``from`` with ``value``);
    empty for what is no turn.
    """
    for role, content in (("role", "content"), ("from", "value")):
        has_content = content in turn or "tool_calls" in turn
        if isinstance(turn.get(role), str) and has_content:
            return str(turn[role])
    return ""


def last_answer(turns: list[Mapping[str, YamlValue]], where: str) -> str | None:
    """Return the text of the last turn of a conversation; None for a turn of the model
    without text.

    Raises
    ------
    InputError
        The last turn is not the model's.
    """
    last = turns[-1]
    role = turn_role(last)
    if role.lower() not in ASSISTANTS:
        whose = "the user's" if role.lower() in USERS else f"of the role '{role}'"
        raise InputError(
            f"the last turn is {whose}; expected the model's answer "
            "(role 'assistant', or 'gpt' of 'from')",
            where,
        )
    return content_text(last.get("content", last.get("value")))


def last_question(turns: list[Mapping[str, YamlValue]]) -> str | None:
    """Return the text of the last turn of the user; None where there is none."""
    texts = [
        content_text(turn.get("content", turn.get("value")))
        for turn in turns
        if turn_role(turn).lower() in USERS
    ]
    return texts[-1] if texts else None
