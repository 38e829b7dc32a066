"""Measure the calibration of built-in metrics,
and write it beside their code and on their cards.

    python -m tools.calibration                  all metrics that need no further files
    python -m tools.calibration rouge mmd        some; the others keep their tables
    python -m tools.calibration cider --sizes 3  some sizes; the others keep their cells
    python -m tools.calibration --cards          write the cards from the tables

Embeddings are counts of words (``bow``) and distances ROUGE-L, so that no model is
needed; the listener finds phrases. Metrics of nearest neighbours have random vectors of
words, and captions of which no two are equal. Judges are not measured: the distribution
of their grades depends on the judge.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import textwrap
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import harness_metrics
from benchmarks.coverage_cases import Keywords
from harness.contracts import CaptionSet, Metric, MetricSpec
from harness.errors import HarnessError
from harness.registry import current
from harness.run.coverage_tables import FILE, LOWEST
from harness.testing.calibration import (
    DISTRIBUTIONS,
    EXAMPLES,
    SIZES,
    Population,
    calibrate,
    caption_population,
    kept_share,
)
from harness.testing.sample_captions import SCENES
from harness_tasks.a3ds.grammar import captions as scene_captions
from harness_tasks.readers.generated import ReferenceGames
from tests.support import metric_cases
from tools import event_populations
from tools.documentation.components import guides

ROOT = Path(__file__).resolve().parent.parent
TABLES = Path(harness_metrics.__file__).parent / FILE
ABOUT = (
    "python -m tools.calibration; coverage of the interval and size of the test by "
    "distribution: " + ", ".join(DISTRIBUTIONS)
)
START = "<!-- calibration -->"
END = "<!-- /calibration -->"
PAGE = ROOT / "docs" / "testing.md"
GOAL = (0.93, 0.97)
SMOOTH = 20
"""Coverage that intervals of smooth metrics should have,
and the number of examples from which on.
"""
SECONDS = 60.0
"""Processor time for a metric."""
NEIGHBOURS = {"precision", "recall", "density", "coverage"}
"""Metrics of nearest neighbours in the whole corpus: equal captions, and whole numbers
of words, are all at the same distance.
"""
OF_GAMES = {*metric_cases.OF_GAMES, "listener-accuracy", "adjective-order"}


def main() -> int:
    """Measure the metrics of the command line, write tables and cards,
    and name those that cannot be measured.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument(
        "metrics", nargs="*", help="registered names; default: all built-in metrics"
    )
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help="processor time for a metric"
    )
    parser.add_argument(
        "--repetitions",
        type=int,
        help="simulated runs; default: those of harness.testing.calibration",
    )
    parser.add_argument(
        "--sizes",
        type=int,
        nargs="+",
        default=SIZES,
        help="numbers of examples; default: all",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the captions and of the draws"
    )
    parser.add_argument("--cards", action="store_true", help="write the cards alone")
    options = parser.parse_args()

    names = [] if options.cards else options.metrics or all_names()
    for name in names:
        started = time.perf_counter()
        try:
            metric, populations = case(name)
            table = calibrate(
                metric,
                populations,
                sizes=options.sizes,
                repetitions=options.repetitions,
                seconds=options.seconds,
                seed=options.seed,
            )
        except (HarnessError, OSError) as error:
            print(
                f"{name}: not measured: {str(error).splitlines()[0]:.150}", flush=True
            )
            continue

        # a metric of events has a table for each form of its number
        of_events = event_populations.CASES.get(name)
        metric_name, label = (of_events[0], name) if of_events else (name, table.name)
        store(metric_name, label, table.to_dict())
        print(
            f"{name}: up to n = {max(table.sizes)}, "
            f"{time.perf_counter() - started:.0f} s",
            flush=True,
        )

    write_cards()
    return 0


def all_names() -> list[str]:
    """Return the names that are measured by default: metrics of captions, and tables of
    metrics of events.
    """
    return [*metric_cases.names(), *event_populations.CASES]


