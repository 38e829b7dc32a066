"""Accuracy of ``harness power`` beyond the pilot: sizes are held out, predicted from small pilots and run.

    python -m benchmarks.power [--pilots 8] [--effects 0 0.5 0.9]

For captions from word distributions that differ between candidates and references by a given share, pilots of 40 examples with
5 candidates and 5 references predict larger sizes. Printed for each metric: the root mean square error of the mean z-score at the
held-out sizes for the form in use and for simpler forms, the share of 95 % intervals of power that contain the power of 400 fresh
examples, the share of 95 % intervals of p that contain the p of a fresh run of 40 examples, and the share of 95 % intervals of the
number of examples (target p = 1e-6 with Fisher's combination) that contain the median number that fresh runs need.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from harness.analysis.power import Target, estimate
from harness.analysis.power_model import SizeTrials, smallest_p, terms, z_scores
from harness.analysis.power_trials import PilotTrials, TrialOptions
from harness.contracts import CaptionSet
from harness.run.metric_plan import MetricPlan, caption_plans, metric_plans
from harness.stats.combine import fisher

METRICS = ["rouge", "bleu2", {"trm": {"distance": "rouge"}}, {"mmd": {"embedding": "bow"}}]
HELD_OUT = [(10, 5), (20, 5), (5, 10), (5, 20), (10, 10)]
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
TARGET = 1e-6
FORMS: dict[str, Callable[[float, float], np.ndarray]] = {
    "in use": terms,
    "b sqrt(h)": lambda n, m: terms(n, m)[:1],
    "b sqrt(h) + e/(n+m)": lambda n, m: terms(n, m)[[0, 2]],
    "b h": lambda n, m: terms(n, m)[:1] ** 2,
    "constant": lambda n, m: np.zeros(1),
}


def caption_sets(examples: int, n: int, m: int, effect: float, seed: int) -> list[CaptionSet]:
    """Return sets of six-word captions; candidates draw words from a distribution that is replaced to the share ``effect``."""
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


def trials(plan: MetricPlan, sets: list[CaptionSet], seed: int, repeats: int) -> PilotTrials:
    """Return the measured whole size of the sets for one metric."""
    out = PilotTrials("synthetic", sets, TrialOptions(repeats, 0.05, seed, fisher, lambda steps: None))
    out.measure([plan], [(out.n, out.m)])
    return out


def p_values(plan: MetricPlan, effect: float, n: int, m: int) -> np.ndarray:
    """Return the p-values (400,) of fresh examples."""
    fresh = trials(plan, caption_sets(400, n, m, effect, 900 + 20 * n + m), 0, 1)
    (p,) = fresh.trials(plan.label)[n, m].p
    return p[~np.isnan(p)]


def form_errors(
    sizes: dict[tuple[int, int], SizeTrials], truth: dict[tuple[int, int], np.ndarray]
) -> dict[str, list[float]]:
    """Return the errors of the predicted mean z-score at the held-out sizes by form; all are anchored at the pilot's size."""
    means = {size: float(np.nanmean(item.z)) for size, item in sizes.items()}
    out: dict[str, list[float]] = {}
    for name, form in FORMS.items():
        design = np.stack([form(*size) for size in means])
        coefficients = np.linalg.lstsq(design, np.array(list(means.values())), rcond=None)[0]
        for size in HELD_OUT:
            predicted = means[5, 5] + float((form(*size) - form(5, 5)) @ coefficients)
            out.setdefault(name, []).append(
                predicted - float(z_scores(truth[size], np.array(smallest_p(*size))).mean())
            )
    return out


def examples_needed(p: np.ndarray) -> int:
    """Return the median number of examples with which runs on shuffled p-values (L,) reach the target; 0 when most do not."""
    rng = np.random.default_rng(0)
    needs: list[int] = []
    for _ in range(40):
        logs = rng.permutation(p)
        needs.append(next((k for k in range(2, len(logs) + 1) if fisher(logs[:k]) <= TARGET), len(logs) + 1))
    need = int(np.median(needs))
    return need if need <= len(p) else 0


def report(plan: MetricPlan, effect: float, pilots: int) -> tuple[float, float, float]:
    """Print the figures of one metric and effect; return the shares of intervals that contain the truth."""
    truth = {size: p_values(plan, effect, *size) for size in [(5, 5), *HELD_OUT]}
    need = examples_needed(truth[5, 5])
    errors: dict[str, list[float]] = {name: [] for name in FORMS}
    powers: list[bool] = []
    runs: list[bool] = []
    needs: list[bool] = []
    for seed in range(pilots):
        pilot = trials(plan, caption_sets(40, 5, 5, effect, seed), seed, 3)
        pilot.measure([plan], pilot.fit_sizes())
        extrapolation = pilot.extrapolation(plan.label)
        assert extrapolation is not None
        for name, values in form_errors(pilot.trials(plan.label), truth).items():
            errors[name] += values
        for size in HELD_OUT:
            value = extrapolation.predict(*size, 40)
            powers.append(value.power_low <= float(np.mean(truth[size] <= 0.05)) <= value.power_high)
            fresh = [fisher(truth[size][start : start + 40]) for start in range(0, 360, 40)]
            runs += [value.p_low <= p <= value.p_high for p in fresh]
        if need:
            row = estimate(extrapolation, "examples", Target(TARGET, None))
            needs.append((row.low or np.inf) <= need <= (row.high or np.inf))
    rms = "  ".join(f"{name} {np.sqrt(np.mean(np.square(values))):.3f}" for name, values in errors.items())
    shares = float(np.mean(powers)), float(np.mean(runs)), float(np.mean(needs)) if needs else float("nan")
    print(f"{plan.label:12} effect {effect:g}: rms of z: {rms}")
    print(
        f"{'':12} intervals that hold: power {shares[0]:.2f}, p of a run {shares[1]:.2f}, examples {shares[2]:.2f}",
        flush=True,
    )
    return shares


def main() -> None:
    """Print the figures of all metrics and effects."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pilots", type=int, default=8, help="pilots per metric and effect")
    parser.add_argument("--effects", type=float, nargs="+", default=[0.0, 0.5, 0.9], help="replaced shares")
    arguments = parser.parse_args()
    plans = caption_plans(metric_plans(METRICS))
    shares = [report(plan, effect, arguments.pilots) for effect in arguments.effects for plan in plans]
    power, run, examples = np.nanmean(shares, axis=0)
    print(f"all: power {power:.2f}, p of a run {run:.2f}, examples {examples:.2f} (nominal 0.95)")


if __name__ == "__main__":
    main()
