"""Runs as files of other programs, and as baselines of a gate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from harness.contracts import WrittenFiles
from harness.errors import HarnessError, InputError, UnknownName
from harness.files.outputs import write_outputs
from harness.reporting.event_files import activitynet_files
from harness.reporting.event_tables import event_tables
from harness.reporting.every_eval_ever import evaluation_files, hub_files
from harness.reporting.lm_eval_files import lm_eval_files
from harness.reporting.toolkit_files import coco_files, vdtk_files
from harness.run.finished import Run
from harness.rundir.file_names import MANIFEST, RESULTS, SAMPLES, SHARDS
from harness.rundir.format import to_json
from harness.rundir.stored_paths import store_paths

BASELINE = "baseline"
FORMS: Mapping[str, Callable[[Run], Iterator[tuple[str, str]]]] = {
    "lm-eval": lm_eval_files,
    "coco": coco_files,
    "vdtk": vdtk_files,
    "activitynet": activitynet_files,
    "events": event_tables,
    "every-eval-ever": evaluation_files,
    "hf-eval-results": hub_files,
}
"""Name of a format -> function that yields the path of a file below the folder,
and its text.
"""


def export(
    run: str | Path,
    format: str = "lm-eval",
    output: str | Path = "",
    *,
    overwrite: bool = False,
) -> WrittenFiles:
    """Write a finished run as files of another program and return the files.

    Parameters
    ----------
    run : str or Path
        Run directory.
    format : str
        ``lm-eval``, ``coco``, ``vdtk``, ``activitynet``, ``events``,
        ``every-eval-ever``, ``hf-eval-results`` or ``baseline``
        (docs/data-formats.md). The last is a run directory of what ``gate``,
        ``compare`` and ``rescore`` read: numbers, statistics, captions and references.
    output : str or Path
        Folder of the files.
    overwrite : bool
        Replace files that the harness did not write, or that were changed since
        (:mod:`harness.files.outputs`).

    Raises
    ------
    HarnessError
        For an unknown format, a run without captions, captions that the format cannot
        hold, and such a file.
    """
    if format not in (*FORMS, BASELINE):
        formats = (*FORMS, BASELINE)
        raise UnknownName.of_name("no format", format, formats, "formats are")
    if not output:
        raise HarnessError("no folder of the files: give output='DIR'")

    opened = Run.open(run)
    target = Path(output)
    if format == BASELINE:
        files = ((target / name, data) for name, data in _baseline(opened, target))
        return WrittenFiles(write_outputs(files, overwrite=overwrite, folder=target))

    if not opened.samples.systems:
        raise InputError("the run has no captions to export", str(run))
    files = (
        (target / path, text.encode("utf-8")) for path, text in FORMS[format](opened)
    )
    return WrittenFiles(write_outputs(files, overwrite=overwrite, folder=target))


def _baseline(run: Run, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a run directory without answers of models, log, comparisons
    and report, as they are in a folder.
    """
    assert run.path is not None
    # Paths of the manifest are relative to the directory, which is another one here.
    yield MANIFEST, to_json(store_paths(run.manifest, folder))
    scores = sorted(
        path.relative_to(run.path).as_posix()
        for path in (run.path / "scores").glob("*")
    )
    for name in (SHARDS, *scores, SAMPLES, RESULTS):
        if (run.path / name).is_file():
            yield name, (run.path / name).read_bytes()
