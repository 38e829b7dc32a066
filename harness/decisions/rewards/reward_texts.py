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
    word_of: Callable[[int], str] = words.__getitem__
    if decode is None:
        word_of = int.__repr__
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

    messages: Any = completion
    if isinstance(completion, Mapping):
        messages = [completion]
    if isinstance(messages, (list, tuple)):
        if not messages:
            return ""
        text = _text_of_message(cast("Sequence[Any]", messages)[-1])
        if text is not None:
            return text
    raise InputError(
        f"{completion!r:.80}; expected a text, or a list of messages with 'content' "
        "(a text, null, or a list of parts)",
        f"completions: item {number}",
    )


def _text_of_message(message: Any) -> str | None:
    """Return the joined texts of a message, nothing for the result of a tool; None for
    what is no message.
    """
    if not isinstance(message, Mapping) or "content" not in message:
        return None
    fields = cast("Mapping[str, Any]", message)
    content: Any = "" if fields.get("role") == "tool" else fields["content"]
    if not isinstance(content, (list, tuple)):
        content = [content or ""]

    texts: list[str] = []
    for part in cast("Sequence[Any]", content):
        text = part if isinstance(part, str) else _text_of_part(part)
        if text is None:
            return None
        texts.append(text)
    return "".join(texts)


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
    if hasattr(captions, "reshape"):
        return captions[:, None]
    return [[caption] for caption in captions]
