"""Accuracy of ``harness power`` beyond the pilot:
coverage of its 95 % intervals by extrapolation factor.

    python -m benchmarks.power [--pilots 6] [--effects 0.5 0.7 0.9] [--metric mmd]

Captions come from word distributions that differ between candidates and references by a
given share. Pilots of 40 examples with 4 candidates and 4 references predict runs with
2 and 5 times as many examples, candidates (metrics of sets alone) or references. The
truth at each size is computed from 300 to 1500 fresh examples. Printed for each axis
and factor, over all metrics, effects and pilots: the share of intervals that contain
the true power of a run, the true share of examples with p <= 0.05, and the combined p
of a fresh run; the mean width of the interval of power; and the coverage without the
form error, which shows what the calibration on held-out sizes adds. Then, for each
axis, the share of intervals of the number needed (power 0.8) that contain the number
that the truth needs, and the root mean square error of the mean z-score for the form in
use and for simpler forms.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from harness.contracts import CaptionSet
from harness.decisions.power.fit import AXES, FormError, SizeTrials, terms
from harness.decisions.power.model import Extrapolation
from harness.decisions.power.power import PowerTarget, estimate
from harness.decisions.power.rules import RULES, Composition
from harness.decisions.power.trials import PilotTrials, TrialOptions
from harness.run.metric_plan import MetricPlan, caption_plans, metric_plans

METRICS = [
    "rouge",
    "bleu2",
    {"trm": {"distance": "rouge"}},
    {"mmd": {"embedding": "bow"}},
]
EXAMPLES = 40
TEXTS = 4
FRESH = {8: 1500, 12: 800, 24: 300}
"""Number of fresh examples by number of texts; more texts take longer."""
FACTORS = (2, 5)
BASE = (TEXTS, TEXTS, EXAMPLES)
WORDS = [
    "dog",
    "cat",
    "runs",
    "big",
    "small",
    "red",
    "tree",
    "sits",
    "house",
    "car",
    "blue",
    "man",
    "woman",
    "walks",
    "ball",
    "park",
]
LEVEL = 0.05
"""Level of the combined test."""
RULE = RULES["fisher-discrete"]
FORMS: dict[str, Callable[[float, float], np.ndarray]] = {
    "a + b h, in use": terms,
    "b sqrt(h)": lambda n, m: terms(n, m)[1:] ** 0.5,
    "a + b sqrt(h)": lambda n, m: terms(n, m) ** 0.5,
    "sqrt(h) (b + c (n-m)/(n+m)) + e/(n+m)": lambda n, m: np.array(
        [
            (n * m / (n + m)) ** 0.5,
            (n * m / (n + m)) ** 0.5 * (n - m) / (n + m),
            1 / (n + m),
        ]
    ),
    "constant": lambda n, m: np.ones(1),
}


def caption_sets(
    examples: int, n: int, m: int, effect: float, seed: int
) -> list[CaptionSet]:
    """Return sets of six-word captions; candidates draw words from a distribution that
    is replaced to the share ``effect``.
    """
    rng = np.random.default_rng(seed)
    out: list[CaptionSet] = []
    for index in range(examples):
        ours = rng.dirichlet(np.full(len(WORDS), 2.0))
        theirs = (1 - effect) * ours + effect * rng.dirichlet(np.full(len(WORDS), 2.0))
        candidates, references = (
            tuple(" ".join(rng.choice(WORDS, size=6, p=share)) for _ in range(size))
            for share, size in ((theirs, n), (ours, m))
        )
        out.append(CaptionSet(str(index), candidates, references))
    return out


def trials(sets: list[CaptionSet], seed: int, repeats: int) -> PilotTrials:
    """Return a pilot of which nothing is measured."""
    return PilotTrials(
        "synthetic",
        sets,
        TrialOptions(repeats, 0.05, LEVEL, seed, RULE, lambda steps: None),
    )


def scaled(axis: str, factor: int) -> tuple[int, int, int]:
    """Return the size (n, m, examples) of the pilot with one number multiplied."""
    n, m, examples = BASE
    return (
        n * factor if axis == "candidates" else n,
        m * factor if axis == "references" else m,
        examples * factor if axis == "examples" else examples,
    )


@dataclass
class Truth:
    """p-values of fresh examples by size (n, m)."""

    sizes: dict[tuple[int, int], SizeTrials]
    expected: dict[tuple[int, int, int], tuple[float, float, list[float]]] = field(
        init=False
    )
    """Power, share and combined p-values of fresh runs by size (n, m, examples)."""

    def __post_init__(self) -> None:
        sizes = [
            scaled(axis, factor) for axis in ("examples", *AXES) for factor in FACTORS
        ]
        self.expected = {
            size: (self.power(*size), self.share(*size[:2]), self.runs(*size))
            for size in sizes
        }

    def power(self, n: int, m: int, examples: int, runs: int = 2000) -> float:
        """Return the power of a run by drawing runs from the fresh examples."""
        size = self.sizes[n, m]
        scores = RULE.scores(size.p, size.floors).ravel()
        drawn = scores[
            np.random.default_rng(0).integers(len(scores), size=(runs, examples))
        ].sum(axis=1)
        return float(
            np.mean(
                drawn
                >= RULE.critical(Composition.of(size.floors), examples, LEVEL) - 1e-9
            )
        )

    def share(self, n: int, m: int) -> float:
        """Return the share of examples with p <= 0.05."""
        return float(np.mean(self.sizes[n, m].p <= 0.05))

    def runs(self, n: int, m: int, examples: int) -> list[float]:
        """Return the combined p-values of disjoint fresh runs, at most eight."""
        size = self.sizes[n, m]
        p = size.p.ravel()
        starts = range(0, len(p) - examples + 1, examples)
        return [
            RULE.combine(p[s : s + examples], size.floors[s : s + examples])
            for s in starts
        ][:8]

    def needed(self, limit: int) -> int:
        """Return the number of examples with power 0.8; ``limit`` for more."""
        low, high = 2, limit
        while low < high:
            middle = (low + high) // 2
            low, high = (
                (low, middle)
                if self.power(*BASE[:2], middle) >= 0.8
                else (middle + 1, high)
            )
        return low


@dataclass
class Figures:
    """Hits of the intervals by axis and factor, and errors of the forms."""

    hits: dict[tuple[str, int], dict[str, list[float]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    needs: list[bool] = field(default_factory=list)
    errors: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(
        self, extrapolation: Extrapolation, truth: Truth, axes: Sequence[str]
    ) -> None:
        """Compare the predictions of one pilot with the truth on the axes that are not
        refused.
        """
        plain = Extrapolation(
            extrapolation.sizes, extrapolation.base, RULE, 0.05, LEVEL, 0
        )
        plain.fit.__dict__["_form_errors"] = dict.fromkeys(AXES, FormError(0.0, 1.0))
        for axis in axes:
            for factor in FACTORS:
                size = scaled(axis, factor)
                value = extrapolation.predict(*size)
                narrow = plain.predict(*size)
                row = self.hits[axis, factor]
                power, share, runs = truth.expected[size]
                row["power"].append(
                    value.power_low - 0.01 <= power <= value.power_high + 0.01
                )
                row["share"].append(value.share_low <= share <= value.share_high)
                row["p"] += [value.p_low <= p <= value.p_high for p in runs]
                row["width"].append(value.power_high - value.power_low)
                row["power, no form error"].append(
                    narrow.power_low - 0.01 <= power <= narrow.power_high + 0.01
                )
                row["share, no form error"].append(
                    narrow.share_low <= share <= narrow.share_high
                )
        means = {
            key: float(np.nanmean(size.z)) for key, size in extrapolation.sizes.items()
        }
        for name, form in FORMS.items():
            coefficients = np.linalg.lstsq(
                np.stack([form(*key) for key in means]),
                np.array(list(means.values())),
                rcond=None,
            )[0]
            for key in truth.sizes:
                step = form(*key) - form(*extrapolation.base)
                predicted = means[extrapolation.base] + float(step @ coefficients)
                self.errors[name].append(
                    predicted - float(np.nanmean(truth.sizes[key].z))
                )


def report(plan: MetricPlan, effect: float, pilots: int, figures: Figures) -> None:
    """Add the figures of one metric and effect, and print a line of the truth."""
    sizes: dict[tuple[int, int], SizeTrials] = {}
    for n, m in sorted(
        {scaled(axis, factor)[:2] for axis in ("examples", *AXES) for factor in FACTORS}
    ):
        fresh = trials(caption_sets(FRESH[n + m], n, m, effect, 900 + 20 * n + m), 0, 1)
        fresh.measure([plan], [(n, m)])
        sizes[n, m] = fresh.trials(plan.label)[n, m]

    truth = Truth(sizes)
    alone = plan.metric.spec.level == "item"
    need = truth.needed(100 * EXAMPLES)

    for seed in range(pilots):
        pilot = trials(caption_sets(EXAMPLES, TEXTS, TEXTS, effect, seed), seed, 3)
        pilot.measure([plan], pilot.fit_sizes())
        extrapolation = pilot.extrapolation(plan.label)
        assert extrapolation is not None

        figures.add(
            extrapolation,
            truth,
            [
                axis
                for axis in ("examples", *AXES)
                if not (axis == "candidates" and alone)
            ],
        )

        row = estimate(extrapolation, "examples", PowerTarget(LEVEL, 0.8))
        if need > EXAMPLES:
            figures.needs.append(
                (row.low or np.inf) <= max(need, EXAMPLES + 1) <= (row.high or np.inf)
            )

    power = "  ".join(
        f"{axis} x{factor} {truth.power(*scaled(axis, factor)):.2f}"
        for axis in ("examples", *AXES)
        for factor in FACTORS
    )
    print(
        f"{plan.label:12} effect {effect:g}: true power {truth.power(*BASE):.2f}; "
        f"{power}; needs {need} examples",
        flush=True,
    )


def main() -> None:
    """Print the coverage over all metrics and effects."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--pilots", type=int, default=6, help="pilots per metric and effect"
    )
    parser.add_argument(
        "--effects",
        type=float,
        nargs="+",
        default=[0.5, 0.7, 0.9],
        help="replaced shares",
    )
    parser.add_argument(
        "--metric",
        action="append",
        default=[],
        help="only this metric (may be repeated)",
    )
    arguments = parser.parse_args()

    figures = Figures()
    for effect in arguments.effects:
        for plan in caption_plans(metric_plans(METRICS)):
            if (
                arguments.metric
                and plan.metric.spec.name.partition("(")[0] not in arguments.metric
            ):
                continue
            report(plan, effect, arguments.pilots, figures)

    print("\ncoverage of nominal 95 % intervals")
    for (axis, factor), row in figures.hits.items():
        print(
            f"{axis:11} x{factor}: "
            + "  ".join(f"{name} {np.mean(values):.3f}" for name, values in row.items())
        )
    print(
        f"number of examples needed: {np.mean(figures.needs):.3f} of "
        f"{len(figures.needs)}"
    )
    print(
        "rms error of mean z: "
        + "  ".join(
            f"{name} {np.sqrt(np.mean(np.square(v))):.3f}"
            for name, v in figures.errors.items()
        )
    )


if __name__ == "__main__":
    main()
