"""The ``lines`` adapter: the lines of a corpus as candidates, aligned with the examples by position."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from harness.contracts import Candidates, Decoding, Example, PathParam, TaskView
from harness.errors import InputError
from harness_tasks.readers.lines import Lines


class LinesOfCorpus:
    """Candidates from a corpus: the first example gets the first line (or the first ``block`` lines), and so on.

    The parameters are those of the reader ``lines``. For metrics that pool all candidates the alignment has no effect.

    Raises :class:`InputError` in :meth:`prepare` if the number of candidate sets differs from the number of examples.
    """

    def __init__(
        self,
        *,
        path: PathParam | Sequence[PathParam] | None = None,
        of: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        block: int = 1,
        blank: Literal["skip", "error"] = "skip",
        max_words: int | None = None,
        min_count: int | None = None,
        distinct: bool = False,
        shuffle: int | None = None,
        offset: int = 0,
        limit: int | None = None,
    ) -> None:
        self.reader = Lines(
            path=path, of=of, block=block, blank=blank, max_words=max_words, min_count=min_count, distinct=distinct,
            shuffle=shuffle, offset=offset, limit=limit,
        )  # fmt: skip
        self._candidates: dict[str, Candidates] = {}

    def fingerprint(self) -> str:
        """Return the fingerprint of the corpus."""
        return self.reader.fingerprint()

    def prepare(self, task: TaskView) -> None:
        """Align lines with examples; raise :class:`InputError` for fewer sets than examples, and for more unless the task is partial."""
        sets = [item.references for item in self.reader]
        if len(sets) < len(task.examples) or (len(sets) > len(task.examples) and not task.partial):
            raise InputError(
                f"lines: {len(sets)} candidate sets for {len(task.examples)} examples (limit and offset select a part of the corpus)",
                str(self.reader.paths[0]) if self.reader.paths else None,
            )
        self._candidates = {example.id: lines for example, lines in zip(task.examples, sets)}

    def generate(self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]) -> Iterator[Candidates]:
        """Yield the lines of each example."""
        for example in examples:
            yield self._candidates[example.id]
