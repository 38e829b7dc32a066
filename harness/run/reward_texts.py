"""Texts of captions as trainers give them: token ids, and messages of TRL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from harness.errors import InputError
from harness.files.captions import check_text

Decode = Callable[[list[int]], str] | Sequence[str] | Mapping[int, str]
"""Function from token ids to a text, or the word of each token id."""


def decoder(decode: Decode | None) -> Callable[[list[int]], str]:
    """Return the function from token ids to a text;
    without words the ids themselves are the words.
    """
    if callable(decode):
        return lambda tokens: check_text(decode(tokens), "decode")
    words = decode if isinstance(decode, Mapping) else dict(enumerate(decode or ()))
    word_of: Callable[[int], str] = (
        int.__repr__ if decode is None else words.__getitem__
    )
    return lambda tokens: " ".join(map(word_of, tokens))


def without_padding(tokens: list[int], words: Mapping[int, str]) -> list[int]:
    """Return token ids without the negative ones at their end that have no word, as
    -100, the label that transformers ignores.

    Raises ValueError for such an id before a token.
    """
    if not tokens or min(tokens) >= 0:
        return tokens
    is_padding = [token < 0 and token not in words for token in tokens]
    if not any(is_padding):
        return tokens
    first = is_padding.index(True)
    if not all(is_padding[first:]):
        raise ValueError(
            f"the negative id {tokens[first]} stands before a token; "
            "negative ids pad the end of a text alone"
        )
    return tokens[:first]


def text_of_completion(completion: Any, number: int) -> str:
    """Return the text of a completion of TRL: of a text itself,
    or of the last of its messages.
    """
    if completion is None or isinstance(completion, str):
        return completion or ""
    messages = cast(
        "Sequence[Any]", [completion] if isinstance(completion, Mapping) else completion
    )
    if isinstance(messages, (list, tuple)) and not messages:
        return ""
    message: Any = messages[-1] if isinstance(messages, (list, tuple)) else None
    if isinstance(message, Mapping) and "content" in message:
        fields = cast("Mapping[str, Any]", message)
        content: Any = "" if fields.get("role") == "tool" else fields["content"]
        parts = cast(
            "list[Any]",
            content if isinstance(content, (list, tuple)) else [content or ""],
        )
        texts = [
            part if isinstance(part, str) else _text_of_part(part) for part in parts
        ]
        if all(isinstance(text, str) for text in texts):
            return "".join(cast("list[str]", texts))
    raise InputError(
        f"{completion!r:.80}; expected a text, or a list of messages with 'content' "
        "(a text, null, or a list of parts)",
        f"completions: item {number}",
    )


def _text_of_part(part: Any) -> str | None:
    """Return the text of a part of a message, nothing for a part of another type,
    None for what is no part.
    """
    if not isinstance(part, Mapping):
        return None
    fields = cast("Mapping[str, Any]", part)
    text: Any = fields.get("text") if fields.get("type", "text") == "text" else ""
    return text if isinstance(text, str) else None


def as_groups(captions: Any) -> Any:
    """Return captions as groups of one."""
    return (
        captions[:, None]
        if hasattr(captions, "reshape")
        else [[caption] for caption in captions]
    )
