"""Planes of two questions, and the places of labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.page.charts import planes as planes_module
from harness.page.charts.chart import PAGE, PHONE
from harness.page.charts.planes import (
    label_places,
    metric_questions,
    plane_chart,
    plane_points,
    planes,
)
from harness.run.finished import Run
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.samples import SampleTable
from tests.support.pinned import as_text, assert_pinned

ENTRIES = [
    ("bleu1", "bleu1"),
    ("rouge", "rouge"),
    ("undirected", "distinct"),
    ("gone", "no/such-metric"),
    ("variety", "distinct"),
    ("mmd", "mmd"),
    ("fit", "clipscore"),
    ("corpus", "mauve"),
]
"""Labels of metrics and their components."""


def records(points, directions=(True, True)):
    return [
        ResultRecord(
            model=model,
            metric=metric,
            value=value,
            higher_is_better=direction,
            ci95=(value - 1, value + 1),
        )
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


@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=2, max_size=12)
)
def test_the_frontier_is_that_of_the_definition(values):
    points = {str(k): tuple(map(float, value)) for k, value in enumerate(values)}
    best = frontier(points)
    for name, (x, y) in points.items():
        dominated = any(
            (a >= x and b >= y) and (a > x or b > y) for a, b in points.values()
        )
        assert not (dominated and name in best)
        if not dominated:
            assert any(points[other] == (x, y) for other in best)


def test_systems_without_both_values_are_left_out():
    rows = plane_points(
        [
            *records({"a": (1, 2)}),
            *records({"b": (float("nan"), 2)}),
            *records({"c": (1, 2)})[:1],
        ],
        "x",
        "y",
    )
    assert [row["system"] for row in rows] == ["a"]


def test_a_plane_needs_two_systems_with_both_values():
    one = [*records({"a": (1, 2)}), *records({"b": (float("nan"), 2)})]
    assert plane_chart(one, "x", "y", "title", "caption", "views") is None
    assert (
        plane_chart(
            [*one, *records({"c": (3, 1)})], "x", "y", "title", "caption", "views"
        )
        is not None
    )


def test_several_systems_of_one_model_have_a_legend_where_a_label_has_no_room(
    monkeypatch,
):
    several = [
        replace(record, decoding={"temperature": k})
        for k in range(3)
        for record in records({"a": (k, -k)})
    ]
    monkeypatch.setattr(planes_module, "MOST_LABELS", 1)
    chart = plane_chart(several, "x", "y", "title", "caption", "views")
    assert chart.spec["layer"][-1]["encoding"]["color"]["legend"]["orient"] == "bottom"
    monkeypatch.setattr(planes_module, "MOST_LABELS", 3)
    assert plane_chart(several, "x", "y", "title", "caption", "views").spec["datasets"][
        "labels"
    ]


def test_every_question_stands_against_the_first(captions_run):
    assert list(metric_questions(captions_run)) == [
        "bleu1",
        "rouge",
        "mbleu4",
        "trm(bleu)",
    ]
    assert [(chart.id, chart.title) for chart in planes(captions_run)] == [
        ("plane-1", "BLEU-1 against mBLEU-4"),
        ("plane-2", "BLEU-1 against TRM (BLEU)"),
    ]


def test_a_run_has_three_planes_at_most_and_metrics_that_are_not_installed_none():
    labels = ["not-installed", "bleu1", "mbleu", "trm", "chair-s", "coverage"]
    entries = [
        {"name": label, "label": label, "params": {}, "signature": ""}
        for label in labels
    ]
    made = [
        ResultRecord(model=m, metric=x, value=float(m == "a"), higher_is_better=True)
        for m in "ab"
        for x in labels
    ]
    run = Run(Provenance({"metrics": entries}), made, SampleTable.empty())
    assert list(metric_questions(run)) == labels[1:]
    assert [chart.id for chart in planes(run)] == ["plane-1", "plane-2", "plane-3"]
    few = replace(run, provenance=Provenance({"metrics": entries[1:3]}))
    (chart,) = planes(few)
    assert (chart.id, chart.title, chart.group) == (
        "plane",
        "BLEU-1 against mBLEU",
        "trade-offs",
    )
    assert chart.caption == (
        "Across, BLEU-1: does a caption agree with its references? Up, mBLEU: "
        "how varied are the candidates? Better is to the right and "
        "up. Bars are 95 % intervals; the line joins the systems that no other one "
        "surpasses in both."
    )


def test_forty_nine_models_have_a_legend():
    for count, legend in ((49, True), (50, False)):
        chart = plane_chart(
            records({f"m{k}": (k, -k) for k in range(count)}),
            "x",
            "y",
            "title",
            "caption",
            "views",
        )
        assert (
            chart.spec["layer"][-1]["encoding"]["color"]["legend"] is not None
        ) is legend
        assert chart.spec["datasets"]["labels"] == []


def test_two_systems_have_planes_and_one_has_none(captions_run):
    models = list(dict.fromkeys(record.model for record in captions_run.records))
    few = [
        replace(
            captions_run,
            records=tuple(r for r in captions_run.records if r.model in models[:count]),
        )
        for count in (1, 2)
    ]
    assert [len(planes(run)) for run in few] == [0, 2]


@given(
    st.lists(st.tuples(st.floats(0, 300), st.floats(0, 200)), min_size=1, max_size=10),
    st.integers(1, 12),
)
def test_labels_overlap_neither_labels_nor_points(places, length):
    points = np.array(places)
    size = (300.0, 200.0)
    height = 9.0
    widths = [4.0 * length] * len(points)
    boxes = [
        None
        if centre is None
        else (
            centre[0] - w / 2,
            centre[1] - height / 2,
            centre[0] + w / 2,
            centre[1] + height / 2,
        )
        for centre, w in zip(label_places(points, widths, height, size), widths)
    ]
    drawn = [box for box in boxes if box is not None]
    for k, a in enumerate(drawn):
        assert a[0] >= 0 and a[1] >= 0 and a[2] <= 300 and a[3] <= 200
        assert not any(
            a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
            for b in drawn[k + 1 :]
        )
    for k, box in enumerate(boxes):
        if box is not None:
            assert not any(
                box[0] < x < box[2] and box[1] < y < box[3]
                for j, (x, y) in enumerate(points)
                if j != k
            )


def test_a_point_alone_has_its_label_above():
    ((x, y),) = label_places(np.array([[100.0, 100.0]]), [40.0], 10.0, (200.0, 200.0))
    assert x == pytest.approx(100)
    assert y > 100


def test_a_label_keeps_a_margin_from_the_point_above():
    """Above the first point its label would lie within 0.3 heights of the second
    one.
    """
    for above in (52.0, 53.5):
        first, _ = label_places(
            np.array([[50.0, 50.0], [50.0, above]]), [8.0, 8.0], 2.0, (100.0, 100.0)
        )
        assert first == pytest.approx((50, 48))
    first, _ = label_places(
        np.array([[50.0, 50.0], [50.0, 53.7]]), [8.0, 8.0], 2.0, (100.0, 100.0)
    )
    assert first == pytest.approx((50, 52))


@pytest.mark.parametrize(
    ("x", "y"), [(19.5, 50.0), (180.5, 50.0), (50.0, 184.5), (50.0, 15.5)]
)
def test_no_label_leaves_the_plot_by_half_a_unit(x, y):
    ((centre_x, centre_y),) = label_places(
        np.array([[x, y]]), [40.0], 10.0, (200.0, 200.0)
    )
    assert 20 <= centre_x <= 180
    assert 5 <= centre_y <= 195


def test_labels_of_crowded_points_are_where_they_were():
    points = np.array([[7 * k % 60, 11 * k % 47] for k in range(24)], dtype=float)
    places = label_places(
        points, [4.0 + 3 * (k % 4) for k in range(24)], 4.0, (60.0, 47.0)
    )
    assert None in places
    assert_pinned(
        "charts/labels.txt", as_text([place and list(place) for place in places])
    )


@pytest.mark.parametrize(("sign", "centre"), [(1, (126.0, 185.0)), (-1, (74.0, 185.0))])
def test_a_label_without_room_above_below_and_beside_its_point_stands_below_one_side(
    sign, centre
):
    others = np.array([[-sign * 15, -10.0], [40, 3], [-40, 3]])
    first, *_ = label_places(
        np.array([100.0, 195.0]) + np.vstack([[0.0, 0.0], others]),
        [40.0, 1, 1, 1],
        10.0,
        (200.0, 200.0),
    )
    assert first == pytest.approx(centre)


@pytest.mark.parametrize(("x", "centre"), [(20.0, 46.0), (180.0, 154.0)])
def test_in_a_flat_plane_a_label_stands_on_the_side_that_has_room(x, centre):
    ((place, y),) = label_places(np.array([[x, 5.0]]), [40.0], 10.0, (200.0, 10.0))
    assert (place, y) == pytest.approx((centre, 5.0))


@pytest.mark.parametrize(("y", "centre"), [(100.0, 120.0), (185.0, 165.0)])
def test_a_label_without_room_beside_its_point_is_centred_two_heights_away(y, centre):
    """Other points stand wherever the label would touch its own point; the first point
    is near the upper edge, or is not.
    """
    point = np.array([100.0, y])
    others = point + np.array(
        [[x, dy] for x in (-30, 30) for dy in (-10, 0, 10)] + [[0, -10], [0, 10]]
    )
    first, *_ = label_places(
        np.array([point, *others]), [40.0] + [1.0] * len(others), 10.0, (200.0, 200.0)
    )
    assert first == pytest.approx((100.0, centre))


def asked(labels, models="ab"):
    """A run with values of these metrics, of which one has no direction."""
    metrics = [
        {"label": label, "name": name, "params": {}, "signature": label}
        for label, name in ENTRIES
        if label in labels
    ]
    rows = [
        ResultRecord(
            model=model,
            metric=label,
            value=float(k),
            higher_is_better=None if label == "undirected" else True,
        )
        for k, model in enumerate(models)
        for label in labels
    ]
    return Run(Provenance({"metrics": metrics}), tuple(rows), SampleTable.empty())


def test_metrics_without_a_direction_and_those_not_installed_answer_no_question():
    assert metric_questions(asked(["undirected", "gone", "variety", "rouge"])) == {
        "rouge": "Does a caption agree with its references?",
        "variety": "How varied are the candidates?",
    }


def test_three_questions_at_most_stand_against_the_first():
    charts = planes(asked(["rouge", "bleu1", "variety", "mmd", "fit", "corpus"]))
    assert [(chart.id, chart.title) for chart in charts] == [
        ("plane-1", "BLEU-1 against variety"),
        ("plane-2", "BLEU-1 against MMD"),
        ("plane-3", "BLEU-1 against fit"),
    ]
    assert charts[0].caption == (
        "Across, BLEU-1: does a caption agree with its references? Up, variety: "
        "how varied are the candidates? Better is to the right "
        "and up. Bars are 95 % intervals; the line joins the systems that no other "
        "one surpasses in both."
    )
    (only,) = planes(asked(["rouge", "variety"]))
    assert (only.id, only.title, only.group) == (
        "plane",
        "ROUGE-L (COCO) against variety",
        "trade-offs",
    )
    assert planes(asked(["rouge", "bleu1"])) == [], "one question"
    assert planes(asked(["rouge", "variety"], models="a")) == [], "one system"


def test_points_have_values_intervals_and_their_place_on_the_frontier():
    rows = plane_points(
        [
            *records({"a": (1, 9), "b": (5, 5), "c": (5, 4)}),
            *records({"d": (9, 1)}, (True, True)),
        ],
        "x",
        "y",
    )
    assert [row["frontier"] for row in rows] == [3, 1, None, 0]
    assert rows[0] == {
        "system": "a",
        "model": "a",
        "frontier": 3,
        "sx": 1.0,
        "sy": 9.0,
        "x": 1,
        "x_low": 0,
        "x_high": 2,
        "x_text": "1.0000 (0.0000 … 2.0000)",
        "y": 9,
        "y_low": 8,
        "y_high": 10,
        "y_text": "9.0000 (8.0000 … 10.00)",
    }
    (bare,) = plane_points(
        [
            replace(record, ci95=None, higher_is_better=False)
            for record in records({"a": (1, 2)})
        ],
        "x",
        "y",
    )
    assert (bare["sx"], bare["sy"], bare["x_low"], bare["y_text"]) == (
        -1.0,
        -2.0,
        None,
        "2.0000 (–)",
    )


def line_of(count: int, dominated: int = 0):
    """Points of a frontier, and points that the first one surpasses."""
    return {f"p{k}": (10.0 * k, -10.0 * k) for k in range(count)} | {
        f"q{k}": (-20.0 - 10 * k, -10.0 * k) for k in range(dominated)
    }


@pytest.mark.parametrize(
    ("points", "count"),
    [(line_of(16), 16), (line_of(17), 0), (line_of(2, 15), 2), (line_of(16, 1), 16)],
)
def test_points_have_names_where_they_are_few_else_those_of_the_frontier(points, count):
    chart = plane_chart(records(points), "x", "y", "title", "caption", "views")
    labels = chart.spec["datasets"]["labels"]
    assert [label["system"] for label in labels] == list(points)[:count]
    legend = chart.spec["layer"][3]["encoding"]["color"]["legend"]
    assert (legend is None) is (count == len(points)), (
        "without a legend where all points have names"
    )


@pytest.mark.parametrize(("count", "shown"), [(49, True), (50, False)])
def test_as_many_models_as_looks_have_a_legend(count, shown):
    chart = plane_chart(records(line_of(count)), "x", "y", "title", "caption", "views")
    assert (chart.spec["layer"][3]["encoding"]["color"]["legend"] is not None) is shown


@pytest.mark.parametrize(
    "directions", [(True, True), (False, True), (True, False), (None, False)]
)
def test_names_stand_above_their_points_also_on_reversed_axes(directions):
    chart = plane_chart(
        records({"a": (10, 10), "b": (30, 30)}, directions),
        "x",
        "y",
        "title",
        "caption",
        "views",
    )
    spec = chart.spec
    for channel, direction in zip("xy", directions):
        assert spec["layer"][3]["encoding"][channel]["scale"]["reverse"] is (
            direction is False
        )
    labels = spec["datasets"]["labels"]
    assert [label["system"] for label in labels] == ["a", "b"]
    for label, place in zip(labels, (10, 30)):
        assert label["x"] == pytest.approx(place)
        assert (label["y"] < place) is (directions[1] is False)
        low, high = spec["layer"][3]["encoding"]["y"]["scale"]["domain"]
        assert abs(label["y"] - place) == pytest.approx(
            1.1 * PAGE.font * (high - low) / spec["height"]
        )


def test_a_plane_is_no_wider_than_forty_six_letters():
    for layout, width in ((PAGE, 46 * 12), (PHONE, 340 - 44)):
        spec = plane_chart(
            records({"a": (10, 10), "b": (30, 30)}),
            "x",
            "y",
            "title",
            "caption",
            "views",
        ).build(layout)
        assert (spec["width"], spec["height"]) == pytest.approx((width, 0.72 * width))


@pytest.mark.parametrize(
    ("more", "centre"),
    [([], (126, 90)), ([[126, 88]], (74, 90)), ([[126, 88], [74, 88]], (100, 120))],
)
def test_a_label_stands_below_to_the_side_where_there_is_no_other_room(more, centre):
    others = [
        [100, 112],
        [100, 88],
        [128, 100],
        [72, 100],
        [126, 112],
        [74, 112],
        *more,
    ]
    first, *_ = label_places(
        np.array([[100.0, 100.0], *others]),
        [40.0] + [1.0] * len(others),
        10.0,
        (200.0, 200.0),
    )
    assert first == pytest.approx(centre)
