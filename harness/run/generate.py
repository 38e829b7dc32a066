"""Captions for a model and a decoding: shard by shard, each shard on disk before the next begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.contracts import CaptionSet, Decoding, Example, Failure, Generation, Prepares, TaskView
from harness.errors import HarnessError
from harness.run.plan import ModelPlan
from harness.rundir.store import Store
from harness.stats.seeds import derive

SHARD = 256


@dataclass(frozen=True)
class Generated:
    """What a model gave the examples, in their order."""

    generations: tuple[Generation | Failure, ...]

    def caption_sets(self, examples: Sequence[Example]) -> list[CaptionSet | None]:
        """Caption sets by example; None where the model gave nothing."""
        sets: list[CaptionSet | None] = []
        for example, made in zip(examples, self.generations):
            if isinstance(made, Failure) or not made.candidates:
                sets.append(None)
                continue
            references = made.references if made.references is not None else example.references
            sets.append(
                CaptionSet(example.id, made.candidates, references, example.media, example.source, example.meta)
            )
        return sets

    def failures(self, examples: Sequence[Example]) -> dict[str, str]:
        """Reason by example id."""
        return {e.id: made.reason for e, made in zip(examples, self.generations) if isinstance(made, Failure)}

    def missing(self, examples: Sequence[Example]) -> list[str]:
        """Ids of the examples for which the model has nothing, by permission."""
        return [
            e.id for e, made in zip(examples, self.generations) if isinstance(made, Generation) and not made.candidates
        ]


def generate(
    model: ModelPlan,
    decoding: Decoding,
    examples: Sequence[Example],
    *,
    seed: int,
    store: Store | None,
    partial: bool = False,
    advance: Callable[[int], None] = lambda n: None,
) -> Generated:
    """Run a model over all examples. Shards that ``store`` already holds are read, not drawn again; none are kept of a model that failed
    on every example.

    Raises :class:`HarnessError` when the adapter returns another number of results than it got examples, or no text.
    """
    unit = Store.unit(
        model.label, model.name, dict(model.params), model.adapter.fingerprint(), _described(decoding), seed
    )
    prepare(model, TaskView(examples, decoding, partial))
    made: list[Generation | Failure] = []
    for index, start in enumerate(range(0, len(examples), SHARD)):
        shard = examples[start : start + SHARD]
        rows = store.read_shard(unit, index) if store else None
        if rows is not None:
            made.extend(_from_row(row) for row in rows)
        else:
            fresh = _run_shard(model, decoding, shard, seed)
            if store:
                store.write_shard(unit, index, [_to_row(item) for item in fresh])
            made.extend(fresh)
        advance(len(shard))
    if store and all(isinstance(item, Failure) for item in made):
        store.drop_shards(unit)  # nothing to go on from: the next run asks again
    return Generated(tuple(made))


def prepare(model: ModelPlan, task: TaskView) -> None:
    """Let the adapter check the whole task; raises its errors."""
    if isinstance(model.adapter, Prepares):
        model.adapter.prepare(task)


def _run_shard(model: ModelPlan, decoding: Decoding, shard: Sequence[Example], seed: int) -> list[Generation | Failure]:
    seeds = [derive(seed, example.id) for example in shard]
    results = [_as_generation(item, model.label) for item in model.adapter.generate(shard, decoding, seeds)]
    if len(results) != len(shard):
        raise HarnessError(f"model '{model.label}' returned {len(results)} results for {len(shard)} examples")
    wanted = decoding.candidates
    return [
        replace(item, candidates=item.candidates[:wanted]) if isinstance(item, Generation) and wanted else item
        for item in results
    ]


def _as_generation(item: Any, label: str) -> Generation | Failure:
    if isinstance(item, (Generation, Failure)):
        return item
    if isinstance(item, (tuple, list)) and all(isinstance(text, str) for text in item):
        return Generation(tuple(item))
    raise HarnessError(
        f"model '{label}' returned {item!r:.80}; expected a tuple of captions, a Generation or a Failure"
    )


_FIELDS = ("candidates", "references", "log_probs", "lengths", "stop_reasons")


def _to_row(item: Generation | Failure) -> Any:
    if isinstance(item, Failure):
        return {"failure": item.reason}
    return {name: value for name in _FIELDS if (value := getattr(item, name)) is not None}


def _from_row(row: dict[str, Any]) -> Generation | Failure:
    if "failure" in row:
        return Failure(row["failure"])
    return Generation(**{name: tuple(value) for name, value in row.items()})


def _described(decoding: Decoding) -> dict[str, Any]:
    return {name: getattr(decoding, name) for name in decoding.__dataclass_fields__}
