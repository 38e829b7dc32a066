"""Choices of a chat completion and their log-probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.contracts import Generation
from harness.llm.session import RequestFailed

Choice = dict[str, Any]


def read_choices(reply: Any) -> list[Choice]:
    """Return the choices of a decoded reply.

    Raises
    ------
    ValueError
        For a reply without choices or text, which another attempt may mend.
    RequestFailed
        For a refusal of the model, and for an answer without text because all tokens
        went into reasoning.
    """
    choices = reply.get("choices") if isinstance(reply, dict) else None
    if not isinstance(choices, list) or not choices:
        raise ValueError(f"no choices in {str(reply)[:80]!r}")

    for choice in choices:
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(message, dict):
            raise ValueError(f"a choice without text: {str(choice)[:80]!r}")
        if isinstance(message.get("content"), str):
            continue

        finish = choice.get("finish_reason")
        if message.get("refusal") or finish == "content_filter":
            reason = str(message.get("refusal") or finish)[:80]
            raise RequestFailed(f"the model refuses to answer ({reason})")
        if finish == "length":
            raise RequestFailed(
                "no text within the maximum number of tokens; raise decoding.max_length"
            )
        raise ValueError(f"a choice without text: {str(choice)[:80]!r}")
    return choices


def generation(choices: Sequence[Choice]) -> Generation:
    """Return the texts of choices, and their log-probabilities where the server reports
    all of them.
    """
    tokens = [token_log_probs(choice) for choice in choices]
    complete = all(values is not None for values in tokens)

    # Log-probabilities are given for all captions of an example or for none.
    log_probs = None
    lengths = None
    if complete:
        log_probs = tuple(float(sum(values or ())) for values in tokens)
        lengths = tuple(len(values or ()) for values in tokens)

    return Generation(
        candidates=tuple(choice["message"]["content"].strip() for choice in choices),
        log_probs=log_probs,
        lengths=lengths,
        stop_reasons=tuple(
            "length" if choice.get("finish_reason") == "length" else "stop"
            for choice in choices
        ),
    )


def token_log_probs(choice: Choice) -> list[float] | None:
    """Return the log-probabilities that the server reports (for most servers before
    temperature and filters), or None.
    """
    try:
        return [float(entry["logprob"]) for entry in choice["logprobs"]["content"]]
    except (KeyError, TypeError, ValueError):
        return None
