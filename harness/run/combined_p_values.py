"""p-values of the examples combined into those of a corpus."""

from __future__ import annotations

import numpy as np

from caption_kernels import log
from harness.stats.stratified_test import rank_shares


def combine_p_values(
    p_values: np.ndarray | None,
    p_floors: np.ndarray | None,
    fdr: float,
    p_sums: np.ndarray | None = None,
) -> dict[str, float | int]:
    """Return per-example p-values combined,
    and the number of discoveries at a false discovery rate.

    Parameters
    ----------
    p_values : array, optional
        p-values, shape (B,), NaN where undefined.
    p_floors : array, optional
        Smallest p-value of each example's design, shape (B,).
    fdr : float
        False discovery rate in (0, 1).
    p_sums : array, optional
        Statistics summed over the examples, the observed first, shape (draws + 1,).

    Returns
    -------
    dict
        ``calibrated`` (:func:`harness.stats.combine.calibrated_p`), ``harmonic_mean``,
        ``harmonic_mean_test`` and ``fisher`` (for continuous p-values), natural
        logarithms ``log_calibrated`` and ``log_harmonic_mean``, ``mean`` of p and
        ``mean_log`` of log p (descriptions, no p-values), ``discoveries``, ``fdr`` and
        the number ``n`` of p-values; with ``p_sums`` also ``summed``. Empty when no
        example has a p-value.
    """
    if p_values is None or p_floors is None:
        return {}
    from harness.stats import combine

    defined = ~np.isnan(p_values)
    p = p_values[defined]
    floors = p_floors[defined]
    if len(p) == 0:
        return {}
    values: dict[str, float | int] = {
        "calibrated": combine.calibrated_p(p, floors),
        "log_calibrated": combine.log_calibrated_p(p, floors),
        "harmonic_mean": combine.harmonic_mean_p(p),
        "log_harmonic_mean": combine.log_harmonic_mean_p(p),
        "mean": float(np.mean(p)),
        "mean_log": float(log(p).mean()),
        "harmonic_mean_test": combine.harmonic_mean_test(p),
        "fisher": combine.fisher(p),
        "discoveries": combine.count_discoveries(p, fdr),
        "fdr": fdr,
        "n": len(p),
    }
    # the observed sum is the first of the column
    if p_sums is not None:
        values["summed"] = float(rank_shares(p_sums[:, None])[0, 0])
    return values
