"""Checks of a metric's specification: each one detects its fault."""

from __future__ import annotations

from typing import Any

import pytest

from harness.registry.manifest_schema import Entry
from harness.testing.metric_spec import SPEC_CHECKS
from harness.testing.metric_subject import MetricSubject

Base: Any = object
"""At run time each class is combined with the sound metric of conftest.py."""


class UnknownNeed(Base):
    """Declares an unknown need."""

    spec_fields = {"needs": frozenset({"refs"})}  # noqa: RUF012


class ListOfNeeds(Base):
    """Declares its needs as a list."""

    spec_fields = {"needs": ["references"]}  # noqa: RUF012


class UnknownLevel(Base):
    """Declares an unknown level."""

    spec_fields = {"level": "word"}  # noqa: RUF012


class NoCandidates(Base):
    """Declares that it needs no candidate."""

    spec_fields = {"min_candidates": 0}  # noqa: RUF012


CASES = [
    (
        "spec",
        UnknownNeed,
        "spec.needs contains ['refs']; valid needs are ['embeddings', ",
    ),
    ("spec", ListOfNeeds, "spec.needs is ['references']; expected a frozenset"),
    ("spec", UnknownLevel, "spec.level is 'word'; levels are item, set, corpus, model"),
    ("spec", NoCandidates, "spec.min_candidates is 0; expected at least 1"),
]


@pytest.mark.parametrize(("check", "broken", "reason"), CASES)
def test_a_fault_is_detected(check, broken, reason, overlap, outcome):
    result = outcome("metrics", check, overlap(broken))
    assert result.failed
    assert reason in result.reason


def test_every_check_of_the_module_has_a_fault():
    # below, and in test_shared_checks.py
    elsewhere = {"catalogue", "described", "signature"}
    assert {check for check, *_ in CASES} | elsewhere == set(SPEC_CHECKS.names)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"level": "set"}, "level is set in the catalogue and item in spec"),
        (
            {"higher_is_better": False},
            "higher_is_better is False in the catalogue and True in spec",
        ),
        (
            {"needs": ("java", "references")},
            "the catalogue lists the needs ['java'], which spec.needs does not contain",
        ),
        ({"summary": ""}, "has no summary in the catalogue"),
    ],
)
def test_the_catalogue_agrees_with_the_specification(fields, reason, overlap, tmp_path):
    values = {
        "kind": "metrics",
        "name": "overlap",
        "provider": "mine",
        "source": "",
        "summary": "overlap",
        "level": "item",
    }
    entry = Entry(folder=tmp_path, **{**values, **fields})
    result = SPEC_CHECKS.run_one("catalogue", MetricSubject(overlap(), entry=entry))
    assert (result.status, result.reason) == ("fail", reason)
