"""The section of a page with events, in Chromium too."""

from __future__ import annotations

import pytest

import harness
from harness import page
from harness.page import PageOptions
from harness.page.events.section import SECTION
from tests.support.event_runs import (
    crowded_run,
    many_videos,
    run_of,
    small_run,
    write_boxes,
)

DESK = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
MOST_BYTES = 1_500_000
"""Largest section of a page."""


def test_each_video_has_a_drawing_with_its_words():
    text = SECTION.html(small_run())
    assert text.count("<figure class='events'>") == 2
    assert "that Dense (matched,meteor) matched" in text
    assert "a man &lt;runs&gt;" in text and "<runs>" not in text


def test_without_pairs_the_reason_is_said():
    text = SECTION.html(small_run(["dense:protocol=soda-c"]))
    assert "No pairs: no metric of the run matches events one to one." in text
    assert "<line" not in text


def test_a_run_of_captions_has_no_section():
    assert (
        SECTION.html(run_of({"s": {"v": ["a dog"]}}, {"v": ["a dog"]}, ["rouge"])) == ""
    )
    assert list(SECTION.lines(small_run())) == [] == list(SECTION.values(small_run()))


@pytest.mark.slow
def test_ten_thousand_videos_have_a_section_of_bounded_size():
    text = SECTION.html(many_videos(10_000))
    assert text.count("<figure") == 24 and len(text) < MOST_BYTES
    assert "24 of 10,000 examples" in text


@pytest.mark.slow
def test_five_hundred_events_have_a_section_of_bounded_size():
    text = SECTION.html(crowded_run(500))
    assert text.count("<button") == 400 and len(text) < MOST_BYTES
    assert "the first 200 of 500 events" in text


@pytest.fixture
def events_page(tmp_path):
    harness.evaluate("dense-sample", output=tmp_path / "run")
    return page.write([tmp_path / "run"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("light", {**DESK, "color_scheme": "light"}),
        ("dark", {**DESK, "color_scheme": "dark"}),
        ("phone", PHONE),
    ],
)
def test_the_drawings_are_accessible_and_fit(
    events_page, browse, violations, artefacts, name, options
):
    with browse(events_page, **options) as view:
        view.wait_for_selector("html.ready")
        view.locator("button.event").first.scroll_into_view_if_needed()
        view.locator("button.event.system").nth(1).click()
        view.screenshot(path=artefacts / f"{name}-events.png")
        assert violations(view) == []
        assert view.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.slow
def test_keys_go_from_event_to_event_and_show_the_pair(events_page, browse):
    with browse(events_page, **DESK) as view:
        figure = view.locator("figure.events").first
        first = figure.locator("button.event").first
        first.focus()
        view.keyboard.press("ArrowRight")
        words = figure.locator(".event-words")
        assert "annotator 1, 14 to 39 s" in words.inner_text()
        assert "careful, 15 to 40 s: She stirs the eggs with a spoon." in (
            words.inner_text()
        )
        assert "overlap 0.9231" in words.inner_text()
        assert figure.locator(".partner").count() == figure.locator("line.on").count()
        view.keyboard.press("ArrowDown")
        assert "annotator 2" in words.inner_text()
        view.keyboard.press("End")
        view.keyboard.press("ArrowUp")
        assert "annotator 1, 39 to 62 s" in words.inner_text()
        focused = "document.activeElement.dataset.event"
        assert view.evaluate(focused) == "0.2"
        assert (
            view.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            == "solid"
        )
        view.keyboard.press("Escape")
        assert words.inner_text() == "" and figure.locator(".chosen").count() == 0
        view.keyboard.press("Tab")
        assert view.evaluate("document.activeElement.tagName") == "SUMMARY"


@pytest.mark.slow
def test_paper_has_the_drawings(events_page, browse, artefacts):
    with browse(events_page, **DESK) as view:
        view.wait_for_selector("html.ready")
        view.emulate_media(media="print")
        assert view.locator("figure.events .lanes").first.is_visible()
        assert not view.locator("figure.events details").first.is_visible()
        view.pdf(path=artefacts / "events.pdf", prefer_css_page_size=True)


@pytest.mark.slow
def test_without_script_the_words_are_in_the_table(events_page, browse):
    with browse(events_page, java_script_enabled=False, **DESK) as view:
        figure = view.locator("figure.events").first
        figure.locator("summary").click()
        assert "overlap 0.9231" in figure.locator("table").inner_text()


@pytest.mark.slow
def test_examples_are_in_words(events_page, browse):
    with browse(events_page, **DESK) as view:
        view.click('.tabs a[href="#examples"]')
        view.wait_for_selector("[data-browser][data-ready] .detail .system")
        text = view.locator(".detail").inner_text()
        assert " s: " in text and "harness-events" not in text


@pytest.mark.slow
def test_boxes_lie_over_their_image(tmp_path, monkeypatch, browse, violations):
    monkeypatch.chdir(tmp_path)
    harness.evaluate(str(write_boxes(tmp_path)), output=tmp_path / "run")
    file = page.write([tmp_path / "run"])
    with browse(file, **DESK) as view:
        view.wait_for_selector("html.ready")
        board = view.locator(".board").first
        board.scroll_into_view_if_needed()
        assert "data:image/webp" in board.evaluate(
            "node => getComputedStyle(node).backgroundImage"
        )
        box = board.bounding_box()
        assert box["width"] / box["height"] == pytest.approx(640 / 480, rel=0.02)
        board.locator("button.event.system").first.focus()
        view.keyboard.press("End")
        assert view.locator(".event-words").first.inner_text().strip()
        assert violations(view) == []
    plain = page.build([tmp_path / "run"], PageOptions(images=False))
    assert "data:image/webp" not in plain and "class='board'" in plain
