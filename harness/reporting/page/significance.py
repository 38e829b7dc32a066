"""Significance clusters of the systems of a group, from stored comparisons or computed where that is cheap."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.analysis.clusters import rankings
from harness.analysis.compare import DRAWS, LEVEL, Pair, adjusted, compare_pairs
from harness.analysis.comparison_store import StoredComparisons
from harness.contracts import Values
from harness.reporting.page.groups import Group
from harness.rundir.records import ResultRecord

MAX_TESTS = 1500
"""Maximum number of tests (pairs of systems times metrics) that the page computes; more must be in ``comparisons.json``."""
MAX_CELLS = 8_000_000
"""Maximum number of tests times examples that the page computes."""


def system_key(run: int, model: str, decoding_key: str) -> str:
    """Return the name of a system within a group: number of the run, model, decoding as sorted JSON."""
    return f"{run}|{model}|{decoding_key}"


def size_key(record: ResultRecord) -> str:
    """Return the set sizes within which the values of a metric compare; empty where sizes do not matter."""
    sizes = record.sizes or {}
    names = ("candidates", "references") if record.level == "set" else ("references",)
    return " + ".join(str(list(sizes[name])) for name in names if name in sizes)


@dataclass(frozen=True)
class Clusters:
    """Letters of systems by metric: two systems that share a letter are not told apart."""

    letters: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    note: str = ""
    """Description of the tests."""
    warning: str = ""
    """Reason why there are no tests, with the remedy."""

    def of(self, metric: str, key: str) -> str:
        """Return the letters of a system; empty without a ranking."""
        return self.letters.get(metric, {}).get(key, "")


def clusters_of(group: Group) -> Clusters:
    """Return the clusters of all metrics of a group; a page without them marks no value as best."""
    systems = group.systems
    if len(systems) < 2:
        return Clusters()
    pairs = [Pair(*one, *other) for one, other in itertools.combinations(systems, 2)]
    pairs = [pair for pair in pairs if pair.metrics and pair.shares_examples]
    if not pairs:
        return Clusters()
    warning = _too_many(group, pairs)
    if warning:
        return Clusters(warning=warning)
    compared = [pair for pair in pairs for _ in pair.metrics]
    rows = adjusted(compare_pairs(pairs))
    note = (
        f"Cluster letters: systems that share a letter do not differ significantly (p Holm > {LEVEL:g}; approximate "
        f"randomisation, {DRAWS:,} draws). Marked values share the letter a with the best one."
    )
    return Clusters(_letters(group, compared, rows), note)


def _too_many(group: Group, pairs: list[Pair]) -> str:
    """Return the warning about tests that are neither stored nor cheap; empty where the page computes them."""
    tests = sum(len(pair.metrics) for pair in pairs)
    examples = max(len(system.rows) for _, system in group.systems)
    if tests <= MAX_TESTS and tests * examples <= MAX_CELLS:
        return ""
    if len(StoredComparisons.of(group.runs, DRAWS, 0).rows) >= tests:
        return ""
    name = group.sides[0].name
    remedy = f"'harness compare {name}' computes and keeps them; then write the report again"
    if group.several_runs:
        remedy = "give fewer runs, or one run after 'harness compare RUN'"
    return f"No significance clusters, and no value is marked as best: {tests:,} tests are not computed here; {remedy}."


def _letters(group: Group, compared: list[Pair], rows: list[Values]) -> dict[str, dict[str, str]]:
    """Return metric -> system -> letters; systems of one set size are ranked among themselves."""
    number = {id(side): index for index, side in enumerate(group.sides)}
    by_size: dict[tuple[str, str], list[Values]] = {}
    for pair, row in zip(compared, rows):
        record = pair.one.record(pair.a, row["metric"])
        if record is None or row["sizes_differ"]:
            continue
        keys = [
            system_key(number[id(side)], system.model, system.decoding_key)
            for side, system in ((pair.one, pair.a), (pair.other, pair.b))
        ]
        entry = {**row, "system_a": keys[0], "system_b": keys[1]}
        by_size.setdefault((row["metric"], size_key(record)), []).append(entry)
    letters: dict[str, dict[str, str]] = {}
    for (metric, _), part in by_size.items():
        for system in rankings(part).get(metric, ()):
            letters.setdefault(metric, {})[system.system] = system.letters
    return letters
