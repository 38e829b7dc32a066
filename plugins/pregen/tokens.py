"""Token probabilities and ranks of a data set as flat arrays with offsets: what every pre-gen function reads.

``images -> captions -> tokens -> (probability, rank)`` becomes two arrays of T tokens, the C + 1 caption offsets into them
and the I + 1 image offsets into the captions. No caption and no image is empty; that is checked here, once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from harness.contracts import TokenScores
from harness.errors import InputError


@dataclass(frozen=True, eq=False)
class FlatTokens:
    """The scored tokens of a data set, END of each caption included."""

    probabilities: np.ndarray
    """(T,) float64 in [0, 1]."""
    log2: np.ndarray
    """(T,) base-2 logarithms of the probabilities; -inf where 0."""
    top: np.ndarray
    """(T,) bool: the token is the model's most probable one (rank 0)."""
    captions: np.ndarray
    """(C + 1,) offsets into the tokens."""
    images: np.ndarray
    """(I + 1,) offsets into the captions."""

    @property
    def lengths(self) -> np.ndarray:
        """(C,) tokens of each caption."""
        return np.diff(self.captions)

    def take(self, images: np.ndarray) -> FlatTokens:
        """The data set of these images, in this order; an image may come more than once (bootstrap, strata)."""
        rows, image_offsets = _gather(self.images, np.asarray(images, dtype=np.int64))
        tokens, caption_offsets = _gather(self.captions, rows)
        return FlatTokens(
            self.probabilities[tokens], self.log2[tokens], self.top[tokens], caption_offsets, image_offsets
        )


def flatten(dataset: Iterable[Any] | FlatTokens) -> FlatTokens:
    """Flat arrays of ``images -> captions -> tokens -> (probability, rank)``; a :class:`FlatTokens` passes through.

    Raises :class:`InputError` naming image, caption and token (counted from 0) for anything that is not a probability in
    [0, 1] with a non-negative integer rank, and for images without captions or captions without tokens.
    """
    if isinstance(dataset, FlatTokens):
        return dataset
    images = list(dataset)
    captions, image_offsets = _level(images, "image", "caption")
    tokens, caption_offsets = _level(captions, "caption", "token", lambda k: _caption_place(image_offsets, k))
    pairs = _pairs(tokens, image_offsets, caption_offsets)
    probabilities, ranks = np.ascontiguousarray(pairs[:, 0]), pairs[:, 1]
    bad = ~((probabilities >= 0) & (probabilities <= 1))  # NaN fails both
    _refuse(bad, probabilities, "probability", "a number in [0, 1]", image_offsets, caption_offsets)
    _check_ranks(ranks, image_offsets, caption_offsets)
    with np.errstate(divide="ignore"):
        log2 = np.log2(probabilities)
    return FlatTokens(probabilities, log2, ranks == 0, caption_offsets, image_offsets)


def from_token_scores(scores: Iterable[Sequence[TokenScores]]) -> FlatTokens:
    """Flat arrays of what a :class:`~harness.contracts.Scorer` returns: per image one TokenScores per reference.

    Raises as :func:`flatten`; a log-probability above 0 or NaN is refused, -inf is probability 0.
    """
    images = list(scores)
    captions, image_offsets = _level(images, "image", "caption")
    for k, caption in enumerate(captions):
        if np.shape(caption.log_probs) != np.shape(caption.ranks) or np.ndim(caption.log_probs) != 1:
            raise InputError(
                f"log_probs have shape {np.shape(caption.log_probs)} and ranks {np.shape(caption.ranks)};"
                " expected the same (L,)",
                _caption_place(image_offsets, k),
            )
    rows = [caption.log_probs for caption in captions]
    _, caption_offsets = _level(rows, "caption", "token", lambda k: _caption_place(image_offsets, k))
    logs = np.concatenate([np.asarray(row, dtype=np.float64) for row in rows])
    ranks = np.concatenate([np.asarray(caption.ranks, dtype=np.float64) for caption in captions])
    _refuse(~(logs <= 0), logs, "log-probability", "a number of at most 0", image_offsets, caption_offsets)
    _check_ranks(ranks, image_offsets, caption_offsets)
    return FlatTokens(np.exp(logs), logs / np.log(2.0), ranks == 0, caption_offsets, image_offsets)


def _level(groups: list[Any], outer: str, inner: str, place: Any = None) -> tuple[list[Any], np.ndarray]:
    """All members of the groups in one list, and the offsets of the groups; no group may be empty."""
    try:
        sizes = np.fromiter(map(len, groups), dtype=np.int64, count=len(groups))
        members = list(chain.from_iterable(groups))
    except TypeError as error:
        raise InputError(f"pre-gen data must be images -> captions -> tokens -> (probability, rank): {error}") from None
    if not len(sizes):
        raise InputError(f"pre-gen data holds no {outer}s")
    if not sizes.all():
        at = int(np.argmin(sizes))
        where = place(at) if place else f"image {at}"
        raise InputError(f"the {outer} has no {inner}s; at least one is required", where)
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return members, offsets


def _pairs(tokens: list[Any], images: np.ndarray, captions: np.ndarray) -> np.ndarray:
    """(T, 2) float64 of the tokens' pairs."""
    try:
        if set(map(len, tokens)) == {2}:
            return np.fromiter(chain.from_iterable(tokens), np.float64, 2 * len(tokens)).reshape(-1, 2)
    except (TypeError, ValueError):
        pass  # told below, with the place
    for k, token in enumerate(tokens):
        try:
            probability, rank = token
            fine = isinstance(float(probability) + float(rank), float)
        except (TypeError, ValueError):
            fine = False
        if not fine:
            raise InputError(f"found {token!r}, expected a (probability, rank) pair", _place(images, captions, k))
    raise InputError("pre-gen tokens must be (probability, rank) pairs of numbers")


def _check_ranks(ranks: np.ndarray, images: np.ndarray, captions: np.ndarray) -> None:
    bad = ~((ranks >= 0) & (ranks == np.floor(ranks)) & np.isfinite(ranks))
    _refuse(bad, ranks, "rank", "an integer of at least 0 (0 = most probable)", images, captions)


def _refuse(
    bad: np.ndarray, values: np.ndarray, what: str, expected: str, images: np.ndarray, captions: np.ndarray
) -> None:
    if bad.any():
        at = int(np.argmax(bad))
        raise InputError(f"{what} {float(values[at])!r}, expected {expected}", _place(images, captions, at))


def _caption_place(images: np.ndarray, caption: int) -> str:
    image = int(np.searchsorted(images, caption, side="right")) - 1
    return f"image {image}, caption {caption - int(images[image])}"


def _place(images: np.ndarray, captions: np.ndarray, token: int) -> str:
    caption = int(np.searchsorted(captions, token, side="right")) - 1
    return f"{_caption_place(images, caption)}, token {token - int(captions[caption])}"


def _gather(offsets: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Member indices of the chosen groups one after the other, and their new offsets."""
    sizes = offsets[groups + 1] - offsets[groups]
    new = np.zeros(len(groups) + 1, dtype=np.int64)
    np.cumsum(sizes, out=new[1:])
    members = np.arange(new[-1]) - np.repeat(new[:-1] - offsets[groups], sizes)
    return members, new
