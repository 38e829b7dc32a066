"""Gain in sensitivity of TRM over its base metric, in per cent, by number of candidates
(Figure 3 of Chan et al. 2022).

    python -m benchmarks.sensitivity RUN [RUN ...]

RUN is a finished run of studies/trm-sensitivity. The gain is 100 (L(trm) / L(base) -
1), where L is the logarithm of the harmonic mean of the examples' p-values: 0 for equal
sensitivity, negative where TRM is less sensitive. The interval is that of a bootstrap
over examples (2.5 and 97.5 per cent quantiles), both metrics under the same draws. The
paper reports 162 % (METEOR) and 49.3 % (CIDEr-D) for O2NA on MSR-VTT, without the
number of candidates.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.papers_rule import log_harmonic_mean
from harness.contracts import Decoding
from harness.run.finished import Run

PAIRS = {
    "meteor": "trm(meteor)",
    "cider": "trm(cider)",
    "rouge": "trm(rouge)",
    "pairwise(bert)": "trm(bert)",
}
SHOWN = ("meteor", "cider")
"""Base metrics whose log p are in the stored table;
of the others it has the gain alone.
"""
DRAWS = 1000
NO_EFFECT = -0.1
"""A gain is not reported where L of the base metric is not below this number:
its denominator is almost 0.
"""


def gain(
    base: np.ndarray, other: np.ndarray, rng: np.random.Generator
) -> tuple[float, float, float, float, float]:
    """Return L of both metrics, the gain in per cent and the ends of its interval, for
    p-values (n,) of the same examples.
    """
    draws = rng.integers(0, len(base), (DRAWS, len(base)))
    first = log_harmonic_mean(base)
    second = log_harmonic_mean(other)
    values = 100 * (
        log_harmonic_mean(other[draws])
        / np.minimum(log_harmonic_mean(base[draws]), NO_EFFECT)
        - 1
    )
    low, high = np.quantile(values, [0.025, 0.975])
    return (
        float(first),
        float(second),
        float(100 * (second / first - 1)),
        float(low),
        float(high),
    )


def run_gains(
    run: Run,
) -> Iterator[tuple[str, int, str, tuple[float, float, float, float, float]]]:
    """Yield model, number of candidates, base metric and :func:`gain` of every system
    and base metric of a run.
    """
    samples = run.samples
    for system in samples.systems:
        for base, other in PAIRS.items():
            if not {f"p:{base}", f"p:{other}"} <= set(samples.scored_columns):
                continue
            p, q = (samples.numbers(f"p:{name}")[system.rows] for name in (base, other))
            both = ~(np.isnan(p) | np.isnan(q))
            if both.sum() >= 2:
                candidates = int(
                    str(system.decoding.get("candidates", Decoding().candidates))
                )
                yield (
                    system.model,
                    candidates,
                    base,
                    gain(p[both], q[both], np.random.default_rng(0)),
                )


def sensitivity_tables(runs: Sequence[Run]) -> dict[str, dict[str, Any]]:
    """Return log p of METEOR, CIDEr and their TRM with the gain, and the gain over
    ROUGE-L and BERT, by number of candidates.
    """
    cells: dict[tuple[str, str], dict[int, str]] = {}
    for run in runs:
        references = (run.records[0].sizes or {})["references"][0]
        count = max(record.n for record in run.records)
        for model, candidates, base, (first, second, value, low, high) in run_gains(
            run
        ):
            head = f"{run.provenance.task}, {model}, {references} references, {count}"
            if base in SHOWN:
                cells.setdefault((head, base), {})[candidates] = f"{first:.2f}"
                cells.setdefault((head, PAIRS[base]), {})[candidates] = f"{second:.2f}"
            text = (
                f"{value:+.0f} ({low:.0f} … {high:.0f})" if first < NO_EFFECT else "–"
            )
            cells.setdefault((head, f"gain of {PAIRS[base]} %"), {})[candidates] = text
    counts = sorted({count for row in cells.values() for count in row})
    rows: list[list[str]] = []
    for head in dict.fromkeys(head for head, _ in cells):
        rows.append([f"**{head} examples**", *[""] * len(counts)])
        rows += [
            [name, *(row.get(count, "") for count in counts)]
            for (other, name), row in cells.items()
            if other == head
        ]
    return {"sensitivity": {"headers": ["candidates", *map(str, counts)], "rows": rows}}


def main() -> None:
    """Print a table of gains for each run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="+", metavar="RUN")
    for path in parser.parse_args().runs:
        print(
            f"{path}\n| model | candidates | base | log p | log p of TRM | gain % | "
            "95 % interval |"
        )
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for model, candidates, base, (a, b, value, low, high) in run_gains(
            Run.open(path)
        ):
            shown = (
                f"{value:+.0f} | {low:+.0f} … {high:+.0f}" if a < NO_EFFECT else "– | –"
            )
            print(f"| {model} | {candidates} | {base} | {a:.2f} | {b:.2f} | {shown} |")


if __name__ == "__main__":
    main()
