"""Differences of two runs that make numbers incomparable."""

from __future__ import annotations

from dataclasses import replace

import harness
from harness.analysis.comparability import differences_of_runs, size_difference
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord

SPEC = {"task": "words", "dataset": {"reader": "words"}, "models": ["echo"], "metrics": ["length"]}


def differences(one, other):
    return differences_of_runs([harness.evaluate(one), harness.evaluate(other)], ["r", "s"])


def test_equal_runs_do_not_differ(project):
    assert differences(SPEC, {**SPEC, "seed": 3}) == []
    assert differences_of_runs([harness.evaluate(SPEC)], ["r"]) == []


def test_data_signatures_and_references_are_named(project):
    (data,) = differences(SPEC, {**SPEC, "dataset": {"reader": "words", "count": 7}})
    assert data == "r and s read different data (words, words): equal ids would be paired by chance"
    run = harness.evaluate(SPEC)
    entries = [{**entry, "signature": "length|scale:2"} for entry in run.manifest["metrics"]]
    changed = replace(run, provenance=Provenance({**run.manifest, "metrics": entries}))
    (signature,) = differences_of_runs([run, changed], ["r", "s"])
    assert "'length' is length|scale:1 in r and length|scale:2 in s" in signature


def test_reference_counts_of_the_compared_systems_are_named(project):
    runs = [harness.evaluate({**SPEC, "references": count}) for count in (2, 1)]
    records = [tuple(run.records[0] for run in runs)]
    (references,) = differences_of_runs(runs, ["r", "s"], records)
    assert references == "'length' is of 2 references in r and of 1 in s"


def test_only_sizes_on_which_a_number_depends_differ():
    def sized(level, candidates, **fields):
        sizes = {"candidates": (candidates,), "references": (3,)}
        return ResultRecord(model="m", metric="x", level=level, sizes=sizes, **fields)

    for level in ("set", "corpus"):
        assert size_difference(sized(level, 2), sized(level, 3)) == "2 and 3 candidates"
    assert not size_difference(sized("item", 2), sized("item", 3))
    declared = {"depends_on": ["candidates"]}
    assert size_difference(sized("item", 2, **declared), sized("item", 3, **declared))
    unsized = ResultRecord(model="m", metric="x", level="set")
    for other in (None, unsized):
        assert not size_difference(sized("set", 2), other)
        assert not size_difference(other, sized("set", 2))
