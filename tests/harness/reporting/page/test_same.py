"""Page of ``harness same``."""

from __future__ import annotations

import html

import pytest

from harness.analysis.same import Settings, Source, compare_all
from harness.reporting.page.same import page

SETTINGS = Settings(draws=99, power=False)
A, B = ({str(k): [text] * 2 + ["x y"] * 2 for k in range(6)} for text in ("a dog.", "a dog"))


def test_the_page_has_the_same_text_for_the_same_results():
    results = compare_all([Source("a", A), Source("b", B)], SETTINGS)
    assert page(results, SETTINGS) == page(results, SETTINGS)
    assert "default-src &#39;none&#39;" in page(results, SETTINGS) or "default-src 'none'" in page(results, SETTINGS)


@pytest.mark.parametrize("text", ["<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "a & b </p><b>c</b>"])
def test_labels_answers_and_prompts_are_texts_of_the_page(text):
    first = {f"{text}{k}": [f"{text} a dog."] * 2 + ["x y"] * 2 for k in range(6)}
    second = {name: [f"{text} a dog"] * 2 + ["x y"] * 2 for name in first}
    results = compare_all([Source(f"one {text}", first), Source(f"two {text}", second)], SETTINGS)
    content = page(results, SETTINGS)
    assert html.escape(text) in content
    assert text not in content, "markup of a label or an answer is markup of the page"
