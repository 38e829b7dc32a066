"""Page of ``harness same``."""

from __future__ import annotations

import html

import pytest

from harness.decisions.gate.files import gate_page
from harness.decisions.gate.result import GateResult, GateRow
from harness.decisions.same.page import page
from harness.decisions.same.same import compare_all
from harness.decisions.same.sources import Source
from harness.decisions.same.statistics import Settings

SETTINGS = Settings(draws=99, power=False)
A, B = (
    {str(k): [text] * 2 + ["x y"] * 2 for k in range(6)} for text in ("a dog.", "a dog")
)


def test_the_page_has_the_same_text_for_the_same_results():
    results = compare_all([Source("a", A), Source("b", B)], SETTINGS)
    assert page(results, SETTINGS) == page(results, SETTINGS)
    assert "default-src &#39;none&#39;" in page(
        results, SETTINGS
    ) or "default-src 'none'" in page(results, SETTINGS)


@pytest.mark.parametrize(
    "text",
    ["<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "a & b </p><b>c</b>"],
)
def test_labels_answers_and_prompts_are_texts_of_the_page(text):
    first = {f"{text}{k}": [f"{text} a dog."] * 2 + ["x y"] * 2 for k in range(6)}
    second = {name: [f"{text} a dog"] * 2 + ["x y"] * 2 for name in first}
    results = compare_all(
        [Source(f"one {text}", first), Source(f"two {text}", second)], SETTINGS
    )
    content = page(results, SETTINGS)
    assert html.escape(text) in content
    assert text not in content, "markup of a label or an answer is markup of the page"


def test_the_page_has_sentences_and_a_list_of_pairs_only_for_several():
    sources = [Source("a", A), Source("b", B), Source("c", A)]
    text = page(compare_all(sources[:2], SETTINGS), SETTINGS)
    assert (
        '<p class="verdict">Different at level 0.05.</p>' in text
        and "6 prompts, with 24 and 24 answers." in text
    )
    assert "All pairs" not in text and "(each alone" not in text
    several = page(compare_all(sources, SETTINGS), SETTINGS)
    assert "All pairs" in several and several.count("The test assumes") == 1
    assert (
        "A difference is not shown, for both sources hold the same answers." in several
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["same", "gate"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_of_one_verdict_fit_a_phone_and_change_their_colours(
    kind, scheme, tmp_path, browse, violations
):
    long = {
        name * 9: [f"{text} and a rather long answer to this prompt" for text in texts]
        for name, texts in A.items()
    }
    results = compare_all(
        [
            Source("first", long),
            Source("second", {name: [t[:-9] for t in long[name]] for name in long}),
        ],
        SETTINGS,
    )
    rows = [
        GateRow(
            "cider",
            "m",
            "language=de",
            1200,
            0.52,
            0.53,
            0.01,
            0.004,
            0.016,
            0.02,
            0.3,
            0.3,
            900.0,
            True,
            note="a remark",
        )
    ] * 2
    file = tmp_path / "page.html"
    file.write_text(
        page(results, SETTINGS) if kind == "same" else gate_page(GateResult(rows)),
        encoding="utf-8",
    )
    with browse(
        file, viewport={"width": 390, "height": 844}, color_scheme=scheme
    ) as view:
        assert view.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert (
            view.locator("h1").is_visible()
            and view.locator(".verdict").first.is_visible()
        )
        assert violations(view) == []
        colour = "getComputedStyle(document.body).backgroundColor"
        found = [view.evaluate(colour)]
        for _ in range(2):
            view.click(".theme")
            found.append(view.evaluate(colour))
        assert view.inner_text(".theme") == "Theme: dark" and found[1] != found[2]
        assert found[0] == found[1 if scheme == "light" else 2]
        view.wait_for_timeout(300)  # the address is written at most five times a second
        assert "theme=dark" in view.evaluate("location.hash")
        view.reload()
        assert view.evaluate(colour) == found[2], "the address has the theme"
    with browse(file, java_script_enabled=False) as view:
        assert (
            not view.locator(".theme").is_visible()
            and view.locator(".verdict").first.is_visible()
        )
