"""Numbers and plots of correlation studies as files."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pytest

from harness.decisions.correlate.column_sources import read_columns
from harness.decisions.correlate.column_table import from_records
from harness.decisions.correlate.correlate import study
from harness.decisions.correlate.files import (
    _points,
    ranking,
    scatter,
    write_plots,
    write_study,
)
from harness.errors import InputError, UnknownName
from harness.page.charts.chart import Layout

RNG = np.random.default_rng(0)
TABLE = from_records(
    "table",
    [
        {
            "set": name,
            "a": float(i),
            "b": float(RNG.random()),
            "y": i + float(RNG.random()),
            "z": float(-i),
            "flat": 1.0,
        }
        for name in ("one", "two")
        for i in range(6)
    ],
)
NARROW = Layout(width=400, panel=50, font=10)
"""Two panels of 192 units, 45 of them for the axis, and 16 between them."""
STUDY = study(
    from_records("t", [{"a": i, "b": i * i, "flat": 1} for i in range(4)]),
    ["a", "flat"],
    ["b"],
    drop="never",
)


def plots(tmp_path, **options):
    item = study(TABLE, ["a", "b", "flat"], ["y", "z"], by="set")
    return write_plots(item, TABLE, tmp_path / "plots", by="set", **options)


@pytest.mark.slow
def test_files_are_png_and_svg(tmp_path):
    pytest.importorskip("vl_convert")
    files = plots(tmp_path, baseline="b")
    assert [file.name for file in files] == [
        f"{name}.{suffix}"
        for name in ("best", "baseline", "ranking")
        for suffix in ("png", "svg")
    ]
    assert all(
        file.read_bytes().startswith(b"\x89PNG" if file.suffix == ".png" else b"<svg")
        for file in files
    )
    best = files[1].read_text(encoding="utf-8")
    assert "nothing defined" not in best and "R² = 1.0000" in best
    width = float(re.search(r'width="([\d.]+)"', best)[1])
    assert int.from_bytes(files[0].read_bytes()[16:20]) == pytest.approx(
        3 * width, abs=3
    ), "three pixels per unit"
    assert [file.name for file in plots(tmp_path)][::2] == ["best.png", "ranking.png"]
    texts = {
        file.stem: file.read_text(encoding="utf-8")
        for file in files
        if file.suffix == ".svg"
    }
    assert [
        name
        for name, text in texts.items()
        if "R² = " in text and "nothing defined" not in text
    ] == ["best", "baseline"]


def test_points_and_line_are_those_of_the_table():
    item = study(TABLE, ["a", "b"], ["y"], by="set")
    data = scatter(item, TABLE, ["a"], "set", "best").spec["datasets"]
    assert [(point["x"], point["group"]) for point in data["points0"]] == [
        (float(i), name) for name in ("one", "two") for i in range(6)
    ]
    only = _points(item, TABLE, np.array(["one"] * 6 + ["two"] * 6), ["one"], "a", "y")
    assert {point["group"] for point in only["points"]} == {"one"}, (
        "without points of other groups"
    )
    colour = scatter(study(TABLE, ["a", "b"], ["y"]), TABLE, ["a"], None, "best").spec[
        "layer"
    ][1]["encoding"]["color"]
    assert colour["legend"] is None, "all points are of one group"
    slope, offset = np.polyfit(TABLE.numbers["a"], TABLE.numbers["y"], 1)
    assert [end["y"] for end in data["line0"]] == pytest.approx(
        [offset, 5 * slope + offset]
    )


def test_the_ranking_has_every_column_per_group():
    item = study(TABLE, ["a", "b"], ["y"], by="set")
    rows = ranking(item).spec["datasets"]["rows"]
    assert [row["place"] for row in rows if row["group"] == "all"] == [1, 2]
    best = [row["r2"] for row in rows if row["group"] == "all"]
    assert best == sorted(best, reverse=True)
    assert len(rows) == 2 * len(item.groups)


@pytest.mark.parametrize(
    ("baseline", "message"),
    [
        (
            "flat",
            "the baseline 'flat' is no column of the study: dropped, constant in one",
        ),
        ("bb", "the baseline 'bb' is no column of the study; did you mean 'b'?"),
    ],
)
def test_a_baseline_outside_the_study_is_an_error(tmp_path, baseline, message):
    with pytest.raises(UnknownName, match=message.replace("?", r"\?")):
        plots(tmp_path, baseline=baseline)
    assert not (tmp_path / "plots").exists()


def test_a_target_without_a_defined_correlation_is_drawn_empty(tmp_path):
    pytest.importorskip("vl_convert")
    item = study(TABLE, ["a"], ["flat"], drop="never")
    assert len(write_plots(item, TABLE, tmp_path)) == 4


def test_panels_of_points_have_axes_around_their_values_and_a_title():
    item = study(TABLE, ["a", "b"], ["z", "y"], by="set")
    chart = scatter(item, TABLE, ["a", None], "set", "best")
    spec = chart.build(NARROW)
    assert (chart.id, chart.title, chart.group) == ("best", "Scatter plots", "metrics")
    assert (spec["columns"], len(spec["concat"])) == (2, 2)
    drawn, empty = spec["concat"]
    assert (drawn["title"], empty["title"]) == ("R² = 1.0000", "y: nothing defined")
    assert [
        panel[name] for panel in (drawn, empty) for name in ("width", "height")
    ] == pytest.approx([147, 117.6] * 2)
    line, points = drawn["layer"]
    assert line["mark"] == {
        "type": "line",
        "color": "#808080",
        "strokeWidth": pytest.approx(1.2),
    }
    assert points["mark"] == {
        "type": "point",
        "filled": True,
        "opacity": 0.7,
        "size": 25,
    }
    assert [
        layer["data"]["name"] for panel in (drawn, empty) for layer in panel["layer"]
    ] == ["line0", "points0", "line1", "points1"]
    x, y = (
        {"domain": ends, "nice": False, "zero": False}
        for ends in ([-0.25, 5.25], [-5.25, 0.25])
    )
    for layer in (line, points):
        assert layer["encoding"]["x"]["axis"] == {
            "title": "a",
            "tickCount": 4,
            "format": ".6~g",
        }
        assert layer["encoding"]["y"]["axis"] == {
            "title": "z",
            "tickCount": 4,
            "format": ".6~g",
        }
        assert (layer["encoding"]["x"]["scale"], layer["encoding"]["y"]["scale"]) == (
            x,
            y,
        )
    assert points["encoding"]["color"]["legend"] == {
        "title": None,
        "orient": "bottom",
        "symbolOpacity": 1,
    }
    assert points["encoding"]["shape"]["scale"]["domain"] == ["one", "two"]
    channels = empty["layer"][0]["encoding"]
    assert (channels["x"]["axis"]["title"], channels["y"]["axis"]["title"]) == (
        None,
        "y",
    )
    assert spec["datasets"]["points1"] == spec["datasets"]["line1"] == []
    assert [tuple(end.values()) for end in spec["datasets"]["line0"]] == [
        (0, pytest.approx(0)),
        (5, pytest.approx(-5)),
    ]


def test_panels_of_the_ranking_have_a_line_per_group():
    item = study(TABLE, ["a", "b"], ["y", "z"], by="set")
    chart = ranking(item)
    spec = chart.build(NARROW)
    assert (chart.id, chart.title, chart.group, spec["columns"]) == (
        "ranking",
        "Ranking of the columns",
        "metrics",
        2,
    )
    assert [panel["title"] for panel in spec["concat"]] == ["y", "z"] and spec[
        "data"
    ] == {"name": "rows"}
    for panel in spec["concat"]:
        assert (panel["width"], panel["height"]) == pytest.approx((147, 117.6))
        assert panel["transform"] == [
            {"filter": {"field": "target", "equal": panel["title"]}}
        ]
        assert panel["mark"] == {"type": "line", "strokeWidth": pytest.approx(1.4)}
        x, y, color = (panel["encoding"][name] for name in ("x", "y", "color"))
        assert (x["field"], x["axis"]) == (
            "place",
            {
                "title": "columns, best first",
                "tickMinStep": 1,
                "format": "d",
                "grid": False,
            },
        )
        assert (y["field"], y["axis"]) == (
            "r2",
            {"title": "R²", "format": ".6~g", "tickCount": 5},
        )
        assert (x["scale"], y["scale"]) == ({"zero": False}, {"domain": [0, 1]})
        assert color["legend"] == {
            "title": None,
            "orient": "bottom",
            "symbolOpacity": 1,
        } and color["scale"]["domain"] == list(item.groups)
    rows = {
        (row["target"], row["place"], row["group"]): row["r2"]
        for row in spec["datasets"]["rows"]
    }
    one = np.corrcoef(TABLE.numbers["b"][:6], TABLE.numbers["z"][:6])[0, 1] ** 2
    assert (rows["z", 1, "one"], rows["z", 2, "one"]) == pytest.approx((1, one))
    alone = ranking(study(TABLE, ["a", "b"], ["y"])).build(NARROW)
    assert alone["encoding"]["color"]["legend"] is None and alone[
        "width"
    ] == pytest.approx(355)


def test_panels_stand_in_as_many_columns_as_have_room():
    """Beside an axis of 40 units are 5 panels of 50 units with 16 between them:
    six panels have two rows.
    """
    names = list("abcdef")
    table = from_records(
        "t",
        [
            {"x": i, **{name: i * k + i % 2 for k, name in enumerate(names)}}
            for i in range(6)
        ],
    )
    item = study(table, ["x"], names)
    specs = [
        scatter(item, table, ["x"] * 6, None, "best").build(NARROW),
        ranking(item).build(NARROW),
    ]
    assert [(spec["columns"], len(spec["concat"])) for spec in specs] == [
        (3, 6),
        (3, 6),
    ]
    assert [spec["concat"][0]["width"] for spec in specs] == pytest.approx(
        [(400 - 32) / 3 - 45] * 2
    )


def test_groups_of_any_name_have_points():
    table = from_records(
        "t",
        [{"set": name, "a": i, "y": i * i} for name in ("A", "z") for i in range(4)],
    )
    item = study(table, ["a"], ["y"], by="set")
    points = scatter(item, table, ["a"], "set", "best").spec["datasets"]["points0"]
    assert [point["group"] for point in points] == ["A"] * 4 + ["z"] * 4


@pytest.mark.parametrize("name", ["s.csv", "s.tsv", "deep/er/s.parquet", "s.json"])
def test_all_digits_are_written(tmp_path, name):
    path = write_study(STUDY, tmp_path / name)
    expected = STUDY.record("a", "b")["r"]
    if path.suffix == ".json":
        assert json.loads(path.read_text())["correlations"][0]["r"] == expected
        return
    table = read_columns([path])
    assert (
        table.labels["x"][0] == "a"
        and table.numbers["r"][0] == expected
        and table.numbers["n"][0] == 4
    )


def test_undefined_numbers_are_empty_or_null(tmp_path):
    rows = [
        {"set": name, "a": i if name == "one" else 9, "b": i * i}
        for name in ("one", "two")
        for i in range(4)
    ]
    item = study(from_records("t", rows), ["a"], ["b"], by="set", drop="never")
    header, _, flat, _ = write_study(item, tmp_path / "s.CSV").read_text().splitlines()
    assert (header, flat) == ("x,y,group,n,r,r2,p,spearman,kendall", "a,b,two,4,,,,,")
    assert (
        write_study(item, tmp_path / "s.tsv").read_text().splitlines()[2]
        == "a\tb\ttwo\t4\t\t\t\t\t"
    )
    written = json.loads(write_study(item, tmp_path / "s.json").read_text())
    assert (written["source"], written["by"], len(written["correlations"])) == (
        "t",
        "set",
        3,
    )
    assert written["correlations"][1] == {
        "x": "a",
        "y": "b",
        "group": "two",
        "n": 4,
    } | dict.fromkeys(("r", "r2", "p", "spearman", "kendall"))


def test_another_suffix(tmp_path):
    with pytest.raises(InputError, match="ends with '.xlsx'; expected .csv"):
        write_study(STUDY, tmp_path / "s.xlsx")


def test_tables_have_a_row_per_pair_and_group(tmp_path):
    found = study(TABLE, ["a", "b"], ["y"], by="set")
    expected = [
        ["" if value is None else str(value) for value in record.values()]
        for record in found.records()
    ]
    for suffix, delimiter in ((".csv", ","), (".TSV", "\t")):
        rows = list(
            csv.reader(
                write_study(found, tmp_path / f"s{suffix}").open(encoding="utf-8"),
                delimiter=delimiter,
            )
        )
        assert (
            rows[0]
            == list(found.records()[0])
            == ["x", "y", "group", "n", "r", "r2", "p", "spearman", "kendall"]
        )
        assert rows[1:] == expected and len(rows) == 1 + 2 * 3
    content = json.loads(write_study(found, tmp_path / "s.json").read_text())
    assert (content["source"], content["by"], len(content["correlations"])) == (
        "table",
        "set",
        6,
    )


def test_panels_say_how_well_the_line_fits():
    table = from_records(
        "t",
        [
            {"a": a, "flat": 1.0, "y": y}
            for a, y in ((0.0, 1.0), (1.0, 2.0), (2.0, 6.0), (np.nan, 9.0))
        ],
    )
    found = study(table, ["a"], ["y", "flat"], drop="never")
    spec = scatter(found, table, ["a", "a"], None, "best").spec
    # 1.5 of 14 beside y = 0.5 + 2.5 x
    assert [panel["title"] for panel in spec["concat"]] == [
        "R² = 0.8929",
        "R² undefined",
    ]
    data = spec["datasets"]
    assert data["points0"] == [
        {"x": x, "y": y, "group": "all"}
        for x, y in ((0.0, 1.0), (1.0, 2.0), (2.0, 6.0))
    ]
    assert [(end["x"], end["y"]) for end in data["line0"]] == [
        pytest.approx((0.0, 0.5)),
        pytest.approx((2.0, 5.5)),
    ]
    x, y = (spec["concat"][0]["layer"][1]["encoding"][name] for name in "xy")
    assert (x["axis"]["title"], y["axis"]["title"]) == ("a", "y")
    assert (x["scale"]["domain"], y["scale"]["domain"]) == (
        pytest.approx([-0.1, 2.1]),
        pytest.approx([0.75, 6.25]),
    )
    empty = scatter(study(table, ["a"], ["y"]), table, [None], None, "best").spec
    assert (empty["title"], empty["datasets"]) == (
        "y: nothing defined",
        {"points0": [], "line0": []},
    )
    assert [empty["layer"][1]["encoding"][name]["axis"]["title"] for name in "xy"] == [
        None,
        "y",
    ]


def test_groups_have_a_legend_and_targets_a_panel_each():
    found = study(TABLE, ["a", "b"], ["y", "z"], by="set")
    chart = scatter(found, TABLE, ["a", "b"], "set", "best")
    assert (chart.id, chart.caption) == (
        "best",
        "One point per row of the table; the line is that of least squares over all "
        "points.",
    )
    assert len(chart.spec["concat"]) == 2 == chart.spec["columns"]
    color = chart.spec["concat"][0]["layer"][1]["encoding"]["color"]
    assert color["scale"]["domain"] == ["one", "two"] and color["legend"] == {
        "title": None,
        "orient": "bottom",
        "symbolOpacity": 1,
    }
    ranked = ranking(found)
    assert [panel["title"] for panel in ranked.spec["concat"]] == ["y", "z"]
    first = [
        row
        for row in ranked.spec["datasets"]["rows"]
        if row["target"] == "z" and row["group"] == "all"
    ]
    assert [(row["place"], row["r2"]) for row in first] == [
        (1, pytest.approx(1.0)),
        (2, pytest.approx(found.record("b", "z")["r2"])),
    ]
    assert ranked.spec["concat"][0]["encoding"]["color"]["legend"] == {
        "title": None,
        "orient": "bottom",
        "symbolOpacity": 1,
    }
    alone = ranking(study(TABLE, ["a", "b"], ["y"])).spec
    assert alone["encoding"]["color"]["legend"] is None and alone["title"] == "y"
