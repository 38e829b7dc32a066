"""The results so far of a run, which bars in a terminal draw above themselves."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from harness.rundir.records import ResultRecord


class LiveResults:
    """Results so far, one per metric, model and decoding,
    and a function that draws them with rich.
    """

    def __init__(self, draw: Callable[[Sequence[ResultRecord]], Any]) -> None:
        self.draw = draw
        self.records: dict[tuple[str, str, str], ResultRecord] = {}
        self.seen = False
        """True when a bar was drawn: the next one follows at once, so that the results
        do not disappear for a moment.
        """

    def rendered(self) -> Any:
        """Return what rich prints; None before the first result."""
        records = list(self.records.values())
        return self.draw(records) if records else None


_results: LiveResults | None = None


@contextmanager
def live_results(draw: Callable[[Sequence[ResultRecord]], Any]) -> Generator[None]:
    """Context in which bars in a terminal draw the results so far above themselves."""
    global _results
    _results = LiveResults(draw)
    try:
        yield
    finally:
        _results = None


def current_results() -> LiveResults | None:
    """Return the results that bars draw; None outside of :func:`live_results`."""
    return _results


def show_result(record: ResultRecord) -> None:
    """Add a result, or replace the earlier one of its metric, model and decoding."""
    if _results is not None:
        _results.records[record.metric, record.model, record.decoding_key] = record
