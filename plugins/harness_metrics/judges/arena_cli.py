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
from pathlib import Path
from typing import TYPE_CHECKING

from harness.contracts import Decoding, Example, Failure, Generation, TaskView
from harness.errors import HarnessError, InputError

if TYPE_CHECKING:
    from harness_metrics.judges.tournament import Ranking


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
    ranking = arena(
        *args.files,
        references=args.references,
        judge=args.judge,
        labels=args.label,
        blind=args.blind,
        criterion=args.criterion,
        limit=args.limit,
        samples=args.samples,
        seed=args.seed,
    )
    if args.json:
        print(json.dumps(ranking.to_dict(), ensure_ascii=False, indent=2))
    else:
        print("\n".join(ranking.blocks()))
    return 0


def arena(
    *files: str,
    references: str,
    judge: str,
    labels: Sequence[str] | None = None,
    blind: bool = False,
    criterion: str | None = None,
    limit: int | None = None,
    samples: int = 1000,
    seed: int = 0,
) -> Ranking:
    """Rank captioners by the preferences of a judge model, in both orders of each pair.

    Parameters
    ----------
    *files : str
        Captions of one system each, in any format that ``harness score`` reads; the
        first caption of an example takes part.
    references : str
        File of references of the examples.
    judge : str
        YAML or JSON file with the judge's parameters.
    labels : sequence of str, optional
        Names of the systems, one per file in their order; default: the file names.
    blind : bool
        Do not show the references to the judge.
    criterion : str, optional
        Meaning of "better".
    limit : int, optional
        Compare the first examples only.
    samples, seed : int
        Number of bootstrap samples, and their seed.

    Raises
    ------
    HarnessError
        A file cannot be read, an example has no caption, or the labels do not fit the
        files.
    """
    from harness.files import yaml_source
    from harness.registry import current
    from harness.registry.permissions import check_permissions
    from harness_metrics.judges import tournament
    from harness_metrics.judges.duels import CRITERION
    from harness_metrics.judges.judge import resolve_judge

    names = labels or [Path(file).name.split(".")[0] for file in files]
    if len(names) != len(files) or len(set(names)) < len(names):
        raise InputError(
            f"arena: the systems are called {', '.join(names)}; "
            "expected one different --label per file"
        )

    settings = yaml_source.load(Path(judge))
    check_permissions(settings)
    model = resolve_judge(settings.data, "arena")

    examples = list(current().create("readers", "auto", {"path": references}))
    if limit:
        examples = examples[:limit]
    systems = {
        label: first_captions(file, examples, bool(limit))
        for label, file in zip(names, files)
    }
    return tournament.arena(
        model,
        systems,
        None if blind else [example.references for example in examples],
        sources=[example.source for example in examples],
        media=[example.media for example in examples],
        criterion=criterion or CRITERION,
        samples=samples,
        seed=seed,
    )


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
