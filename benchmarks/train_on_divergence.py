"""Exact divergence, frontier and decisions of studies/train-on-divergence.

    python -m benchmarks.train_on_divergence [RUN ...] [--results
    docs/studies/train-on-divergence.json] [--figure FILE.svg]

RUN is a finished run of the study, one per seed (the number after the last hyphen of
its task). With runs, their numbers are collected and written to the file of results:
values of the metrics, and, from the probabilities that each captioner gives to the true
captions of a scene under its decoding, the exact Jensen-Shannon divergence and the
exact expected coverage. Without runs, the file is read. The tables of
docs/studies/train-on-divergence.md are printed from it. The decision rule is in the
head of the study's YAML file.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

SETS = ("CIDEr-D + TRM", "CIDEr-D + MMD", "CIDEr-D + Vendi")
TRAINED = ("XE", "CIDEr-D", *SETS, "CIDEr-D + KL")
FRONTIER = ("XE", "CIDEr-D")
"""Systems whose temperatures and nuclei make the frontier."""
JUDGES = {"divergence": -1.0, "coverage": 1.0, "mmd(minilm)": -1.0}
"""Measure that no system was trained on -> 1 where higher is better, else -1."""
COLUMNS = (
    "ciderd",
    "meteor",
    "trm(cider)",
    "mmd(bow)",
    "mmd(minilm)",
    "vendi(bow)",
    "vendi(minilm)",
    "distinct",
    "true",
    "coverage",
    "divergence",
    "false-features",
)
SAMPLES = 10
"""Captions of a scene."""
TESTED = 5
"""Minimum number of seeds for a test."""
Values = dict[str, dict[str, float]]
"""System -> measure -> value, of one seed."""


def caption_probabilities(
    adapter: Any, decoding: Any, examples: Sequence[Any]
) -> list[np.ndarray]:
    """Return the probability of each reference of each example under a captioner and a
    decoding: temperature, then nucleus.
    """
    import torch

    from harness_models.shared.decoding.filters import filtered_probabilities
    from harness_models.shared.training.caption_tokens import pad_rows
    from harness_models.shared.training.loop import one_thread

    encode = getattr(adapter, "reference_tokens", None) or (
        lambda text: adapter.speaker.vocabulary.encode(text)[1:]
    )
    out = []
    with one_thread(), torch.inference_mode():
        for example in examples:
            rows = [encode(text) for text in example.references]
            tokens = pad_rows(rows, adapter.stop[0])
            prefix = adapter.prefix(adapter.inputs([example]), [example])
            logits = adapter.forced_logits(
                prefix, torch.zeros(len(rows), dtype=torch.long), tokens
            )
            mass, ids = filtered_probabilities(
                logits.flatten(0, 1), decoding.temperature, None, decoding.top_p
            )
            assert ids.shape[1] == logits.shape[-1]
            chosen = (
                (mass / mass.sum(-1, keepdim=True))
                .gather(1, tokens.reshape(-1, 1))
                .reshape(tokens.shape)
            )
            is_token = (
                torch.arange(tokens.shape[1])[None]
                < torch.tensor([len(row) for row in rows])[:, None]
            )
            out.append(torch.where(is_token, chosen, 1.0).prod(1).numpy())
    return out


def jensen_shannon(p: np.ndarray, q: np.ndarray) -> float:
    """Return the Jensen-Shannon divergence in bits of ``p`` (M,), which sums to 1, and
    ``q`` (M,), whose remaining mass lies elsewhere.

    >>> jensen_shannon(np.array([0.5, 0.5]), np.array([0.0, 0.0]))
    1.0
    """
    middle = (p + q) / 2
    own = np.sum(
        np.where(q > 0, q * np.log2(np.where(q > 0, q, 1.0) / middle), 0.0)
    ) + (1 - q.sum())
    return float(np.sum(p * np.log2(p / middle)) + own) / 2


def exact_measures(probabilities: Sequence[np.ndarray]) -> dict[str, float]:
    """Return the means over examples of divergence, expected coverage by ten samples,
    and probability of a true caption.
    """
    rows = [(np.full(len(q), 1 / len(q)), q) for q in probabilities]
    return {
        "divergence": float(np.mean([jensen_shannon(p, q) for p, q in rows])),
        "coverage": float(
            np.mean([np.sum(p * (1 - (1 - q) ** SAMPLES)) for p, q in rows])
        ),
        "true": float(np.mean([q.sum() for _, q in rows])),
    }


def collect(path: str) -> tuple[str, Values, dict[str, Any]]:
    """Return the seed of a run, the values of its systems,
    and captions to read of its first three examples.
    """
    from harness.api import plans
    from harness.run.finished import Run

    run = Run.open(path)
    seed = run.provenance.task.rpartition("-")[2]
    os.environ["SEED"] = seed
    spec = (
        "studies/train-on-divergence-a3ds"
        if "a3ds" in run.provenance.task
        else "studies/train-on-divergence"
    )

    plan: Any = plans(spec)[0]
    shown = {system.model: system for system in run.samples.systems}
    names = set(next(iter(shown.values())).examples)
    examples = [example for example in plan.reader if example.id in names]

    values: Values = {}
    for model in plan.models:
        adapter = model.adapter
        decoding = plan.decodings[0]

        # A model in others (a mixture, a strategy) is unwrapped down to the one with
        # probabilities.
        while hasattr(adapter, "inner_decoding"):
            decoding = adapter.inner_decoding(decoding)
            adapter = adapter.model

        values[model.label] = exact_measures(
            caption_probabilities(adapter, decoding, examples)
        )
        sets = [item.candidates for item in shown[model.label].caption_sets()]
        values[model.label]["distinct"] = float(
            np.mean([len(set(texts)) / len(texts) for texts in sets])
        )

    for record in run.records:
        if record.metric in COLUMNS and record.value is not None:
            values[record.model][record.metric] = record.value

    texts = {
        example.id: {"truth": list(example.references[::5])}
        | {
            name: list(shown[name].caption_sets()[row].candidates)
            for name in TRAINED
            if name in shown
        }
        for row, example in enumerate(examples[:3])
    }
    return seed, values, texts


def best_at(points: np.ndarray, quality: float) -> float:
    """Return the lowest second coordinate that points (P, 2) and the lines between them
    reach at a first coordinate of ``quality`` or more.

    Beyond all points it is that of the point with the highest first coordinate.

    >>> (
    ...     best_at(np.array([[1.0, 0.0], [3.0, 4.0]]), 2.0),
    ...     best_at(np.array([[1.0, 0.0], [3.0, 4.0]]), 5.0),
    ... )
    (2.0, 4.0)
    """
    above = points[points[:, 0] >= quality]
    below = points[points[:, 0] < quality]
    if not len(above):
        return float(points[points[:, 0].argmax(), 1])
    values = [float(above[:, 1].min())]
    for (x, y), (u, v) in itertools.product(above, below):
        values.append(float(v + (y - v) * (quality - u) / (x - u)))
    return min(values)


def margin(values: Values, system: str, judge: str) -> float:
    """Return by how much a system is on the better side of the frontier of its seed,
    in units of the judge.
    """
    sign = JUDGES[judge]
    points = np.array(
        [
            [row["ciderd"], -sign * row[judge]]
            for name, row in values.items()
            if is_on_frontier(name)
        ]
    )
    return best_at(points, values[system]["ciderd"]) + sign * values[system][judge]


def is_on_frontier(name: str) -> bool:
    """Return True for the systems of the frontier: ``XE`` and ``CIDEr-D``,
    plain or with a decoding.
    """
    return "+" not in name and any(
        name == start or name.startswith(f"{start} ") for start in FRONTIER
    )


def sign_flip_p(differences: Sequence[float]) -> float:
    """Return the exact one-sided p-value of a positive mean over all flips of signs.

    >>> sign_flip_p([1.0, 2.0, 1.0, 1.0, 1.0])
    0.03125
    """
    flips = np.array(list(itertools.product([1, -1], repeat=len(differences))))
    return float(np.mean(flips @ np.array(differences) >= np.sum(differences) - 1e-12))


def print_row(cells: Sequence[Any]) -> None:
    """Print a row of a Markdown table."""
    print(
        "| "
        + " | ".join(
            f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in cells
        )
        + " |"
    )


def print_head(cells: Sequence[str]) -> None:
    """Print the head of a Markdown table."""
    print_row(cells)
    print_row(["---"] * len(cells))


def print_results(seeds: Mapping[str, Values]) -> None:
    """Print the tables of means over seeds, and for the study of five seeds the
    decisions.
    """
    runs = list(seeds.values())
    heads = (
        "Means over seeds {} (standard deviation of CIDEr-D, "
        "coverage and divergence over seeds in brackets)",
        "Seed {}",
    )
    print(f"\n{heads[len(runs) == 1].format(', '.join(seeds))}\n")
    print_head(["system", *COLUMNS])
    for name in runs[0]:
        cells: list[Any] = [name]
        for column in COLUMNS:
            found = [run[name][column] for run in runs if column in run[name]]
            spread = (
                f" ({np.std(found, ddof=1):.3f})"
                if column in ("ciderd", "coverage", "divergence") and len(found) > 1
                else ""
            )
            cells.append(f"{np.mean(found):.3f}{spread}" if found else "")
        print_row(cells)

    sets = [name for name in TRAINED if "+" in name and name in runs[0]]
    is_tested = len(runs) >= TESTED  # with fewer seeds no p-value can be .05
    _print_margins(runs, sets, is_tested)
    _print_expectations(runs, sets, is_tested)


def _print_margins(
    runs: Sequence[Values], sets: Sequence[str], is_tested: bool
) -> None:
    """Print the margins of systems trained on a set metric over the frontier."""
    print(
        "\nMargin over the frontier (positive: better), mean over seeds, "
        f"seeds above 0{', exact one-sided p' if is_tested else ''}\n"
    )
    print_head(["system", *JUDGES, "wins"] if is_tested else ["system", *JUDGES])
    for name in sets:
        rows = {judge: [margin(run, name, judge) for run in runs] for judge in JUDGES}
        if not is_tested:
            print_row(
                [
                    name,
                    *(
                        f"{np.mean(row):+.4f}, {np.sum(np.array(row) > 0)} of "
                        f"{len(row)}"
                        for row in rows.values()
                    ),
                ]
            )
            continue
        cells = [
            f"{np.mean(row):+.4f}, {np.sum(np.array(row) > 0)} of {len(row)}, "
            f"p {sign_flip_p(row):.3f}"
            for row in rows.values()
        ]
        print_row(
            [
                name,
                *cells,
                "yes"
                if all(sign_flip_p(row) <= 0.05 for row in rows.values())
                else "no",
            ]
        )


def _print_expectations(
    runs: Sequence[Values], sets: Sequence[str], is_tested: bool
) -> None:
    """Print whether the two expectations of the study are met."""
    print("\nExpectation 1: the reward CIDEr-D lowers coverage and diversity\n")
    for column in ("coverage", "vendi(minilm)"):
        drops = [run["XE"][column] - run["CIDEr-D"][column] for run in runs]
        support = f"{np.sum(np.array(drops) > 0)} of {len(drops)} seeds" + (
            f", p {sign_flip_p(drops):.3f}" if is_tested else ""
        )
        print(f"- {column}: XE less CIDEr-D {np.mean(drops):+.3f}, {support}")

    print(
        "\nExpectation 2: coverage at least .95 of that of XE, "
        "at a CIDEr-D at least half-way from XE to CIDEr-D\n"
    )
    if any(run["CIDEr-D"]["ciderd"] <= run["XE"]["ciderd"] for run in runs):
        print(
            "- undefined: the reward CIDEr-D did not raise CIDEr-D on the test "
            "scenes in every seed"
        )
        return

    for name in sets:
        kept = [run[name]["coverage"] / run["XE"]["coverage"] for run in runs]
        way = [
            (run[name]["ciderd"] - run["XE"]["ciderd"])
            / (run["CIDEr-D"]["ciderd"] - run["XE"]["ciderd"])
            for run in runs
        ]
        met = np.mean(kept) >= 0.95 and np.mean(way) >= 0.5
        print(
            f"- {name}: coverage {np.mean(kept):.3f} of XE, "
            f"CIDEr-D {np.mean(way):.2f} of the way: {'met' if met else 'not met'}"
        )


def print_captions(texts: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
    """Print captions to read."""
    for name, by_system in texts.items():
        print(f"\nScene {name}\n")
        print_head(["", "captions"])
        for system, captions in by_system.items():
            counts = {text: list(captions).count(text) for text in captions}
            print_row(
                [
                    system,
                    "; ".join(
                        f"{text} ({count})" if count > 1 else text
                        for text, count in counts.items()
                    ),
                ]
            )


def draw(seeds: Mapping[str, Values], path: str) -> None:
    """Write the figure: CIDEr-D and coverage of all systems, means over seeds,
    the frontier as lines.
    """
    import matplotlib
    from matplotlib.figure import Figure

    # letters as text: a small file with the same bytes every time
    matplotlib.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "0"}
    runs = list(seeds.values())
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.add_subplot()

    def place(name: str) -> tuple[float, float]:
        ciderd, coverage = (
            float(np.mean([run[name][column] for run in runs]))
            for column in ("ciderd", "coverage")
        )
        return ciderd, coverage

    for start, colour in zip(FRONTIER, ("#4c6a92", "#b5533c")):
        names = [
            name
            for name in runs[0]
            if is_on_frontier(name) and name.split(" ")[0] == start and " p" not in name
        ]
        axes.plot(*zip(*sorted(map(place, names))), "-o", color=colour, ms=4, lw=1)
        axes.annotate(
            start, place(start), xytext=(6, 6), textcoords="offset points", color=colour
        )
    for name in TRAINED[2:]:
        axes.plot(*place(name), "s", color="#3a7d44", ms=6)
        axes.annotate(
            name.removeprefix("CIDEr-D "),
            place(name),
            xytext=(6, -3),
            textcoords="offset points",
        )
    axes.set(xlabel="CIDEr-D", ylabel="expected coverage by ten samples")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})


def main(argv: Sequence[str] | None = None) -> None:
    """Collect the runs, if there are any, and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="*", metavar="RUN")
    parser.add_argument(
        "--results", default="docs/studies/train-on-divergence.json", metavar="FILE"
    )
    parser.add_argument("--figure", metavar="FILE.svg")
    args = parser.parse_args(argv)

    path = Path(args.results)
    results: dict[str, Any] = (
        json.loads(path.read_text())
        if path.is_file()
        else {"scenes": {}, "a3ds": {}, "captions": {}}
    )

    for name in args.runs:
        seed, values, texts = collect(name)
        rounded = {
            system: {key: round(value, 5) for key, value in row.items()}
            for system, row in values.items()
        }

        part = "a3ds" if "a3ds" in name else "scenes"
        results[part][seed] = rounded
        if seed == "1" and part == "scenes":
            results["captions"].update(texts)
        path.write_text(
            json.dumps(results, indent=None, separators=(",", ":")).replace(
                '},"', '},\n"'
            )
            + "\n"
        )

    for part in ("scenes", "a3ds"):
        if results[part]:
            print(f"\n## {part}")
            print_results(dict(sorted(results[part].items())))
    print_captions(results["captions"])
    if args.figure:
        draw(results["scenes"], args.figure)


if __name__ == "__main__":
    main()
