"""References of the task as metrics see them: whoever reads them is noted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, overload

from harness.errors import HarnessError

REFERENCES = "the references of the task"
"""Description of what a metric reads that asks for these references itself."""


class NotesReading(Protocol):
    """A feature cache, which notes what is read of the references of the task."""

    corpus_read: str
    """Description of what was read; empty for nothing."""


class TaskReferences(Sequence[Sequence[str]]):
    """References of the task, which note in a feature cache that they are read.

    Parameters
    ----------
    references : sequence of sequences of str
        References of each example.
    features : NotesReading
        The cache.
    """

    def __init__(
        self, references: Sequence[Sequence[str]], features: NotesReading
    ) -> None:
        self._references = references
        self._features = features

    def _read(self) -> Sequence[Sequence[str]]:
        self._features.corpus_read = self._features.corpus_read or REFERENCES
        return self._references

    def __len__(self) -> int:
        return len(self._read())

    def __iter__(self) -> Iterator[Sequence[str]]:
        return iter(self._read())

    @overload
    def __getitem__(self, index: int) -> Sequence[str]: ...
    @overload
    def __getitem__(self, index: slice) -> TaskReferences: ...
    def __getitem__(self, index: int | slice) -> Sequence[str] | TaskReferences:
        # the examples of a block are read by whoever reads the block
        if isinstance(index, slice):
            return TaskReferences(self._references[index], self._features)
        return self._read()[index]


class NoReferences(Sequence[Sequence[str]]):
    """References of the task in a worker process,
    where corpus state is ready and nothing may read them.

    Parameters
    ----------
    examples : int
        Number of examples of the task.
    """

    def __init__(self, examples: int) -> None:
        self.examples = examples

    def __len__(self) -> int:
        raise self._error()

    def __getitem__(self, index: Any) -> Any:
        raise self._error()

    def _error(self) -> HarnessError:
        return HarnessError(
            "a metric reads the references of the whole task while it scores a "
            "shard, which a worker does not have: "
            "fit them before (merge), or use executor='local'"
        )
