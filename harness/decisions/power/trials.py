"""p-values of a pilot run at the sizes that its captions allow."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness.contracts import CaptionSet
from harness.decisions.power.fit import SizeTrials, smallest_p
from harness.decisions.power.model import Extrapolation
from harness.decisions.power.rules import Rule
from harness.errors import HarnessError
from harness.results import Run
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.run.metric_plan import MetricPlan, caption_plans, metric_plans
from harness.run.stored_metrics import require_components
from harness.spec.models import SignificanceSpec
from harness.stats.seeds import derive
from harness.stats.significance import has_generic_null, untestable_reason


def pilot(run: Run) -> dict[str, list[CaptionSet]]:
    """Return caption sets by model of a finished run; for each model those of the
    decoding with the largest sets.
    """
    best: dict[str, tuple[tuple[int, int], list[CaptionSet]]] = {}
    for system in run.samples.systems:
        sets = system.caption_sets()
        size = (
            max(len(s.candidates) for s in sets),
            max(len(s.references) for s in sets),
        )
        # Decodings that differ in the sizes alone are one model of the pilot.
        settings = {
            name: value
            for name, value in system.decoding.items()
            if name not in ("candidates", "references")
        }
        label = system.model
        if settings:
            label = f"{system.model} {json.dumps(settings, sort_keys=True)}"

        if label not in best or size > best[label][0]:
            best[label] = (size, sets)
    return {label: sets for label, (_, sets) in best.items()}


def plans_with_p_values(run: Run, labels: Sequence[str]) -> list[MetricPlan]:
    """Return the pilot's metrics that have p-values, or those with the given labels.

    Metrics that score relabeled texts again are slow; they are included only by their
    labels.

    Raises :class:`HarnessError` with the nearest label for one that the pilot does not
    have, and for a metric that is not installed here.
    """
    require_components(run)
    plans = caption_plans(metric_plans(run.provenance.spec["metrics"]))
    plans = [plan for plan in plans if not untestable_reason(plan.metric)]
    names = [plan.label for plan in plans]
    for label in labels:
        if label not in names:
            raise HarnessError.of_name(
                "the pilot has no testable metric", label, names, "there are"
            )
    if not plans:
        raise HarnessError("the pilot has no metric with p-values")

    if labels:
        return [plan for plan in plans if plan.label in labels]
    fast = [plan for plan in plans if not has_generic_null(plan.metric)]
    if not fast:
        raise HarnessError(
            "the pilot's metrics with p-values are slow to test; name one: "
            f"{', '.join(names)}"
        )
    return fast


def shuffle_sets(sets: Sequence[CaptionSet], seed: int) -> list[CaptionSet]:
    """Return the sets with the candidates and references of each example in a random
    order.
    """
    out: list[CaptionSet] = []
    for item in sets:
        rng = np.random.default_rng(derive(seed, item.id))
        candidates = tuple(
            item.candidates[int(i)] for i in rng.permutation(len(item.candidates))
        )
        references = tuple(
            item.references[int(i)] for i in rng.permutation(len(item.references))
        )
        out.append(replace(item, candidates=candidates, references=references))
    return out


def spread(largest: int) -> list[int]:
    """Return at most five sizes from 1 to ``largest`` in geometric steps.

    >>> spread(3), spread(10)
    ([1, 2, 3], [1, 2, 3, 6, 10])
    """
    return sorted({round(largest ** (step / 4)) for step in range(5)})


@dataclass(frozen=True)
class TrialOptions:
    """Settings of the trials of a pilot."""

    repeats: int
    """Number of random orders of the captions."""
    alpha: float
    """Significance level of the test of one example."""
    level: float
    """Significance level of the combined test of a run."""
    seed: int
    rule: Rule
    """Combination of the p-values of a run."""
    progress: Callable[[int], None]
    """Called with 1 after each size of each metric and repeat."""


class PilotTrials:
    """p-values of the captions of one model at sizes of the pilot.

    Parameters
    ----------
    model : str
        Label of the model.
    sets : sequence of CaptionSet
        Its caption sets, one per example.
    options : TrialOptions
        Settings.
    """

    def __init__(
        self, model: str, sets: Sequence[CaptionSet], options: TrialOptions
    ) -> None:
        self.model = model
        self.sets = sets
        self.options = options
        self.n = max(len(item.candidates) for item in sets)
        """The pilot's number of candidates."""
        self.m = max(len(item.references) for item in sets)
        """The pilot's number of references."""
        self.methods: dict[tuple[str, int, int], str] = {}
        """(metric, n, m) -> methods of the p-values."""
        self._trials: dict[str, dict[tuple[int, int], SizeTrials]] = {}
        self._measured: set[tuple[str, int, int]] = set()

    def contains(self, n: int, m: int) -> bool:
        """Return True when the pilot has captions for the size."""
        return n <= self.n and m <= self.m

    def fit_sizes(self) -> list[tuple[int, int]]:
        """Return the sizes (n, m) on which predictions for other sizes are fitted;
        those of two texts tell nothing.
        """
        return [(n, m) for n in spread(self.n) for m in spread(self.m) if n + m > 2]

    def trials(self, label: str) -> dict[tuple[int, int], SizeTrials]:
        """Return the measured sizes (n, m) of a metric that have p-values."""
        return self._trials.get(label, {})

    def measure(
        self, plans: Sequence[MetricPlan], sizes: Iterable[tuple[int, int]]
    ) -> None:
        """Compute the p-values of metrics at sizes within the pilot; those that are
        measured already are not repeated.
        """
        work = [
            (plan, *size)
            for plan in plans
            for size in sizes
            if (plan.label, *size) not in self._measured
        ]
        if not work:
            return

        # The features of the texts of one order serve all its sizes, which are its
        # first n candidates and m references.
        significance = SignificanceSpec(method="exact")
        seed = self.options.seed
        values: dict[tuple[str, int, int], list[np.ndarray]] = {}
        for repeat in range(self.options.repeats):
            ordered = shuffle_sets(self.sets, derive(seed, "order", repeat))
            features = FeatureCache([item.references for item in ordered])
            batches = scoring.batches(ordered, features)
            for plan, n, m in work:
                cut = scoring.nested(batches, features, n, m)
                scored = scoring.score(plan.metric, cut, features, significance, seed)
                if scored.p_values is not None and not np.isnan(scored.p_values).all():
                    values.setdefault((plan.label, n, m), []).append(scored.p_values)
                    self.methods[plan.label, n, m] = scored.p_method
                self.options.progress(1)

        self._measured |= {(plan.label, n, m) for plan, n, m in work}
        for (label, n, m), of_orders in values.items():
            trials = self._size_trials(n, m, np.stack(of_orders))
            self._trials.setdefault(label, {})[n, m] = trials

    def _size_trials(self, n: int, m: int, p: np.ndarray) -> SizeTrials:
        """Return the p-values (R, L) at a size, with the numbers of captions that the
        examples have.
        """
        shapes = [
            (min(n, len(item.candidates)), min(m, len(item.references)))
            for item in self.sets
        ]
        floors = {shape: smallest_p(*shape) for shape in set(shapes)}
        mean_n, mean_m = np.mean(shapes, axis=0)
        return SizeTrials(
            float(mean_n),
            float(mean_m),
            p,
            np.array([floors[shape] for shape in shapes]),
        )

    def extrapolation(self, label: str) -> Extrapolation | None:
        """Return the extrapolation of a metric from the measured sizes; None without
        p-values at the size of the pilot.
        """
        trials = self.trials(label)
        base = (self.n, self.m)
        if base not in trials or np.isnan(trials[base].p).any(axis=0).all():
            return None
        options = self.options
        seed = derive(options.seed, self.model, label)
        return Extrapolation(
            trials, base, options.rule, options.alpha, options.level, seed
        )
