"""Describe a data set of captions: sizes, lengths, vocabulary, repeated captions, and the agreement of people.

  harness describe references.json
  harness describe references.jsonl.gz -m cider --json

Files as for harness score --references. The agreement is the score of one caption of each example, drawn at random, against the others.
"""

from __future__ import annotations

import argparse

import numpy as np

import harness
from harness.cli.options import add_count, add_json, add_names, add_registry, print_json
from harness.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness describe``."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="file of references, or several with references of the same examples")
    add_names(parser, "-m", "--metric", help="metrics of the agreement (default: those of harness score)")
    add_count(parser, "--seed", "seed of the drawn captions", 0)
    add_json(parser)
    add_registry(parser)


def run(args: argparse.Namespace) -> int:
    """Print the description."""
    from harness.analysis.description import describe_captions
    from harness.reporting.formats.terminal import print_table
    from harness.reporting.table import Table, heading, interval_text, number
    from harness.run.file_pair import read_references

    captions = {example.id: example.references for example in read_references(args.files, ["empty"]) if example.references}
    if not captions:
        raise InputError("no example has a reference", str(args.files[0]))
    numbers = describe_captions(captions)
    rng, candidates, others = np.random.default_rng(args.seed), dict[str, str](), dict[str, list[str]]()
    for key, references in captions.items():
        texts = [text for text in references if text.strip()]
        if len(texts) > 1:
            candidates[key], *others[key] = (texts[k] for k in rng.permutation(len(texts)))
    if args.metric and not candidates:
        raise InputError("the agreement needs an example with two captions; no example has two", str(args.files[0]))
    agreement = harness.score(candidates, others, args.metric or None, seed=args.seed) if candidates else {}
    if args.json:
        print_json({"numbers": numbers, "agreement": {name: {"value": r.value, "ci95": r.ci95} for name, r in agreement.items()}})
        return 0
    rows = [[name, f"{value:,}" if isinstance(value, int) else number(value), ""] for name, value in numbers.items()]
    rows += [[f"agreement, {heading(r.metric, r.higher_is_better)}", number(r.value), interval_text(r.ci95)] for r in agreement.values()]
    note = f"agreement: one caption of each of {len(candidates):,} examples with two or more against its others"
    print_table(Table(["", "value", "95 % interval"], rows, "lrr", ", ".join(args.files), [note], groups=frozenset({len(numbers)})))
    return 0
