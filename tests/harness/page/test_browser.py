"""The page in Chromium: no request, no console error, axe clean; sorting, search and
keys; light, dark, phone, print, no script.
"""

from __future__ import annotations

import pytest

from harness import page

TABS = ("overview", "plots", "examples", "provenance")
DESK = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


def open_tab(view, tab: str) -> None:
    view.click(f'.tabs a[href="#{tab}"]')
    if tab == "overview":
        view.wait_for_selector("[data-pair].started")
    if tab == "plots":
        view.wait_for_selector(
            ".chart-group:last-of-type figure.chart:last-child[data-look] .plot svg"
        )
    if tab == "examples":
        view.wait_for_selector(
            "[data-browser][data-ready] .detail .system", state="attached"
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("light", {**DESK, "color_scheme": "light"}),
        ("dark", {**DESK, "color_scheme": "dark"}),
        ("phone", PHONE),
    ],
)
def test_every_part_is_accessible_and_fits(
    report, browse, violations, artefacts, name, options
):
    with browse(report, **options) as view:
        for tab in TABS:
            open_tab(view, tab)
            view.screenshot(path=artefacts / f"{name}-{tab}.png", full_page=True)
            if name == "phone" and tab == "examples":
                view.click(".row >> nth=1")
                view.wait_for_selector(".detail.open")
                view.screenshot(path=artefacts / f"{name}-example.png")
                assert violations(view) == [], "example"
                view.click(".close")
            assert violations(view) == [], tab
            assert view.evaluate(
                "document.documentElement.scrollWidth <= innerWidth"
            ), tab


@pytest.mark.slow
def test_print_has_matrix_plots_and_provenance(report, browse, artefacts):
    with browse(report, **DESK) as view:
        open_tab(view, "plots")
        view.emulate_media(media="print")
        assert [view.locator(f"#{tab}").is_visible() for tab in TABS] == [
            True,
            True,
            False,
            True,
        ]
        assert not view.locator(".tabs").is_visible()
        view.pdf(path=artefacts / "print.pdf", prefer_css_page_size=True)
        view.screenshot(path=artefacts / "print.png", full_page=True)


@pytest.mark.slow
def test_print_before_the_charts_are_drawn_has_no_empty_headings(report, browse):
    with browse(report, **DESK) as view:
        view.emulate_media(media="print")
        drawn = view.locator("figure.chart[data-look]").count()
        headings = view.locator("#plots .chart-group h3")
        assert headings.count() > 0 and drawn == 0, "charts wait 1.5 seconds"
        assert [heading.is_visible() for heading in headings.all()] == [
            False
        ] * headings.count()
        assert not view.locator("#plots-title").is_visible()
        assert (
            view.locator("table.matrix").is_visible()
            and view.locator("#provenance table.listing").first.is_visible()
        )
        view.emulate_media(media="screen")
        open_tab(view, "plots")
        view.emulate_media(media="print")
        assert all(heading.is_visible() for heading in headings.all())


@pytest.mark.slow
def test_without_script_every_table_is_shown(report, browse, artefacts):
    with browse(report, java_script_enabled=False, **DESK) as view:
        assert view.locator("table.matrix tbody tr[data-row]").count() == 4
        assert view.locator(".static-example").count() == 6
        assert view.locator("#provenance table.listing").first.is_visible()
        assert not view.locator("button").first.is_visible()
        view.screenshot(path=artefacts / "no-script.png", full_page=True)


def rows(view) -> list[str]:
    return view.locator("table.matrix tbody tr[data-row] th .label").all_inner_texts()


@pytest.mark.slow
def test_the_matrix_sorts_hides_pins_and_filters(report, browse):
    with browse(report, **DESK) as view:
        order = rows(view)
        view.click('th[data-column="m0"] button')
        assert view.get_attribute('th[data-column="m0"]', "aria-sort") == "descending"
        values = [
            float(cell.get_attribute("data-value"))
            for cell in view.locator("td.number").all()
            if cell.get_attribute("data-value")
        ]
        assert values[:4] == sorted(values[:4], reverse=True)
        view.locator("tr[data-row]", has_text="others").locator(".pin").click()
        assert rows(view)[0] == "others"
        view.fill('.toolbar input[type="search"]', "two")
        assert rows(view) == ["others", "two"]
        view.click("text=Reset order")
        assert rows(view) == order
        view.click("text=Columns")
        view.click(".menu label")
        assert not view.locator('th[data-column="m0"]').is_visible()


@pytest.mark.slow
def test_a_cell_says_its_interval(report, browse):
    with browse(report, **DESK) as view:
        view.click("td.number >> nth=0")
        assert "6 examples · cluster a" in view.inner_text(".hint")


@pytest.mark.slow
def test_examples_are_searched_sorted_and_browsed_by_keys(report, browse):
    with browse(report, **DESK) as view:
        open_tab(view, "examples")
        assert view.inner_text(".count") == "6 examples"
        view.keyboard.press("j")
        view.wait_for_selector(".example-id:text('e1')")
        view.keyboard.press("/")
        view.keyboard.type('"number 4" dog')
        view.wait_for_selector(".count:text('1 of 6 examples')")
        view.wait_for_selector(".example-id:text('e4')")
        assert view.locator("mark.found").count() > 0
        view.fill(".browser input[type=search]", "")
        view.select_option(".sorting select >> nth=0", "score-0")
        view.select_option("[aria-label='Of which system']", "a-b")
        view.select_option(".browser [aria-label='System A']", label="two")
        view.wait_for_selector(".row:last-child .number:text('–')")
        shown = view.locator(".row .number").all_inner_texts()
        assert len(shown) == 6, "the second model failed on one example, which is last"
        view.fill(".filter", "length > 1000")
        view.wait_for_selector("text=No example matches")


@pytest.mark.slow
def test_captions_with_markup_scripts_and_other_scripts_are_texts(
    project, finished, browse, violations
):
    code = (project / "mine_parts.py").read_text()
    texts = [
        "<img src=x onerror=alert(1)>",
        "</script><script>alert(2)</script>",
        "שלום עולם",
        "👩‍👩‍👧 dog",
        "word " * 2000,
        "",
        "<!--",
    ]
    first = "example.references[k % 2] + "
    assert first in code
    (project / "mine_parts.py").write_text(
        code.replace(f"tuple({first}", f"tuple({texts!r}) or tuple({first}")
    )
    file = page.write([finished("hostile")])
    dialogs: list[str] = []
    with browse(file, **DESK) as view:
        view.on(
            "dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss())
        )
        open_tab(view, "examples")
        shown = view.inner_text(".detail")
        assert "<img src=x" in shown and "שלום" in shown and "(empty)" in shown
        view.click("text=… all 10,000 characters >> nth=0")
        assert violations(view) == []
    assert dialogs == []
