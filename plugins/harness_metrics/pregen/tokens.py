"""Token probabilities and ranks of a data set as flat arrays,
the input of the pre-gen functions.

Images -> captions -> tokens -> (probability, rank) become arrays of T tokens, C + 1
offsets of captions into the tokens, and I + 1 offsets of images into the captions. No
caption and no image is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from harness.contracts import TokenScores
from harness.errors import InputError


@dataclass(frozen=True, eq=False)
class FlatTokens:
    """Scored tokens of a data set, with the END of each caption."""

    probabilities: np.ndarray
    """``(T,)`` float64 in [0, 1]."""
    log2: np.ndarray
    """``(T,)`` base-2 logarithms of the probabilities; -inf for 0."""
    top: np.ndarray
    """``(T,)`` True for tokens of rank 0, the most probable ones of the model."""
    captions: np.ndarray
    """``(C + 1,)`` offsets into the tokens."""
    images: np.ndarray
    """``(I + 1,)`` offsets into the captions."""

    @property
    def lengths(self) -> np.ndarray:
        """Number of tokens of each caption, ``(C,)``."""
        return np.diff(self.captions)

    def take(self, images: np.ndarray) -> FlatTokens:
        """Return the data set of images ``(N,)``, in this order; an image may occur
        several times (bootstrap, strata).
        """
        rows, image_offsets = _gather(self.images, np.asarray(images, dtype=np.int64))
        tokens, caption_offsets = _gather(self.captions, rows)
        return FlatTokens(
            self.probabilities[tokens],
            self.log2[tokens],
            self.top[tokens],
            caption_offsets,
            image_offsets,
        )


def flatten(dataset: Iterable[Any] | FlatTokens) -> FlatTokens:
    """Return nested probabilities and ranks as flat arrays;
    a :class:`FlatTokens` is returned unchanged.

    Parameters
    ----------
    dataset : iterable or FlatTokens
        Images -> captions -> tokens -> ``(probability, rank)``.

    Raises
    ------
    InputError
        With image, caption and token, counted from 0, for a probability outside [0, 1],
        a rank that is not a non-negative integer, an image without captions, and a
        caption without tokens.

    Examples
    --------
    >>> flatten([[[(0.5, 0), (0.25, 1)]]]).top.tolist()
    [True, False]
    """
    if isinstance(dataset, FlatTokens):
        return dataset

    images = list(dataset)
    captions, image_offsets = _level(images, "image", "caption")
    tokens, caption_offsets = _level(
        captions, "caption", "token", lambda k: _caption_place(image_offsets, k)
    )
    pairs = _pairs(tokens, image_offsets, caption_offsets)

    probabilities = np.ascontiguousarray(pairs[:, 0])
    ranks = pairs[:, 1]
    bad = ~((probabilities >= 0) & (probabilities <= 1))  # also True for NaN
    _refuse(
        bad,
        probabilities,
        "probability",
        "a number in [0, 1]",
        image_offsets,
        caption_offsets,
    )
    _check_ranks(ranks, image_offsets, caption_offsets)
    with np.errstate(divide="ignore"):
        log2 = np.log2(probabilities)
    return FlatTokens(probabilities, log2, ranks == 0, caption_offsets, image_offsets)


def from_token_scores(scores: Iterable[Sequence[TokenScores]]) -> FlatTokens:
    """Return the results of a :class:`~harness.contracts.Scorer` as flat arrays.

    Parameters
    ----------
    scores : iterable of sequences of TokenScores
        One TokenScores per reference, for each image.

    Raises
    ------
    InputError
        As :func:`flatten`; a log-probability above 0 or NaN is invalid, -inf is
        probability 0.
    """
    images = list(scores)
    captions, image_offsets = _level(images, "image", "caption")
    for k, caption in enumerate(captions):
        shape = np.shape(caption.log_probs)
        rank_shape = np.shape(caption.ranks)
        if shape != rank_shape or len(shape) != 1:
            raise InputError(
                f"log_probs have shape {shape} and ranks {rank_shape}; "
                "expected the same (L,)",
                _caption_place(image_offsets, k),
            )

    rows = [caption.log_probs for caption in captions]
    _, caption_offsets = _level(
        rows, "caption", "token", lambda k: _caption_place(image_offsets, k)
    )
    logs = np.concatenate([np.asarray(row, dtype=np.float64) for row in rows])
    all_ranks = [np.asarray(caption.ranks, dtype=np.float64) for caption in captions]
    ranks = np.concatenate(all_ranks)

    # ~(x <= 0) is True for NaN too
    _refuse(
        ~(logs <= 0),
        logs,
        "log-probability",
        "a number of at most 0",
        image_offsets,
        caption_offsets,
    )
    _check_ranks(ranks, image_offsets, caption_offsets)
    return FlatTokens(
        np.exp(logs), logs / np.log(2.0), ranks == 0, caption_offsets, image_offsets
    )


def _level(
    groups: list[Any],
    outer: str,
    inner: str,
    locate: Callable[[int], str] | None = None,
) -> tuple[list[Any], np.ndarray]:
    """Return all members of the groups in one list, and the offsets of the groups;
    raise for an empty group.
    """
    try:
        sizes = np.fromiter(map(len, groups), dtype=np.int64, count=len(groups))
        members = list(chain.from_iterable(groups))
    except TypeError as error:
        raise InputError(
            "expected images -> captions -> tokens -> (probability, rank); "
            f"found another nesting: {error}"
        ) from None
    if not len(sizes):
        raise InputError(f"the data set has no {outer}s")
    if not sizes.all():
        at = int(np.argmin(sizes))
        location = locate(at) if locate else f"image {at}"
        raise InputError(
            f"the {outer} has no {inner}s; at least one is required", location
        )

    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return members, offsets


def _pairs(tokens: list[Any], images: np.ndarray, captions: np.ndarray) -> np.ndarray:
    """Return the pairs of all tokens, float64 ``(T, 2)``;
    raise with the place of another value.
    """
    try:
        if set(map(len, tokens)) == {2}:
            numbers = chain.from_iterable(tokens)
            flat = np.fromiter(numbers, np.float64, 2 * len(tokens))
            return flat.reshape(-1, 2)
    except (TypeError, ValueError):
        pass  # the loop below reports the token at fault

    for k, token in enumerate(tokens):
        try:
            probability, rank = token
            fine = isinstance(float(probability) + float(rank), float)
        except (TypeError, ValueError):
            fine = False
        if not fine:
            raise InputError(
                f"found {token!r}, expected a (probability, rank) pair",
                _place(images, captions, k),
            )
    raise InputError("expected (probability, rank) pairs of numbers")


def _check_ranks(ranks: np.ndarray, images: np.ndarray, captions: np.ndarray) -> None:
    """Raise :class:`InputError` for the first rank that is not a non-negative
    integer.
    """
    bad = ~((ranks >= 0) & (ranks == np.floor(ranks)) & np.isfinite(ranks))
    _refuse(
        bad,
        ranks,
        "rank",
        "an integer of at least 0 (0 = most probable)",
        images,
        captions,
    )


def _refuse(
    bad: np.ndarray,
    values: np.ndarray,
    subject: str,
    expected: str,
    images: np.ndarray,
    captions: np.ndarray,
) -> None:
    """Raise :class:`InputError` for the first of the values ``(T,)`` with ``bad``
    ``(T,)`` True.
    """
    if bad.any():
        at = int(np.argmax(bad))
        raise InputError(
            f"{subject} {float(values[at])!r}, expected {expected}",
            _place(images, captions, at),
        )


def _caption_place(images: np.ndarray, caption: int) -> str:
    """Return ``image 0, caption 1`` of a caption number."""
    image = int(np.searchsorted(images, caption, side="right")) - 1
    return f"image {image}, caption {caption - int(images[image])}"


def _place(images: np.ndarray, captions: np.ndarray, token: int) -> str:
    """Return ``image 0, caption 1, token 2`` of a token number."""
    caption = int(np.searchsorted(captions, token, side="right")) - 1
    return f"{_caption_place(images, caption)}, token {token - int(captions[caption])}"


def _gather(offsets: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the member indices of groups ``(N,)``, one group after the other, and the
    new offsets ``(N + 1,)``.
    """
    sizes = offsets[groups + 1] - offsets[groups]
    new = np.zeros(len(groups) + 1, dtype=np.int64)
    np.cumsum(sizes, out=new[1:])
    members = np.arange(int(new[-1])) - np.repeat(new[:-1] - offsets[groups], sizes)
    return members, new
