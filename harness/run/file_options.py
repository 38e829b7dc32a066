"""Options of files of candidates and references: columns, systems, accepted faults."""

from __future__ import annotations

from dataclasses import dataclass

from harness.contracts import Values
from harness.errors import HarnessError


@dataclass(frozen=True)
class FileOptions:
    """Columns, systems and accepted faults of files of candidates and references."""

    id: str | None = ""
    """Column of the ids of candidates; empty: a usual name; None:
    records and examples are matched by position.
    """
    columns: tuple[str, ...] = ()
    """Columns of the candidates, each a system; empty: a usual name."""
    systems: tuple[str, ...] = ()
    """Systems to score, from records whose candidates are an object of systems."""
    reference_id: str | None = ""
    """Column of the ids of references; empty: a usual name; None:
    the records are numbered.
    """
    reference_columns: tuple[str, ...] = ()
    """Columns of the references; empty: a usual name."""
    split: str = ""
    """Split of the references; empty: all."""
    events: str = ""
    """Treatment of texts with times, ``paragraph`` or ``separate``; empty:
    such files are refused.
    """
    time_unit: str = ""
    """Unit of times without one in answers, for sets of events; empty: not known."""
    fps: float | None = None
    """Frames of a second, for times that are frames."""
    clean: tuple[str, ...] = ()
    """Parts that candidates lose (:data:`harness.files.generated.cleaning.CLEAN`)."""

    def of_candidates(self, system: str = "", column: str = "") -> Values:
        """Return the parameters of the adapter that reads candidates, for one system or
        column of the file or without one.
        """
        values: Values = {}
        # None is a choice: records are matched by position
        if self.id != "":
            values["columns"] = {"id": self.id}
        if column:
            values["candidates"] = column
        if system:
            values["system"] = system
        if self.events:
            values["events"] = self.events
        if self.time_unit:
            values["time_unit"] = self.time_unit
        if self.fps is not None:
            values["fps"] = self.fps
        if self.clean:
            values["clean"] = list(self.clean)
        return values

    def of_references(self) -> Values:
        """Return the parameters of the reader of references."""
        columns: Values = {} if self.reference_id == "" else {"id": self.reference_id}
        if self.reference_columns:
            columns["references"] = list(self.reference_columns)
        values = {"columns": columns, "split": self.split, "events": self.events}
        return {name: value for name, value in values.items() if value}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the systems of each file: several columns, or systems of records;
        empty for files of one system.

        Raises :class:`HarnessError` for both.
        """
        if len(self.columns) > 1 and self.systems:
            raise HarnessError(
                "several columns are several systems, and cannot be combined with "
                "systems of records"
            )
        return self.columns if len(self.columns) > 1 else self.systems

    @property
    def column(self) -> str:
        """Column of the candidates of one system;
        raises :class:`HarnessError` for several.
        """
        if len(self.columns) > 1:
            raise HarnessError(
                f"column: {', '.join(self.columns)} are {len(self.columns)} systems; "
                "expected one column"
            )
        return self.columns[0] if self.columns else ""


USUAL_OPTIONS = FileOptions()
"""Options of files whose columns have usual names."""
