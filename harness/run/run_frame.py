"""The frame of a run of every kind of task: its directory is taken, its hooks are
called, lines of its components are kept and what they started ends with it, while what
it lacks is computed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TypeVar

from harness.files.component_lines import keep_lines
from harness.registry.component_ends import ending_components
from harness.registry.hooks import Plugins
from harness.run.execution import Execution
from harness.run.finished import Run
from harness.rundir.directory_check import Mode
from harness.rundir.format import JsonObject
from harness.rundir.provenance import Provenance
from harness.rundir.rundir import RunDir

E = TypeVar("E", bound=Execution)


def compute_run(
    manifest: JsonObject,
    plugins: Plugins,
    begin: Callable[[Provenance, RunDir | None], E],
    compute: Callable[[E], Run],
    *,
    output: Path | None,
    mode: Mode,
    prepare_directory: Callable[[RunDir], None] | None = None,
) -> Run:
    """Return the run of a manifest: the finished one in a directory, else one in which
    what is missing has been computed.

    Parameters
    ----------
    manifest : dict
        Content of manifest.json.
    plugins : Plugins
        Hooks of the run.
    begin : callable
        Returns the execution of the run from its provenance and directory.
    compute : callable
        Computes what the execution lacks and returns the finished run.
    output : Path or None
        Run directory; None: nothing is written.
    mode : {"auto", "resume", "fresh", "extend"}
        See :meth:`harness.rundir.rundir.RunDir.create`.
    prepare_directory : callable, optional
        Called with the directory before it is asked whether its run has finished.
    """
    directory = RunDir.create(output, manifest, mode) if output else nullcontext()
    with directory as rundir:
        if rundir is not None:
            if prepare_directory is not None:
                prepare_directory(rundir)
            # another process may have ended the run while the data were read
            if rundir.finished:
                return Run.of(rundir)

        provenance = Provenance(manifest)
        run = begin(provenance, rundir)
        run.log("started", digest=provenance.digest)
        with (
            plugins.running(manifest),
            keep_lines(run.keep_line),
            ending_components(),
        ):
            return compute(run)
