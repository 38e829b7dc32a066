"""Page of ``harness same``."""

from __future__ import annotations

from harness.analysis.same import Settings, Source, compare_all
from harness.reporting.page.same import page

SETTINGS = Settings(draws=99, power=False)
A, B = ({str(k): [text] * 2 + ["x y"] * 2 for k in range(6)} for text in ("a dog.", "a dog"))


def test_the_page_has_the_same_text_for_the_same_results():
    results = compare_all([Source("a", A), Source("b", B)], SETTINGS)
    assert page(results, SETTINGS) == page(results, SETTINGS)
    assert "default-src &#39;none&#39;" in page(results, SETTINGS) or "default-src 'none'" in page(results, SETTINGS)
