"""Intervals of agreement with people: from resamples of the judged items, where so many
items are measured to carry one.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from harness.contracts import Interval
from harness.run.coverage_tables import LOWEST
from harness.stats import bootstrap, ties

COVERAGE: dict[str, dict[int, float]] = {
    "kendall_b": {
        2: 0.594,
        3: 0.821,
        5: 0.870,
        7: 0.927,
        10: 0.919,
        20: 0.927,
        50: 0.938,
        100: 0.945,
    },
    "kendall_c": {
        2: 0.594,
        3: 0.821,
        5: 0.873,
        7: 0.922,
        10: 0.910,
        20: 0.935,
        50: 0.940,
        100: 0.945,
    },
    "spearman": {
        2: 0.596,
        3: 0.836,
        5: 0.879,
        7: 0.915,
        10: 0.925,
        20: 0.927,
        50: 0.930,
        100: 0.943,
    },
    "pearson": {
        2: 0.521,
        3: 0.800,
        5: 0.808,
        7: 0.868,
        10: 0.882,
        20: 0.907,
        50: 0.910,
        100: 0.910,
    },
    "auc": {
        2: 0.643,
        3: 0.750,
        5: 0.804,
        7: 0.896,
        10: 0.867,
        20: 0.900,
        50: 0.915,
        100: 0.922,
    },
    "average_precision": {
        2: 0.286,
        3: 0.667,
        5: 0.700,
        7: 0.840,
        10: 0.845,
        20: 0.881,
        50: 0.907,
        100: 0.900,
    },
    "kendall_within": {
        2: 0.605,
        3: 0.719,
        5: 0.790,
        7: 0.859,
        10: 0.870,
        20: 0.920,
        50: 0.920,
        100: 0.930,
    },
    "accuracy": {
        2: 0.729,
        3: 0.796,
        5: 0.808,
        7: 0.860,
        10: 0.870,
        20: 0.912,
        50: 0.920,
        100: 0.925,
    },
    "pearson_system": {
        2: 0.356,
        3: 0.600,
        5: 0.747,
        7: 0.812,
        10: 0.890,
        20: 0.920,
        50: 0.938,
        100: 0.927,
    },
    "spearman_system": {
        2: 0.311,
        3: 0.706,
        5: 0.900,
        7: 0.963,
        10: 0.973,
        20: 0.988,
        50: 0.998,
        100: 1.000,
    },
    "kendall_system": {
        2: 0.411,
        3: 0.788,
        5: 0.900,
        7: 0.963,
        10: 0.973,
        20: 0.988,
        50: 0.998,
        100: 1.000,
    },
    "accuracy_system": {
        2: 0.520,
        3: 0.814,
        5: 0.900,
        7: 0.965,
        10: 0.973,
        20: 0.988,
        50: 0.998,
        100: 1.000,
    },
    "soft_pairwise_accuracy": {2: 0.400, 3: 0.680, 5: 0.840, 7: 0.910, 10: 0.910},
}
"""Statistic -> number of items -> lowest coverage of the 95 % interval over normal,
skewed and tied judgments, as ``python -m benchmarks.agreement_coverage`` prints it.
``kendall_within`` stands for every mean over items of a correlation.
"""
TAIL = (1 - 0.95) / 2
"""Share of the resamples beyond each end of a 95 % interval."""


def is_constant(values: np.ndarray) -> bool:
    """Return True where the defined values of resamples (samples,) differ by no more
    than rounding, and there is one.
    """
    defined = values[~np.isnan(values)]
    if not len(defined):
        return False
    return bool(np.ptp(defined) <= ties.tolerance(float(ties.magnitude(defined))))


def interval_of_resamples(resampled: np.ndarray) -> Interval:
    """Return the 95 % interval of an agreement from its values under resamples of the
    items, or the reason for none.

    Percentiles. A resample in which the agreement is undefined, such as one whose
    judgments are all equal, could have any value: it counts as beyond either end, which
    moves both outwards, and so many that no end is left leave no interval.

    Parameters
    ----------
    resampled : ndarray
        Values, shape (samples,), NaN where undefined.

    Examples
    --------
    >>> values = np.linspace(0, 1, 1001)
    >>> [round(end, 3) for end in interval_of_resamples(values).ends]
    [0.025, 0.975]
    >>> with_undefined = np.append(values, np.full(15, np.nan))
    >>> [round(end, 3) for end in interval_of_resamples(with_undefined).ends]
    [0.01, 0.99]
    """
    defined = resampled[~np.isnan(resampled)]
    undefined = len(resampled) - len(defined)
    share = undefined / len(resampled)
    if share >= TAIL:
        return Interval(
            None,
            f"undefined in {undefined:,} of {len(resampled):,} resamples of the items",
        )
    if is_constant(defined):
        return Interval(None, bootstrap.NO_SPREAD.replace("examples", "items"))

    # The quantile among the defined values beyond which the wanted share of all lies,
    # with the undefined ones on its side.
    tail = (TAIL - share) / (1 - share)
    low, high = np.quantile(defined, [tail, 1 - tail])
    return Interval((float(low), float(high)))


def checked_interval(
    statistic: str,
    grouping: Literal["none", "item", "system"],
    interval: Interval,
    items: int,
) -> Interval:
    """Return the interval of an agreement on so many items, or the reason for none
    where its coverage is below :data:`LOWEST`.

    The coverage is that of the largest measured number of items that is not above
    ``items``, else of the smallest.

    Examples
    --------
    >>> checked_interval("pearson", "none", Interval((0.1, 0.9)), 2).ends is None
    True
    """
    if interval.ends is None:
        return interval
    coverages = COVERAGE["kendall_within" if grouping == "item" else statistic]
    size = max((size for size in coverages if size <= items), default=min(coverages))
    if coverages[size] >= LOWEST:
        return interval

    covered = [
        size
        for size in coverages
        if all(coverages[k] >= LOWEST for k in coverages if k >= size)
    ]
    hint = f"; from {min(covered)} items on there is one" if covered else ""
    return Interval(
        None,
        f"measured coverage {coverages[size]:.3f} with {size} items, "
        f"below {LOWEST:.2f}{hint}",
    )
