"""The METEOR score of 23 statistics, with the parameters of the task ``rank``
(Denkowski & Lavie 2014, table 1).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from caption_kernels_reference.math import power

ALPHA = 0.85
BETA = 0.2
GAMMA = 0.6
DELTA = 0.75
MODULE_WEIGHTS = (1.0, 0.6, 0.8, 0.6)
"""Weights of the modules exact, stem, synonym and paraphrase."""
N_STATISTICS = 23


def meteor_score(statistics: np.ndarray) -> np.ndarray:
    """Return the METEOR scores (n,) of statistics (n, 23), float64;
    see :func:`segment_score`.
    """
    if statistics.shape[1] != N_STATISTICS:
        raise ValueError("expected statistics of shape (n, 23)")
    return np.array(
        [segment_score(row) for row in statistics.tolist()], dtype=np.float64
    )


def segment_score(stats: Sequence[float]) -> float:
    """Return the METEOR score of one segment from its statistics; higher is better.

    The order of the operations is that of meteor-1.5.jar.

    Parameters
    ----------
    stats : sequence of 23 numbers
        Words of hypothesis and reference; function words of both; for each of the
        modules exact, stem, synonym and paraphrase the matched content words of both
        and the matched function words of both; chunks; matched words of both.

    Returns
    -------
    float
        Score in [0, 1]; 0 when no word matches or a text is empty.

    References
    ----------
    Denkowski & Lavie (2014), "Meteor Universal: Language Specific Translation
    Evaluation for Any Target Language".

    Examples
    --------
    Two texts of three words each, of which two content words match exactly in one
    chunk:

    >>> round(segment_score([3, 3, 0, 0, *[2, 2, 0, 0], *[0] * 12, 1, 2, 2]), 4)
    0.3184
    """
    # Content words count three times as much as function words.
    hyp_weighted = DELTA * (stats[0] - stats[2]) + (1.0 - DELTA) * stats[2]
    ref_weighted = DELTA * (stats[1] - stats[3]) + (1.0 - DELTA) * stats[3]

    # Content words first, then function words: the order decides the last digit.
    hyp_matches = 0.0
    ref_matches = 0.0
    for m in range(4):
        hyp_matches += stats[4 + 4 * m] * MODULE_WEIGHTS[m] * DELTA
        ref_matches += stats[5 + 4 * m] * MODULE_WEIGHTS[m] * DELTA
    for m in range(4):
        hyp_matches += stats[6 + 4 * m] * MODULE_WEIGHTS[m] * (1.0 - DELTA)
        ref_matches += stats[7 + 4 * m] * MODULE_WEIGHTS[m] * (1.0 - DELTA)

    if (
        hyp_matches == 0.0
        or ref_matches == 0.0
        or hyp_weighted == 0.0
        or ref_weighted == 0.0
    ):
        return 0.0

    precision = hyp_matches / hyp_weighted
    recall = ref_matches / ref_weighted
    f_mean = 1.0 / (((1.0 - ALPHA) / precision) + (ALPHA / recall))
    # The fewer and longer the chunks, the better; texts that match as a whole in one
    # chunk have no penalty.
    if stats[21] == stats[0] and stats[22] == stats[1] and stats[20] == 1.0:
        fragmentation = 0.0
    else:
        fragmentation = stats[20] / ((stats[21] + stats[22]) / 2.0)
    return f_mean * (1.0 - GAMMA * float(power(fragmentation, BETA)))
