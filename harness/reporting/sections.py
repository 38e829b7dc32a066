"""Sections of the report of a run that packages add by the key ``report_sections`` of
their manifest.

A section whose name is a key of the specs of models belongs to the runs whose spec has
this key; any other one is asked about every run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from harness.contracts import Values
from harness.registry import current
from harness.run.finished import Run
from harness.spec.models import Spec

KIND = "report_sections"
"""Key of a manifest."""


class ReportSection(Protocol):
    """A section: an object with these members, such as
    :class:`harness.decisions.same.section.SameSection`. Each is empty for a run about
    which it has nothing to say.
    """

    def lines(self, run: Run) -> Iterable[str]:
        """Return the lines that a terminal shows below the results of a run."""
        ...

    def values(self, run: Run) -> Sequence[Values]:
        """Return the JSON values of the section, which stand under its name in the
        output of ``harness run --json``; without values there is no such key.
        """
        ...

    def html(self, run: Run) -> str:
        """Return the HTML of the section on the page of a run, below a heading of level
        3; texts of a run are escaped.
        """
        ...

    @property
    def title(self) -> str:
        """Heading of the section on the page."""
        ...


@runtime_checkable
class HasImages(Protocol):
    """A section whose HTML has images of the data."""

    def html_without_images(self, run: Run) -> str:
        """Return the HTML for ``harness report --no-images``."""
        ...


def sections_of(run: Run) -> dict[str, ReportSection]:
    """Return name -> section of those that belong to a run."""
    registry = current()
    sections: dict[str, ReportSection] = {}
    for entry in registry.entries(KIND):
        name = registry.bare_name(entry)
        if name not in Spec.model_fields or run.provenance.spec.get(name):
            sections[name] = registry.load(KIND, name)
    return sections
