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
from typing import BinaryIO, cast

from harness.errors import HarnessError, InputError
from harness.files.outputs import is_unchanged_output
from harness.files.streams import DAMAGED
from harness.files.user_path import nearest_beside
from harness.rundir.artifact_key import content_digest
from harness.rundir.artifacts import ArtifactStore
from harness.rundir.commit_file import DamagedCommit, FileStamp
from harness.rundir.directory_check import Mode, check_directory
from harness.rundir.file_names import (
    ARTIFACT_FOLDERS,
    COMMIT,
    COMPARISONS,
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
from harness.rundir.run_folder import RunFolder
from harness.rundir.samples import SampleTable
from harness.rundir.shard_file import ShardFile
from harness.rundir.stored_paths import resolve_paths, store_paths
from harness.rundir.temporary_files import remove_temporary_files
from harness.rundir.written_file import StampedFile

_log = logging.getLogger(__name__)

ATTEMPTS = 20
"""Number of times that a folder which another process removes is created."""
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
                raise InputError(f"has no {name}: {run._describe()}", str(run.path))

        # Damaged files are reported here, not where they are first used.
        _ = run.provenance, run.results
        return run

    def _describe(self) -> str:
        """Return what a directory holds that is no finished run."""
        part_name = (self.held_manifest() or {}).get("part")
        if part_name:
            return f"it is part {part_name} of a run; join the parts with harness merge"
        if self.folder.has(MANIFEST):
            return "the run has not finished; run its spec again to continue it"
        nearest = None if self.path.exists() else nearest_beside(self.path)
        if nearest:
            return f"no run here; did you mean '{self.path.parent / nearest}'?"
        return "no run here"

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
                # A finished run is opened where nothing can be written.
                previous = self._read_stored_manifest(mode) or {}
                is_same = previous.get("digest") == manifest["digest"]
                is_denied = error.errno in (errno.EROFS, errno.EACCES, errno.EPERM)
                if is_denied and mode != "fresh" and is_same and self.finished:
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
            _log.warning("note: %s; it is replaced", str(error).partition(";")[0])
            self.folder.remove(RESULTS, COMMIT, PENDING)

        # another process may have written it before the lock was free
        previous = self._read_stored_manifest(mode)
        self._check(previous, manifest, mode)
        remove_temporary_files(self.folder)
        self._drop_damaged_results()

        # The same fresh run after a kill goes on, as it does beside another run.
        held = previous or {}
        is_same = all(held.get(key) == manifest.get(key) for key in ("digest", "part"))
        was_begun_afresh = held.get("fresh") is True and not self.finished
        goes_on = mode == "fresh" and is_same and was_begun_afresh
        if goes_on:
            _log.warning("note: the interrupted fresh run in %s goes on", self.path)

        is_other = mode == "fresh" or held.get("digest") != manifest["digest"]
        if previous is not None and is_other and not goes_on:
            afresh = mode == "fresh" or (mode != "extend" and self._waits_afresh)
            self.replace_run(manifest, fresh=afresh)
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
            _log.warning("note: the interrupted fresh run in %s goes on", self.path)

        self._replaces = True
        self._inside = f"{PENDING}/" if fresh else ""
        self.artifacts = ArtifactStore(self.path, self._inside)
        # the mark of a run that uses nothing of the one before it
        if fresh:
            self.folder.append(self._inside + LOG).close()
        self.write_manifest(manifest)
        self._forget_manifest()

    def _waits(self, manifest: Mapping[str, object]) -> bool:
        """Return True when the run of ``manifest`` was begun beside the one in the
        directory, and has not ended.
        """
        pending = read_object(self.folder, f"{PENDING}/{MANIFEST}") or {}
        return pending.get("digest") == manifest["digest"]

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
            "is no manifest of a run; give another folder, or mode='fresh'",
            str(self.path / MANIFEST),
        )

    def _check(
        self, previous: JsonObject | None, manifest: Mapping[str, object], mode: Mode
    ) -> None:
        waits = self._waits(manifest) if previous is not None else False
        check_directory(self.folder, previous, manifest, mode, waits=waits)

    def _clear(self) -> None:
        """Remove the run in the directory: results first, the manifest last."""
        self.folder.remove(
            RESULTS, COMPARISONS, SAME, SAMPLES, SHARDS, LOG, *self._own_report()
        )
        self.artifacts.clear()
        remove_temporary_files(self.folder)
        self.folder.remove(PENDING, MANIFEST)

    def _drop_damaged_results(self) -> None:
        """Remove results that cannot be read, so that the run goes on and writes them
        again from its artifacts.
        """
        if not self.finished:
            return
        try:
            self._check_results()
        except (HarnessError, *DAMAGED) as error:
            reason = " ".join(str(error).split())
            _log.warning("note: %s; the run writes its results again", reason)
            self.folder.remove(RESULTS)

    def _check_results(self) -> None:
        """Raise an error where results, samples, statistics or shards are damaged."""
        # another object, so that nothing of damaged files stays in this one
        probe = RunDir(self.path)
        _ = len(probe.samples)

        # all of them, so that each damaged file is named in the log
        names = [record.statistics for record in probe.records if record.statistics]
        lost = [name for name in names if not self.artifacts.is_whole(name)]
        if lost:
            raise InputError(
                f"lacks the statistics {lost[0]}, or they are damaged", str(self.path)
            )

        shards = ShardFile(self.folder, SHARDS)
        if self.folder.has(SHARDS) and shards.read() is None:
            raise InputError("is damaged", str(self.path / SHARDS))

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

        # A file without a checksum, or of another schema, is read as it is.
        checksum = content.pop(CHECKSUM, None)
        is_damaged = checksum not in (None, content_digest(content))
        if content.get("schema") == RESULTS_SCHEMA and is_damaged:
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

    def shard_size(self, examples: int | None = None) -> int | None:
        """Return the number of examples per shard that the run was begun with;
        None without a whole file.

        A run that replaces another one over as many ``examples`` has the shards of that
        one, whose statistics it may use.
        """
        content = self._shards.read()
        if content is None and self._replaces and not self._inside:
            content = ShardFile(self.folder, SHARDS).read()
        if content is None:
            return None
        if self._replaces and content.get("examples") not in (None, examples):
            return None
        return cast("int", content["size"])

    @property
    def _shards(self) -> ShardFile:
        name = f"{PENDING}/{SHARDS}" if self._replaces else SHARDS
        return ShardFile(self.folder, name)

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
        content |= {key: value for key, value in optional.items() if value}

        # The checksum is that of what the file says, in which NaN is null.
        content = cast(JsonObject, plain(content))
        data = to_json({**content, CHECKSUM: content_digest(content)})
        self.folder.write(f"{PENDING}/{RESULTS}", data)
        self.commit({SAMPLES: samples, RESULTS: FileStamp.of(data)})

    def write_manifest(self, content: Mapping[str, object]) -> None:
        """Write the manifest anew; it comes into the directory with the results."""
        data = to_json(store_paths(content, self.path))
        self.folder.write(f"{PENDING}/{MANIFEST}", data)

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
        removed: list[str] = []
        if self._replaces:
            removed += [RESULTS, SAMPLES, COMPARISONS, SAME, SHARDS]
            removed += self._own_report()
        # captions, statistics and log of the run before are not those of this one
        if self._inside:
            removed += [*ARTIFACT_FOLDERS, LOG]
        self.folder.commit(removed, stamps)

        self._replaces = False
        self._inside = ""
        self.artifacts = ArtifactStore(self.path)
        self._forget_manifest()

    def _forget_manifest(self) -> None:
        """Read the manifest again when :attr:`provenance` is next used."""
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
        entry = {"time": round(time.time(), 3), "event": event, **values}
        line = json.dumps(plain(entry), ensure_ascii=True)
        with self.folder.append(self._inside + LOG) as file:
            file.write(f"{line}\n".encode())
