"""Command ``harness arena``: rank captioners by the preferences of a judge model.

  harness arena A.json B.json C.json --references R.json --judge judge.yaml

Each file holds the captions of one system, in any format that ``harness score`` reads;
its first caption of an example takes part. The judge file holds the parameters of a
judge, such as ``base_url: http://localhost:8000/v1`` and ``model: NAME``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness.contracts import Decoding, Example, Failure, Generation, TaskView
from harness.errors import HarnessError, InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``harness arena`` to a parser."""
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="captions of one system each"
    )
    parser.add_argument(
        "--references", required=True, metavar="FILE", help="references of the examples"
    )
    parser.add_argument(
        "--judge",
        required=True,
        metavar="FILE",
        help="YAML or JSON file with the judge's parameters",
    )
    parser.add_argument(
        "--label",
        action="append",
        metavar="NAME",
        help="name of a system, one per file in their order",
    )
    parser.add_argument(
        "--blind", action="store_true", help="do not show the references to the judge"
    )

    parser.add_argument("--criterion", metavar="TEXT", help="meaning of 'better'")
    parser.add_argument(
        "--limit", type=int, metavar="N", help="compare the first N examples only"
    )
    parser.add_argument(
        "--samples",
        type=int,
        default=1000,
        metavar="N",
        help="bootstrap samples (default 1000)",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the bootstrap (default 0)"
    )

    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument(
        "--allow-secret",
        action="append",
        default=[],
        metavar="NAME",
        help="an environment variable that the judge file may have read and sent",
    )


def run(args: argparse.Namespace) -> int:
    """Print the ranking and return 0."""
    from harness.files import yaml_source
    from harness.registry import current
    from harness.registry.permissions import check_permissions
    from harness_metrics.judges.duels import CRITERION
    from harness_metrics.judges.judge import resolve_judge
    from harness_metrics.judges.tournament import arena

    labels = args.label or [Path(file).name.split(".")[0] for file in args.files]
    if len(labels) != len(args.files) or len(set(labels)) < len(labels):
        raise InputError(
            f"arena: the systems are called {', '.join(labels)}; "
            "expected one different --label per file"
        )

    settings = yaml_source.load(Path(args.judge))
    check_permissions(settings)
    judge = resolve_judge(settings.data, "arena")

    examples = list(current().create("readers", "auto", {"path": args.references}))
    if args.limit:
        examples = examples[: args.limit]
    systems = {
        label: first_captions(file, examples, bool(args.limit))
        for label, file in zip(labels, args.files)
    }

    ranking = arena(
        judge,
        systems,
        None if args.blind else [example.references for example in examples],
        sources=[example.source for example in examples],
        media=[example.media for example in examples],
        criterion=args.criterion or CRITERION,
        samples=args.samples,
        seed=args.seed,
    )

    if args.json:
        record = {**asdict(ranking), "wins": ranking.wins.tolist()}
        print(json.dumps(record, ensure_ascii=False, indent=2))
    else:
        print("\n".join(lines(ranking)))
    return 0


def first_captions(file: str, examples: Sequence[Example], partial: bool) -> list[str]:
    """Return the first caption of each example in a file of captions."""
    from harness.registry import current

    parameters = {"path": file, "allow_unknown": partial}
    adapter = current().create("adapters", "predictions", parameters)
    adapter.prepare(TaskView(examples, Decoding(), partial))

    out: list[str] = []
    captions = adapter.generate(examples, Decoding(), [0] * len(examples))
    for example, item in zip(examples, captions):
        if isinstance(item, Failure):
            raise HarnessError(f"example '{example.id}': {item.reason}", file)
        candidates = item.candidates if isinstance(item, Generation) else item
        if not candidates:
            raise InputError(f"example '{example.id}' has no caption", file)
        out.append(candidates[0])
    return out


def lines(ranking: Any) -> list[str]:
    """Return the lines of the table of a
    :class:`~harness_metrics.judges.tournament.Ranking`.
    """
    width = max(6, *(len(standing.system) for standing in ranking.standings))
    names = f"{'rank':<10}{'system':<{width}}"
    out = [f"{names}{'strength':>10}{'95 % interval':>20}{'points':>9}"]
    for row in ranking.standings:
        rank = f"{row.rank} ({row.ranks[0]}-{row.ranks[1]})"
        ends = "none"
        if row.interval:
            ends = f"{row.interval[0]:.3f} to {row.interval[1]:.3f}"
        names = f"{rank:<10}{row.system:<{width}}"
        out.append(f"{names}{row.strength:>10.3f}{ends:>20}{row.points:>9.3f}")

    counts = ranking.counts
    answers = ", ".join(
        f"{count} {status}" for status, count in counts["answers"].items() if count
    )
    cost = f", cost {counts['cost']:.4f}" if "cost" in counts else ""
    tokens = counts["tokens"]
    return [
        *out,
        "",
        f"{ranking.duels} duels in both orders, {ranking.unanswered} without an "
        f"answer; {ranking.contradictions:.1%} contradict "
        f"themselves; {ranking.first_place:.1%} of decisions for the caption in the "
        "first place",
        f"answers: {answers}; {counts['requests']} requests, "
        f"{tokens['input']} + {tokens['output']} tokens{cost}",
    ]
