"""The interval, the paired test, the permutation test and the dependences of every
built-in metric, as a page.

    python -m tools.documentation.metric_methods           prints docs/methods.md
    python -m tools.documentation.metric_methods --write   writes it

What a metric declares is read from it; whether it has an interval and a paired test is
asked of it on captions of the kit.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from harness.analysis.paired_family import (
    JACKKNIFED,
    PairedMetric,
    SystemData,
    paired_tests,
)
from harness.contracts import CaptionSet, HasTokenIntervals, MeanMetric, OwnInterval
from harness.errors import HarnessError
from harness.registry import current
from harness.run import score as scoring
from harness.run.features import FeatureCache
from harness.run.intervals import nominal_estimate
from harness.stats.draws import DrawFamily
from harness.stats.significance import has_generic_null, untestable_reason
from tests.support import metric_cases
from tools.documentation.components import guides

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "methods.md"
RESAMPLED = "randomisation and bootstrap"
HEADERS = (
    "metric",
    "level",
    "interval",
    "paired test of A and B",
    "p of candidates against references",
    "depends on",
)
INTRODUCTION = f"""# Methods by metric

For whoever reviews a number: the interval, test and null hypothesis of each metric.

Output of `python -m tools.documentation.metric_methods --write`: what a run computes
beside the number of each built-in metric. Metrics with a parameter `embedding` or
`distance` are created with `bow` or with `rouge`.

