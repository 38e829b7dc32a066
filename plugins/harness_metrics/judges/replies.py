"""Requests to a judge model and its replies, as data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

Message = dict[str, str]
"""``{"role": "system" | "user" | "assistant", "content": text}``, with an image also
``image``, its file, and ``sha256`` of the content.
"""
Conversation = tuple[Message, ...]
Finish = Literal["stop", "length", "refused", "rejected"]


@dataclass(frozen=True, slots=True)
class Reply:
    """Text of one answer and its cost."""

    text: str
    finish: Finish = "stop"
    """``length``: cut off at the maximum length; ``refused``: by model or filter;
    ``rejected``: the server accepts no such request.
    """
    prompt_tokens: int = 0
    completion_tokens: int = 0
    tokens: list[dict[str, float]] = field(default_factory=list[dict[str, float]])
    """Log-probabilities of the likeliest texts of each token, the chosen one first,
    where they were requested.
    """

    def to_record(self) -> dict[str, Any]:
        """Return the fields, for JSON."""
        return asdict(self)


@runtime_checkable
class Backend(Protocol):
    """A language model that answers conversations."""

    def signature(self) -> str:
        """Return a text that changes whenever an answer may change:
        part of the key of every cached answer.
        """
        ...

    def complete(
        self, conversations: Sequence[Conversation], store: Callable[[int, Reply], None]
    ) -> None:
        """Call ``store(index, reply)`` once for each conversation, as soon as its reply
        is complete, in any order and thread.

        Raises :class:`~harness.errors.HarnessError` after all others are stored where a
        conversation has no reply.
        """
        ...
