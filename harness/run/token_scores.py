"""Token scores of the references under a model, kept answer by answer as captions are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import cast

import numpy as np

from harness import __version__
from harness.contracts import Scorer, TokenScores
from harness.errors import HarnessError
from harness.run.example_store import BLOCK, ExampleStore
from harness.run.generate import blocks
from harness.run.provenance import code_of
from harness.run.task_plan import ModelPlan
from harness.rundir.answers import Row
from harness.rundir.artifacts import ArtifactKey, Artifacts


def token_scores(
    model: ModelPlan,
    store: ExampleStore,
    span: tuple[int, int],
    artifacts: Artifacts,
    advance: Callable[[int], None],
) -> list[list[TokenScores]]:
    """Return for each example of a range one :class:`~harness.contracts.TokenScores` per reference.

    Scores that the run has are read, not computed again.

    Raises
    ------
    HarnessError
        The adapter returns scores for another number of examples.
    """
    assert isinstance(model.adapter, Scorer)
    identity = ArtifactKey.of(
        f"{model.label} token scores",
        __version__, model.name, dict(model.params), model.adapter.fingerprint(), code_of([model.adapter]),
    )  # fmt: skip
    out: list[list[TokenScores]] = []
    for start, stop in blocks(*span):
        answers = artifacts.answers(
            ArtifactKey.of(f"{start // BLOCK:06d} {identity.label}", identity.digest, start // BLOCK)
        )
        rows = dict(answers.read())
        missing = [index for index in range(start, stop) if store.key(index) not in rows]
        advance(stop - start - len(missing))
        if missing:
            with answers.writer() as writer:
                for index, scores in zip(missing, _score_references(model, store, missing)):
                    row = rows[store.key(index)] = {"references": [_to_values(item) for item in scores]}
                    writer.append(store.key(index), row)
                    advance(1)
        out.extend(_from_row(rows[store.key(index)]) for index in range(start, stop))
    return out


def _score_references(model: ModelPlan, store: ExampleStore, indices: Sequence[int]) -> Iterator[Sequence[TokenScores]]:
    assert isinstance(model.adapter, Scorer)
    count = 0
    for scores in model.adapter.score_references([store[index] for index in indices]):
        count += 1
        yield scores
    if count != len(indices):
        raise HarnessError(f"model '{model.label}' returned token scores for {count} of {len(indices)} examples")


def _to_values(scores: TokenScores) -> dict[str, object]:
    return {
        "log_probs": np.asarray(scores.log_probs, dtype=np.float64).tolist(),
        "ranks": np.asarray(scores.ranks).tolist(),
        "tokens": list(scores.tokens),
        "likelihood": scores.likelihood,
        "dtypes": [np.asarray(scores.log_probs).dtype.str, np.asarray(scores.ranks).dtype.str],
    }


def _from_row(row: Row) -> list[TokenScores]:
    items = cast("Sequence[dict[str, object]]", row["references"])
    return [_from_values(item) for item in items]


def _from_values(item: dict[str, object]) -> TokenScores:
    kinds = cast("Sequence[str]", item["dtypes"])
    numbers = [float(value) for value in cast("Sequence[float | str]", item["log_probs"])]
    return TokenScores(
        np.asarray(numbers, dtype=np.dtype(kinds[0])),
        np.asarray(item["ranks"], dtype=np.dtype(kinds[1])),
        tuple(cast("Sequence[str]", item["tokens"])),
        "pseudo" if item["likelihood"] == "pseudo" else "exact",
    )
