"""Clusters of a group: letters by set size, and the warning about tests that take too long."""

from __future__ import annotations

from harness.reporting.page.groups import groups_of, open_run
from harness.reporting.page.significance import clusters_of, system_key


def group(*names: str):
    (only,) = groups_of([(name, open_run(name)) for name in names])
    return only


def test_systems_of_one_number_of_references_are_ranked_together(finished):
    systems = group(finished())
    clusters = clusters_of(systems)
    letters = {system.model: clusters.of("length", system_key(0, system.model, system.decoding_key)) for _, system in systems.systems}
    assert set(letters) == {"one <script>alert(1)</script>", "two", "people", "others"}
    assert letters["two"] and clusters.note.startswith("Cluster letters") and not clusters.warning


def test_tests_beyond_the_budget_are_postponed_unless_they_are_stored(finished):
    name = finished()
    clusters = clusters_of(group(name), budget=0)
    assert not clusters.letters
    assert clusters.warning == (
        "No significance clusters, and no value in bold, for length: 6 tests take too long for a page; "
        "'harness report r --compare' computes and keeps them."
    )
    assert clusters_of(group(name), budget=None).letters
    assert clusters_of(group(name), budget=0).letters, "the tests are stored now"


def test_two_runs_are_compared_across(finished):
    runs = group(finished("a"), finished("b", models=[{"echo": {"label": "third", "n": 3}}]))
    assert {key.split("|")[0] for key in clusters_of(runs).letters["length"]} == {"0", "1"}
    assert "write the report with --compare" in clusters_of(runs, budget=0).warning
