"""Charts."""

from __future__ import annotations

import itertools
import sys
from types import SimpleNamespace
from typing import get_args

import numpy as np
import pytest

from harness.errors import MissingExtra
from harness.page.charts import chart
from harness.page.charts.chart import (
    BETTER,
    DARK,
    DIVERGING,
    DOUBLE,
    LIGHT,
    NEUTRAL,
    PAGE,
    PHONE,
    SEQUENTIAL,
    SHAPES,
    SINGLE,
    WHITE_TEXT,
    WHITE_TEXT_OF_R,
    WORSE,
    Chart,
    Layout,
    config,
)
from harness.page.charts.overview import overview
from tests.support.pinned import as_text, assert_pinned

PAPER = Layout(width=240, panel=50, font=8)
XYZ = np.array(
    [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
)
MACHADO = {  # Machado, Oliveira & Fernandes 2009, severity 1.0
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
}


def test_the_specification_is_that_of_a_page():
    chart = Chart(
        "one", "One", "A caption.", "views", lambda layout: {"width": layout.width}
    )
    assert chart.spec == {"width": PAGE.width}
    assert repr(chart) == "<chart one: One>"


def test_styles_and_layouts_are_what_they_were():
    names = (
        "LIGHT",
        "DARK",
        "BETTER",
        "WORSE",
        "NEUTRAL",
        "SEQUENTIAL",
        "DIVERGING",
        "WHITE_TEXT",
        "WHITE_TEXT_OF_R",
        "SHAPES",
        "DASHES",
    )
    layouts = {
        name: vars(getattr(chart, name))
        for name in ("PAGE", "WIDE", "PHONE", "SINGLE", "DOUBLE")
    }
    styles = {
        f"{name} {layout}": config(name, getattr(chart, layout))
        for name in get_args(chart.Name)
        for layout in ("PAGE", "SINGLE")
    }
    constants = {name: getattr(chart, name) for name in names}
    assert_pinned(
        "charts/looks.txt",
        as_text({"constants": constants, "layouts": layouts, "styles": styles}),
    )


def test_figures_of_one_and_of_two_columns_have_letters_of_one_size():
    assert SINGLE.font == DOUBLE.font


def test_capital_letters_and_characters_of_full_width_are_wider():
    layout = Layout(width=900, panel=200, font=10)
    assert [
        layout.text_width(text) for text in ("ab", "aB", "a語", "語語")
    ] == pytest.approx([10, 12, 12, 14])


def test_a_chart_is_an_altair_chart_with_the_fonts_of_the_light_style(captions_run):
    altair = pytest.importorskip("altair")
    drawn = overview(captions_run)[0].altair()
    assert isinstance(drawn, altair.LayerChart)
    assert drawn.to_dict()["config"]["background"] == "white"


def test_without_altair_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(
        MissingExtra,
        match=r"a chart in a notebook needs the package "
        r"'altair'.*caption-harness\[figures\]",
    ):
        Chart("one", "One", "A caption.", "views", lambda layout: {}).altair()


@pytest.mark.parametrize(("count", "columns"), [(1, 1), (3, 3), (5, 3), (9, 3)])
def test_rows_of_panels_are_even(count, columns):
    assert PAPER.columns(count) == columns


def test_as_many_panels_as_fit_exactly_stand_in_a_row():
    # four panels of 50 and three gaps of 16 take 248, three and two 182
    layout = Layout(width=232, panel=50, font=10)
    assert [layout.columns(count) for count in (1, 2, 3, 4, 6, 7)] == [1, 2, 3, 2, 3, 3]
    assert [
        Layout(width=width, panel=50, font=10).columns(4) for width in (247, 248)
    ] == [2, 4]
    assert Layout(width=10, panel=50, font=10).columns(3) == 1
    assert (
        layout.panel_width(3) == (232 - 32) / 3
        and layout.panel_width(3, spacing=1) == (232 - 2) / 3
    )
    assert layout.panel_width(20) == layout.panel_width(1, labels=300) == 20, (
        "two letters at least"
    )
    assert layout.label_space(["ab", "abcd", "abc"]) == 20


def test_labels_take_room_from_the_panels():
    assert PAPER.columns(6, labels=100) == 2
    assert PAPER.columns(6, labels=230) == 1
    assert PAPER.panel_width(1) == PAPER.width
    assert PAPER.panel_width(2, labels=100) == (240 - 100 - PAPER.gap) / 2


def test_a_panel_is_two_letters_wide_at_least():
    assert PAPER.panel_width(1, labels=225) == PAPER.panel_width(9, labels=1000) == 16


def test_a_figure_that_turned_out_wider_is_laid_out_narrower():
    trimmed = PAPER.trim_to(260)
    assert trimmed.panel_width(1) == PAPER.panel_width(1) - 20
    assert trimmed.trim_to(243).panel_width(1) == PAPER.panel_width(1) - 23


@pytest.mark.parametrize("layout", [PAGE, PHONE, SINGLE])
def test_names_that_have_no_room_are_never_cut_to_equal_ones(layout):
    model = "a-captioning-model-with-a-very-long-name-of-its-folder-and-of-its-training"
    names = [f"{model} T={t} n=5 max_length=20" for t in (0.5, 1, 1.5)] + [
        f"{model} T=1 n={n} max_length=20" for n in (3, 10)
    ]
    names += ["short", *(f"{'x' * 60}{middle}{'y' * 60}" for middle in "ab")]
    short = layout.short_names(names)
    drawn = [short.get(name, name) for name in names]
    assert len(set(drawn)) == len(names) and "short" not in short
    assert all(layout.text_width(text) < layout.label_limit for text in drawn[:5])
    assert drawn[0].startswith("a-cap") and drawn[0].endswith("max_length=20"[-5:])
    assert drawn[-1] == f"{drawn[-2]} #2"


def test_labels_have_a_limit():
    assert PAPER.label_space(["a" * 1000]) == PAPER.label_limit
    assert PAPER.label_space([]) == 0


def linear(colour: str) -> np.ndarray:
    c = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    t = XYZ @ rgb / np.array([0.95047, 1, 1.08883])
    f = np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def lightness(colour: str) -> float:
    return float(lab(linear(colour))[0])


def test_category_colours_differ_in_grey():
    for a, b in itertools.combinations(LIGHT, 2):
        assert abs(lightness(a) - lightness(b)) > 7


@pytest.mark.parametrize("kind", MACHADO)
@pytest.mark.parametrize(
    "colours",
    [LIGHT, DARK, (BETTER, WORSE, NEUTRAL)],
    ids=["light", "dark", "verdicts"],
)
def test_category_colours_differ_for_colour_blind_readers(kind, colours):
    for a, b in itertools.combinations(colours, 2):
        seen = [
            lab(np.clip(np.array(MACHADO[kind]) @ linear(colour), 0, 1))
            for colour in (a, b)
        ]
        assert np.linalg.norm(seen[0] - seen[1]) > 11, (a, b)


def test_category_colours_stand_out_from_their_background():
    assert all(lightness(colour) < 82 for colour in LIGHT)
    assert all(lightness(colour) > 55 for colour in DARK)


def test_scales_of_values_are_monotone_in_grey():
    steps = [lightness(colour) for colour in SEQUENTIAL]
    assert steps == sorted(steps, reverse=True)
    ends = [lightness(colour) for colour in DIVERGING]
    assert ends[0] < ends[1] < ends[2] > ends[3] > ends[4]


def test_styles_differ_in_background_and_inks():
    light, dark, paper = (config(name, PAGE) for name in ("light", "dark", "paper"))
    assert dark["background"] == "transparent"
    assert (
        lightness(dark["axis"]["labelColor"])
        > 80
        > lightness(light["axis"]["labelColor"])
    )
    assert paper["axis"]["labelColor"] == "#000000"
    assert [colours["style"]["halo"]["stroke"] for colours in (light, paper)] == [
        "white",
        "white",
    ]
    assert lightness(dark["style"]["halo"]["stroke"]) < 20
    assert len(set(SHAPES)) == len(LIGHT)


def test_texts_in_cells_have_contrast():
    """WCAG 2 asks for a contrast of 4.5 between text and background;
    colours are interpolated in CIELAB.
    """

    def luminance(color):
        parts = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def lightness(color):
        y = luminance(color)
        return 116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y

    for scale, low, rule in (
        (SEQUENTIAL, 0, WHITE_TEXT),
        (DIVERGING, -1, WHITE_TEXT_OF_R),
    ):
        ends = [lightness(color) for color in scale]
        for t in np.linspace(0, 1, 101):
            level = np.interp(t * (len(scale) - 1), range(len(scale)), ends)
            y = ((level + 16) / 116) ** 3
            place = SimpleNamespace(position=low + (1 - low) * t, r=low + (1 - low) * t)
            white = eval(rule.replace("||", "or"), {"datum": place})
            contrast = 1.05 / (y + 0.05) if white else (y + 0.05) / 0.05
            assert contrast > 4.5, (scale, t)
