"""The metric ``pregen``, of level ``model``: its input are token scores of the
references, not captions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, cast

import numpy as np

from harness.contracts import Interval, MetricSpec, TokenScores
from harness.errors import HarnessError, UnknownName, did_you_mean
from harness_metrics.pregen import functions
from harness_metrics.pregen.intervals import intervals
from harness_metrics.pregen.tokens import FlatTokens, from_token_scores

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
        options = {"name": name, "names": names, "tiers": tiers, "all": all or None}
        keys = [key for key, value in options.items() if value]
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

        # Several names have a direction only where all of them share it.
        name_tiers = [functions.split_name(item) for item in self.names]
        directions = {
            _higher_is_better(tiers_of_name[2], tiers_of_name[3])
            for tiers_of_name in name_tiers
        }
        label = self.names[0]
        if len(self.names) > 1:
            label = f"{len(self.names)} functions"
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
        if not names:
            return {}
        return dict(zip(names, functions.per_image(_flat(scores), names)))

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
    values = cast("Sequence[str | Sequence[str]]", tiers)
    for (tier, options), value in zip(TIERS.items(), values):
        if value == "*":
            # the 504 names have no ``filter0_kept``
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
