"""The words of a run as a section of its report."""

from __future__ import annotations

from collections.abc import Iterator

from caption_vocabulary.counts import Vocabulary
from harness.reporting.formats.web import to_html
from harness.results import Run


class VocabularySection:
    """Section of the terminal, of the JSON and of the page of a run."""

    title = "Vocabulary"

    def lines(self, run: Run) -> Iterator[str]:
        """Yield a line for each system."""
        for row in Vocabulary.of(run).systems:
            yield f"vocabulary of {row.system}: {row.distinct:,} different words"

    def values(self, run: Run) -> list[dict[str, object]]:
        """Return the rows of the JSON."""
        return Vocabulary.of(run).to_dict()["systems"]

    def html(self, run: Run) -> str:
        """Return the table of the page; its texts are escaped."""
        (table,) = Vocabulary.of(run).blocks()
        return to_html(table) if table.rows else ""


VOCABULARY = VocabularySection()
