"""Speed of the 504 pre-gen metrics: all of them, one of them,
and a plain Python loop for one, in one run.

    python -m benchmarks.pregen

5000 images x 5 captions x 12 tokens as nested lists (the form of the input) and as flat
arrays (the form of the computation). Goals: all 504 from nested lists in less than 2 s
and at most 3 times the time of one. Exit status 1 when a goal is missed.
"""

from __future__ import annotations

import random
import statistics
import sys
from collections.abc import Callable
from typing import Any

from benchmarks.timing import timed
from harness_metrics.pregen.functions import NAMES, evaluate
from harness_metrics.pregen.tokens import flatten

IMAGES = 5000
CAPTIONS = 5
TOKENS = 12
REPEATS = 7
EXAMPLES = [
    "mean_max_normcount_prefix0",
    "geomean_join_pplx_none",
    "median_median_prob_filter0",
]
GOAL_SECONDS = 2
GOAL_RATIO = 3


def dataset() -> list[Any]:
    """Return random probabilities and ranks as nested lists;
    about a third of the tokens have rank 0.
    """
    rng = random.Random(0)
    return [
        [
            [(rng.random(), int(3 * rng.random() ** 2)) for _ in range(TOKENS)]
            for _ in range(CAPTIONS)
        ]
        for _ in range(IMAGES)
    ]


def seconds(work: Callable[[], Any]) -> float:
    """Return the median time of REPEATS calls."""
    return statistics.median(timed(work)[0] for _ in range(REPEATS))


def loop(data: list[Any]) -> float:
    """Return mean_max_normcount_prefix0 by plain loops."""
    total = 0.0
    for image in data:
        best = 0.0
        for caption in image:
            prefix = 0
            for _, rank in caption:
                if rank != 0:
                    break
                prefix += 1
            best = max(best, prefix / len(caption))
        total += best
    return total / len(data)


def main() -> int:
    """Print the table; return 1 when a goal is missed."""
    data = dataset()
    flat = flatten(data)
    rows = [("all 504", None)] + [(name, [name]) for name in EXAMPLES]
    nested = {
        label: seconds(lambda names=names: evaluate(data, names))
        for label, names in rows
    }
    arrays = {
        label: seconds(lambda names=names: evaluate(flat, names))
        for label, names in rows
    }
    print(
        f"{IMAGES} images x {CAPTIONS} captions x {TOKENS} tokens, "
        f"median of {REPEATS}, milliseconds"
    )
    print(f"{'':<32}{'nested lists':>14}{'flat arrays':>14}{'all / this':>12}")
    for label, _ in rows:
        ratio = nested["all 504"] / nested[label]
        print(
            f"{label:<32}{1e3 * nested[label]:>14.1f}{1e3 * arrays[label]:>14.2f}{ratio:>12.2f}"
        )
    print(
        f"{'reading and checking the lists':<32}{1e3 * seconds(lambda: flatten(data)):>14.1f}"
    )
    plain = seconds(lambda: loop(data))
    print(
        f"{EXAMPLES[0] + ', loop':<32}{1e3 * plain:>14.1f}{'':>14}{'':>12}   "
        "(without checks)"
    )
    assert abs(loop(data) - evaluate(data, [EXAMPLES[0]])[0]) < 1e-12
    worst = max(nested["all 504"] / nested[name] for name in EXAMPLES)
    total = nested["all 504"]
    print(
        f"all {len(NAMES)} in {total:.3f} s (goal < {GOAL_SECONDS}), "
        f"{worst:.2f} times one (goal <= {GOAL_RATIO})"
    )
    on_arrays = max(arrays["all 504"] / arrays[name] for name in EXAMPLES)
    print(
        f"on flat arrays all cost {on_arrays:.0f} times one: "
        "reading the lists dominates the cost of one"
    )
    return 0 if total < GOAL_SECONDS and worst <= GOAL_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
