"""The 504 pre-gen metrics: what a captioner's probabilities for the reference captions say before it generates any.

A name is ``tier4_tier3_tier2_tier1``, read from the inside out: select tokens of a caption (tier 1), score the caption
(tier 2), aggregate the captions of an image (tier 3), aggregate the images (tier 4). All of it is array code over flat
tokens: the token pass gives twelve numbers per caption, and everything above works on those.

Source: Tanti, Gatt & Muscat, "Pre-gen metrics: Predicting caption quality metrics without generating captions" (2018),
section 3, with the published program's semantics where the two differ (``filter0``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np

from harness.errors import InputError, UnknownName, did_you_mean
from harness.plugins.pregen.tokens import FlatTokens, flatten, from_token_scores
from harness.stats.strata import strata

__all__ = ["KEPT_NAMES", "NAMES", "evaluate", "from_token_scores", "per_image", "split_name", "strata"]

Dataset = Iterable[Any] | FlatTokens
"""images -> captions -> tokens -> (probability, rank), or the same flat."""

TIER4 = ("sum", "mean", "median", "geomean", "max", "min")
TIER3 = (*TIER4, "join")
TIER2 = ("prob", "pplx", "count", "normcount")
TIER1 = ("none", "filter0", "prefix0")

NAMES: tuple[str, ...] = tuple("_".join(parts) for parts in product(TIER4, TIER3, TIER2, TIER1))
"""All 504 names in the order of the published table: the leftmost tier varies slowest."""
KEPT_NAMES: tuple[str, ...] = tuple("_".join(parts) for parts in product(TIER4, TIER3, TIER2, ("filter0_kept",)))
"""168 more: ``filter0`` as the paper words it (rank-0 tokens are kept, the others dropped)."""
_KNOWN = {name: tuple(name.split("_", 3)) for name in (*NAMES, *KEPT_NAMES)}


def evaluate(dataset: Dataset, names: Sequence[str] | None = None) -> np.ndarray:
    """The metrics ``names`` of a data set, float64 (len(names),); all 504 in the order of :data:`NAMES` by default.

    ``dataset`` is images -> captions -> tokens -> ``(probability, rank)``, END counted and START not, or
    :class:`FlatTokens`. Infinities are ordinary results (a caption of perplexity inf), NaN does not occur.
    Raises :class:`InputError` for bad data and :class:`UnknownName` for a bad name.

    >>> evaluate([[[(0.5, 0), (0.25, 1)]]], ["mean_max_normcount_prefix0", "mean_mean_pplx_none"]).round(3).tolist()
    [0.5, 2.828]
    """
    names = NAMES if names is None else names
    parts = [split_name(name) for name in names]
    tokens = flatten(dataset)
    values: dict[Any, float] = {}
    with np.errstate(over="ignore", divide="ignore"):
        for tier3, kinds, rows in _images(tokens, [part[1:] for part in parts]):
            for tier4 in dict.fromkeys(part[0] for part in parts if part[1] == tier3):
                whole = np.array([0, rows.shape[1]])
                scores = AGGREGATIONS[tier4](rows, whole)[:, 0].tolist()
                values.update({(tier4, tier3, *kind): score for kind, score in zip(kinds, scores)})
    return np.array([values[part] for part in parts])


def per_image(dataset: Dataset, names: Sequence[str]) -> np.ndarray:
    """(len(names), I): the numbers that tier 4 aggregates; raises :class:`InputError` for a ``join``, which has none."""
    parts = [split_name(name)[1:] for name in names]
    for name, part in zip(names, parts):
        if part[0] == "join":
            raise InputError(f"'{name}' joins the captions of all images: it has no score per image")
    with np.errstate(over="ignore", divide="ignore"):
        found: dict[Any, np.ndarray] = {
            (tier3, *kind): row
            for tier3, kinds, rows in _images(flatten(dataset), parts)
            for kind, row in zip(kinds, rows)
        }
    return np.stack([found[part] for part in parts])


def split_name(name: str) -> tuple[str, ...]:
    """(tier4, tier3, tier2, tier1) of a metric name; raises :class:`UnknownName` saying the nearest one."""
    parts = _KNOWN.get(name)
    if parts is None:
        raise UnknownName(f"unknown pre-gen metric {name!r}{did_you_mean(name, _KNOWN)}")
    return parts


# --------------------------------------------------------------------------- tiers 1 and 2: one number per caption
def _selected(tokens: FlatTokens, tier1: str) -> np.ndarray | None:
    """(T,) bool, or None for all."""
    if tier1 == "none":
        return None
    if tier1 == "filter0":
        return ~tokens.top
    if tier1 == "filter0_kept":
        return tokens.top
    misses = np.cumsum(~tokens.top)  # a token is in the prefix while its caption has had no miss yet
    starts = tokens.captions[:-1]
    before = misses[starts] - ~tokens.top[starts]
    return misses == np.repeat(before, tokens.lengths)


def _captions(tokens: FlatTokens, kinds: Sequence[tuple[str, str]]) -> np.ndarray:
    """(len(kinds), C): the caption scores of the (tier2, tier1) kinds."""
    out = np.empty((len(kinds), len(tokens.captions) - 1))
    for tier1 in dict.fromkeys(kind[1] for kind in kinds):
        mask = _selected(tokens, tier1)
        starts = tokens.captions[:-1]
        count = tokens.lengths if mask is None else np.add.reduceat(mask.astype(np.int64), starts)
        for row, (tier2, wanted) in enumerate(kinds):
            if wanted == tier1:
                out[row] = _caption_scores(tier2, tokens, mask, count)
    return out


def _caption_scores(tier2: str, tokens: FlatTokens, mask: np.ndarray | None, count: np.ndarray) -> np.ndarray:
    if tier2 == "count":
        return count
    if tier2 == "normcount":
        return count / tokens.lengths
    starts = tokens.captions[:-1]
    if tier2 == "prob":  # unselected tokens multiply by exactly 1, so that underflow is that of the selection
        factors = tokens.probabilities if mask is None else np.where(mask, tokens.probabilities, 1.0)
        return np.where(count > 0, np.multiply.reduceat(factors, starts), 0.0)
    logs = tokens.log2 if mask is None else np.where(mask, tokens.log2, 0.0)
    mean = np.add.reduceat(logs, starts) / np.maximum(count, 1)
    return np.where(count > 0, np.exp2(-mean), np.inf)


# --------------------------------------------------------------------------- tiers 3 and 4: aggregation of segments
def _images(tokens: FlatTokens, parts: Sequence[tuple[str, ...]]):
    """For each tier 3 in use: its name, its (tier2, tier1) kinds, and their rows (K, I), or (K, C) for ``join``."""
    kinds = list(dict.fromkeys(part[1:] for part in parts))
    captions = _captions(tokens, kinds)  # type: ignore[arg-type]
    for tier3 in dict.fromkeys(part[0] for part in parts):
        chosen = [k for k, kind in enumerate(kinds) if (tier3, *kind) in set(parts)]
        rows = captions if len(chosen) == len(kinds) else captions[chosen]
        yield tier3, [kinds[k] for k in chosen], rows if tier3 == "join" else AGGREGATIONS[tier3](rows, tokens.images)


def _sum(rows: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    return np.add.reduceat(rows, offsets[:-1], axis=1)


def _mean(rows: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    return _sum(rows, offsets) / np.diff(offsets)


def _max(rows: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    return np.maximum.reduceat(rows, offsets[:-1], axis=1)


def _min(rows: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    return np.minimum.reduceat(rows, offsets[:-1], axis=1)


def _median(rows: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Mean of the two middle values, segment by segment; segments of one size are sorted together."""
    sizes = np.diff(offsets)
    out = np.empty((len(rows), len(sizes)))
    for size in np.unique(sizes).tolist():
        at = np.flatnonzero(sizes == size)
        block = rows[:, offsets[at][:, None] + np.arange(size)]  # (K, segments, size)
        low, high = (size - 1) // 2, size // 2
        block = np.partition(block, (low, high), axis=2) if size > 16 else np.sort(block, axis=2)
        out[:, at] = block[:, :, low] if low == high else (block[:, :, low] + block[:, :, high]) / 2
    return out


def _geomean(rows: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """2 to the mean of log2; 0 where any value is 0, even beside an inf."""
    zero = np.logical_or.reduceat(rows == 0, offsets[:-1], axis=1)
    logs = np.log2(np.where(rows == 0, 1.0, rows))
    return np.where(zero, 0.0, np.exp2(_mean(logs, offsets)))


AGGREGATIONS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "sum": _sum,
    "mean": _mean,
    "median": _median,
    "geomean": _geomean,
    "max": _max,
    "min": _min,
}
"""(K, members), (segments + 1,) offsets -> (K, segments); no segment is empty."""
