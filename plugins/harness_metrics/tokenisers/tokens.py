"""Tokenisers by name; each distinct text of a run is tokenised once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from harness.errors import UnknownName

if TYPE_CHECKING:
    from caption_kernels import Tokenizer
    from harness.contracts import Features

TOKENIZERS = ("ptb", "java-ptb", "none")
"""Accepted names of tokenisers."""


def check_tokenizer(name: str) -> str:
    """Return the name of a tokeniser.

    Raises
    ------
    UnknownName
        For a name that is not in :data:`TOKENIZERS`.
    MissingExtra
        For ``java-ptb`` without a Java runtime.

    Examples
    --------
    >>> check_tokenizer("ptb")
    'ptb'
    """
    if name not in TOKENIZERS:
        raise UnknownName.of_name("unknown tokenizer", name, TOKENIZERS, "expected", parameter="tokenizer")
    if name == "java-ptb":
        from harness_metrics.tokenisers.java_runtime import java_command

        java_command(needed_by="the tokenizer 'java-ptb'")  # fails before the run writes anything
    return name


def tokenize(texts: Sequence[str], tokenizer: str = "ptb") -> list[str]:
    """Return each text as its tokens joined by one blank.

    Parameters
    ----------
    texts : sequence of str
        T texts.
    tokenizer : str
        ``ptb``, the COCO caption toolkit's tokeniser and removal list; ``java-ptb``, the same through the toolkit's jar;
        ``none``, texts are tokenised already and returned unchanged.

    Returns
    -------
    list of str
        T strings.

    Examples
    --------
    >>> tokenize(["A dog, running."])
    ['a dog running']
    """
    return _function(check_tokenizer(tokenizer))(list(texts))


def _function(name: str) -> Callable[[list[str]], list[str]]:
    """Return the function of a tokeniser."""
    if name == "none":
        return list
    if name == "java-ptb":
        from harness_metrics.tokenisers import java_ptb  # starts a JVM

        return java_ptb.tokenize
    return _ptb().tokenize


@cache
def _ptb() -> Tokenizer:
    """Return the PTB tokeniser of this process, which remembers the pieces that it has met."""
    from caption_kernels import Tokenizer

    return Tokenizer()


def tokens_of(features: Features, ids: np.ndarray | Iterable[int], tokenizer: str = "ptb") -> list[str]:
    """Return the tokens, joined by one blank, of interned texts; each distinct text is tokenised once per run.

    Parameters
    ----------
    features : Features
        Feature cache of the run.
    ids : array_like of int
        Text ids, any shape.
    tokenizer : str
        Name of the tokeniser.

    Returns
    -------
    list of str
        One string per id, in the flattened order of ``ids``.
    """
    return features.per_text(("tokens", check_tokenizer(tokenizer)), ids, lambda texts: tokenize(texts, tokenizer))
