"""Views of the page in Chromium: the pair of systems, filters, the state in the
address, keys, phone, print, images, charts on request.
"""

from __future__ import annotations

import json

import pytest

from harness import page

DESK = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
MODELS = [
    {"echo": {"label": "one"}},
    {"predictions": {"label": "two", "path": "two.jsonl"}},
]
FILTERS = {
    "length[B] = 2": 3,
    "length[two] = 2 and not length = 99": 3,
    'LENGTH["two"] <= 2 or length[B] > 5': 4,
    "diff(length) > 0": 5,
    "(length - length[B]) * 2 >= abs(-4) and references = 2": 3,
    "p(length) <= 1": 6,
}
"""Expression -> number of examples that pass."""
BAD_FILTERS = {
    "length <": "character 9: expected a number or the name of a metric, found the end",
    "lenght < 3": "character 1: there is no metric 'lenght'; "
    "there are length, references",
    "length": "character 1: expected a comparison such as cider < .3, "
    "found a number alone",
    "length[three] < 3": "character 8: there is no system 'three'; "
    'there are A, B, "one", "two"',
    "length < 3 length": "character 12: expected 'and', 'or' or the end, "
    "found 'length'",
    "(length < 3) + 1 > 2": "character 1: expected a number, found a comparison",
    "alert(1) < 2": "character 1: there is no metric 'alert'; "
    "there are length, references",
    "length; 1 < 2": "character 7: ';' has no meaning in a filter",
    "(" * 30_000: "the filter is nested too deeply",
}
"""Text -> line under the field."""


