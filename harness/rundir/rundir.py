"""The run directory as an object: created or resumed by a run, opened by report,
compare, power, correlate.

``manifest.json`` names the run: its ``digest`` decides whether a directory holds this
run or another. A new directory has it from the beginning. A run that replaces another
one writes its files beside those of the other (:mod:`harness.rundir.run_folder`):
results and samples come into the directory by one commit, and with them the manifest of
the run that they belong to.
"""

from __future__ import annotations

import errno
import io
import json
import logging
import os
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Literal, cast

from harness.errors import HarnessError, InputError
from harness.files.outputs import OUTPUTS, is_unchanged_output
from harness.files.streams import DAMAGED
from harness.files.whole_folder import remove_left_overs
from harness.rundir.artifact_key import content_digest
from harness.rundir.artifacts import ArtifactStore
from harness.rundir.file_names import (
    ARTIFACT_FOLDERS,
    COMMIT,
    COMPARISONS,
    LOCK,
    LOG,
    MANIFEST,
    PENDING,
    REPORT,
    RESULTS,
    RUN_FILES,
    SAME,
    SAMPLES,
    SHARDS,
)
from harness.rundir.format import (
    CHECKSUM,
    RESULTS_SCHEMA,
    JsonObject,
    plain,
    read_json_object,
    read_object,
    to_json,
)
from harness.rundir.lock import RunLock
from harness.rundir.provenance import Provenance, Results, check_manifest, check_results
from harness.rundir.records import ResultRecord
from harness.rundir.run_folder import DamagedCommit, FileStamp, RunFolder, StampedFile
from harness.rundir.samples import SampleTable
from harness.rundir.shard_file import ShardFile
from harness.rundir.stored_paths import resolve_paths, store_paths

_log = logging.getLogger(__name__)

BESIDE = (COMPARISONS, SAME, REPORT)
"""Files that are computed from a finished run, and written without its lock."""
ATTEMPTS = 20
"""Number of times that a folder which another process removes is created."""
Mode = Literal["auto", "resume", "fresh", "extend"]
SAMPLES_BUFFER = 1 << 20
"""Bytes of samples.parquet that are written at once."""
SAMPLES_CHECKSUM = "samples_sha256"
"""Key of results.json: SHA-256 of samples.parquet."""


