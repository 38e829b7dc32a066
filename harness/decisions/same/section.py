"""The section of a report on the tests of sources that the spec of a run asks for with
``same: [A, B]``: the entry ``same`` of ``report_sections``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from harness.contracts import Values
from harness.decisions.same.run import check_run, settings_of_run
from harness.decisions.same.tables import report_lines
from harness.results import Run


class SameSection:
    """Test of two sources of a run: do they write the same distribution of answers?"""

    title = "Same distribution?"

    def lines(self, run: Run) -> Iterator[str]:
        """Yield the lines of the tests of a run."""
        for result in check_run(run):
            yield from report_lines(result, settings_of_run(run), 0)

    def values(self, run: Run) -> list[Values]:
        """Return the tests of a run."""
        return [asdict(result) for result in check_run(run)]

    def html(self, run: Run) -> str:
        """Return the tests of a run as HTML; empty without any."""
        from harness.decisions.same.page import sections

        results = check_run(run)
        return sections(results, settings_of_run(run), 4) if results else ""


SECTION = SameSection()
