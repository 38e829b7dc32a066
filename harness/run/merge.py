"""Parts of one run, computed by different processes or machines, joined into a run.

A part holds the captions and statistics of its shards. The merged run takes them all
and computes the rest, which is what needs all examples: corpus numbers, intervals,
combined p-values, and metrics that are not scored shard by shard.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from harness.errors import InputError
from harness.run.execute import execute
from harness.run.execution import Options, log_bugs
from harness.run.finished import Run
from harness.run.metric_plan import Plan
from harness.run.plan import make_plan
from harness.run.provenance import digest
from harness.run.shard_grid import Part
from harness.rundir.directory_check import Mode
from harness.rundir.file_names import MANIFEST, SHARDS
from harness.rundir.format import JsonObject, read_json_object
from harness.rundir.provenance import Provenance
from harness.rundir.run_folder import RunFolder
from harness.rundir.rundir import RunDir
from harness.rundir.stored_paths import resolve_paths
from harness.spec.loading import LoadedSpec, load_written_spec

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PartFolder:
    """Run directory of one part."""

    path: Path
    manifest: JsonObject
    shards: JsonObject

    @property
    def part(self) -> Part:
        """The part that the folder holds."""
        return Part.parse(str(self.manifest["part"]))


def merge(
    parts: Sequence[str | Path],
    output: str | Path,
    *,
    mode: Mode = "auto",
    show: bool = False,
) -> Run:
    """Join the parts of a run and return the finished run.

    Parameters
    ----------
    parts : sequence of str or Path
        Run directories of all parts, in any order.
    output : str or Path
        Directory of the whole run.
    mode : {"auto", "resume", "fresh"}
        See :meth:`harness.rundir.rundir.RunDir.create`.
    show : bool
        Draw progress bars on stderr.

    Raises
    ------
    InputError
        A folder is no finished part, the parts are of different runs or divided
        differently, one is missing or occurs twice, or data, models, metrics or code
        are not those that the parts were computed with.
    """
    output = Path(output)
    part_folders = [_open_part(Path(folder)) for folder in parts]
    _check(part_folders)
    first = part_folders[0]
    if any(output.resolve() == item.path.resolve() for item in part_folders):
        raise InputError(
            "is a part of the run; give another folder for the whole", str(output)
        )
    plan = _plan(first)
    options = Options(shard_size=int(cast(int, first.shards["size"])))

    def copy_parts(rundir: RunDir) -> None:
        if not rundir.finished:
            rundir.take_parts([item.path for item in part_folders])

    with log_bugs(output):
        return execute(
            plan,
            output=output,
            mode=mode,
            show=show,
            options=options,
            prepare_directory=copy_parts,
        )


def _open_part(folder: Path) -> PartFolder:
    files = RunFolder(folder)
    if not files.has(MANIFEST):
        raise InputError(
            "no run here; expected a part that harness run --shard I/N wrote",
            str(folder),
        )
    manifest = resolve_paths(read_json_object(folder / MANIFEST), folder)
    if not isinstance(manifest.get("part"), str):
        raise InputError(
            "is a whole run, not a part; harness run --shard I/N writes parts",
            str(folder),
        )

    shards = read_json_object(folder / SHARDS) if files.has(SHARDS) else {}
    if shards.get("finished") is not True or not isinstance(shards.get("size"), int):
        raise InputError(
            f"part {manifest['part']} has not finished; run its command again",
            str(folder),
        )
    return PartFolder(folder, manifest, shards)


def _check(part_folders: Sequence[PartFolder]) -> None:
    first = part_folders[0]
    for item in part_folders[1:]:
        if item.manifest.get("digest") != first.manifest.get("digest"):
            raise InputError(
                f"is part of another run than {first.path}: spec, data, models, "
                "metrics or code differ",
                str(item.path),
            )
        if item.part.count != first.part.count:
            raise InputError(
                f"is part {item.part}, and {first.path} is part {first.part}",
                str(item.path),
            )
        if item.shards["size"] != first.shards["size"]:
            raise InputError(
                f"has shards of {item.shards['size']} examples, "
                f"and {first.path} of {first.shards['size']}; "
                "all parts need shards of the same size",
                str(item.path),
            )

    by_index: dict[int, PartFolder] = {}
    for item in part_folders:
        earlier_folder = by_index.setdefault(item.part.index, item)
        if earlier_folder is not item:
            raise InputError(
                f"is part {item.part}, as {earlier_folder.path} is", str(item.path)
            )

    count = first.part.count
    missing = [f"{k}/{count}" for k in range(1, count + 1) if k not in by_index]
    if missing:
        noun, verb = ("part", "is") if len(missing) == 1 else ("parts", "are")
        more = ", ..." if len(missing) > 5 else ""
        raise InputError(
            f"{noun} {', '.join(missing[:5])}{more} of {count} {verb} missing",
            str(first.path),
        )


def _plan(part_folder: PartFolder) -> Plan:
    """Return the plan of the spec in the manifest; raise :class:`InputError` when data,
    models or metrics are not those of the parts.

    Parts of another version of the harness, or of other code, are merged too: their
    statistics have other names and are computed again.
    """
    manifest = part_folder.manifest
    loaded = load_written_spec(Provenance(manifest).spec)
    plan = make_plan(cast(LoadedSpec, loaded))
    if manifest.get("digest") in (digest(plan), digest(plan, as_given=True)):
        return plan

    changes = _list_changes(plan, manifest)
    if changes:
        raise InputError(
            f"the parts were computed with other {' and '.join(changes)} than "
            "are installed here",
            str(part_folder.path),
        )
    _log.warning(
        "note: the parts were computed with another version or other code: "
        "statistics are computed again"
    )
    return plan


def _list_changes(plan: Plan, manifest: JsonObject) -> list[str]:
    """Return what of data, models and metrics differs between a plan and the manifest
    of a part.
    """

    def by_label(name: str, field: str) -> dict[object, object]:
        entries = cast("list[JsonObject]", manifest.get(name) or [])
        return {entry["label"]: entry.get(field) for entry in entries}

    data = cast(JsonObject, manifest["data"])
    models = {model.label: model.adapter.fingerprint() for model in plan.models}
    metrics = {metric.label: metric.metric.signature() for metric in plan.metrics}
    changes: list[str] = []
    if data.get("fingerprint") != plan.reader.fingerprint():
        changes.append("data")
    if by_label("models", "fingerprint") != models:
        changes.append("models")
    if by_label("metrics", "signature") != metrics:
        changes.append("metrics")
    return changes
