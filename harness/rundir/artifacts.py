"""Artifacts of a run: captions and statistics on disk, each named by a key of
everything that it depends on.

An artifact is written once, under a temporary name that is then renamed, and carries a
checksum of its content. An artifact that is missing or damaged is computed again; a key
never names two contents. The unit of work is (model, decoding, shard of examples).
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.files.json_text import parse_json
from harness.files.streams import DAMAGED, check_expansion
from harness.rundir.answers import AnswerFile, Answers, MemoryAnswers, join_answers
from harness.rundir.artifact_key import ArtifactKey
from harness.rundir.file_names import ARTIFACT_FOLDERS
from harness.rundir.run_folder import RunFolder

_log = logging.getLogger(__name__)

COMPRESSED_FROM = 1 << 18
"""Size in bytes from which the arrays of a statistics artifact are compressed."""


class MemoryArtifacts:
    """The artifacts of a run without a directory."""

    def __init__(self) -> None:
        self._answers: dict[str, MemoryAnswers] = {}
        self._arrays: dict[str, dict[str, np.ndarray]] = {}
        self._shards: dict[str, list[str]] = {}

    def answers(self, key: ArtifactKey) -> Answers:
        """Return the answers of a model for a block of examples."""
        return self._answers.setdefault(key.stem, MemoryAnswers())

    def drop_answers(self, keys: Sequence[ArtifactKey]) -> None:
        """Remove the answers of blocks."""
        for key in keys:
            self._answers.pop(key.stem, None)

    def read_arrays(self, stem: str) -> dict[str, np.ndarray] | None:
        """Return the arrays of the statistics artifact called ``stem`` (any shape, by
        name), or None when there is none.
        """
        return self._arrays.get(stem)

    def write_arrays(self, key: ArtifactKey, arrays: Mapping[str, np.ndarray]) -> None:
        """Keep the arrays of a statistics artifact: any shape, by name."""
        self._arrays[key.stem] = dict(arrays)

    def write_shards(self, stem: str, shards: Sequence[str]) -> None:
        """Keep the names of the artifacts that together are the statistics called
        ``stem``, in the order of the examples.
        """
        self._shards[stem] = list(shards)

    def shards_of(self, stem: str) -> list[str]:
        """Return the names of the artifacts of a result's statistics: itself, or its
        shards; empty when they are unknown.
        """
        if stem in self._arrays:
            return [stem]
        return [
            name
            for shard in self._shards.get(stem, ())
            for name in self.shards_of(shard)
        ]


class ArtifactStore:
    """The artifacts of one run directory.

    Parameters
    ----------
    folder : Path
        The run directory.
    inside : str
        Folder within it, with a final slash; empty: the directory itself.
    """

    def __init__(self, folder: Path, inside: str = "") -> None:
        self.folder = folder
        self._files = RunFolder(folder)
        self._inside = inside

    def answers(self, key: ArtifactKey) -> Answers:
        """Return the answers of a model for a block of examples."""
        return self._answer_file(f"{key.stem}.jsonl")

    def _answer_file(self, name: str) -> AnswerFile:
        return AnswerFile(self._files, f"{self._inside}candidates/{name}")

    def drop_answers(self, keys: Sequence[ArtifactKey]) -> None:
        """Remove the answers of blocks, and their folder when it is empty."""
        for key in keys:
            self.answers(key).drop()
        if not self._files.names(f"{self._inside}candidates"):
            self._files.remove(f"{self._inside}candidates")

    def read_arrays(self, stem: str) -> dict[str, np.ndarray] | None:
        """Return the arrays of the statistics artifact called ``stem`` (any shape, by
        name); None when it is missing or damaged.
        """
        name = self._name(stem, "npz")
        if not self._files.has(name):
            return None
        try:
            with (
                self._files.open(name) as file,
                np.load(file, allow_pickle=False) as stored,
            ):
                check_expansion(stored.zip)
                arrays = {name: stored[name] for name in stored.files}
            checksum = str(arrays.pop("sha256"))
        except DAMAGED:
            return self._warn_of_damage(name)

        # A file that can be read may still hold other numbers than were written.
        return arrays if checksum == _checksum(arrays) else self._warn_of_damage(name)

    def write_arrays(self, key: ArtifactKey, arrays: Mapping[str, np.ndarray]) -> None:
        """Write a statistics artifact: arrays of any shape, by name;
        large ones are compressed.
        """
        size = sum(array.nbytes for array in arrays.values())
        save = np.savez if size < COMPRESSED_FROM else np.savez_compressed
        checksum = np.asarray(_checksum(arrays))

        buffer = io.BytesIO()
        save(buffer, allow_pickle=False, **arrays, sha256=checksum)
        self._files.write(self._name(key.stem, "npz"), buffer.getvalue())

    def write_shards(self, stem: str, shards: Sequence[str]) -> None:
        """Write the names of the artifacts that together are the statistics called
        ``stem``, in the order of the examples.
        """
        content = json.dumps({"shards": list(shards)})
        self._files.write(self._name(stem, "json"), content.encode())

    def shards_of(self, stem: str) -> list[str]:
        """Return the names of the artifacts of a result's statistics: itself, or its
        shards; empty when they are unknown.
        """
        return self._shards_of(stem, frozenset())

    def _shards_of(self, stem: str, above: frozenset[str]) -> list[str]:
        """Return :meth:`shards_of` of a name in the lists ``above``; a list that
        contains itself is unknown.
        """
        if self._files.has(self._name(stem, "npz")):
            return [stem]
        if stem in above:
            return []

        names: list[str] = []
        try:
            content: Any = parse_json(self._files.read(self._name(stem, "json")))
            for shard in content["shards"]:
                # A shard without a file stays in the list, so that it counts as lost.
                names += self._shards_of(str(shard), above | {stem}) or [str(shard)]
        except (OSError, ValueError, KeyError, TypeError):
            return []
        return names

    def is_whole(self, stem: str) -> bool:
        """Return True when all files of a result's statistics are there and
        undamaged.
        """
        names = self.shards_of(stem)
        return bool(names) and all(self.read_arrays(name) is not None for name in names)

    def take(self, stores: Sequence[ArtifactStore]) -> None:
        """Bring the artifacts of the parts of this run into its store;
        answers of one block are joined.
        """
        sources: dict[str, list[AnswerFile]] = {}
        for store in stores:
            for name in store._names("candidates"):
                sources.setdefault(name, []).append(store._answer_file(name))
        for name in sorted(sources):
            join_answers(sources[name], self._answer_file(name))

        # A name stands for one content: statistics that are here already stay.
        for store in stores:
            for name in sorted(store._names("scores") - self._names("scores")):
                content = store._files.read(f"{store._inside}scores/{name}")
                self._files.write(f"{self._inside}scores/{name}", content)

    def _names(self, folder: str) -> set[str]:
        """Return the names of the artifacts in a folder,
        without those that a killed process was writing.
        """
        return {
            name
            for name in self._files.names(self._inside + folder)
            if not name.startswith(".")
        }

    def is_empty(self) -> bool:
        """Return True when the run has no artifact yet."""
        return not any(
            self._files.names(self._inside + name) for name in ARTIFACT_FOLDERS
        )

    def clear(self) -> None:
        """Remove all artifacts."""
        self._files.remove(*(self._inside + name for name in ARTIFACT_FOLDERS))

    def _name(self, stem: str, ending: str) -> str:
        return f"{self._inside}scores/{Path(stem).name}.{ending}"

    def _warn_of_damage(self, name: str) -> None:
        _log.warning("%s is damaged; it is computed again", self._files.path / name)


Artifacts = MemoryArtifacts | ArtifactStore
"""Captions and statistics of a run by key: in memory, or in its directory."""


def _checksum(arrays: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name}|{array.dtype.str}|{array.shape}|".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