def case_name(label: str, table: Mapping[str, Any]) -> str:
    """Return the name by which a stored table is measured: its own for a form of a
    metric of events, else that of its metric.
    """
    return label if label in event_populations.CASES else table["metric"]


def case(name: str) -> tuple[Metric, list[Population] | None]:
    """Return a built-in metric as it is measured,
    and its populations unless they are those of the kit.
    """
    if name in event_populations.CASES:
        of_events, parameters = event_populations.CASES[name]
        return current().create("metrics", of_events, dict(parameters)), [
            event_populations.event_population(name, kind)
            for kind in range(len(DISTRIBUTIONS))
        ]
    if name == "listener-accuracy":
        values: dict[str, Any] = {"listener": Keywords()}
    elif metric_cases.PARAMETERS.get(name) is metric_cases.JUDGE:
        raise HarnessError("needs a judge")
    elif name in metric_cases.CANNOT_RUN:
        raise HarnessError(f"needs {metric_cases.CANNOT_RUN[name]}")
    else:
        values = metric_cases.case(name).parameters
    if name in NEIGHBOURS:
        values = {"embedding": RandomVectors()}
    metric: Any = current().create("metrics", name, values)
    population = None
    if name in OF_GAMES:
        population = games
    elif name in NEIGHBOURS:
        population = unequal_captions
    return metric, [
        population(kind) for kind in range(len(DISTRIBUTIONS))
    ] if population else None


class RandomVectors:
    """Embedding of a text by the mean of random vectors of its words."""

    name = "random-vectors"

    def signature(self) -> str:
        """Return its name."""
        return self.name

    def fit(self, references: Sequence[Sequence[str]]) -> None:
        """Do nothing: a vector is determined by its word."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return vectors, float32, shape (T, 50)."""
        return np.array(
            [
                np.mean([_vector(word) for word in text.split()], axis=0)
                for text in texts
            ],
            dtype=np.float32,
        )


@cache
def _vector(word: str) -> np.ndarray:
    return np.random.default_rng(list(word.encode())).normal(size=50)


def unequal_captions(kind: int) -> Population:
    """Return captions of the kit for metrics of the corpus, each with four further
    words, so that no two are equal.
    """
    rng = np.random.default_rng([2, kind])
    words = sorted(
        {word for scene in SCENES for text in scene for word in str(text).split()}
    )
    first, second = caption_population(
        MetricSpec("any", True, level="corpus"), kind, EXAMPLES * 5, 0
    )

    def lengthened(texts: Sequence[str]) -> tuple[str, ...]:
        return tuple(" ".join([text, *rng.choice(words, 4)]) for text in texts)

    references = [lengthened(item.references) for item in first]
    a, b = (
        [
            CaptionSet(item.id, lengthened(item.candidates), texts)
            for item, texts in zip(system, references)
        ]
        for system in (first, second)
    )
    return a, b


