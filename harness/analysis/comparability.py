"""Differences between two runs that make their numbers incomparable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from harness.contracts import Metric
from harness.run.finished import Run
from harness.rundir.records import ResultRecord

RecordPair = tuple[ResultRecord, ResultRecord]


def differences_of_runs(runs: Sequence[Run], names: Sequence[str], records: Sequence[RecordPair] = ()) -> list[str]:
    """Return one sentence per difference of two runs: data, signature and images of a metric, references. Empty for one run.

    Parameters
    ----------
    runs : sequence of Run
        One run, or two.
    names : sequence of str
        Their names in the sentences.
    records : sequence of pairs of ResultRecord
        Records of the systems that are compared, one pair per metric.
    """
    if len(runs) == 1:
        return []
    one, other = runs
    return [
        *_data(one, other, names),
        *_signatures(one, other, names),
        *_images(one, other, names),
        *_references(records, names),
        *_subsets(one, other, names),
    ]


def _data(one: Run, other: Run, names: Sequence[str]) -> list[str]:
    data = [run.provenance.data for run in (one, other)]
    if data[0]["fingerprint"] == data[1]["fingerprint"]:
        return []
    readers = ", ".join(str(item["reader"]) for item in data)
    return [f"{names[0]} and {names[1]} read different data ({readers}): equal ids would be paired by chance"]


def _signatures(one: Run, other: Run, names: Sequence[str]) -> list[str]:
    theirs = {entry.label: entry.signature for entry in other.provenance.metrics}
    return [
        f"'{entry.label}' is {entry.signature} in {names[0]} and {theirs[entry.label]} in {names[1]}: the numbers are of different metrics"
        for entry in one.provenance.metrics
        if theirs.get(entry.label, entry.signature) != entry.signature
    ]


def _images(one: Run, other: Run, names: Sequence[str]) -> list[str]:
    """Compare the folders of images of metrics, which their signatures do not name."""
    theirs = {entry.label: entry.params.get("images") for entry in other.provenance.metrics}
    return [
        f"'{entry.label}' reads images of {entry.params.get('images')} in {names[0]} and of {theirs[entry.label]} in {names[1]}"
        for entry in one.provenance.metrics
        if theirs.get(entry.label, entry.params.get("images")) != entry.params.get("images")
    ]


def _references(records: Sequence[RecordPair], names: Sequence[str]) -> list[str]:
    """Compare the reference counts of pairs of records."""
    for one, other in records:
        counts = [_text((record.sizes or {}).get("references", ())) for record in (one, other)]
        if all(counts) and counts[0] != counts[1]:
            return [f"'{one.metric}' is of {counts[0]} references in {names[0]} and of {counts[1]} in {names[1]}"]
    return []


def size_difference(a: ResultRecord | None, b: ResultRecord | None) -> str:
    """Return the set sizes that differ between two numbers of a metric and on which it depends; empty where they compare.

    >>> one, ten = (ResultRecord(model="a", metric="distinct2", level="corpus", sizes={"candidates": [n]}) for n in (1, 10))
    >>> size_difference(one, ten)
    '1 and 10 candidates'
    """
    if a is None or b is None:
        return ""
    # BLEU without a match depends on sizes on which BLEU does not: its details say so.
    names = {name: None for record in (a, b) for name, _ in record.compared_sizes}
    names |= {str(name): None for record in (a, b) for name in cast("Sequence[str]", (record.details or {}).get("depends_on", ()))}
    sizes_a, sizes_b = ([tuple((record.sizes or {}).get(name, ())) for name in names] for record in (a, b))
    differing = [item for item in zip(names, sizes_a, sizes_b) if item[1] and item[2] and item[1] != item[2]]
    return ", ".join(f"{_text(counts_a)} and {_text(counts_b)} {name}" for name, counts_a, counts_b in differing)


def state_difference(one: Run, other: Run, metric: Metric) -> str:
    """Return the state of a metric that two runs fitted on the references of other examples; empty where its numbers compare."""
    counts = [run.provenance.data["examples"] for run in (one, other)]
    state = metric.spec.held_fixed.removesuffix(" held fixed")
    return f"{state} of {counts[0]} and {counts[1]} examples" if state and counts[0] != counts[1] else ""


def _subsets(one: Run, other: Run, names: Sequence[str]) -> list[str]:
    """Compare the choice of references of runs that do not use all of them."""
    subsets = [run.provenance.reference_subset for run in (one, other)]
    if not all(subsets) or subsets[0] == subsets[1]:
        return []
    return [f"the references are refs:{subsets[0]} in {names[0]} and refs:{subsets[1]} in {names[1]}: other subsets"]


def _text(counts: Sequence[int]) -> str:
    return f"{min(counts)} to {max(counts)}" if len(set(counts)) > 1 else ", ".join(map(str, counts))
