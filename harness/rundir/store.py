"""The run directory: written to temporary names, flushed, renamed; readable by a person; resumable after a kill.

``manifest.json`` is written first and never changes; its ``digest`` decides whether a directory holds this run or another.
``candidates/UNIT/00000.json`` are shards of generations, ``scores/UNIT.npz`` finished scores; both are read on resume.
``results.json`` and ``samples.parquet`` appear when the run is done.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from harness.errors import HarnessError, InputError

OWN = (
    "manifest.json",
    "results.json",
    "samples.parquet",
    "token_scores",
    "candidates",
    "scores",
    "log.jsonl",
    "report.html",
    ".lock",
)


def write_atomically(path: Path, data: bytes) -> None:
    """Write to a temporary name beside ``path``, flush to disk, rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def to_json(value: Any) -> bytes:
    """Readable JSON, keys in the order given, no NaN (null instead)."""
    return (json.dumps(_plain(value), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode(
        "utf-8", "backslashreplace"
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(_plain(item) for item in value)
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None if np.isnan(value) else ("inf" if value > 0 else "-inf")
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)


class Store:
    """One run directory, opened for one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: BinaryIO | None = None

    # ------------------------------------------------------------------ opening
    def open(self, manifest: Mapping[str, Any], mode: str) -> bool:
        """Take the directory for the run of ``manifest``; True when it already holds (part of) this very run.

        ``mode`` is ``auto`` (new, or continue the same run), ``resume`` (must hold the same run) or ``fresh`` (replace what
        run is there). Raises :class:`InputError` when the directory holds another run or is no run directory.
        """
        held = self._held(mode)
        if self.path.exists() and not self.path.is_dir():
            raise InputError("is a file; expected a folder for the run", str(self.path))
        if held is not None and mode != "fresh" and held.get("digest") != manifest["digest"]:
            raise InputError(
                f"holds another run ({_told(held)}); this one is {_told(manifest)}. Give another --output, or --fresh to replace it",
                str(self.path),
            )
        if (
            held is None
            and mode != "fresh"
            and self.path.is_dir()
            and any(p.name not in OWN for p in self.path.iterdir())
        ):
            raise InputError("is not empty and is no run directory; give another --output", str(self.path))
        if held is None and mode == "resume":
            raise InputError("holds no run to resume", str(self.path))
        self.path.mkdir(parents=True, exist_ok=True)
        self._take_lock()
        if mode == "fresh":
            self._clear()
        if held is None or mode == "fresh":
            write_atomically(self.path / "manifest.json", to_json(manifest))
            return False
        return True

    def _held(self, mode: str) -> dict[str, Any] | None:
        file = self.path / "manifest.json"
        if not file.is_file():
            return None
        try:
            held = json.loads(file.read_text(encoding="utf-8"))
        except ValueError:
            held = {}
        if not isinstance(held, dict) or "digest" not in held:
            if mode == "fresh":
                return {}
            raise InputError("is no manifest of a run; give another --output or --fresh", str(file))
        return held

    def _take_lock(self) -> None:
        import fcntl

        self._lock = open(self.path / ".lock", "wb")  # noqa: SIM115  (held until close)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise HarnessError(f"{self.path}: another process is writing this run") from None

    def _clear(self) -> None:
        for name in OWN:
            target = self.path / name
            if target.is_dir():
                shutil.rmtree(target)
            elif name != ".lock":
                target.unlink(missing_ok=True)

    def discard_if_empty(self) -> None:
        """Leave nothing behind of a run that failed before it had made any captions or scores."""
        if not any((self.path / name).exists() for name in ("candidates", "scores", "results.json")):
            self._clear()
            self.close()
            if not any(self.path.iterdir()):
                self.path.rmdir()

    def close(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None
            (self.path / ".lock").unlink(missing_ok=True)

    # ------------------------------------------------------------------ shards and scores
    @staticmethod
    def unit(label: str, *parts: Any) -> str:
        """A file name for one unit of work: a readable start and a hash of everything."""
        text = json.dumps([label, *parts], sort_keys=True, default=str)
        slug = re.sub(r"[^A-Za-z0-9]+", "-", label).strip("-").lower()[:40] or "unit"
        return f"{slug}-{hashlib.sha256(text.encode('utf-8', 'backslashreplace')).hexdigest()[:12]}"

    def read_shard(self, unit: str, index: int) -> list[Any] | None:
        """A generation shard, or None when it is not there (a shard is whole or absent)."""
        file = self.path / "candidates" / unit / f"{index:05d}.json"
        return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None

    def write_shard(self, unit: str, index: int, rows: Sequence[Any]) -> None:
        data = json.dumps(rows, ensure_ascii=True).encode()
        write_atomically(self.path / "candidates" / unit / f"{index:05d}.json", data)

    def drop_shards(self, unit: str) -> None:
        """Forget a unit's generations."""
        folder = self.path / "candidates"
        shutil.rmtree(folder / unit, ignore_errors=True)
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()

    def read_arrays(self, unit: str) -> dict[str, np.ndarray] | None:
        file = self.path / "scores" / f"{unit}.npz"
        if not file.is_file():
            return None
        with np.load(file, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}

    def write_arrays(self, unit: str, arrays: Mapping[str, np.ndarray]) -> None:
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **{name: np.asarray(array) for name, array in arrays.items()})
        write_atomically(self.path / "scores" / f"{unit}.npz", buffer.getvalue())

    # ------------------------------------------------------------------ results
    def write_results(self, results: Mapping[str, Any]) -> None:
        write_atomically(self.path / "results.json", to_json(results))

    def write_samples(self, columns: Mapping[str, Sequence[Any]]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        buffer = io.BytesIO()
        pq.write_table(pa.table(dict(columns)), buffer, compression="zstd")
        write_atomically(self.path / "samples.parquet", buffer.getvalue())

    def log(self, event: str, **values: Any) -> None:
        """Append one event; a torn last line after a kill is harmless."""
        line = json.dumps({"time": round(time.time(), 3), "event": event, **_plain(values)}, ensure_ascii=True)
        with open(self.path / "log.jsonl", "a", encoding="utf-8") as file:
            file.write(line + "\n")


def _told(manifest: Mapping[str, Any]) -> str:
    return f"task {manifest.get('task', '?')}, {str(manifest.get('digest', '?'))[:12]}"


def read_run(path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Manifest and results of a finished run; raises :class:`InputError` saying what is missing."""
    folder = Path(path)
    out = []
    for name in ("manifest.json", "results.json"):
        file = folder / name
        if not file.is_file():
            state = (
                "the run has not finished; continue it with --resume"
                if (folder / "manifest.json").is_file()
                else "no run here"
            )
            raise InputError(f"has no {name}: {state}", str(folder))
        try:
            out.append(json.loads(file.read_text(encoding="utf-8")))
        except ValueError as error:
            raise InputError(f"is not valid JSON: {error}", str(file)) from None
    return out[0], out[1]
