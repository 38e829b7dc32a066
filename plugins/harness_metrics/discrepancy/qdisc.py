"""Discrepancy QDisc of a corpus against a curve of real corpora: how much quality can
be gained without loss of diversity.

Source: Li et al., "On the Relation between Quality-Diversity Evaluation and
Distribution-Fitting Goal in Text Generation" (ICML 2020), section 6.2. Exact
discrepancies of known distributions: ``harness_tasks.text_spaces``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.errors import InputError


@dataclass(frozen=True, slots=True)
class CurveDiscrepancy:
    """Gap in quality between a corpus and a curve of mixtures with noise."""

    curve_quality: float
    """Quality of the curve at the diversity of the corpus, linearly interpolated."""
    qdisc: float
    """Quality of the curve minus that of the corpus."""
    self_ratio: float
    """QDisc over the quality of the corpus; NaN for a quality of 0."""
    ref_ratio: float
    """QDisc over the loss of quality from the first to the second point of the curve;
    NaN for no loss.
    """


def curve_discrepancy(
    quality: Any, diversity: Any, corpus_quality: float, corpus_diversity: float
) -> CurveDiscrepancy:
    """Return the discrepancy of a corpus from a curve.

    Parameters
    ----------
    quality, diversity : array_like
        Points of the curve, both ``(K,)``, in ascending order of noise.
    corpus_quality, corpus_diversity : float
        Quality and diversity of the corpus.

    Raises
    ------
    InputError
        When the diversity of the corpus is outside the curve, or the curve has fewer
        than two points.

    Examples
    --------
    >>> curve_discrepancy([1.0, 0.5], [-1.0, -0.5], 0.25, -0.75)
    CurveDiscrepancy(curve_quality=0.75, qdisc=0.5, self_ratio=2.0, ref_ratio=1.0)
    """
    u = np.asarray(quality, dtype=np.float64)
    v = np.asarray(diversity, dtype=np.float64)
    if u.shape != v.shape or u.ndim != 1 or len(u) < 2:
        raise InputError(
            "a curve needs two or more (quality, diversity) points; "
            f"found shapes {u.shape} and {v.shape}"
        )

    order = np.argsort(v, kind="stable")
    if not v[order[0]] <= corpus_diversity <= v[order[-1]]:
        raise InputError(
            f"the diversity {corpus_diversity:g} is outside that of the curve, "
            f"{v[order[0]]:g} to {v[order[-1]]:g}"
        )

    at = float(np.interp(corpus_diversity, v[order], u[order]))
    gain = at - corpus_quality
    return CurveDiscrepancy(
        at, gain, ratio(gain, corpus_quality), ratio(gain, float(u[0] - u[1]))
    )


def ratio(gain: float, span: float) -> float:
    """Return ``gain / span``, or NaN for a span of 0 (a corpus without quality,
    a curve without loss).

    >>> ratio(1.0, 4.0), ratio(1.0, 0.0)
    (0.25, nan)
    """
    return float(gain) / float(span) if span != 0 else float("nan")
