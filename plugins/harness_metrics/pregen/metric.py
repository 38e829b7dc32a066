"""The metric ``pregen``, of level ``model``: its input are token scores of the
references, not captions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, cast

import numpy as np

from harness.contracts import Interval, MetricSpec, TokenScores, weighted_sums
from harness.errors import HarnessError, UnknownName, did_you_mean
from harness.stats import bootstrap
from harness_metrics.pregen import functions
from harness_metrics.pregen.tokens import FlatTokens, from_token_scores

# --------------------------------------------------------------------------- intervals
# 95 % intervals of the pre-gen metrics: the images are resampled, for all metrics under
# the same weights.


EXTREME = "a bootstrap does not describe the largest or smallest value of a sample"
"""Reason for metrics whose images are aggregated by ``max`` or ``min``."""
INFINITE = "the value of an image or a caption is infinite"
"""Reason for sums and means of values that are not finite."""
ZERO = "the geometric mean is 0 as soon as one value is"
"""Reason for geometric means of values with a 0."""


def intervals(
    tokens: FlatTokens, names: Sequence[str], samples: int, seed: int
) -> dict[str, Interval]:
    """Return metric name -> interval.

    Bootstrap over images, adjusted below :data:`harness.stats.bootstrap.SMALL` images.
    Metrics whose outermost aggregation is ``max`` or ``min`` have none.

    Parameters
    ----------
    tokens : FlatTokens
        Scored tokens of I images, at least 2.
    names : sequence of str
        Names of metrics.
    samples : int
        Number of bootstrap samples.
    seed : int
        Seed of the samples.
    """
    out: dict[str, Interval] = {}
    count = len(tokens.images) - 1
    rows = functions.rows_by_name(tokens, names)
    usable: list[str] = []
    for name in names:
        reason = _reason(name, rows[name])
        out[name] = Interval(None, reason)
        if not reason:
            usable.append(name)
    if not usable:
        return out
    members = np.repeat(np.arange(count), np.diff(tokens.images))
    draws = np.concatenate(
        [
            _weigh_images(rows, usable, w, members)
            for w in bootstrap.weights(count, samples, seed)
        ]
    )
    small = count < bootstrap.SMALL
    values = _weigh_images(rows, usable, np.ones((1, count)), members)[0]
    without_one = (
        _weigh_images(rows, usable, 1.0 - np.eye(count), members)
        if small
        else np.zeros((0, len(usable)))
    )
    for k, name in enumerate(usable):
        ends = bootstrap.interval_of_draws(
            draws[:, k], float(values[k]), without_one[:, k], count
        )
        out[name] = Interval(ends, "" if ends else bootstrap.NO_SPREAD)
    return out


def _reason(name: str, row: np.ndarray) -> str:
    """Return the reason why a metric has no interval;
    an empty text for a metric that has one.
    """
    tier4 = functions.split_name(name)[0]
    if tier4 in ("max", "min"):
        return EXTREME
    if tier4 == "geomean" and (row == 0).any():
        return ZERO
    return (
        ""
        if np.isfinite(row).all()
        or (tier4 == "median" and np.isfinite(row).mean() > 0.9)
        else INFINITE
    )


def _weigh_images(
    rows: dict[str, np.ndarray],
    names: Sequence[str],
    weights: np.ndarray,
    members: np.ndarray,
) -> np.ndarray:
    """Return the metrics under weights (W, I) of the images, shape (W, names);
    ``members`` (C,) holds the image of each caption.
    """
    count = weights.shape[1]
    captions = np.bincount(members, minlength=count).astype(np.float64)
    out = np.empty((len(weights), len(names)))
    for columns, tier4, joined, block in _group_names(rows, names):
        if tier4 == "median":
            member_weights = weights[:, members] if joined else weights
            for k, row in zip(columns, block):
                out[:, k] = _weighted_median(row, member_weights)
            continue
        block = np.log2(block) if tier4 == "geomean" else block
        if joined:
            # Captions are joined, but images are resampled: sums of captions within an
            # image carry the weight of the image.
            starts = np.flatnonzero(np.diff(members, prepend=-1))
            block = np.add.reduceat(block, starts, axis=1)
        sums = weighted_sums(weights, block.T)
        totals = weights @ captions if joined else weights.sum(axis=1)
        if tier4 != "sum":
            sums = sums / totals[:, None]
        out[:, columns] = np.exp2(sums) if tier4 == "geomean" else sums
    return out


def _group_names(
    rows: dict[str, np.ndarray], names: Sequence[str]
) -> Iterator[tuple[list[int], str, bool, np.ndarray]]:
    """Yield the positions of names with one outermost tier, the tier, True for
    ``join``, and their values (K, members).
    """
    groups: dict[tuple[str, bool], list[int]] = {}
    for position, name in enumerate(names):
        tiers = functions.split_name(name)
        groups.setdefault((tiers[0], tiers[1] == "join"), []).append(position)
    for (tier4, joined), columns in groups.items():
        yield columns, tier4, joined, np.stack([rows[names[k]] for k in columns])


def _weighted_median(values: np.ndarray, weights: Any) -> np.ndarray:
    """Return the medians (W,) of values (M,), each repeated as often as its
    whole-numbered weight in (W, M).
    """
    order = np.argsort(values, kind="stable")
    # A value of weight w stands at w consecutive ranks; the median is found by its rank
    # among them, without repeating values.
    ends = np.cumsum(weights[:, order], axis=1)
    totals = ends[:, -1]
    middle = [
        np.argmax(ends > np.floor(rank)[:, None], axis=1)
        for rank in ((totals - 1) / 2, totals / 2)
    ]
    in_order = values[order]
    return (in_order[middle[0]] + in_order[middle[1]]) / 2


# --------------------------------------------------------------------------- metrics

BEST = "mean_max_normcount_prefix0"
TIERS: Mapping[str, tuple[str, ...]] = {
    "images": functions.TIER4,
    "captions": functions.TIER3,
    "score": functions.TIER2,
    "tokens": (*functions.TIER1, "filter0_kept"),
}
"""Object of each tier, outermost first -> its options."""


class Pregen:
    """One, several or all of the 504 pre-gen metrics
    (:mod:`harness_metrics.pregen.functions`).

    At most one parameter is given; the default is the best metric of the paper,
    ``mean_max_normcount_prefix0``. Values are in [0, inf]; higher is better for
    probabilities and counts, lower for perplexities and counts of ``filter0``.

    Parameters
    ----------
    name : str, optional
        One metric.
    names : list of str, optional
        Several metrics.
    tiers : list or mapping, optional
        Four options, outermost first, or a mapping with the keys images, captions,
        score and tokens. An option is a name, a list of names, or ``"*"`` for all.
    all : bool, default False
        All 504 metrics.

    Raises
    ------
    UnknownName
        For an unknown metric, tier or option.
    HarnessError
        For several parameters, or an empty list of names.

    References
    ----------
    Tanti, Gatt & Muscat, "Pre-gen metrics: Predicting caption quality metrics without
    generating captions" (2018), section 3.
    """

    def __init__(
        self,
        *,
        name: str | None = None,
        names: Sequence[str] | None = None,
        tiers: Sequence[Any] | Mapping[str, Any] | None = None,
        all: bool = False,
    ) -> None:
        keys = [
            key
            for key, value in (
                ("name", name),
                ("names", names),
                ("tiers", tiers),
                ("all", all or None),
            )
            if value
        ]
        if len(keys) > 1:
            raise HarnessError(
                "pregen: expected one of name, names, tiers and all; "
                f"found {' and '.join(keys)}",
                parameter=keys[1],
            )
        if name is not None:
            self.names: tuple[str, ...] = (name,)
        elif names is not None:
            self.names = (names,) if isinstance(names, str) else tuple(names)
        elif tiers is not None:
            self.names = _from_tiers(tiers)
        else:
            self.names = functions.NAMES if all else (BEST,)
        if not self.names:
            raise HarnessError(
                "pregen: the list of names is empty", parameter="names", value=names
            )
        name_tiers = [functions.split_name(item) for item in self.names]
        directions = {
            _higher_is_better(tiers_of_name[2], tiers_of_name[3])
            for tiers_of_name in name_tiers
        }
        label = (
            self.names[0] if len(self.names) == 1 else f"{len(self.names)} functions"
        )
        self.spec = MetricSpec(
            name=f"pregen({label})",
            higher_is_better=directions.pop() if len(directions) == 1 else None,
            level="model",
            needs=frozenset({"references", "logprobs"}),
            bounds=(0.0, float("inf")),
            column_names=functions.NAMES + functions.KEPT_NAMES,
        )

    def signature(self) -> str:
        """Return the names of the metrics as text."""
        if self.names == functions.NAMES:
            return "pregen|all"
        return "pregen|" + "+".join(self.names)

    def evaluate_scores(
        self, scores: Sequence[Sequence[TokenScores]] | FlatTokens
    ) -> dict[str, float]:
        """Return metric name -> value; infinities are ordinary results.

        Raises :class:`InputError` for invalid scores.
        """
        values = functions.evaluate(_flat(scores), self.names)
        return dict(zip(self.names, values.tolist()))

    def per_example(
        self, scores: Sequence[Sequence[TokenScores]] | FlatTokens
    ) -> dict[str, np.ndarray]:
        """Return metric name -> scores of the examples ``(I,)``;
        ``join`` metrics have none and are absent.
        """
        names = [name for name in self.names if functions.split_name(name)[1] != "join"]
        return (
            dict(zip(names, functions.per_image(_flat(scores), names))) if names else {}
        )

    def intervals(
        self,
        scores: Sequence[Sequence[TokenScores]] | FlatTokens,
        samples: int,
        seed: int,
    ) -> dict[str, Interval]:
        """Return metric name -> interval of a bootstrap over images, or the reason for
        none (``max`` and ``min`` of images).
        """
        return intervals(_flat(scores), self.names, samples, seed)


def _flat(scores: Sequence[Sequence[TokenScores]] | FlatTokens) -> FlatTokens:
    """Return token scores as flat arrays."""
    return scores if isinstance(scores, FlatTokens) else from_token_scores(scores)


def _from_tiers(tiers: Any) -> tuple[str, ...]:
    """Return the names of all combinations of the options of the tiers."""
    if isinstance(tiers, Mapping):
        options_by_tier = cast("Mapping[str, object]", tiers)
        for key in options_by_tier:
            if key not in TIERS:
                raise _unknown(
                    f"pregen has no tier '{key}'{did_you_mean(key, TIERS)}; "
                    f"tiers are {', '.join(TIERS)}",
                    key,
                )
        tiers = [
            options_by_tier.get(key, default)
            for key, default in zip(TIERS, BEST.split("_"))
        ]
    if isinstance(tiers, str) or len(tiers) != len(TIERS):
        raise HarnessError(
            f"pregen: tiers is {tiers!r}; expected four options ({', '.join(TIERS)})",
            parameter="tiers",
            value=tiers,
        )
    selected: list[list[str]] = []
    for (tier, options), value in zip(
        TIERS.items(), cast("Sequence[str | Sequence[str]]", tiers)
    ):
        if value == "*":
            value = functions.TIER1 if tier == "tokens" else options
        selected.append([value] if isinstance(value, str) else list(value))
        for option in selected[-1]:
            if option not in options:
                hint = did_you_mean(option, options)
                raise _unknown(
                    f"pregen tier '{tier}' has no option {option!r}{hint}; "
                    f"options are {', '.join(options)}",
                    option,
                )
    return tuple("_".join(choice) for choice in product(*selected))


def _unknown(message: str, value: object) -> UnknownName:
    return UnknownName(message, parameter="tiers", value=value)


def _higher_is_better(tier2: str, tier1: str) -> bool | None:
    """Return the direction of a metric; None for the length of the references, which
    does not depend on the model.
    """
    if tier2 in ("prob", "pplx"):
        return tier2 == "prob"
    return {"none": None, "filter0": False}.get(tier1, True)


# --------------------------------------------------------------------------- perplexity
# The metric ``perplexity``, of level ``model``: perplexity of the references, per
# caption and per token.


CAPTIONS = "geomean_join_pplx_none"
"""Perplexity as Tanti et al. 2018 compute it:
the geometric mean over captions of the perplexity of a caption.
"""
NO_INTERVAL = "the perplexity per token has no bootstrap; that per caption has"
"""Reason why the column ``tokens`` has no interval."""


class Perplexity:
    """Perplexity of the references under the model, END counted; at least 1,
    lower is better.

    Two columns: ``captions`` (each caption counts alike; ``geomean_join_pplx_none`` of
    :class:`~harness_metrics.pregen.metric.Pregen`) and ``tokens`` (each token counts
    alike: exp of the mean negative log-probability). A token of probability 0 makes
    both infinite.

    References
    ----------
    Tanti, Gatt & Muscat (2018), section 3; Chan et al. (2022), section 5, which
    recommends to report it.
    """

    def __init__(self) -> None:
        self._captions = Pregen(name=CAPTIONS)
        needs = frozenset({"references", "logprobs"})
        self.spec = MetricSpec(
            "perplexity", False, level="model", needs=needs, bounds=(1.0, float("inf"))
        )

    def signature(self) -> str:
        """Return the name of the metric."""
        return "perplexity"

    def evaluate_scores(
        self, scores: Sequence[Sequence[TokenScores]]
    ) -> dict[str, float]:
        """Return the perplexity per caption and per token."""
        flat = from_token_scores(scores)
        return {
            "captions": self._captions.evaluate_scores(flat)[CAPTIONS],
            "tokens": float(np.exp2(-flat.log2.mean())),
        }

    def per_example(
        self, scores: Sequence[Sequence[TokenScores]]
    ) -> dict[str, np.ndarray]:
        """Return the perplexity per token of the references of each example,
        shape (I,).
        """
        flat = from_token_scores(scores)
        starts = flat.captions[flat.images[:-1]]
        counts = np.diff(flat.captions[flat.images])
        return {"tokens": np.exp2(-np.add.reduceat(flat.log2, starts) / counts)}

    def intervals(
        self, scores: Sequence[Sequence[TokenScores]], samples: int, seed: int
    ) -> dict[str, Interval]:
        """Return the interval of a bootstrap over images for ``captions``, and the
        reason for none for ``tokens``.
        """
        flat: FlatTokens = from_token_scores(scores)
        return {
            "captions": self._captions.intervals(flat, samples, seed)[CAPTIONS],
            "tokens": Interval(None, NO_INTERVAL),
        }
