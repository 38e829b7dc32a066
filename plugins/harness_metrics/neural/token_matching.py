"""Greedy matching of token vectors (Zhang et al. 2020, section 3), of all pairs of the
texts of an example at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple, cast

import numpy as np

from harness.encoders.precision import computing

SIMILARITIES = 1 << 26
"""Similarities of tokens that an accelerator holds at a time."""


class Tokens(NamedTuple):
    """Token vectors of one text."""

    vectors: Any
    """Unit vectors of all L tokens, float32, shape (L, d): an array, or a tensor on an
    accelerator.
    """
    counted: np.ndarray
    """Weights of the tokens in the mean, shape (L,): 0 for the special tokens,
    1 or the idf for the others.
    """
    ids: np.ndarray = np.zeros(0, dtype=np.int64)
    """Numbers of the tokens in the vocabulary, shape (L,)."""


def precisions(tokens: Sequence[Tokens]) -> np.ndarray:
    """Return the precision of each of N texts as candidate with each as reference,
    float64, shape (N, N).

    Rows are candidates. Entries are in [-1, 1], and 0 where a text has no counted
    token. The recall of a pair is the precision of the exchanged pair. All tokens of
    the texts are compared in one matrix product.

    Examples
    --------
    >>> dog, cat = np.eye(2, dtype=np.float32)
    >>> counted = np.ones(2, dtype=bool)
    >>> first = Tokens(np.stack([dog, cat]), counted)
    >>> second = Tokens(np.stack([dog, dog]), counted)
    >>> precisions([first, second]).tolist()
    [[1.0, 0.5], [1.0, 1.0]]
    """
    lengths = np.array([len(text.vectors) for text in tokens])
    totals = np.array([text.counted.sum() for text in tokens])
    out = np.zeros((len(tokens), len(tokens)))
    rows = np.flatnonzero(totals).tolist()
    if not rows:
        return out

    vectors = np.concatenate([tokens[i].vectors for i in rows])
    counted = np.concatenate([tokens[i].counted for i in rows])
    starts = np.concatenate([[0], np.cumsum(lengths[rows])[:-1]])

    # [reference text, candidate token]
    best = np.maximum.reduceat(vectors @ vectors.T, starts, axis=0)
    weighted = best.astype(np.float64) * counted
    means = np.add.reduceat(weighted, starts, axis=1) / totals[rows]
    out[np.ix_(rows, rows)] = means.T
    return out


def vectors_on(device: str, vectors: Any) -> Any:
    """Return vectors on a device: a tensor, or an array where it is the CPU.

    >>> vectors_on("cpu", np.ones(2)).tolist()
    [1.0, 1.0]
    """
    if device == "cpu":
        is_array = isinstance(vectors, np.ndarray)
        return cast("Any", vectors) if is_array else vectors.cpu().numpy()
    torch: Any = import_module("torch")
    return torch.as_tensor(vectors, device=device)


def batch_precisions(
    tokens: Sequence[Tokens], size: int, device: str = "cpu"
) -> np.ndarray:
    """Return :func:`precisions` of consecutive groups of texts, shape (B, N, N).

    Parameters
    ----------
    tokens : sequence of Tokens
        Texts of B examples, N after N.
    size : int
        Number of texts N of an example.
    device : str, default "cpu"
        Device that compares the tokens, wherever their vectors are kept.
    """
    groups = [tokens[start : start + size] for start in range(0, len(tokens), size)]
    if device == "cpu":
        return np.stack([precisions(group) for group in groups])

    out = np.empty((len(groups), size, size))
    longest = [sum(len(text.vectors) for text in group) for group in groups]
    start = 0
    while start < len(groups):
        # the examples that follow may be longer: the size of the step is a guess
        step = max(1, SIMILARITIES // max(1, max(longest[start : start + 64]) ** 2))
        stop = min(start + min(step, 64), len(groups))
        with computing("float32"):
            out[start:stop] = precisions_on_device(groups[start:stop], device)
        start = stop
    return out


def precisions_on_device(groups: Sequence[Sequence[Tokens]], device: str) -> np.ndarray:
    """Return :func:`precisions` of groups of N texts, computed by torch on a device,
    shape (B, N, N).

    Sums are matrix products, whose order is the same in each run.
    """
    torch: Any = import_module("torch")
    size = len(groups[0])
    vectors: Any = torch.nn.utils.rnn.pad_sequence(
        [
            torch.cat([vectors_on(device, text.vectors) for text in group])
            for group in groups
        ],
        batch_first=True,
    )
    count, longest = vectors.shape[:2]
    owners = np.full((count, longest), size)
    weights = np.zeros((count, longest))
    totals = np.zeros((count, size))
    for row, group in enumerate(groups):
        lengths = [len(text.vectors) for text in group]
        owners[row, : sum(lengths)] = np.repeat(np.arange(size), lengths)
        weights[row, : sum(lengths)] = np.concatenate([t.counted for t in group])
        totals[row] = [text.counted.sum() for text in group]

    # [example, candidate token, reference text]; the padding is a text of its own
    texts: Any = torch.from_numpy(owners).to(device)
    similarities = vectors @ vectors.transpose(1, 2)
    best = similarities.new_full((count, longest, size + 1), float("-inf"))
    best.scatter_reduce_(
        2, texts[:, None, :].expand_as(similarities), similarities, "amax"
    )

    # [example, candidate text, candidate token]
    shares = np.where(
        owners[:, None, :] == np.arange(size)[:, None], weights[:, None], 0
    )
    # float64 stays on the CPU: some accelerators lack it
    parts: Any = torch.from_numpy(shares).to(best.dtype).to(device)
    finite = torch.nan_to_num(best[..., :size], neginf=0.0)
    sums = (parts @ finite).cpu().double().numpy()

    # a text without a counted token matches nothing
    known = totals > 0
    means = sums / np.where(known, totals, 1.0)[:, :, None]
    return np.where(known[:, :, None] & known[:, None, :], means, 0.0)