class RunDir:
    """One run directory."""

    def __init__(self, path: Path) -> None:
        try:
            str(path).encode()
        except UnicodeEncodeError:
            raise InputError(
                "the name of a run directory is UTF-8; found other bytes", str(path)
            ) from None
        self.path = path
        self.folder = RunFolder(path)
        self.artifacts = ArtifactStore(path)
        self._lock = RunLock(path)
        self._replaces = False
        """True while the files of this run wait for the commit that puts them in place
        of another run's.
        """
        self._inside = ""
        """Folder, with a slash, of captions, statistics and log: that of the next
        commit for a run that keeps nothing.
        """
        self._samples: StampedFile
        """File of :meth:`create_samples`."""

    # ------------------------------------------------------------------ opening
    @classmethod
    def open(cls, path: str | Path) -> RunDir:
        """Return a finished run, without changing the directory; raise
        :class:`InputError` when there is none or it is not finished.

        A commit that a kill cut off is read as if it had been carried out.
        """
        run = cls(Path(path))
        run.folder.check(RUN_FILES, ARTIFACT_FOLDERS)
        for name in (MANIFEST, RESULTS):
            if not run.folder.has(name):
                unfinished = run.folder.has(MANIFEST)
                state = (
                    "the run has not finished; continue it with --resume"
                    if unfinished
                    else "no run here"
                )
                part_name = (run.held_manifest() or {}).get("part")
                if part_name:
                    state = (
                        f"it is part {part_name} of a run; "
                        "join the parts with harness merge"
                    )
                raise InputError(f"has no {name}: {state}", str(run.path))
        _ = run.provenance, run.results
        return run

    @classmethod
    def create(
        cls, path: Path, manifest: Mapping[str, object], mode: Mode = "auto"
    ) -> RunDir:
        """Take a directory for the run of ``manifest`` and lock it.

        Parameters
        ----------
        path : Path
            The directory; created when missing.
        manifest : mapping
            Content of manifest.json; its ``digest`` identifies the run.
        mode : {"auto", "resume", "fresh", "extend"}
            ``auto``: new, or continue the same run; ``resume``: must hold the same run;
            ``fresh``: replace the run in it; ``extend``: becomes this run, and keeps
            the captions and statistics of the run in it that this one has too.

        Raises
        ------
        InputError
            The directory holds another run, or files that are no run.
        HarnessError
            Another process writes the run.
        """
        run = cls(path)
        # before anything is written
        run._check(run._read_stored_manifest(mode), manifest, mode)
        run.folder.check(RUN_FILES, ARTIFACT_FOLDERS)
        try:
            if run._take(manifest, mode):
                run._begin(manifest, mode)
        except BaseException:
            run.close()
            raise
        return run

    def _take(self, manifest: Mapping[str, object], mode: Mode) -> bool:
        """Lock the directory and return True; return False where the run is finished in
        a folder that cannot be written.
        """
        for attempt in range(ATTEMPTS):
            self.path.mkdir(parents=True, exist_ok=True)
            try:
                self._lock.acquire()
                return True
            except FileNotFoundError:  # another process has removed the empty folder
                if attempt == ATTEMPTS - 1:
                    raise
            except OSError as error:
                same = (self._read_stored_manifest(mode) or {}).get(
                    "digest"
                ) == manifest["digest"]
                readable = (
                    error.errno in (errno.EROFS, errno.EACCES, errno.EPERM)
                    and mode != "fresh"
                )
                if readable and same and self.finished:
                    return False
                raise
        raise AssertionError("the last attempt returns or raises")

    def _begin(self, manifest: Mapping[str, object], mode: Mode) -> None:
        """Bring the locked directory into the state of a run that begins or goes on."""
        try:
            self.folder.complete()
        except DamagedCommit as error:
            if mode != "fresh":
                raise
            # Some of its files may have been renamed: the results in the directory are
            # those of no run, and go first.
            _log.warning("note: %s; --fresh replaces it", str(error).partition(";")[0])
            self.folder.remove(RESULTS, COMMIT, PENDING)
        # another process may have written it before the lock was free
        previous = self._read_stored_manifest(mode)
        self._check(previous, manifest, mode)
        self._remove_temporary()
        self._drop_damaged_results()
        held = previous or {}
        same = all(held.get(key) == manifest.get(key) for key in ("digest", "part"))
        # The same --fresh after a kill goes on, as it does beside another run.
        if (
            goes_on := mode == "fresh"
            and same
            and held.get("fresh") is True
            and not self.finished
        ):
            _log.warning("note: the interrupted --fresh run in %s goes on", self.path)
        if (
            previous is not None
            and not goes_on
            and (mode == "fresh" or held.get("digest") != manifest["digest"])
        ):
            self.replace_run(
                manifest,
                fresh=mode == "fresh" or (mode != "extend" and self._waits_afresh),
            )
        elif not self.finished:
            self.folder.remove(PENDING)
            if previous is None:
                content = {**manifest, "fresh": True} if mode == "fresh" else manifest
                self.folder.write(MANIFEST, to_json(store_paths(content, self.path)))
                # After a power cut no other file of the run is there without it: such a
                # folder would be somebody else's.
                self.folder.sync_names(MANIFEST)

    def replace_run(
        self, manifest: Mapping[str, object], *, fresh: bool = False
    ) -> None:
        """Begin the run of ``manifest`` beside the one in the directory, which stays
        until :meth:`write_results`.

        A run that was begun so and killed goes on. With ``fresh``, captions and
        statistics of the run in the directory are not used.
        """
        if not self._waits(manifest) or self._waits_afresh != fresh:
            self.folder.remove(PENDING)
        elif fresh:
            _log.warning("note: the interrupted --fresh run in %s goes on", self.path)
        self._replaces = True
        self._inside = f"{PENDING}/" if fresh else ""
        self.artifacts = ArtifactStore(self.path, self._inside)
        if fresh:
            self.folder.append(self._inside + LOG).close()
        self.folder.write(
            f"{PENDING}/{MANIFEST}", to_json(store_paths(manifest, self.path))
        )
        self.__dict__.pop("provenance", None)

    def _waits(self, manifest: Mapping[str, object]) -> bool:
        """Return True when the run of ``manifest`` was begun beside the one in the
        directory, and has not ended.
        """
        return (read_object(self.folder, f"{PENDING}/{MANIFEST}") or {}).get(
            "digest"
        ) == manifest["digest"]

    @property
    def _waits_afresh(self) -> bool:
        """True when the run that was begun beside the one in the directory uses nothing
        of it: it has a log of its own.
        """
        return LOG in self.folder.names(PENDING)

    def held_manifest(self) -> JsonObject | None:
        """Return the manifest in the directory, None without a readable one."""
        return read_object(self.folder, MANIFEST)

    def _read_stored_manifest(self, mode: Mode) -> JsonObject | None:
        """Return the manifest in the directory, None without one,
        an empty one that ``fresh`` replaces.
        """
        if not self.folder.has(MANIFEST):
            return None
        previous = self.held_manifest() or {}
        if "digest" in previous or mode == "fresh":
            return previous
        raise InputError(
            "is no manifest of a run; give another --output or --fresh",
            str(self.path / MANIFEST),
        )

    def _check(
        self, previous: JsonObject | None, manifest: Mapping[str, object], mode: Mode
    ) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise InputError("is a file; expected a folder for the run", str(self.path))
        same = previous is not None and previous.get("digest") == manifest["digest"]
        if (
            previous is not None
            and mode not in ("fresh", "extend")
            and not same
            and not self._waits(manifest)
        ):
            raise InputError(
                f"holds another run ({_name(previous)}); "
                f"this one is {_name(manifest)}. Give another --output, "
                "--extend to keep what "
                "both share, or --fresh to replace it",
                str(self.path),
            )
        if (
            previous is not None
            and same
            and mode != "fresh"
            and previous.get("part") != manifest.get("part")
        ):
            names = [
                f"part {item['part']}" if item.get("part") else "the whole run"
                for item in (previous, manifest)
            ]
            raise InputError(
                f"holds {names[0]}, and this is {names[1]}; give another --output, "
                "or --fresh to replace it",
                str(self.path),
            )
        if previous is None and mode in ("resume", "extend"):
            raise InputError("holds no run to resume", str(self.path))
        # The manifest is the first file that a run writes: without it, files under the
        # names of a run are somebody's own.
        names = () if previous is not None else self.folder.names()
        if any(
            name not in (LOCK, OUTPUTS) and not _is_temporary(name) for name in names
        ):
            raise InputError(
                "is not empty and is no run directory; give another --output",
                str(self.path),
            )

    def _clear(self) -> None:
        """Remove the run in the directory: results first, the manifest last."""
        self.folder.remove(
            RESULTS, COMPARISONS, SAME, SAMPLES, SHARDS, LOG, *self._own_report()
        )
        self.artifacts.clear()
        self._remove_temporary()
        self.folder.remove(PENDING, MANIFEST)

    def _drop_damaged_results(self) -> None:
        """Remove results that cannot be read, so that the run goes on and writes them
        again from its artifacts.
        """
        if not self.finished:
            return
        probe = RunDir(self.path)
        try:
            _ = len(probe.samples)
            lost = [
                r.statistics
                for r in probe.records
                if r.statistics and not self.artifacts.is_whole(r.statistics)
            ]
            if lost:
                raise InputError(
                    f"lacks the statistics {lost[0]}, or they are damaged",
                    str(self.path),
                )
            if (
                self.folder.has(SHARDS)
                and ShardFile(self.folder, SHARDS).read() is None
            ):
                raise InputError("is damaged", str(self.path / SHARDS))
        except (HarnessError, *DAMAGED) as error:
            _log.warning(
                "note: %s; the run writes its results again",
                " ".join(str(error).split()),
            )
            self.folder.remove(RESULTS)

    def _remove_temporary(self) -> None:
        """Remove what a killed process was writing: the holder of the lock alone writes
        these names, but for files beside a run.
        """
        own = tuple(
            f".{name}." for name in (MANIFEST, RESULTS, SAMPLES, SHARDS, COMMIT)
        )
        remove_left_overs(self.path, BESIDE)
        for folder in (
            "",
            *(
                f"{inside}{name}"
                for inside in ("", f"{PENDING}/")
                for name in ARTIFACT_FOLDERS
            ),
        ):
            for name in self.folder.names(folder):
                if _is_temporary(name) and (folder or name.startswith(own)):
                    self.folder.remove(f"{folder}/{name}" if folder else name)

    def discard_if_empty(self) -> None:
        """Remove the files of a run that failed before it had any captions or
        scores.
        """
        if self._replaces:
            if self.artifacts.is_empty() or not self._inside:
                self.folder.remove(PENDING)
        elif self.artifacts.is_empty() and not self.folder.has(RESULTS):
            self._clear()
            self.close()
            if not any(self.path.iterdir()):
                self.path.rmdir()

    def close(self) -> None:
        """Release the lock."""
        self._lock.release()

    def __enter__(self) -> RunDir:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Release the lock; a run that failed before it had any captions or scores
        leaves no files.
        """
        if isinstance(error, HarnessError):
            self.discard_if_empty()
        self.close()

    # ------------------------------------------------------------------ reading
    @property
    def finished(self) -> bool:
        """True when results and samples of this run are on disk."""
        return (
            not self._replaces and self.folder.has(RESULTS) and self.folder.has(SAMPLES)
        )

    @cached_property
    def provenance(self) -> Provenance:
        """Provenance of the run: spec, data, models, metrics, versions."""
        file = self.path / (f"{PENDING}/{MANIFEST}" if self._replaces else MANIFEST)
        content = read_json_object(file)
        check_manifest(content, file)
        return Provenance(resolve_paths(content, self.path))

    @cached_property
    def results(self) -> Results:
        """Content of results.json."""
        content = read_json_object(self.path / RESULTS)
        results = check_results(content, self.path / RESULTS)
        checksum = content.pop(CHECKSUM, None)
        if content.get("schema") == RESULTS_SCHEMA and checksum not in (
            None,
            content_digest(content),
        ):
            raise InputError(
                "is damaged (its checksum differs); run the spec again to rebuild it",
                str(self.path / RESULTS),
            )
        return results

    @cached_property
    def records(self) -> tuple[ResultRecord, ...]:
        """Result records, in the order of the run."""
        return tuple(self.results.results)

    @cached_property
    def samples(self) -> SampleTable:
        """Captions and per-example scores; reading them raises :class:`InputError` when
        the file is not the one that the run wrote.
        """
        return SampleTable.open(self.path / SAMPLES, self.results.samples_sha256)

    # ------------------------------------------------------------------ shards
    def shard_size(self, examples: int | None = None) -> int | None:
        """Return the number of examples per shard that the run was begun with;
        None without a whole file.

        A run that replaces another one over as many ``examples`` has the shards of that
        one, whose statistics it may use.
        """
        earlier = (
            ShardFile(self.folder, SHARDS).read()
            if self._replaces and not self._inside
            else None
        )
        content = self._shards.read() or earlier
        is_same = content is not None and (
            not self._replaces or content.get("examples") in (None, examples)
        )
        return cast("int", content["size"]) if content is not None and is_same else None

    @property
    def _shards(self) -> ShardFile:
        return ShardFile(
            self.folder, f"{PENDING}/{SHARDS}" if self._replaces else SHARDS
        )

    def write_shards(self, size: int, **values: object) -> None:
        """Write the number of examples per shard,
        so that a resumed run has the same shards.
        """
        self._shards.write(size, **values)

    def take_parts(self, folders: Sequence[Path]) -> None:
        """Bring captions, statistics and logs of the parts of this run into the
        directory.
        """
        self.artifacts.take([ArtifactStore(folder) for folder in folders])
        for part_files in map(RunFolder, folders):
            if part_files.has(LOG):
                with self.folder.append(self._inside + LOG) as log:
                    log.write(part_files.read(LOG))

    def finish_part(self, size: int, **values: object) -> None:
        """Write that this part of a run is complete."""
        # a part that says that it has finished has its captions and statistics after a
        # power cut too
        self.folder.sync_artifacts()
        self.write_shards(size, **values, finished=True)
        if self._replaces:
            self.commit()
        else:
            self.folder.sync_names(SHARDS)

    # ------------------------------------------------------------------ writing
    def write_results(
        self,
        records: Sequence[ResultRecord],
        failed: Mapping[str, str],
        notes: Sequence[str],
        costs: Mapping[str, object] | None = None,
        slices: Sequence[ResultRecord] = (),
    ) -> None:
        """Write results.json and put it, with the samples of :meth:`create_samples`,
        into the directory: the run is finished.
        """
        samples = self._samples.stamp
        content: JsonObject = {
            "schema": RESULTS_SCHEMA,
            "signature": self.provenance.signature,
            "digest": self.provenance.digest,
            SAMPLES_CHECKSUM: samples.sha256,
            "results": [record.to_dict() for record in records],
        }
        optional: JsonObject = {
            "slices": [record.to_dict() for record in slices],
            "failed": dict(failed),
            "notes": list(notes),
            "costs": dict(costs or {}),
        }
        content = cast(
            JsonObject,
            plain(content | {key: value for key, value in optional.items() if value}),
        )
        data = to_json({**content, CHECKSUM: content_digest(content)})
        self.folder.write(f"{PENDING}/{RESULTS}", data)
        self.commit({SAMPLES: samples, RESULTS: FileStamp.of(data)})

    def write_manifest(self, content: Mapping[str, object]) -> None:
        """Write the manifest anew; it comes into the directory with the results."""
        self.folder.write(
            f"{PENDING}/{MANIFEST}", to_json(store_paths(content, self.path))
        )

    def create_samples(self) -> BinaryIO:
        """Open the file of the samples for writing;
        it comes into the directory with the results.
        """
        self._samples = self.folder.create(f"{PENDING}/{SAMPLES}")
        return io.BufferedWriter(self._samples, SAMPLES_BUFFER)

    def commit(self, stamps: Mapping[str, FileStamp] | None = None) -> None:
        """Put the files of this run in place of those of the run before; what this run
        does not have is removed.

        ``stamps`` are those of :meth:`harness.rundir.run_folder.RunFolder.commit`.
        """
        removed = (
            (RESULTS, SAMPLES, COMPARISONS, SAME, SHARDS, *self._own_report())
            if self._replaces
            else ()
        )
        self.folder.commit(
            (*removed, *ARTIFACT_FOLDERS, LOG) if self._inside else removed, stamps
        )
        self._replaces = False
        self._inside = ""
        self.artifacts = ArtifactStore(self.path)
        self.__dict__.pop("provenance", None)

    def _own_report(self) -> tuple[str, ...]:
        """Return the name of the page in the directory, which goes with its results;
        nothing for one that people changed, which stays.
        """
        path = self.path / REPORT
        if not os.path.lexists(path) or is_unchanged_output(path):
            return (REPORT,)
        _log.warning(
            "note: %s was changed after the harness wrote it, and stays: "
            "it shows the results before these",
            path,
        )
        return ()

    def log(self, event: str, **values: object) -> None:
        """Append one event to log.jsonl; a torn last line after a kill is harmless."""
        line = json.dumps(
            plain({"time": round(time.time(), 3), "event": event, **values}),
            ensure_ascii=True,
        )
        with self.folder.append(self._inside + LOG) as file:
            file.write(f"{line}\n".encode())


def _is_temporary(name: str) -> bool:
    return name.startswith(".") and name.endswith(".tmp")


def _name(manifest: Mapping[str, object]) -> str:
    return f"task {manifest.get('task', '?')}, {str(manifest.get('digest', '?'))[:12]}"
