"""METEOR's number from its 23 statistics; parameters of the task ``rank`` (Denkowski & Lavie 2014, table 1).

Every path to a score goes through :func:`segment_score`, compiled or not, in the tool's order of operations: no vector
version of ``pow`` that could differ in the last digit.
"""

from __future__ import annotations

import numpy as np

ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75
MODULE_WEIGHTS = (1.0, 0.6, 0.8, 0.6)
"""exact, stem, synonym, paraphrase."""

N_STATISTICS = 23
HYP_LENGTH, REF_LENGTH, HYP_FUNCTION, REF_FUNCTION = range(4)
FIRST_MODULE = 4
"""Four numbers a module from here: words matched as content of hypothesis and reference, as function of both."""
CHUNKS, HYP_MATCHED, REF_MATCHED = 20, 21, 22


def segment_score(stats) -> float:
    """Score in [0, 1] of one row of 23 statistics (numbers); 0 where nothing matches or a side is empty."""
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


def scores_of(statistics: np.ndarray) -> np.ndarray:
    """(n,) scores of the rows of (n, 23) statistics."""
    from harness.plugins.meteor.kernels.pairs import score_rows

    return score_rows(np.ascontiguousarray(statistics, dtype=np.float64))


def summable(statistics: np.ndarray) -> np.ndarray:
    """Statistics as they enter a corpus sum: a segment matched completely in one chunk adds no chunk. float64, a copy."""
    out = np.array(statistics, dtype=np.float64)
    complete = (
        (out[..., HYP_MATCHED] == out[..., HYP_LENGTH])
        & (out[..., REF_MATCHED] == out[..., REF_LENGTH])
        & (out[..., CHUNKS] == 1.0)
    )
    out[..., CHUNKS][complete] = 0.0
    return out
