"""Protocols of ActivityNet Captions and its descendants by hand."""

from __future__ import annotations

import pytest

from harness.contracts import Event, EventSet
from harness.errors import InputError
from tests.plugins.dense.test_metric import number, one_video


def test_an_overlap_of_exactly_the_threshold_is_below_it():
    reference = [("a dog runs", 10.0, 20.0)]
    exact = one_video(
        [("a dog runs", 10.0, 15.0)],
        reference,
        protocol="activitynet-2018",
        text="rouge",
        tious=[0.5],
    )
    above = one_video(
        [("a dog runs", 10.0, 15.01)],
        reference,
        protocol="activitynet-2018",
        text="rouge",
        tious=[0.5],
    )
    assert (exact, above) == (0.0, 1.0)


def test_an_unmatched_prediction_is_paired_once_or_per_file():
    system = [("a dog runs", 0.0, 10.0)]
    far = [("a dog runs", 50.0, 60.0)]
    near = [("a dog runs", 0.0, 10.0)]
    # 2017: the first file has no match, which makes one pair with the garbage
    values = [
        one_video(system, far, near, protocol=f"activitynet-{year}", text="rouge")
        for year in (2017, 2018)
    ]
    assert values == pytest.approx([0.5, 1.0])
    swapped = one_video(system, near, far, protocol="activitynet-2017", text="rouge")
    assert swapped == pytest.approx(1.0)


def test_precision_and_recall_are_the_largest_over_files_each_for_itself():
    system = [("a", 0.0, 10.0), ("b", 20.0, 30.0)]
    first = [("a", 0.0, 10.0), ("b", 20.0, 30.0), ("c", 50.0, 60.0), ("d", 70.0, 80.0)]
    second = [("a", 0.0, 10.0)]
    params = {"protocol": "activitynet-2018"}
    assert one_video(system, first, second, measure="precision", **params) == 1.0
    assert one_video(system, first, second, measure="recall", **params) == 1.0


def test_missing_counts_zero_and_vidchapters_leaves_it_out():
    event = Event("a dog runs", (0.0, 10.0))
    references = {k: [EventSet((event,)).to_text()] for k in "ab"}
    candidates = {
        "a": [EventSet((event,)).to_text()],
        "b": [EventSet((), missing=True).to_text()],
    }
    values = [
        number(candidates, references, protocol=name, text="rouge")
        for name in ("activitynet-2018", "vidchapters", "soda-c", "matched")
    ]
    assert values == pytest.approx([0.5, 1.0, 1.0, 0.5])
    empty = {**candidates, "b": [EventSet(()).to_text()]}
    assert number(
        empty, references, protocol="vidchapters", text="rouge"
    ) == pytest.approx(0.5)


def test_vidchapters_makes_f1_of_the_mean_precision_and_recall():
    def texts(*times):
        return [EventSet(tuple(Event("a", time) for time in times)).to_text()]

    references = {"a": texts((0.0, 10.0)), "b": texts((0.0, 10.0), (20.0, 30.0))}
    candidates = {
        "a": texts((0.0, 10.0), (50.0, 60.0)),
        "b": texts((0.0, 10.0)),
    }
    # precision 1/2 and 1, recall 1 and 1/2: both means are 3/4, not 2/3
    params = {"measure": "f1", "tious": [0.5]}
    assert number(
        candidates, references, protocol="vidchapters", **params
    ) == pytest.approx(0.75)
    assert number(
        candidates, references, protocol="vid2seq", **params
    ) == pytest.approx(2 / 3)
    starts = {"protocol": "vidchapters", "measure": "recall", "seconds": [1.0]}
    assert number(candidates, references, **starts) == pytest.approx(0.75)


def test_vid2seq_exchanges_start_and_end_and_others_refuse():
    reference = [("a dog runs", 0.0, 10.0)]
    system = [("a dog runs", 10.0, 0.0)]
    value = one_video(system, reference, protocol="vid2seq", text="rouge")
    assert value == pytest.approx(1.0)
    with pytest.raises(InputError, match="event 1 ends at 0 before it starts at 10"):
        one_video(system, reference, protocol="activitynet-2018")
