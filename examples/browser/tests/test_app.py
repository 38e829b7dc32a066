"""The browser of examples, driven by keys."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("textual")

from caption_browser.app import ExampleBrowser, ScoreList, cell, detail_text
from caption_browser.example_list import ExampleList
from textual.pilot import Pilot
from textual.widgets import Static

from harness.results import SampleTable


def drive(run, script: Callable[[ExampleBrowser, Pilot], Awaitable[None]], **options):
    async def body() -> None:
        app = ExampleBrowser(run, **options)
        async with app.run_test(size=(110, 32)) as pilot:
            await pilot.pause()
            await script(app, pilot)

    asyncio.run(body())


def lines(app: ExampleBrowser) -> list[str]:
    view = app.query_one(ScoreList)
    return [view.render_line(y).text for y in range(view.size.height)]


def texts(app: ExampleBrowser) -> str:
    return str(app.query_one("#texts", Static).content)


def test_keys_change_metric_order_and_direction(captions_run):
    examples = ExampleList(captions_run)

    async def script(app, pilot):
        assert app.metric == "bleu1"
        assert lines(app)[0].split()[:3] == ["example", "people", "central"]
        await pilot.press("m", "s", "s", "s", "r")
        assert (app.metric, app.sort, app.descending) == ("rouge", 1, False)
        expected = np.argsort(examples.values("rouge")[1], kind="stable")
        assert list(app.query_one(ScoreList).order) == list(expected)
        assert lines(app)[1].startswith(examples.ids[expected[0]])
        await pilot.press("M", "S")
        assert (app.metric, app.sort) == ("bleu1", 0)

    drive(captions_run, script)


def test_the_cursor_shows_the_texts_of_its_example(captions_run):
    examples = ExampleList(captions_run)

    async def script(app, pilot):
        await pilot.press("down", "j", "down", "k")
        await pilot.pause()
        assert app.query_one(ScoreList).selected == 2
        assert texts(app) == detail_text(examples.detail(2), "bleu1").plain
        await pilot.press("end")
        await pilot.pause()
        assert app.query_one(ScoreList).selected == len(examples) - 1
        assert any(line.startswith(examples.ids[-1]) for line in lines(app))
        await pilot.press("down", "home", "up")
        assert app.query_one(ScoreList).selected == 0

    drive(captions_run, script)


def test_a_search_filters_and_escape_shows_all(captions_run):
    async def script(app, pilot):
        await pilot.press("slash", *"diff>0.2", "enter")
        await pilot.pause()
        shown = app.query_one(ScoreList).order
        assert list(shown) == list(
            ExampleList(captions_run).order("bleu1", query="diff>0.2")
        )
        assert f"{len(shown)} of 16 examples · search: diff>0.2" in app.state(
            len(shown)
        )
        await pilot.press("slash", *"nosuchword", "enter")
        await pilot.pause()
        assert texts(app) == "no example matches"
        await pilot.press("escape")
        assert len(app.query_one(ScoreList).order) == 16

    drive(captions_run, script)


def test_p_values_where_there_are_some(captions_run):
    async def script(app, pilot):
        await pilot.press("p")
        assert app.quantity == "p"
        assert "p-values" in app.state(16)
        await pilot.press("m", "m")  # to a metric without p-values
        assert (app.metric, app.quantity) == ("mbleu4", "score")
        await pilot.press("p")
        assert app.quantity == "score"

    drive(captions_run, script, metric="bleu1")


def test_the_list_draws_only_visible_lines(captions_run):
    columns = captions_run.samples.to_dict()
    many = {name: list(values) * 500 for name, values in columns.items()}
    many["example"] = [f"{name}-{k // 48}" for k, name in enumerate(many["example"])]
    run = replace(captions_run, samples=SampleTable(many))

    async def script(app, pilot):
        assert len(app.query_one(ScoreList).order) == 8000
        await pilot.press("end", "pageup", "q")

    drive(run, script)


def test_a_run_without_scores_has_its_texts(captions_run):
    columns = {
        name: captions_run.samples.to_dict()[name]
        for name in ("model", "decoding", "example", "candidates", "references")
    }

    async def script(app, pilot):
        await pilot.press("m", "p", "s", "s")
        assert "no scores" in app.state(16)
        assert "references" in texts(app)

    drive(replace(captions_run, samples=SampleTable(columns)), script)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("ab", "   ab"), ("abcdefgh", " abc…"), ("犬犬犬", " 犬 …"), ("a\nb", " a\\nb")],
)
def test_cells_have_their_width(text, expected):
    assert cell(text, 5) == expected


def test_words_of_the_references_are_marked(captions_run):
    detail = ExampleList(captions_run).detail(0)
    text = detail_text(detail, "bleu1")
    marked = {
        text.plain[span.start : span.end].lower()
        for span in text.spans
        if "green" in str(span.style)
    }
    assert marked
    assert marked <= detail.words
