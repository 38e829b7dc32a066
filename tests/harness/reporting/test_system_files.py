"""Names, results and standard errors of a system in files of other programs."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from harness.reporting import system_files
from harness.rundir.records import ResultRecord


def test_systems_with_equal_names_are_numbered():
    assert list(system_files.name_systems([SimpleNamespace(label="a/b")] * 3)) == [
        "a_b",
        "a_b_2",
        "a_b_3",
    ]


def test_long_labels_are_cut_and_labels_without_letters_have_a_name():
    labels = ["a" * 61, "a" * 60, "/", "_b/", "..", "../", ".c."]
    names = list(
        system_files.name_systems([SimpleNamespace(label=label) for label in labels])
    )
    assert names == [
        "a" * 60,
        "a" * 60 + "_2",
        "system",
        "b",
        "system_2",
        "system_3",
        "c",
    ], "no name is that of a folder above"


def standard_error(scores, value, **fields):
    system = SimpleNamespace(
        scores=lambda _: np.array(scores), table=SimpleNamespace(names=["bleu"])
    )
    return system_files.standard_error(
        system,
        ResultRecord(
            model="a", metric=fields.pop("metric", "bleu"), value=value, **fields
        ),
    )


def test_the_standard_error_is_that_of_the_mean_of_the_defined_scores():
    """The variance of 1, 2, 4 and 5 is 10 / 3."""
    scores = [1.0, float("nan"), 2.0, 4.0, 5.0]
    assert standard_error(scores, 3.0) == pytest.approx((10 / 12) ** 0.5)
    assert standard_error(scores, 3.000001) == pytest.approx((10 / 12) ** 0.5)
    assert standard_error(scores, 3.00001) == "N/A", "the number is not the mean"
    assert standard_error([-1e-13, 1e-13], 9e-13) == pytest.approx(1e-13)
    assert standard_error([-1e-13, 1e-13], 3e-12) == "N/A"
    assert (
        standard_error(scores, 3.0, level="corpus")
        == standard_error(scores, 3.0, metric="cider")
        == "N/A"
    )


def test_a_system_has_the_results_of_its_model_and_decoding():
    records = [
        ResultRecord(model=m, metric="bleu", value=0.5, decoding={"temperature": t})
        for m in "abc"
        for t in (0.5, 0.7, 0.9)
    ]
    system = SimpleNamespace(model="b", decoding_key=records[4].decoding_key)
    assert system_files.records_of(SimpleNamespace(records=records), system) == [
        records[4]
    ]


def test_one_score_has_no_standard_error():
    record = ResultRecord(model="a", metric="bleu", value=0.5)
    few, two = (
        SimpleNamespace(
            scores=lambda _, n=n: np.full(n, 0.5), table=SimpleNamespace(names=["bleu"])
        )
        for n in (1, 2)
    )
    assert (
        system_files.standard_error(few, record),
        system_files.standard_error(two, record),
    ) == ("N/A", 0.0)


def test_names_of_files_are_short_and_never_empty():
    labels = [
        SimpleNamespace(label=label) for label in ("//", "_a_", "m" * 60, "m" * 61)
    ]
    assert list(system_files.name_systems(labels)) == [
        "system",
        "a",
        "m" * 60,
        "m" * 60 + "_2",
    ]
