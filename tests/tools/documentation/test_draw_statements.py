"""Statements with numbers on the study pages."""

from __future__ import annotations

from tools.documentation.draw_statements import (
    STUDIES,
    draw_statements,
    find_statements,
)

PAGE = """\
# A page of 3 parts

Nothing is counted here. METEOR is 0.25 (Figure 4). As in Table 2, nothing.

<!-- results x -->
| a | 0.5 |
<!-- end -->

- **One of 12** is left out: the other
  stays.
- Two of A.6 stay.

    harness run x --limit 5
"""


def test_sentences_with_numbers_are_statements():
    assert [s.text for s in find_statements("x.md", PAGE)] == [
        "METEOR is 0.25 (Figure 4).",
        "- **One of 12** is left out: the other stays.",
    ]


def test_a_draw_depends_on_the_seed_alone():
    first = draw_statements(STUDIES, 1, 10)
    assert len(set(first)) == 10 and first == draw_statements(STUDIES, 1, 10)
    assert first != draw_statements(STUDIES, 2, 10)
    assert all(page != "papers.md" for page, _ in first)