@pytest.fixture
def pair(project, finished):
    """The page of two systems of six examples: ``two`` says other words,
    and never more than ``one``.
    """
    texts = [
        "a dog",
        "a dog number 1",
        "a red dog number 2 sits",
        "a dog",
        "a cat",
        "a dog number 5",
    ]
    rows = [{"id": f"e{k}", "candidates": [text]} for k, text in enumerate(texts)]
    (project / "two.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return page.write([finished(models=MODELS, views=[])])


@pytest.fixture
def examples(pair, browse):
    """The browser of examples of the pair, on a desk."""
    with browse(pair, **DESK) as view:
        view.click('.tabs a[href="#examples"]')
        view.wait_for_selector("[data-browser][data-ready] .detail .system")
        yield view


@pytest.mark.slow
def test_the_overview_counts_wins_and_opens_the_most_telling_examples(pair, browse):
    with browse(pair, **DESK) as view:
        view.wait_for_selector("[data-pair].started")
        assert view.locator(".pair-controls option:checked").all_inner_texts() == [
            "one",
            "two",
        ], "the best two, best first"
        wins, losses = view.locator(".wins-bar .tally").all_inner_texts()
        assert (
            int(wins) + int(losses) + int((view.inner_text(".ties") or "0").split()[0])
            == 6
        )
        assert view.inner_text(".telling section.a h5") == "A one is better"
        assert view.locator(".telling .card").count() == int(wins) + int(losses)
        first = view.inner_text(".telling section.a .example-link >> nth=0")
        view.click("[aria-label='Swap A and B'] >> nth=0")
        view.wait_for_selector("h5:text('two is better')")
        view.click(f".telling section.b .example-link:text('{first}')")
        view.wait_for_selector(f"#examples.current .example-id:text('{first}')")


@pytest.mark.slow
def test_the_examples_open_where_the_systems_differ_most(project, finished, browse):
    texts = [
        "a dog",
        "a dog number 1",
        "a red dog number 2 sits",
        "a dog",
        "a",
        "a dog number 5",
    ]
    rows = [{"id": f"e{k}", "candidates": [text]} for k, text in enumerate(texts)]
    (project / "two.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    written = page.write([finished(models=MODELS, views=[])])
    with browse(written, **DESK) as view:
        view.click('.tabs a[href="#examples"]')
        view.wait_for_selector("[data-browser][data-ready] .example-id:text('e4')")
        assert view.locator(".row[aria-selected='true']").count() == 1


@pytest.mark.slow
def test_words_of_one_system_alone_and_of_the_references_are_marked(examples):
    examples.click(".row >> nth=2")
    examples.wait_for_selector(".example-id:text('e2')")
    assert examples.locator(".side-by-side .system").count() == 2
    alone = examples.locator(".side-by-side .system.b mark.only-b").all_inner_texts()
    assert {"red", "sits"} <= set(alone) and "dog" not in alone
    assert "2" in " ".join(
        examples.locator(".side-by-side .system.b mark.match").all_inner_texts()
    )
    examples.uncheck("text=Mark words of A or B alone")
    examples.wait_for_selector(".detail mark.only-b", state="detached")
    assert examples.locator(".detail mark.match").count() > 0


def test_filters_by_expression(examples):
    for text, count in FILTERS.items():
        examples.fill(".filter", text)
        examples.wait_for_selector(
            f".count:text-is('{f'{count} of ' if count < 6 else ''}6 examples')"
        )
        assert examples.inner_text(".filter-error") == "", text


@pytest.mark.slow
def test_a_bad_filter_is_one_line_and_the_list_is_that_without_it(examples):
    for text, message in BAD_FILTERS.items():
        examples.fill(".filter", "length[B] = 2")
        examples.wait_for_selector(".count:text('3 of 6 examples')")
        examples.fill(".filter", text)
        examples.wait_for_selector(".filter[aria-invalid]")
        assert examples.inner_text(".filter-error") == message
        assert (
            examples.inner_text(".count")
            == "6 examples; the filter has a mistake and is not applied"
        )
    examples.fill(".filter", "")
    examples.wait_for_selector(".count:text-is('6 examples')")


@pytest.mark.slow
def test_the_address_has_the_whole_view(pair, browse):
    with browse(pair, **DESK) as view:
        view.wait_for_selector("[data-pair].started")
        view.click("[aria-label='Swap A and B'] >> nth=0")
        view.click('th[data-column="m0"] button')
        view.locator("tr[data-row]", has_text="two").locator(".pin").click()
        view.click("text=Bars")
        view.click(".theme")
        view.click(".theme")
        view.click('.tabs a[href="#examples"]')
        view.wait_for_selector("[data-browser][data-ready] .detail .system")
        view.fill(".browser input[type=search]", "dog")
        view.fill(".filter", "length < 99")
        view.select_option(".sorting select >> nth=0", "score-0")
        view.select_option("[aria-label='Of which system']", "a-b")
        view.click("text=largest first")
        view.uncheck("text=Mark words of the references")
        view.click(".row >> nth=3")
        chosen = view.inner_text(".row[aria-selected=true] .id")
        view.wait_for_selector(f".example-id:text('{chosen}')")
        view.click(".copy-link")
        view.wait_for_selector(".hint:has-text('address of this view')")
        before = view.evaluate("location.hash")
        order = view.locator(".row .id").all_inner_texts()
        view.reload()
        view.wait_for_selector(
            f"[data-browser][data-ready] .example-id:text('{chosen}')"
        )
        assert view.evaluate("location.hash") == before
        assert view.locator(".row .id").all_inner_texts() == order
        assert (
            view.input_value(".filter") == "length < 99"
            and view.input_value(".browser input[type=search]") == "dog"
        )
        assert view.locator(
            ".browser .pair-controls option:checked"
        ).all_inner_texts() == ["two", "one"]
        assert view.evaluate("document.documentElement.dataset.theme") == "dark"
        assert not view.is_checked("text=Mark words of the references")
        view.click('.tabs a[href="#overview"]')
        assert view.get_attribute('th[data-column="m0"]', "aria-sort") == "descending"
        assert view.locator("tr.pinned .label").all_inner_texts() == [
            "two"
        ] and not view.is_checked("text=Bars")


@pytest.mark.slow
def test_escape_leaves_a_field_with_its_text(examples):
    examples.keyboard.press("/")
    examples.keyboard.type("dog")
    examples.keyboard.press("Escape")
    assert examples.input_value(".browser input[type=search]") == "dog"
    before = examples.inner_text(".example-id")
    examples.keyboard.press("j")
    examples.wait_for_selector(f".example-id:not(:text('{before}'))")
    assert examples.input_value(".browser input[type=search]") == "dog", (
        "j is a key of the list again"
    )


@pytest.mark.slow
def test_on_a_phone_a_tap_opens_the_example_over_the_list(pair, browse):
    with browse(pair, **PHONE) as view:
        view.tap('.tabs a[href="#examples"]')
        view.wait_for_selector(".row >> nth=4")
        assert not view.locator(".detail").is_visible()
        view.tap(".row >> nth=4")
        view.wait_for_selector(".detail.open .example-id:text('e4')")
        box = view.locator(".detail").bounding_box()
        assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, 390, 844)
        view.tap("text=↓ Next")
        view.wait_for_selector(".example-id:text('e5')")
        view.keyboard.press("Escape")
        view.wait_for_selector(".detail", state="hidden")
        assert view.evaluate("document.activeElement.className") == "list"


@pytest.mark.slow
def test_a_print_waits_for_the_charts_and_has_the_example_in_view(pair, browse):
    with browse(pair, **DESK) as view:
        view.evaluate(
            "window.print = () => { window.drawn = "
            "[...document.querySelectorAll('.chart-group figure.chart')].map(f => "
            "!!f.dataset.look) }"
        )
        view.click('.tabs a[href="#examples"]')
        view.click(".row >> nth=1")
        view.wait_for_selector(".example-id:text('e1')")
        view.click('.tabs a[href="#overview"]')
        view.keyboard.press("Control+p")
        view.wait_for_selector(".hint", state="hidden")
        drawn = view.evaluate("window.drawn")
        assert drawn and all(drawn)
        view.emulate_media(media="print")
        assert (
            view.locator(".example-id").is_visible()
            and view.inner_text(".example-id") == "e1"
        )
        assert (
            view.locator(".telling .card").count() > 0
            and not view.locator(".toolbar").first.is_visible()
        )


@pytest.mark.slow
def test_charts_beyond_the_usual_ones_are_drawn_on_request(report, browse):
    with browse(report, **DESK) as view:
        view.click('.tabs a[href="#plots"]')
        view.wait_for_selector(".chart-group figure.chart[data-look] svg")
        assert view.locator(".more-charts figure.chart[data-look]").count() == 0
        view.click(".more-charts summary >> nth=0")
        view.wait_for_selector(".more-charts[open] figure.chart[data-look] svg")


@pytest.mark.slow
def test_an_image_opens_as_large_as_the_window(project, browse):
    image = pytest.importorskip("PIL.Image")
    import harness

    image.effect_noise((640, 480), 40).save(project / "p.png")
    row = {"id": "p", "references": ["a b", "c d"], "media": str(project / "p.png")}
    (project / "data.jsonl").write_text(json.dumps(row) + "\n")
    spec = {
        "task": "t",
        "dataset": {"reader": "jsonl", "path": "data.jsonl"},
        "models": [{"human": {"held_out": 1}}],
        "metrics": ["mine/length"],
    }
    harness.evaluate(spec, output="r")
    with browse(page.write(["r"]), **DESK) as view:
        view.click('.tabs a[href="#examples"]')
        view.click(".given button.picture")
        view.wait_for_selector("dialog.lightbox[open] img")
        assert view.locator(".lightbox img").bounding_box()["width"] > 600
        assert view.get_attribute(".lightbox a", "href") == "../p.png"
        view.keyboard.press("Escape")
        view.wait_for_selector("dialog", state="detached")
