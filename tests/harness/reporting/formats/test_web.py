"""Tables in HTML."""

from harness.reporting.formats.web import NUMBERS, to_html
from harness.reporting.table import Bar, Table


def test_texts_are_escaped_and_rows_beyond_the_limit_are_counted(table):
    text = to_html(table, most_rows=2)
    assert '<td style="text-align:left">a_b &amp; co</td>' in text
    assert f'<td style="{NUMBERS}"><b>0.5</b><sup>a</sup></td>' in text
    assert "trm" not in text and "<small>1 more rows</small>" in text and "<small>difference: to a_b</small>" in text
    assert "more rows" not in to_html(table, most_rows=3)


def test_an_interval_bar_lies_below_its_text():
    table = Table(["metric", "interval"], [["a", "1 to 3"], ["b", "–"]], "lr", bars={(0, 1): Bar(0.0, 1.0, 0.5)})
    text = to_html(table)
    assert text.count("<svg") == 1
    assert '1 to 3<svg width="120"' in text
    assert '<line x1="4.0" x2="116.0"' in text and '<circle cx="60.0"' in text
