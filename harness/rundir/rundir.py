"""The run directory as an object: created or resumed by a run, opened by report, compare, power, correlate.

``manifest.json`` is written first and never changes; its ``digest`` decides whether a directory holds this run or another.
``results.json`` and ``samples.parquet`` are written when the run is finished.
"""

from __future__ import annotations

import errno
import json
import logging
import time
import traceback
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Literal, cast

from harness.errors import BUG_LOG, HarnessError, InputError
from harness.files.readable import DAMAGED
from harness.rundir.artifacts import ArtifactStore, content_digest
from harness.rundir.format import (
    ARTIFACT_FOLDERS,
    COMPARISONS,
    LOG,
    MANIFEST,
    RESULTS,
    RESULTS_SCHEMA,
    RUN_FILES,
    SAMPLES,
    SHARDS,
    JsonObject,
    file_digest,
    plain,
    read_json_object,
    to_json,
    write_atomically,
)
from harness.rundir.lock import RunLock
from harness.rundir.provenance import Provenance
from harness.rundir.records import ResultRecord
from harness.rundir.samples import SampleTable
from harness.rundir.shapes import Results, check_manifest, check_results

_log = logging.getLogger(__name__)

ATTEMPTS = 20
"""Number of times that a folder which another process removes is created."""
Mode = Literal["auto", "resume", "fresh", "extend"]
SAMPLES_CHECKSUM = "samples_sha256"
"""Key of results.json: SHA-256 of samples.parquet."""
CHECKSUM = "checksum"
"""Key of results.json: SHA-256 of the other values."""


