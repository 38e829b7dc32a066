"""Requests and tokens of a client, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from harness.contracts.parameters import NonNegative

MOST_TOKENS = 10**9
"""Tokens of one reply; a server that says more does not count."""
Prices = Mapping[Literal["input", "output", "cached"], NonNegative]
"""Price of a million tokens, in any currency: ``input``, ``output``, and ``cached``
input (default: as ``input``).
"""


@dataclass
class Usage:
    """Requests and tokens of a client since it was created."""

    requests: int = 0
    retries: int = 0
    replies: int = 0
    """Valid and invalid replies with status 200."""
    uncounted: int = 0
    """Replies without counts of tokens."""
    answers: int = 0
    """Requests with a valid reply."""
    failures: int = 0
    """Requests in a row without a valid reply, up to now."""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    """Tokens of prompts that the server had in its cache; part of ``prompt_tokens``."""
    completion_tokens: int = 0

    def add(self, reply: Any) -> None:
        """Count one decoded reply."""
        self.replies += 1
        usage = reply.get("usage") if isinstance(reply, dict) else None
        if not isinstance(usage, dict):
            self.uncounted += 1
            return
        self.prompt_tokens += _count(usage.get("prompt_tokens"))
        self.completion_tokens += _count(usage.get("completion_tokens"))
        details = usage.get("prompt_tokens_details")
        if isinstance(details, dict):
            self.cached_tokens += _count(details.get("cached_tokens"))

    def cost(self, prices: Prices) -> float:
        """Return the cost."""
        fresh = prices.get("input", 0.0)
        cached = self.cached_tokens * prices.get("cached", fresh)
        read = (self.prompt_tokens - self.cached_tokens) * fresh + cached
        return (read + self.completion_tokens * prices.get("output", 0.0)) / 1e6


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return value if 0 < value <= MOST_TOKENS else 0
