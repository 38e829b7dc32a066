"""Planes of two questions, and the places of labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.reporting.charts import planes as planes_module
from harness.reporting.charts.planes import label_places, metric_questions, plane_chart, plane_points, planes
from harness.rundir.records import ResultRecord
from tests.support.pinned import as_text, assert_pinned


def records(points, directions=(True, True)):
    return [
        ResultRecord(model=model, metric=metric, value=value, higher_is_better=direction, ci95=(value - 1, value + 1))
        for model, values in points.items()
        for metric, value, direction in zip(("x", "y"), values, directions)
    ]


def frontier(points, directions=(True, True)):
    rows = plane_points(records(points, directions), "x", "y")
    return {row["system"] for row in rows if row["frontier"] is not None}


def test_the_frontier_has_the_systems_that_no_other_surpasses_in_both():
    points = {"a": (1, 9), "b": (5, 5), "c": (4, 4), "d": (9, 1), "e": (9, 0.5)}
    assert frontier(points) == {"a", "b", "d"}
    assert frontier(points, (False, False)) == {"a", "c", "e"}
    assert frontier(points, (True, False)) == {"e"}


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=2, max_size=12))
def test_the_frontier_is_that_of_the_definition(values):
    points = {str(k): tuple(map(float, value)) for k, value in enumerate(values)}
    best = frontier(points)
    for name, (x, y) in points.items():
        dominated = any((a >= x and b >= y) and (a > x or b > y) for a, b in points.values())
        assert not (dominated and name in best)
        if not dominated:
            assert any(points[other] == (x, y) for other in best)


def test_systems_without_both_values_are_left_out():
    rows = plane_points([*records({"a": (1, 2)}), *records({"b": (float("nan"), 2)}), *records({"c": (1, 2)})[:1]], "x", "y")
    assert [row["system"] for row in rows] == ["a"]


def test_a_plane_needs_two_systems_with_both_values():
    one = [*records({"a": (1, 2)}), *records({"b": (float("nan"), 2)})]
    assert plane_chart(one, "x", "y", "title", "caption", "views") is None
    assert plane_chart([*one, *records({"c": (3, 1)})], "x", "y", "title", "caption", "views") is not None


def test_several_systems_of_one_model_have_a_legend_where_a_label_has_no_room(monkeypatch):
    several = [replace(record, decoding={"temperature": k}) for k in range(3) for record in records({"a": (k, -k)})]
    monkeypatch.setattr(planes_module, "MOST_LABELS", 1)
    chart = plane_chart(several, "x", "y", "title", "caption", "views")
    assert chart.spec["layer"][-1]["encoding"]["color"]["legend"]["orient"] == "bottom"
    monkeypatch.setattr(planes_module, "MOST_LABELS", 3)
    assert plane_chart(several, "x", "y", "title", "caption", "views").spec["datasets"]["labels"]


def test_every_question_stands_against_the_first(captions_run):
    assert list(metric_questions(captions_run)) == ["bleu1", "rouge", "mbleu4", "trm(bleu)"]
    assert [(chart.id, chart.title) for chart in planes(captions_run)] == [
        ("plane-1", "BLEU-1 against mBLEU-4"),
        ("plane-2", "BLEU-1 against TRM (BLEU)"),
    ]


def test_two_systems_have_planes_and_one_has_none(captions_run):
    models = list(dict.fromkeys(record.model for record in captions_run.records))
    few = [replace(captions_run, records=tuple(r for r in captions_run.records if r.model in models[:count])) for count in (1, 2)]
    assert [len(planes(run)) for run in few] == [0, 2]


@given(st.lists(st.tuples(st.floats(0, 300), st.floats(0, 200)), min_size=1, max_size=10), st.integers(1, 12))
def test_labels_overlap_neither_labels_nor_points(places, length):
    points, size, height = np.array(places), (300.0, 200.0), 9.0
    widths = [4.0 * length] * len(points)
    boxes = [
        None if centre is None else (centre[0] - w / 2, centre[1] - height / 2, centre[0] + w / 2, centre[1] + height / 2)
        for centre, w in zip(label_places(points, widths, height, size), widths)
    ]
    drawn = [box for box in boxes if box is not None]
    for k, a in enumerate(drawn):
        assert a[0] >= 0 and a[1] >= 0 and a[2] <= 300 and a[3] <= 200
        assert not any(a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3] for b in drawn[k + 1 :])
    for k, box in enumerate(boxes):
        if box is not None:
            assert not any(box[0] < x < box[2] and box[1] < y < box[3] for j, (x, y) in enumerate(points) if j != k)


def test_a_point_alone_has_its_label_above():
    ((x, y),) = label_places(np.array([[100.0, 100.0]]), [40.0], 10.0, (200.0, 200.0))
    assert x == pytest.approx(100)
    assert y > 100


def test_a_label_keeps_a_margin_from_the_point_above():
    """Above the first point its label would lie within 0.3 heights of the second one."""
    for above in (52.0, 53.5):
        first, _ = label_places(np.array([[50.0, 50.0], [50.0, above]]), [8.0, 8.0], 2.0, (100.0, 100.0))
        assert first == pytest.approx((50, 48))
    first, _ = label_places(np.array([[50.0, 50.0], [50.0, 53.7]]), [8.0, 8.0], 2.0, (100.0, 100.0))
    assert first == pytest.approx((50, 52))


@pytest.mark.parametrize(("x", "y"), [(19.5, 50.0), (180.5, 50.0), (50.0, 184.5), (50.0, 15.5)])
def test_no_label_leaves_the_plot_by_half_a_unit(x, y):
    ((centre_x, centre_y),) = label_places(np.array([[x, y]]), [40.0], 10.0, (200.0, 200.0))
    assert 20 <= centre_x <= 180
    assert 5 <= centre_y <= 195


def test_labels_of_crowded_points_are_where_they_were():
    points = np.array([[7 * k % 60, 11 * k % 47] for k in range(24)], dtype=float)
    places = label_places(points, [4.0 + 3 * (k % 4) for k in range(24)], 4.0, (60.0, 47.0))
    assert None in places
    assert_pinned("charts/labels.txt", as_text([place and list(place) for place in places]))


@pytest.mark.parametrize(("x", "centre"), [(20.0, 46.0), (180.0, 154.0)])
def test_in_a_flat_plane_a_label_stands_on_the_side_that_has_room(x, centre):
    ((place, y),) = label_places(np.array([[x, 5.0]]), [40.0], 10.0, (200.0, 10.0))
    assert (place, y) == pytest.approx((centre, 5.0))


@pytest.mark.parametrize(("y", "centre"), [(100.0, 120.0), (185.0, 165.0)])
def test_a_label_without_room_beside_its_point_is_centred_two_heights_away(y, centre):
    """Other points stand wherever the label would touch its own point; the first point is near the upper edge, or is not."""
    point = np.array([100.0, y])
    others = point + np.array([[x, dy] for x in (-30, 30) for dy in (-10, 0, 10)] + [[0, -10], [0, 10]])
    first, *_ = label_places(np.array([point, *others]), [40.0] + [1.0] * len(others), 10.0, (200.0, 200.0))
    assert first == pytest.approx((100.0, centre))
