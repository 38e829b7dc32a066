"""Which tokeniser a metric uses, by name, and each distinct text tokenised once per run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from harness.errors import UnknownName, did_you_mean

if TYPE_CHECKING:
    from harness.contracts import Features

TOKENIZERS = ("ptb", "java-ptb", "none")


def check_tokenizer(name: str) -> str:
    """``name`` if there is such a tokeniser; raises :class:`UnknownName` otherwise."""
    if name not in TOKENIZERS:
        raise UnknownName(
            f"unknown tokenizer '{name}'{did_you_mean(name, TOKENIZERS)}; tokenizers are {', '.join(TOKENIZERS)}"
        )
    if name == "java-ptb":
        from harness.plugins.tokenisers.java_runtime import java_command

        java_command(needed_by="the tokenizer 'java-ptb'")  # told now, before anything is written
    return name


def tokenize(texts: Sequence[str], tokenizer: str = "ptb") -> list[str]:
    """Each text as its tokens joined by one blank.

    ``ptb``: the COCO toolkit's tokeniser and removal list; ``java-ptb``: the same through the toolkit's own jar;
    ``none``: the text as it is (already tokenised by whoever made it).
    """
    return _function(check_tokenizer(tokenizer))(list(texts))


def _function(name: str) -> Callable[[list[str]], list[str]]:
    if name == "none":
        return list
    if name == "java-ptb":
        from harness.plugins.tokenisers import java_ptb  # starts a JVM: only when asked for

        return java_ptb.tokenize
    from harness.plugins.tokenisers.ptb import tokeniser as ptb  # compiles its rules on import

    return ptb.tokenize


def tokens_of(features: Features, ids: np.ndarray | Iterable[int], tokenizer: str = "ptb") -> list[str]:
    """Tokenised forms of interned texts, each distinct text tokenised once per run."""
    return features.per_text(("tokens", check_tokenizer(tokenizer)), ids, lambda texts: tokenize(texts, tokenizer))