- **interval**: *bootstrap* of examples: BCa below 500 examples, below 7 Student's with
  the bootstrap's standard error, percentiles from 500 on; Wilson's interval of a share
  where all scores lie at a bound ([below](#at-a-bound)). *jackknife*: without groups or
  parts of the examples. An interval whose [measured coverage](testing.md#calibration)
  is below .90 is not printed. No interval leaves the range of its metric (TER has none
  below 0), and none depends on the order of a file: resamples are drawn in the order of
  the ids (numbers by size), of examples without ids by position.
- **paired test** ([comparisons](comparisons.md)): *randomisation* exchanges the
  captions of both systems; *jackknife* is that of the difference. "from {JACKKNIFED}"
  is a number of examples.
- **p of candidates against references**: *relabelling* deals the texts of each example
  anew, all ways up to the budget of `significance`, else Monte Carlo; *scored again*
  scores every relabelling, which is slow. *none* has its reason. "from 50 examples":
  document frequencies of fewer would make p too small ([why](metrics/cider.md)).
- **depends on**: sizes of the sets on which the expected number depends, so that values
  of other sizes are not compared; state that is fitted on all references and held
  fixed; images.
"""
AT_A_BOUND = """## At a bound

Where all scores lie at a bound of the metric, as the 0 and 1 of a share, and where a
number such as BLEU lies at one with all scores, resamples have no spread: the interval
is Wilson's, for n perfect examples n / (n + 3.84) to 1. Over all shares it covers .95
on average; just beyond the share of one example, near 0 and 1, it covers .83 at least.
The interval of a mean of scores of which most are 0 (of 2 or 10 % above 0, 5 to 50
examples) covers .90 at least.

A score lies at a bound, and two scores are equal, up to a tolerance that the metric
declares (1e-7 of the larger one by default): rounding in single precision, and
constants. The COCO toolkit adds 1e-15 to the matches of BLEU and 1e-9 to what they are
divided by, so that a perfect BLEU-1 is .9999999998, one without a common word 1e-16,
and 3 words of 6 are not 4 of 8. What the definition makes 0, a caption without an
n-gram of some order in common, is 0 for intervals, wins and ties, sign tests, and
numbers of which all scores are 0. In ranks (tau, Spearman) only captions without any
common word tie at 0: a caption with words but no 4-gram in common has a BLEU-4 of 1e-5
whose order comes from its words, and the published agreement of BLEU-4 with people
counts it (on Flickr8k-Expert, where 97 % of the captions have no 4-gram in common,
tau-c is 31.1 with this order and 3.3 without). Values are printed as the toolkit gives
them.
"""
"""Section below the table."""


def main() -> int:
    """Print the page, or write it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--write", action="store_true", help="write docs/methods.md")
    text = page(metric_cases.names())
    if parser.parse_args().write:
        PAGE.write_text(text, "utf-8")
    else:
        print(text, end="")
    return 0


def page(names: list[str]) -> str:
    """Return the page of metrics by their registered names."""
    lines = [INTRODUCTION, f"| {' | '.join(HEADERS)} |", "| --- " * len(HEADERS) + "|"]
    cards = guides(ROOT / "docs")
    for name in names:
        title = f"[`{name}`]({cards['metrics', name]})"
        lines.append(f"| {' | '.join([title, *cells(name)])} |")
    return "\n".join([*lines, "", AT_A_BOUND])


def cells(name: str) -> list[str]:
    """Return the cells of a metric after its name;
    of one that cannot be created here, what its class says.
    """
    try:
        case = metric_cases.case(name)
        metric: Any = current().create("metrics", name, case.parameters)
    except HarnessError:
        needs = metric_cases.CANNOT_RUN[name]
        is_mean = issubclass(current().load("metrics", name), MeanMetric)
        interval = "bootstrap"
        paired = RESAMPLED if is_mean else "randomisation"
        level = next(
            entry.level for entry in current().entries("metrics") if entry.name == name
        )
        return [
            level or "",
            interval,
            paired,
            f"not seen: needs {needs}",
            f"not seen: needs {needs}",
        ]

    if metric.spec.level == "model":
        interval = (
            "bootstrap of its own" if isinstance(metric, HasTokenIntervals) else "none"
        )
        return [
            "model",
            interval,
            "none",
            "none: judges token scores",
            dependences(metric),
        ]

    interval, paired = interval_and_test(metric, case.sets)
    return [
        metric.spec.level,
        interval,
        paired,
        permutation_test(metric),
        dependences(metric),
    ]


def interval_and_test(metric: Any, sets: tuple[CaptionSet, ...]) -> tuple[str, str]:
    """Return the methods of the interval and of the paired test,
    as the metric has them on the caption sets.
    """
    if isinstance(metric, MeanMetric) and metric.spec.resampled:
        return "bootstrap", RESAMPLED
    if hasattr(metric, "left_out"):
        return "jackknife", "jackknife"
    features = FeatureCache([item.references for item in sets])
    stats: Any = scoring.score(
        metric, scoring.batches(sets, features, None), features, None, 0
    ).stats
    side = SystemData(stats, np.full(len(stats), np.nan))
    (test,) = paired_tests(
        [PairedMetric(metric, side, side)], DrawFamily(len(stats), 100, 0)
    )
    note = nominal_estimate(metric, stats, 100, 0)[1].note or ""
    if not isinstance(metric, OwnInterval):
        interval = "bootstrap" if metric.spec.resampled else f"none: {note}"
        return (
            interval,
            "randomisation"
            if test.reported
            else "none: depends on more than single examples",
        )
    interval = "jackknife" if note.startswith("jackknife") else f"none: {note}"
    return interval, f"randomisation; jackknife from {JACKKNIFED}"


def permutation_test(metric: Any) -> str:
    """Return how the p-values of single examples are computed,
    or why there are none.
    """
    reason = untestable_reason(metric)
    if reason:
        return f"none: {reason}"
    scored_again = ", scored again" if has_generic_null(metric) else ""
    testable_from = (
        f", from {metric.spec.testable_from} examples"
        if metric.spec.testable_from
        else ""
    )
    return f"relabelling{scored_again}{testable_from}"


def dependences(metric: Any) -> str:
    """Return the set sizes, fitted state and inputs on which the number depends."""
    sizes = [f"number of {size}" for size in sorted(metric.spec.depends_on)]
    fitted = [metric.spec.held_fixed] if getattr(metric.spec, "held_fixed", "") else []
    images = ["images"] if "images" in metric.spec.needs else []
    return ", ".join([*sizes, *fitted, *images]) or "–"


if __name__ == "__main__":
    sys.exit(main())