def games(kind: int) -> Population:
    """Return reference games of two systems, which describe the target in a share of
    the games, else the distractor, briefly or in full.
    """
    rng = np.random.default_rng([1, kind])
    systems: tuple[list[CaptionSet], list[CaptionSet]] = ([], [])
    for item in list(ReferenceGames(pairs=EXAMPLES // 4))[:EXAMPLES]:
        share = kept_share(kind, rng)
        for system in systems:
            scene = item.meta["target_id" if rng.random() < share else "distractor_id"]
            texts = scene_captions(
                scene, "exhaustive" if rng.random() < 0.3 else "short"
            )
            system.append(
                CaptionSet(
                    item.id,
                    (str(rng.choice(texts)),),
                    item.references[:5],
                    meta=item.meta,
                )
            )
    return systems


def store(name: str, label: str, table: dict[str, Any]) -> None:
    """Write the table of a metric into the file of all, a line per number of examples;
    ``label`` is the name that a run looks up.

    Cells of other numbers of examples stay; the table has the smallest number of
    repetitions of its cells.
    """
    tables = (
        json.loads(TABLES.read_text("utf-8"))["metrics"] if TABLES.is_file() else {}
    )
    before = tables.get(label, table)
    kept = {n: cell for n, cell in before["sizes"].items() if n not in table["sizes"]}
    sizes = dict(
        sorted({**kept, **table["sizes"]}.items(), key=lambda item: int(item[0]))
    )

    # A table of some sizes says the least that any of its cells rests on.
    fewest = {
        key: min(table[key], before[key]) if kept else table[key]
        for key in ("repetitions", "tests")
    }
    tables[label] = {"metric": name, **fewest, "sizes": sizes}

    lines: list[str] = []
    for key in sorted(tables):
        head = {k: v for k, v in tables[key].items() if k != "sizes"}
        sizes = tables[key]["sizes"]
        rows = ",\n    ".join(
            f"{json.dumps(n)}: {json.dumps(cell)}" for n, cell in sizes.items()
        )
        lines.append(
            f'  {json.dumps(key)}: {json.dumps(head)[:-1]}, "sizes": '
            f"{{\n    {rows}\n  }}}}"
        )

    content = ",\n".join(lines)
    TABLES.write_text(
        f'{{"about": {json.dumps(ABOUT)}, "metrics": {{\n{content}\n}}}}\n', "utf-8"
    )


def write_cards() -> None:
    """Write the section of each card: the tables of its metrics,
    and why others have none.
    """
    tables = json.loads(TABLES.read_text("utf-8"))["metrics"]
    cards = {
        name: ROOT / "docs" / path
        for (kind, name), path in guides(ROOT / "docs").items()
        if kind == "metrics"
    }

    measured = {table["metric"] for table in tables.values()} | tables.keys()
    missing = [name for name in metric_cases.names() if name not in measured]
    of_events = {
        label: cards[metric] for label, (metric, _) in event_populations.CASES.items()
    }

    of_captions = {cards[name] for name in metric_cases.names()}
    for card in sorted(of_captions | set(of_events.values())):
        own = {
            label: table
            for label, table in sorted(tables.items())
            if cards[table["metric"]] == card
        }

        parts = [card_section(own)] if own else []
        parts += [unmeasured_sentence(name) for name in missing if cards[name] == card]
        slow = [
            f"`{label}`"
            for label, own_card in of_events.items()
            if own_card == card and label not in tables
        ]
        if slow:
            parts.append(_wrap(f"Not simulated, as they are slow: {', '.join(slow)}."))

        text = re.sub(
            rf"\n*{START}.*?{END}\n", "\n", card.read_text("utf-8"), flags=re.DOTALL
        )
        content = "\n\n".join(parts)
        card.write_text(
            f"{text.rstrip()}\n\n{START}\n{content}\n{END}\n" if parts else text,
            "utf-8",
        )

    section = f"{START}\n{goal_section(tables)}\n{END}"
    PAGE.write_text(
        re.sub(
            rf"{START}.*?{END}",
            lambda _: section,
            PAGE.read_text("utf-8"),
            flags=re.DOTALL,
        ),
        "utf-8",
    )


def outside_goal(tables: dict[str, Any]) -> dict[str, list[str]]:
    """Return label -> numbers of examples with their coverages that differ from
    :data:`GOAL` by more than two standard errors.
    """
    found: dict[str, list[str]] = {}
    for label, table in sorted(tables.items()):
        margin = 2 * math.sqrt(0.95 * 0.05 / table["repetitions"])
        for n, cell in table["sizes"].items():
            shares = [share for share in cell["interval"] if share is not None]
            if (
                int(n) >= SMOOTH
                and shares
                and not (
                    GOAL[0] - margin <= min(shares) and max(shares) <= GOAL[1] + margin
                )
            ):
                found.setdefault(label, []).append(
                    f"{n}: {_shares(shares, 'interval')}"
                )
    return found


def goal_section(tables: dict[str, Any]) -> str:
    """Return the Markdown of the metrics outside the goal."""
    outside = outside_goal(tables)
    low, high = (f"{end:.2f}".removeprefix("0") for end in GOAL)
    measured = sum(
        any(
            share is not None
            for cell in table["sizes"].values()
            for share in cell["interval"]
        )
        for table in tables.values()
    )
    listed = "; ".join(
        f"`{label}` (n = {', '.join(cells)})" for label, cells in outside.items()
    )
    return _wrap(
        f"The goal is a coverage of {low} to {high} from {SMOOTH} examples on. "
        f"Of {measured} tables with intervals "
        f"{measured - len(outside)} are within two standard errors of it. "
        f"The others are {listed}. \\* below .90: a run prints no interval."
    )


def unmeasured_sentence(name: str) -> str:
    """Return the Markdown that says why a metric has no table."""
    return _wrap(f"Calibration of `{name}` is not measured: it {_reason(name)}.")


def _reason(name: str) -> str:
    """Return the reason why a metric has no table, after "it"."""
    if "judge" in metric_cases.PARAMETERS.get(name, {}):
        return "asks a judge, whose grades have a distribution of their own"
    if name in metric_cases.CANNOT_RUN:
        return f"needs {metric_cases.CANNOT_RUN[name]}"
    levels = {entry.name: entry.level for entry in current().entries("metrics")}
    return (
        "judges token scores"
        if levels[name] == "model"
        else "is slow, and has not been simulated"
    )


def card_section(tables: dict[str, Any]) -> str:
    """Return the Markdown of the tables of a card."""
    sizes = sorted({int(n) for table in tables.values() for n in table["sizes"]})
    runs: dict[tuple[int, int], list[str]] = {}
    for label, table in tables.items():
        runs.setdefault((table["repetitions"], table["tests"]), []).append(label)
    most = max(runs, key=lambda counts: (len(runs[counts]), counts))

    explanation = (
        "**Calibration.** Coverage of the 95 % interval and size of the paired test at "
        ".05, on n examples ([how](../testing.md#calibration)): at least "
        f"{most[0]:,} intervals and {most[1]:,} tests "
        f"(standard error {_standard_errors(most)})"
    )
    for counts in sorted(runs.keys() - {most}):
        labels = ", ".join(f"`{label}`" for label in runs[counts])
        explanation += (
            f"; {counts[0]:,} and {counts[1]:,} ({_standard_errors(counts)}) of "
            f"{labels}"
        )
    explanation += ". \\* below .90: no interval."

    lines = [
        _wrap(explanation),
        "",
        f"| | n = {' | '.join(map(str, sizes))} |",
        f"| --- |{' --- |' * len(sizes)}",
    ]

    for label, table in tables.items():
        for key in ("interval", "test"):
            cells = [
                _shares(table["sizes"].get(str(n), {}).get(key, []), key) for n in sizes
            ]
            lines.append(f"| `{label}` {key} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _standard_errors(counts: tuple[int, int]) -> str:
    """Return the standard errors of a coverage of .95 and a size of .05 from so many
    intervals and tests.
    """
    errors = [
        f"{math.sqrt(0.95 * 0.05 / count):.3f}".removeprefix("0") for count in counts
    ]
    return ", ".join(errors)


def _wrap(paragraph: str) -> str:
    """Return a paragraph of Markdown in lines of the repository's width."""
    return textwrap.fill(
        paragraph, width=88, break_long_words=False, break_on_hyphens=False
    )


def _shares(shares: list[float | None], key: str) -> str:
    """Return the lowest and highest share, such as ``.93–.96``,
    with a star where an interval is not printed.
    """
    known = sorted(share for share in shares if share is not None)
    if not known:
        return "–"
    # rounded down, so that .896 is seen to be below .90
    lowest = round(known[0] * 1000) // 10 / 100
    texts = [
        f"{share:.2f}".removeprefix("0")
        for share in (lowest if known[0] < LOWEST else known[0], known[-1])
    ]
    star = " \\*" if key == "interval" and known[0] < LOWEST else ""
    return "–".join(dict.fromkeys(texts)) + star


if __name__ == "__main__":
    sys.exit(main())
