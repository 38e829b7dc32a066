"""The ``lines`` adapter: the lines of a corpus as candidates,
aligned with the examples by position.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from harness.contracts import Candidates, Decoding, Example, TaskView
from harness.errors import InputError
from harness_tasks.readers.lines import Lines


class LinesOfCorpus(Lines):
    """Candidates from a corpus: the first example gets the first line (or the first
    ``block`` lines), and so on.

    The parameters are those of the reader ``lines``. For metrics that pool all
    candidates the alignment has no effect.

    Raises :class:`InputError` in :meth:`prepare` if the number of candidate sets
    differs from the number of examples.
    """

    _candidates: Mapping[str, Candidates]

    def prepare(self, task: TaskView) -> None:
        """Align lines with examples; raise :class:`InputError` for fewer sets than
        examples, and for more unless the task is partial.
        """
        sets = [item.references for item in self]
        if len(sets) < len(task.examples) or (
            len(sets) > len(task.examples) and not task.partial
        ):
            raise InputError(
                f"lines: {len(sets)} candidate sets for {len(task.examples)} "
                "examples (limit and offset select a part of the corpus)",
                str(self.paths[0]) if self.paths else None,
            )
        self._candidates = {
            example.id: lines for example, lines in zip(task.examples, sets)
        }

    def generate(
        self, examples: Sequence[Example], decoding: Decoding, seeds: Sequence[int]
    ) -> Iterator[Candidates]:
        """Yield the lines of each example."""
        for example in examples:
            yield self._candidates[example.id]
