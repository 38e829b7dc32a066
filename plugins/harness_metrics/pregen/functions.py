"""The 504 pre-gen metrics of a captioner,
from its probabilities for the reference captions.

A name is ``tier4_tier3_tier2_tier1``, applied from right to left: select tokens of a
caption (tier 1), score the caption (tier 2), aggregate the captions of an image (tier
3), aggregate the images (tier 4). The first two tiers give twelve numbers per caption
in one pass over flat arrays of tokens; the other tiers aggregate those.

Source: Tanti, Gatt & Muscat, "Pre-gen metrics: Predicting caption quality metrics
without generating captions" (2018), section 3. Where paper and published program differ
(``filter0``), the definition is that of the program.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from harness.errors import InputError, UnknownName
from harness_metrics.pregen.aggregations import AGGREGATIONS
from harness_metrics.pregen.caption_scores import score_captions
from harness_metrics.pregen.tokens import FlatTokens, flatten

Dataset = Iterable[Any] | FlatTokens
"""Images -> captions -> tokens -> (probability, rank),
as nested sequences or flat arrays.
"""

TIER4 = ("sum", "mean", "median", "geomean", "max", "min")
"""Aggregations of images."""
TIER3 = (*TIER4, "join")
"""Aggregations of the captions of an image; ``join`` leaves the captions of all images
to tier 4.
"""
TIER2 = ("prob", "pplx", "count", "normcount")
"""Caption scores: product of probabilities, perplexity,
number and share of the selected tokens.
"""
TIER1 = ("none", "filter0", "prefix0")
"""Selected tokens: all, those not of rank 0,
those before the first one that is not of rank 0.
"""

NAMES: tuple[str, ...] = tuple(
    "_".join(parts) for parts in product(TIER4, TIER3, TIER2, TIER1)
)
"""All 504 names in the order of the published table;
the leftmost tier varies the slowest.
"""
KEPT_NAMES: tuple[str, ...] = tuple(
    "_".join(parts) for parts in product(TIER4, TIER3, TIER2, ("filter0_kept",))
)
"""168 more names: ``filter0`` by the words of the paper,
which selects the tokens of rank 0.
"""
_PARTS = {name: tuple(name.split("_", 3)) for name in (*NAMES, *KEPT_NAMES)}


def evaluate(dataset: Dataset, names: Sequence[str] | None = None) -> np.ndarray:
    """Return pre-gen metrics of a data set.

    Parameters
    ----------
    dataset : iterable or FlatTokens
        Images -> captions -> tokens -> ``(probability, rank)``, with END and without
        START.
    names : sequence of str, optional
        Metrics; all 504 in the order of :data:`NAMES` by default.

    Returns
    -------
    ndarray
        ``(len(names),)`` float64. Infinities are ordinary results (a caption of
        perplexity inf); NaN does not occur.

    Raises
    ------
    InputError
        For invalid data.
    UnknownName
        For an unknown name.

    Examples
    --------
    >>> evaluate(
    ...     [[[(0.5, 0), (0.25, 1)]]],
    ...     ["mean_max_normcount_prefix0", "mean_mean_pplx_none"],
    ... ).round(3).tolist()
    [0.5, 2.828]
    """
    names = NAMES if names is None else names
    tiers = [split_name(name) for name in names]
    tokens = flatten(dataset)
    values: dict[Any, float] = {}
    with np.errstate(over="ignore", divide="ignore"):
        lower_tiers = [name_tiers[1:] for name_tiers in tiers]
        for tier3, kinds, rows in image_scores(tokens, lower_tiers):
            all_images = np.array([0, rows.shape[1]])
            tiers4 = [name_tiers[0] for name_tiers in tiers if name_tiers[1] == tier3]
            for tier4 in dict.fromkeys(tiers4):
                scores = AGGREGATIONS[tier4](rows, all_images)[:, 0].tolist()
                for kind, score in zip(kinds, scores):
                    values[(tier4, tier3, *kind)] = score

    return np.array([values[name_tiers] for name_tiers in tiers])


def per_image(dataset: Dataset, names: Sequence[str]) -> np.ndarray:
    """Return the scores per image that tier 4 aggregates, shape ``(len(names), I)``.

    Raises :class:`InputError` for ``join`` metrics, which have no score per image.
    """
    for name in names:
        if split_name(name)[1] == "join":
            raise InputError(
                f"'{name}' joins the captions of all images: it has no score per image",
                parameter="names",
                value=name,
            )
    rows = rows_by_name(flatten(dataset), names)
    return np.stack([rows[name] for name in names])


def rows_by_name(tokens: FlatTokens, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Return for each metric what tier 4 aggregates: scores (I,) of the images, or (C,)
    of all captions for a ``join`` metric.
    """
    tiers = {name: split_name(name)[1:] for name in names}
    with np.errstate(over="ignore", divide="ignore"):
        rows: dict[tuple[str, ...], np.ndarray] = {
            (tier3, *kind): row
            for tier3, kinds, block in image_scores(tokens, list(tiers.values()))
            for kind, row in zip(kinds, block)
        }
    return {name: rows[name_tiers] for name, name_tiers in tiers.items()}


def split_name(name: str) -> tuple[str, ...]:
    """Return (tier4, tier3, tier2, tier1) of a metric name;
    raise :class:`UnknownName` with the nearest name.

    >>> split_name("mean_join_pplx_none")
    ('mean', 'join', 'pplx', 'none')
    """
    tiers = _PARTS.get(name)
    if tiers is None:
        raise UnknownName.of_name(
            "unknown pre-gen metric", name, _PARTS, parameter="names"
        )
    return tiers


def image_scores(
    tokens: FlatTokens, tiers: Sequence[tuple[str, ...]]
) -> Iterator[tuple[str, list[tuple[str, ...]], np.ndarray]]:
    """Yield each tier 3 in use with its (tier2, tier1) kinds and their scores
    ``(K, I)``, or ``(K, C)`` for ``join``.
    """
    kinds = list(dict.fromkeys(name_tiers[1:] for name_tiers in tiers))
    captions = score_captions(tokens, kinds)  # type: ignore[arg-type]
    for tier3 in dict.fromkeys(name_tiers[0] for name_tiers in tiers):
        at = [k for k, kind in enumerate(kinds) if (tier3, *kind) in set(tiers)]
        rows = captions if len(at) == len(kinds) else captions[at]
        if tier3 != "join":
            rows = AGGREGATIONS[tier3](rows, tokens.images)
        yield tier3, [kinds[k] for k in at], rows