class RunDir:
    """One run directory."""

    def __init__(self, path: Path) -> None:
        try:
            str(path).encode()
        except UnicodeEncodeError:
            raise InputError("the name of a run directory is UTF-8; found other bytes", str(path)) from None
        self.path = path
        self.artifacts = ArtifactStore(path)
        self._lock = RunLock(path)

    # ------------------------------------------------------------------ opening
    @classmethod
    def open(cls, path: str | Path) -> RunDir:
        """Return a finished run; raise :class:`InputError` when there is none or it is not finished."""
        run = cls(Path(path))
        for name in (MANIFEST, RESULTS):
            if not (run.path / name).is_file():
                unfinished = (run.path / MANIFEST).is_file()
                state = "the run has not finished; continue it with --resume" if unfinished else "no run here"
                part_name = (run.held_manifest() or {}).get("part")
                if part_name:
                    state = f"it is part {part_name} of a run; join the parts with harness merge"
                raise InputError(f"has no {name}: {state}", str(run.path))
        _ = run.provenance, run.results
        return run

    @classmethod
    def create(cls, path: Path, manifest: Mapping[str, object], mode: Mode = "auto") -> RunDir:
        """Take a directory for the run of ``manifest`` and lock it.

        Parameters
        ----------
        path : Path
            The directory; created when missing.
        manifest : mapping
            Content of manifest.json; its ``digest`` identifies the run.
        mode : {"auto", "resume", "fresh", "extend"}
            ``auto``: new, or continue the same run; ``resume``: must hold the same run; ``fresh``: replace the run in it;
            ``extend``: becomes this run, and keeps the captions and statistics of the run in it that this one has too.

        Raises
        ------
        InputError
            The directory holds another run, or files that are no run.
        HarnessError
            Another process writes the run.
        """
        run = cls(path)
        run._check(run._read_stored_manifest(mode), manifest, mode)  # before anything is written
        try:
            if run._take(manifest, mode):
                run._begin(manifest, mode)
        except BaseException:
            run.close()
            raise
        return run

    def _take(self, manifest: Mapping[str, object], mode: Mode) -> bool:
        """Lock the directory and return True; return False for a finished run in a folder that cannot be written."""
        for attempt in range(ATTEMPTS):
            self.path.mkdir(parents=True, exist_ok=True)
            try:
                self._lock.acquire()
                return True
            except FileNotFoundError:  # another process has removed the empty folder
                if attempt == ATTEMPTS - 1:
                    raise
            except OSError as error:
                previous = self._read_stored_manifest(mode)
                readable = error.errno in (errno.EROFS, errno.EACCES, errno.EPERM) and mode != "fresh"
                if readable and previous is not None and self.finished:
                    return False
                raise
        raise AssertionError("the last attempt returns or raises")

    def _begin(self, manifest: Mapping[str, object], mode: Mode) -> None:
        """Bring the locked directory into the state of a run that begins or goes on."""
        previous = self._read_stored_manifest(mode)  # another process may have written it before the lock was free
        self._check(previous, manifest, mode)
        if mode == "fresh":
            self._clear()
        self._remove_temporary()
        self._drop_damaged_results()
        if previous is not None and mode == "extend" and previous.get("digest") != manifest["digest"]:
            for name in (RESULTS, COMPARISONS, SAMPLES, SHARDS, "report.html"):
                (self.path / name).unlink(missing_ok=True)
            previous = None
        if previous is None or mode == "fresh":
            write_atomically(self.path / MANIFEST, to_json(manifest))

    def begin_again(self, manifest: Mapping[str, object]) -> None:
        """Remove the results and write another manifest of the same digest; captions and statistics stay."""
        (self.path / RESULTS).unlink(missing_ok=True)
        write_atomically(self.path / MANIFEST, to_json(manifest))
        self.__dict__.pop("provenance", None)

    def held_manifest(self) -> JsonObject | None:
        """Return the manifest in the directory, None without a readable one."""
        try:
            return read_json_object(self.path / MANIFEST)
        except (OSError, InputError):
            return None

    def _read_stored_manifest(self, mode: Mode) -> JsonObject | None:
        """Return the manifest in the directory, None without one, an empty one that ``fresh`` replaces."""
        file = self.path / MANIFEST
        if not file.is_file():
            return None
        try:
            previous = read_json_object(file)
        except InputError:
            previous = {}
        if "digest" in previous or mode == "fresh":
            return previous
        raise InputError("is no manifest of a run; give another --output or --fresh", str(file))

    def _check(self, previous: JsonObject | None, manifest: Mapping[str, object], mode: Mode) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise InputError("is a file; expected a folder for the run", str(self.path))
        same = previous is not None and previous.get("digest") == manifest["digest"]
        if previous is not None and mode not in ("fresh", "extend") and not same:
            raise InputError(
                f"holds another run ({_name(previous)}); this one is {_name(manifest)}. Give another --output, --extend to keep what "
                "both share, or --fresh to replace it",
                str(self.path),
            )
        if previous is not None and same and mode != "fresh" and previous.get("part") != manifest.get("part"):
            names = [f"part {item['part']}" if item.get("part") else "the whole run" for item in (previous, manifest)]
            raise InputError(
                f"holds {names[0]}, and this is {names[1]}; give another --output, or --fresh to replace it",
                str(self.path),
            )
        if previous is None and mode in ("resume", "extend"):
            raise InputError("holds no run to resume", str(self.path))
        if previous is None and mode == "auto" and self.path.is_dir():
            foreign = [p.name for p in self.path.iterdir() if p.name not in RUN_FILES and not _is_temporary(p.name)]
            if foreign:
                raise InputError("is not empty and is no run directory; give another --output", str(self.path))

    def _clear(self) -> None:
        """Remove the run in the directory: results first, the manifest last."""
        for name in (RESULTS, COMPARISONS, SAMPLES, SHARDS, LOG, "report.html"):
            (self.path / name).unlink(missing_ok=True)
        self.artifacts.clear()
        self._remove_temporary()
        (self.path / MANIFEST).unlink(missing_ok=True)

    def _drop_damaged_results(self) -> None:
        """Remove results that cannot be read, so that the run goes on and writes them again from its artifacts."""
        if not self.finished:
            return
        probe = RunDir(self.path)
        try:
            _ = len(probe.samples)
            lost = [r.statistics for r in probe.records if r.statistics and not self.artifacts.is_whole(r.statistics)]
            if lost:
                raise InputError(f"lacks the statistics {lost[0]}, or they are damaged", str(self.path))
            if (self.path / SHARDS).is_file() and self.shard_size() is None:
                raise InputError("is damaged", str(self.path / SHARDS))
        except (HarnessError, *DAMAGED) as error:
            _log.warning("note: %s; the run writes its results again", " ".join(str(error).split()))
            (self.path / RESULTS).unlink()

    def _remove_temporary(self) -> None:
        """Remove what a killed process was writing; only the holder of the lock writes these names."""
        for folder, names in (
            (self.path, (MANIFEST, RESULTS, SAMPLES, SHARDS)),
            *((self.path / name, None) for name in ARTIFACT_FOLDERS),
        ):
            for file in folder.glob(".*.tmp"):
                if names is None or file.name.startswith(tuple(f".{name}." for name in names)):
                    file.unlink(missing_ok=True)

    def discard_if_empty(self) -> None:
        """Remove the files of a run that failed before it had any captions or scores."""
        if self.artifacts.is_empty() and not (self.path / RESULTS).exists():
            self._clear()
            self.close()
            if not any(self.path.iterdir()):
                self.path.rmdir()

    def close(self) -> None:
        """Release the lock."""
        self._lock.release()

    def __enter__(self) -> RunDir:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Release the lock; a run that failed before it had any captions or scores leaves no files."""
        if isinstance(error, HarnessError):
            self.discard_if_empty()
        self.close()

    # ------------------------------------------------------------------ reading
    @property
    def finished(self) -> bool:
        """True when results and samples are on disk."""
        return (self.path / RESULTS).is_file() and (self.path / SAMPLES).is_file()

    @cached_property
    def provenance(self) -> Provenance:
        """Provenance of the run: spec, data, models, metrics, versions."""
        content = read_json_object(self.path / MANIFEST)
        check_manifest(content, self.path / MANIFEST)
        return Provenance(content)

    @cached_property
    def results(self) -> Results:
        """Content of results.json."""
        content = read_json_object(self.path / RESULTS)
        results = check_results(content, self.path / RESULTS)
        checksum = content.pop(CHECKSUM, None)
        if content.get("schema") == RESULTS_SCHEMA and checksum not in (None, content_digest(content)):
            raise InputError("is damaged (its checksum differs); run the spec again to rebuild it", str(self.path / RESULTS))
        return results

    @cached_property
    def records(self) -> tuple[ResultRecord, ...]:
        """Result records, in the order of the run."""
        return tuple(self.results.results)

    @cached_property
    def samples(self) -> SampleTable:
        """Captions and per-example scores; reading them raises :class:`InputError` when the file is not the one that the run wrote."""
        return SampleTable.open(self.path / SAMPLES, self.results.samples_sha256)

    # ------------------------------------------------------------------ shards
    def shard_size(self) -> int | None:
        """Return the number of examples per shard that the run was begun with; None without a whole file."""
        try:
            content = read_json_object(self.path / SHARDS)
        except (OSError, InputError):
            return None
        checksum = content.pop(CHECKSUM, None)
        size = content.get("size")
        is_intact = checksum == content_digest(content) and isinstance(size, int) and size > 0
        return cast("int", size) if is_intact else None

    def write_shards(self, size: int, **values: object) -> None:
        """Write the number of examples per shard, so that a resumed run has the same shards."""
        content: JsonObject = {"size": size, **values}
        write_atomically(self.path / SHARDS, to_json({**content, CHECKSUM: content_digest(content)}))

    # ------------------------------------------------------------------ writing
    def write_results(
        self,
        records: Sequence[ResultRecord],
        failed: Mapping[str, str],
        notes: Sequence[str],
        costs: Mapping[str, object] | None = None,
    ) -> None:
        """Write results.json beside samples.parquet, which is there: a directory with results is finished."""
        content: JsonObject = {
            "schema": RESULTS_SCHEMA,
            "signature": self.provenance.signature,
            "digest": self.provenance.digest,
            SAMPLES_CHECKSUM: file_digest(self.path / SAMPLES),
            "results": [record.to_dict() for record in records],
        }
        if failed:
            content["failed"] = dict(failed)
        if notes:
            content["notes"] = list(notes)
        if costs:
            content["costs"] = dict(costs)
        content = cast(JsonObject, plain(content))
        write_atomically(self.path / RESULTS, to_json({**content, CHECKSUM: content_digest(content)}))

    def log(self, event: str, **values: object) -> None:
        """Append one event to log.jsonl; a torn last line after a kill is harmless."""
        line = json.dumps(plain({"time": round(time.time(), 3), "event": event, **values}), ensure_ascii=True)
        with open(self.path / LOG, "a", encoding="utf-8") as file:
            file.write(line + "\n")


@contextmanager
def log_bugs(folder: Path | None) -> Generator[None]:
    """Context of a run in ``folder``: the traceback of a bug goes into its log, whose path becomes an attribute of the exception."""
    try:
        yield
    except (HarnessError, OSError, MemoryError):
        raise
    except Exception as error:
        if folder is not None and folder.is_dir():
            RunDir(folder).log("bug", traceback="".join(traceback.format_exception(error)))
            setattr(error, BUG_LOG, str(folder / LOG))
        raise


def _is_temporary(name: str) -> bool:
    return name.startswith(".") and name.endswith(".tmp")


def _name(manifest: Mapping[str, object]) -> str:
    return f"task {manifest.get('task', '?')}, {str(manifest.get('digest', '?'))[:12]}"
