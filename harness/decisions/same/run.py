"""Sources of ``harness same`` that are models of runs, and the test that a spec asks
for with ``same: [A, B]``.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import cast

from pydantic import TypeAdapter

from harness import __version__
from harness.decisions.same.same import SourceComparison, compare_all
from harness.decisions.same.sources import Source
from harness.decisions.same.statistics import Settings
from harness.results import ComparedRun, Run
from harness.rundir.artifact_key import content_digest
from harness.rundir.file_names import SAME
from harness.rundir.format import plain
from harness.rundir.kept_file import KeptFile

SCHEMA = 2
"""Schema version of same.json."""
_COMPARISONS = TypeAdapter(list[SourceComparison])


def sources_of_run(side: ComparedRun) -> list[Source]:
    """Return the systems of a run, or of its chosen model, as sources."""
    return [
        Source(
            side.label(system),
            {item.id: item.candidates for item in system.caption_sets()},
        )
        for system in side.systems
    ]


def settings_of_run(run: Run) -> Settings:
    """Return the settings of the test that the spec of a run asks for."""
    return Settings(seed=int(run.provenance.spec.get("seed", 0)))


def check_run(run: Run) -> list[SourceComparison]:
    """Return the tests that the spec of a run asks for,
    of each pair of its sources; empty without ``same``.

    They are kept in ``same.json`` of the run directory, for the captions, settings and
    version under which they were computed.
    """
    names = cast("list[str]", run.provenance.spec.get("same") or [])
    if not names or not run.samples.systems:
        return []
    side = ComparedRun(run, name=run.name)
    settings = settings_of_run(run)
    sources = [source for source in sources_of_run(side) if source.label in names]

    # They are computed anew for other captions, settings or versions.
    answers = [[source.label, plain(source.answers)] for source in sources]
    key = content_digest([__version__, SCHEMA, asdict(settings), answers])
    file = KeptFile(None if run.path is None else run.path / SAME, key)

    rows = file.read()
    if not rows:
        rows = plain([asdict(result) for result in compare_all(sources, settings)])
        file.write(SCHEMA, rows)
    return _COMPARISONS.validate_python(rows)
