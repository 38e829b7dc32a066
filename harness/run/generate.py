"""Captions of a model under a decoding, piece by piece: each piece is on disk before the next begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import cast

from harness import __version__
from harness.contracts import (
    Candidates,
    CaptionSet,
    Decoding,
    Example,
    Failure,
    Generation,
    Parameters,
    Prepares,
    TaskView,
)
from harness.errors import HarnessError
from harness.run.plan import ModelPlan
from harness.run.provenance import code_of
from harness.rundir.pieces import PieceKey, PieceStore, content_digest
from harness.stats.seeds import derive

PIECE_EXAMPLES = 256
"""Examples per captions piece."""
_FIELDS = ("candidates", "references", "log_probs", "lengths", "stop_reasons")


@dataclass(frozen=True)
class Generated:
    """Results of a model for the examples, in their order."""

    examples: tuple[Example, ...]
    generations: tuple[Generation | Failure, ...]

    def caption_sets(self) -> list[CaptionSet]:
        """Return the caption sets of the examples that have candidates."""
        return [
            CaptionSet(
                example.id,
                item.candidates,
                item.references if item.references is not None else example.references,
                example.media,
                example.source,
                example.meta,
            )
            for example, item in zip(self.examples, self.generations)
            if isinstance(item, Generation) and item.candidates
        ]

    @property
    def failures(self) -> dict[str, str]:
        """Example id -> reason, for the examples that failed."""
        return {e.id: item.reason for e, item in zip(self.examples, self.generations) if isinstance(item, Failure)}

    @property
    def missing(self) -> list[str]:
        """Ids of the examples without candidates that the user permits to be missing."""
        pairs = zip(self.examples, self.generations)
        return [e.id for e, item in pairs if isinstance(item, Generation) and not item.candidates]


def generate(
    model: ModelPlan,
    task: TaskView,
    *,
    seed: int,
    pieces: PieceStore | None,
    advance: Callable[[int], None] = lambda n: None,
) -> Generated:
    """Run a model over all examples of a task.

    Pieces that are on disk are read, not generated again. No piece is kept of a model that failed on every example.

    Parameters
    ----------
    model : ModelPlan
        The model.
    task : TaskView
        Examples and decoding.
    seed : int
        Seed of the run; each example gets a seed derived from it and its id.
    pieces : PieceStore, optional
        Pieces on disk; None: nothing is stored.
    advance : callable
        Called with the number of examples after each piece.

    Raises
    ------
    HarnessError
        The adapter returns another number of results than examples, or something that is no caption.
    """
    prepare(model, task)
    identity = [
        __version__, model.name, dict(model.params), model.adapter.fingerprint(), code_of([model.adapter]),
        _decoding_values(task.decoding), seed, content_digest([example_values(e) for e in task.examples]),
    ]  # fmt: skip
    results: list[Generation | Failure] = []
    keys: list[PieceKey] = []
    for start in range(0, len(task.examples), PIECE_EXAMPLES):
        part = task.examples[start : start + PIECE_EXAMPLES]
        key = PieceKey.of(f"{model.label}-{start:07d}", *identity, [example.id for example in part])
        keys.append(key)
        rows = pieces.read_rows(key) if pieces else None
        if rows is not None and len(rows) == len(part):
            results.extend(_from_row(cast("Parameters", row)) for row in rows)
        else:
            new = _generate_part(model, task.decoding, part, seed)
            if pieces:
                pieces.write_rows(key, [_to_row(item) for item in new])
            results.extend(new)
        advance(len(part))
    if pieces and all(isinstance(item, Failure) for item in results):
        pieces.drop_rows(keys)  # nothing to continue from: the next run asks the model again
    return Generated(tuple(task.examples), tuple(results))


def prepare(model: ModelPlan, task: TaskView) -> None:
    """Let the adapter check the whole task; raises the adapter's errors."""
    if isinstance(model.adapter, Prepares):
        model.adapter.prepare(task)


def example_values(example: Example) -> list[object]:
    """Return the content of an example as JSON-compatible values, for keys."""
    return [example.id, example.references, example.media, example.source, dict(example.meta)]


def _generate_part(
    model: ModelPlan, decoding: Decoding, examples: Sequence[Example], seed: int
) -> list[Generation | Failure]:
    seeds = [derive(seed, example.id) for example in examples]
    results = [as_generation(item, model.label) for item in model.adapter.generate(examples, decoding, seeds)]
    if len(results) != len(examples):
        raise HarnessError(f"model '{model.label}' returned {len(results)} results for {len(examples)} examples")
    n = decoding.candidates
    return [
        replace(item, candidates=item.candidates[:n]) if isinstance(item, Generation) and n else item
        for item in results
    ]


def as_generation(item: object, label: str) -> Generation | Failure:
    """Return the result of an adapter as a Generation or Failure; raise :class:`HarnessError` for anything else."""
    if isinstance(item, (Generation, Failure)):
        return item
    if isinstance(item, (tuple, list)) and all(isinstance(text, str) for text in cast("list[object]", item)):
        return Generation(tuple(cast(Candidates, item)))
    raise HarnessError(
        f"model '{label}' returned {item!r:.80}; expected a tuple of captions, a Generation or a Failure"
    )


def _to_row(item: Generation | Failure) -> dict[str, object]:
    if isinstance(item, Failure):
        return {"failure": item.reason}
    return {name: value for name in _FIELDS if (value := getattr(item, name)) is not None}


def _from_row(row: Parameters) -> Generation | Failure:
    if "failure" in row:
        return Failure(row["failure"])
    return Generation(**{name: tuple(value) for name, value in row.items()})


def _decoding_values(decoding: Decoding) -> dict[str, object]:
    return {field.name: getattr(decoding, field.name) for field in fields(decoding)}
