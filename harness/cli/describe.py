"""Describe a file of captions: how it is read, sizes, lengths, vocabulary, repeated
captions, and the agreement of people.

  harness describe references.json
  harness describe references.jsonl.gz -m cider --json

Files as for harness score --references. The agreement is the score of one caption of
each example, drawn at random, against the others.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence

import numpy as np

import harness
from harness.cli.options import (
    add_count,
    add_json,
    add_names,
    add_registry,
    fold,
    print_json,
    terminal_width,
)
from harness.contracts import EVENTS, Reading
from harness.errors import InputError, escape_controls

SHOWN_CHARACTERS = 100
"""Number of characters of a caption that a reading shows."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``harness describe``."""
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="file of references, or several with references of the same examples",
    )

    add_names(
        parser,
        "-m",
        "--metric",
        help="metrics of the agreement (default: those of harness score)",
    )
    parser.add_argument(
        "--events",
        choices=EVENTS,
        help="texts with times: one paragraph of each record, "
        "or each an item of its own",
    )

    add_count(parser, "--seed", "seed of the drawn captions", 0)
    add_json(parser)
    add_registry(parser)


def run(args: argparse.Namespace) -> int:
    """Print the description."""
    from harness.analysis.description import describe_captions
    from harness.reporting.formats.terminal import print_table
    from harness.reporting.table import Table, heading, interval_text, number
    from harness.run.advice_spelling import OPTION_SPELLING, respell
    from harness.run.captions_by_id import read_described
    from harness.run.file_options import FileOptions

    try:
        captions, readings = read_described(
            args.files, FileOptions(events=args.events or "")
        )
    except InputError as error:
        raise respell(error, OPTION_SPELLING) from error
    if not captions:
        raise InputError("no example has a reference", str(args.files[0]))
    numbers = describe_captions(captions)
    candidates, others = _draw_captions(captions, args.seed)
    if args.metric and not candidates:
        raise InputError(
            "the agreement needs an example with two captions; no example has two",
            str(args.files[0]),
        )
    agreement = {}
    if candidates:
        agreement = harness.score(
            candidates, others, args.metric or None, seed=args.seed
        )

    if args.json:
        print_json(
            {
                "numbers": numbers,
                "agreement": {
                    name: {"value": result.value, "ci95": result.ci95}
                    for name, result in agreement.items()
                },
                "readings": [reading.to_dict() for reading in readings],
            }
        )
        return 0
    for reading in readings:
        print_reading(reading)
    rows = [
        [name, f"{value:,}" if isinstance(value, int) else number(value), ""]
        for name, value in numbers.items()
    ]
    for result in agreement.values():
        name = heading(result.metric, result.higher_is_better)
        rows.append(
            [
                f"agreement, {name}",
                number(result.value),
                interval_text(result.ci95),
            ]
        )
    note = (
        f"agreement: one caption of each of {len(candidates):,} examples with two or "
        "more against its others"
    )
    headers = ["", "value", "95 % interval"]
    title = ", ".join(args.files)
    groups = frozenset({len(numbers)})
    print_table(Table(headers, rows, "lrr", title, [note], groups=groups))
    return 0


def _draw_captions(
    captions: Mapping[str, Sequence[str]], seed: int
) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return a random caption of each example that has two or more, and its others."""
    rng = np.random.default_rng(seed)
    candidates: dict[str, str] = {}
    others: dict[str, list[str]] = {}
    for key, references in captions.items():
        texts = [text for text in references if text.strip()]
        if len(texts) > 1:
            drawn = [texts[k] for k in rng.permutation(len(texts))]
            candidates[key] = drawn[0]
            others[key] = drawn[1:]
    return candidates, others


def print_reading(reading: Reading) -> None:
    """Print how a file is read in one role, with its first captions."""
    width = terminal_width(sys.stdout)
    print(fold(f"as {reading.role}: {escape_controls(reading.line())}", width))
    for key, texts in reading.examples.items():
        cut = [
            text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"
            for text in texts
        ]
        quoted = ", ".join(map(repr, cut)) or "none"
        print(fold(f"  {key!r}: {escape_controls(quoted)}", width))
