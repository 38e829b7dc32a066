"""Tables in HTML."""

from harness.reporting.formats.web import NUMBERS, to_html
from harness.reporting.table import Bar, Table


def test_texts_are_escaped_and_rows_beyond_the_limit_are_counted(table):
    text = to_html(table, most_rows=2)
    assert '<td style="text-align:left">a_b &amp; co</td>' in text
    assert f'<td style="{NUMBERS}"><b>0.5</b><sup>a</sup></td>' in text
    assert (
        "trm" not in text
        and "<small>1 more rows</small>" in text
        and "<small>difference: to a_b</small>" in text
    )
    assert "more rows" not in to_html(table, most_rows=3)


def test_an_interval_bar_lies_below_its_text():
    table = Table(
        ["metric", "interval"],
        [["a", "1 to 3"], ["b", "–"]],
        "lr",
        bars={(0, 1): Bar(0.0, 1.0, 0.5)},
    )
    text = to_html(table)
    assert text.count("<svg") == 1
    assert '1 to 3<svg width="120"' in text
    assert '<line x1="4.0" x2="116.0"' in text and '<circle cx="60.0"' in text


def test_the_whole_text_of_a_table():
    table = Table(
        ["a<b", "two\nlines"],
        [["x & y", "1.5"], ["z", "2"], ["", "–"]],
        "lr",
        notes=["", "a <note>"],
        bold=frozenset({(1, 0), (0, 1)}),
        marks={(0, 1): "a<", (2, 0): "b"},
        bars={(2, 1): Bar(0.25, 0.5, 0.3333)},
    )
    text = 'style="text-align:left"'
    number = (
        'style="text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap"'
    )
    head = (
        f"<table><thead><tr><th {text}>a&lt;b</th><th "
        f"{number}>two<br>lines</th></tr></thead><tbody>"
    )
    rows = [
        f"<tr><td {text}>x &amp; y</td><td "
        f"{number}><b>1.5</b><sup>a&lt;</sup></td></tr>",
        f"<tr><td {text}><b>z</b></td><td {number}>2</td></tr>",
        f'<tr><td {text}><sup>b</sup></td><td {number}>–<svg width="120" height="10" '
        'aria-hidden="true" '
        'style="display:block;margin-left:auto"><line x1="32.0" x2="60.0" y1="5" '
        'y2="5" stroke="currentColor" stroke-opacity=".45" '
        'stroke-width="4"/><circle cx="41.3" cy="5" r="4" '
        'fill="currentColor"/></svg></td></tr>',
    ]
    foot = "</tbody></table>"
    note = "<div><small>a &lt;note&gt;</small></div>"
    for most in (None, 3, 4):
        assert to_html(table, most) == head + "".join(rows) + foot + note
    assert (
        to_html(table, 1)
        == head + rows[0] + foot + "<div><small>2 more rows</small></div>" + note
    )
    assert (
        to_html(table, 0)
        == head + foot + "<div><small>3 more rows</small></div>" + note
    )
