"""Sessions of requests."""

from __future__ import annotations

import email.utils
import time

from harness.llm.session import retry_after


def test_the_header_of_the_wait():
    values = {"3": 3.0, "-1": 0.0, "99": 60.0, "nan": None, "soon": None}
    assert {value: retry_after({"retry-after": value}) for value in values} == values
    assert retry_after({}) is None
    date = email.utils.formatdate(time.time() + 30, usegmt=True)
    assert 25 <= (retry_after({"retry-after": date}) or 0) <= 31
    for date in (
        "Mon, 01 Jan 2026 00:00:00 +99999999999999999999",
        "Mon, 01 Jan 99999 00:00:00 GMT",
        "1e400",
    ):
        assert retry_after({"retry-after": date}) in (None, 60.0)
