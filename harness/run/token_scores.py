"""Token scores of references under a model, kept answer by answer as captions are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import cast

import numpy as np

from harness import __version__
from harness.contracts import Parameters, Scorer, TokenScores, Values
from harness.errors import HarnessError
from harness.run.example_store import BLOCK, ExampleStore
from harness.run.generate import blocks
from harness.run.metric_plan import ModelPlan
from harness.run.provenance import code_of
from harness.rundir.artifact_key import ArtifactKey
from harness.rundir.artifacts import Artifacts
from harness.spec.path_contents import component_with_contents


def token_scores(
    model: ModelPlan,
    store: ExampleStore,
    span: tuple[int, int],
    artifacts: Artifacts,
    advance: Callable[[int], None],
) -> list[list[TokenScores]]:
    """Return for each example of a range one :class:`~harness.contracts.TokenScores`
    per reference.

    Scores that the run has are read, not computed again.

    Raises
    ------
    HarnessError
        The adapter returns scores for another number of examples.
    """
    assert isinstance(model.adapter, Scorer)
    identity = ArtifactKey.of(
        f"{model.label} token scores",
        __version__,
        model.name,
        component_with_contents("adapters", model.name, model.params),
        model.adapter.fingerprint(),
        code_of([model.adapter]),
    )
    scores_of_examples: list[list[TokenScores]] = []
    for start, stop in blocks(*span):
        block = start // BLOCK
        label = f"{block:06d} {identity.label}"
        answers = artifacts.answers(ArtifactKey.of(label, identity.digest, block))
        rows = dict(answers.read())
        missing = [
            index for index in range(start, stop) if store.key(index) not in rows
        ]
        advance(stop - start - len(missing))

        if missing:
            with closing(answers):
                results = _score_references(model, store, missing)
                for index, scores in zip(missing, results):
                    row = {"references": [to_values(item) for item in scores]}
                    rows[store.key(index)] = row
                    answers.append(store.key(index), row)
                    advance(1)

        for index in range(start, stop):
            stored = cast("Sequence[Values]", rows[store.key(index)]["references"])
            scores_of_examples.append([from_values(values) for values in stored])
    return scores_of_examples


def _score_references(
    model: ModelPlan, store: ExampleStore, indices: Sequence[int]
) -> Iterator[Sequence[TokenScores]]:
    assert isinstance(model.adapter, Scorer)
    count = 0
    for scores in model.adapter.score_references([store[index] for index in indices]):
        count += 1
        yield scores
    if count != len(indices):
        raise HarnessError(
            f"model '{model.label}' returned token scores for {count} of "
            f"{len(indices)} examples"
        )


def to_values(scores: TokenScores) -> Values:
    """Return token scores as JSON values."""
    log_probs = np.asarray(scores.log_probs)
    ranks = np.asarray(scores.ranks)
    return {
        "log_probs": log_probs.astype(np.float64).tolist(),
        "ranks": ranks.tolist(),
        "tokens": list(scores.tokens),
        "likelihood": scores.likelihood,
        "dtypes": [log_probs.dtype.str, ranks.dtype.str],
    }


def from_values(values: Parameters) -> TokenScores:
    """Return token scores from JSON values; tokens,
    likelihood and the types of the arrays may be missing.
    """
    of_log_probs, of_ranks = values.get("dtypes") or (np.float64, np.int64)
    # infinities are texts in JSON
    log_probs = [float(value) for value in values["log_probs"]]
    return TokenScores(
        np.asarray(log_probs, dtype=of_log_probs),
        np.asarray(values["ranks"], dtype=of_ranks),
        tuple(values.get("tokens") or ()),
        values.get("likelihood", "exact"),
    )
