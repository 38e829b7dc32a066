"""Published rows of a table view."""

import math

from harness.reporting.published import NOT_PUBLISHED, OTHER_DATA, add_published_rows
from harness.spec.published import PublishedTable

TABLE = PublishedTable.model_validate(
    {
        "source": "a paper",
        "rows": [
            {"label": "A", "title": "theirs", "task": "t", "values": {"x": 1.0, "y": "< 0.5"}},
            {"label": "A", "title": "of another set", "task": "u", "values": {"x": 9.0}},
            {"title": "alone", "values": {"y": 2.0}},
        ],
    }
)
ROWS = [("A", (1.5, 0.2)), ("B", (3.0, math.nan))]


def test_theirs_below_ours_with_the_difference():
    labels = [label for label, _ in add_published_rows(ROWS, ("x", "y"), TABLE, "t")]
    assert labels == ["A", "published: theirs", "ours − published", "B", "published", "published: alone"]
    rows = add_published_rows(ROWS, ("x", "y"), TABLE, "t")
    assert rows[1][1] == (1.0, "< 0.5")
    assert rows[2][1] == ("+0.5000", "")
    assert rows[4][1] == (NOT_PUBLISHED, NOT_PUBLISHED)
    assert rows[5][1] == (NOT_PUBLISHED, 2.0)


def test_a_row_for_every_row():
    table = PublishedTable.model_validate({"source": "s", "rows": [{"label": "*", "values": {"x": 2.0}}]})
    rows = add_published_rows(ROWS, ("x", "y"), table, "t")
    assert [values[0] for label, values in rows if label.startswith("ours")] == ["-0.5000", "+1.0000"]


def test_a_task_without_published_values():
    table = PublishedTable.model_validate({"source": "s", "rows": [{"label": "A", "task": "u", "values": {"x": 2.0}}]})
    rows = add_published_rows(ROWS, ("x", "y"), table, "t")
    assert [label for label, _ in rows] == ["A", "B", "published"]
    assert rows[-1][1] == (OTHER_DATA, OTHER_DATA)
