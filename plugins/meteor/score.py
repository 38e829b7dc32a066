"""The METEOR score of 23 statistics, with the parameters of the task ``rank`` (Denkowski & Lavie 2014, table 1).

All scores, compiled or not, come from :func:`segment_score`, which keeps the order of operations of meteor-1.5.jar. There is no vectorised
version, because a vectorised ``pow`` may differ in the last digit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75
MODULE_WEIGHTS = (1.0, 0.6, 0.8, 0.6)
"""Weights of the modules exact, stem, synonym and paraphrase."""

N_STATISTICS = 23
HYP_LENGTH, REF_LENGTH, HYP_FUNCTION, REF_FUNCTION = range(4)
FIRST_MODULE = 4
"""First of the four columns of each module: matched content words of hypothesis and reference, matched function words of both."""
CHUNKS, HYP_MATCHED, REF_MATCHED = 20, 21, 22


def segment_score(stats: Sequence[float] | np.ndarray) -> float:
    """Return the METEOR score of one segment from its statistics, shape (23,); higher is better.

    Parameters
    ----------
    stats : sequence of 23 numbers
        Lengths and function words of both texts, four counts per module, chunks, matched words of both texts.

    Returns
    -------
    float
        Score in [0, 1]; 0 when no word matches or a text is empty.

    References
    ----------
    Denkowski & Lavie (2014), "Meteor Universal: Language Specific Translation Evaluation for Any Target Language".

    Examples
    --------
    Two texts of three words each, of which two content words match exactly in one chunk:

    >>> round(segment_score([3, 3, 0, 0, *[2, 2, 0, 0], *[0] * 12, 1, 2, 2]), 4)
    0.3184
    """
    hyp_weighted = DELTA * (stats[0] - stats[2]) + (1.0 - DELTA) * stats[2]
    ref_weighted = DELTA * (stats[1] - stats[3]) + (1.0 - DELTA) * stats[3]
    hyp_matches = 0.0
    ref_matches = 0.0
    for m in range(4):
        hyp_matches += stats[4 + 4 * m] * MODULE_WEIGHTS[m] * DELTA
        ref_matches += stats[5 + 4 * m] * MODULE_WEIGHTS[m] * DELTA
    for m in range(4):
        hyp_matches += stats[6 + 4 * m] * MODULE_WEIGHTS[m] * (1.0 - DELTA)
        ref_matches += stats[7 + 4 * m] * MODULE_WEIGHTS[m] * (1.0 - DELTA)
    if hyp_matches == 0.0 or ref_matches == 0.0 or hyp_weighted == 0.0 or ref_weighted == 0.0:
        return 0.0
    precision = hyp_matches / hyp_weighted
    recall = ref_matches / ref_weighted
    f_mean = 1.0 / (((1.0 - ALPHA) / precision) + (ALPHA / recall))
    if stats[21] == stats[0] and stats[22] == stats[1] and stats[20] == 1.0:
        fragmentation = 0.0
    else:
        fragmentation = stats[20] / ((stats[21] + stats[22]) / 2.0)
    return f_mean * (1.0 - GAMMA * fragmentation**BETA)


def summable(statistics: np.ndarray) -> np.ndarray:
    """Return statistics of shape (..., 23) as they enter a corpus sum: a copy, float64.

    The chunk of a segment whose words all match in a single chunk is not counted, as in meteor-1.5.jar.

    >>> rows = np.array([[2, 2, 0, 0, *[2, 2, 0, 0], *[0] * 12, 1, 2, 2]])
    >>> float(summable(rows)[0, CHUNKS])
    0.0
    """
    out = np.array(statistics, dtype=np.float64)
    complete = (
        (out[..., HYP_MATCHED] == out[..., HYP_LENGTH])
        & (out[..., REF_MATCHED] == out[..., REF_LENGTH])
        & (out[..., CHUNKS] == 1.0)
    )
    out[..., CHUNKS][complete] = 0.0
    return out
