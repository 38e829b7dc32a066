"""Statistics of exchanged metrics of many sets at once,
for :mod:`benchmarks.metric_tests`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from harness.judgments.pair_credit import correctness
from harness.judgments.rated_agreement import correlate_groups
from harness.stats.weighted_correlation import pairs_within

GOOD = 3
"""Grade from which a caption has a positive label."""
Columns = list[np.ndarray]


def exchange(
    statistic: str, a: np.ndarray, b: np.ndarray, human: np.ndarray, keep: np.ndarray
) -> np.ndarray:
    """Return the statistic of ``where(keep, a, b)`` minus that of ``where(keep, b, a)``
    of each draw, shape (D,).

    Parameters
    ----------
    statistic : str
        One of :data:`ROWS`.
    a, b, human : ndarray
        Scores of two metrics and judgments, shape (n,), item by item.
    keep : ndarray
        Draws, bool, shape (D, units): units are consecutive rows, as many in each.
    """
    kept = keep.astype(np.float32)
    both = [(kept, 1 - kept), (1 - kept, kept)]
    rows = len(a) // keep.shape[1]
    if statistic == "pearson":
        y = human - human.mean()
        sums = [
            np.stack([x, x * x, x * y]).reshape(3, -1, rows).sum(axis=2).T
            for x in (a, b)
        ]
        moments = [(of_a @ sums[0] + of_b @ sums[1]).T for of_a, of_b in both]
        first, second = (xy / np.sqrt(xx - x * x / len(a)) for x, xx, xy in moments)
        return (first - second) / np.sqrt((y * y).sum())
    if statistic in ("spearman", "average_precision"):
        values = correlate_ranks(statistic, a, b, human, rows, both)
        return values[0] - values[1]
    weights = compare(human, human)
    if statistic == "auc":
        good = human >= GOOD
        weights *= good[:, None] ^ good[None, :]
    blocks = sum_blocks(a, b, rows, weights)
    forms = [sum_form(blocks, *parts) for parts in both]
    if statistic == "kendall_b":
        blocks = sum_blocks(a, b, rows, None)
        untied = [sum_form(blocks, *parts) for parts in both]
        return (
            forms[0] / np.sqrt(untied[0]) - forms[1] / np.sqrt(untied[1])
        ) / np.sqrt(np.count_nonzero(weights))
    if statistic == "auc":
        return (forms[0] - forms[1]) / (2 * np.count_nonzero(weights))
    classes = len(np.unique(human))
    return (forms[0] - forms[1]) * classes / (len(a) ** 2 * (classes - 1))


def add_units(pairs: np.ndarray, rows: int) -> np.ndarray:
    """Return the sums of the columns of each unit, shape (n, units),
    from the signs of pairs (n, units * rows).
    """
    return np.add.reduce([pairs[:, k::rows] for k in range(rows)], dtype=np.int32)


def compare(x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return the signs of the differences of all pairs of x (n,) and z (m,),
    int8, shape (n, m).
    """
    return (x[:, None] > z[None, :]).view(np.int8) - (x[:, None] < z[None, :]).view(
        np.int8
    )


def sum_blocks(
    a: np.ndarray, b: np.ndarray, rows: int, weights: np.ndarray | None
) -> list[np.ndarray]:
    """Return the sums by units (units, units) of weighted signs of a with a, a with b
    and b with b; of absolute signs without weights.
    """
    blocks: list[np.ndarray] = []
    for x, z in ((a, a), (a, b), (b, b)):
        pairs = (
            (x[:, None] != z[None, :]).view(np.int8)
            if weights is None
            else compare(x, z) * weights
        )
        blocks.append(add_units(add_units(pairs, rows).T, rows).T.astype(np.float32))
    return blocks


def sum_form(
    blocks: list[np.ndarray], of_a: np.ndarray, of_b: np.ndarray
) -> np.ndarray:
    """Return the sums over all pairs of rows of each draw, shape (D,),
    from :func:`sum_blocks`.
    """
    aa, ab, bb = blocks
    return ((of_a @ aa + 2 * of_b @ ab.T) * of_a + (of_b @ bb) * of_b).sum(
        axis=1, dtype=np.float64
    )


def correlate_ranks(
    statistic: str,
    a: np.ndarray,
    b: np.ndarray,
    human: np.ndarray,
    rows: int,
    both: list[tuple[np.ndarray, np.ndarray]],
) -> list[np.ndarray]:
    """Return Spearman's rho or average precision of each draw, twice of shape (D,),
    from the rows above and below each row.
    """

    def count_rows(
        members: np.ndarray, pairs_of: Callable[[np.ndarray, np.ndarray], np.ndarray]
    ) -> list[np.ndarray]:
        matrices: list[np.ndarray] = []
        for x in (a, b):
            for z in (a, b):
                pairs = pairs_of(x[members], z)
                matrices.append(add_units(pairs, rows).T.astype(np.float32))
        aa, ab, ba, bb = matrices
        unit = members // rows
        return [
            np.where(of_a[:, unit] > 0, of_a @ aa + of_b @ ab, of_a @ ba + of_b @ bb)
            for of_a, of_b in both
        ]

    if statistic == "spearman":
        y = compare(human, human).sum(axis=1, dtype=np.float64)
        ranks = count_rows(np.arange(len(a)), compare)
        return [
            (r @ y) / np.sqrt((r**2).sum(axis=1, dtype=np.float64) * (y @ y))
            for r in ranks
        ]
    good = human >= GOOD
    at_least = [
        lambda x, z, m=mask: (z[None, :] >= x[:, None]).view(np.int8) * m
        for mask in (good, np.int8(1))
    ]
    hits, seen = (count_rows(np.flatnonzero(good), pairs_of) for pairs_of in at_least)
    return [(found / total).mean(axis=1) for found, total in zip(hits, seen)]


def leave_out_items(a: np.ndarray, human: np.ndarray, rows: int) -> np.ndarray:
    """Return tau-b of all items and without each one in turn, shape (1 + items,)."""
    signs = compare(a, a)
    of_people = compare(human, human)
    sums: list[np.ndarray] = []
    for pairs in (signs * of_people, signs * signs, of_people * of_people):
        block = add_units(add_units(pairs, rows).T, rows).astype(np.float64)
        sums.append(np.append(0, np.diag(block) - 2 * block.sum(axis=1)) + block.sum())
    return sums[0] / np.sqrt(sums[1] * sums[2])


def difference_of_items(statistic: str, data: Columns, first: int) -> np.ndarray:
    """Return the difference of two metrics on each item: of its tau-b,
    or of the credits of its pairs.
    """
    item = data[0]
    human = data[1]
    scores = data[first : first + 2]
    items = int(item[-1]) + 1
    if statistic == "kendall_within":
        of_a, of_b = (
            correlate_groups(statistic, x, human, item, items) for x in scores
        )
        return of_a - of_b
    i, j = pairs_within(item)
    credit = [correctness(x[i] - x[j], human[i] - human[j]) for x in scores]
    return np.bincount(item[i], np.nan_to_num(credit[0] - credit[1]), minlength=items)
