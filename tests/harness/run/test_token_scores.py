"""Token scores of references under a model."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import Example, TokenScores
from harness.errors import HarnessError
from harness.run import generate
from harness.run import token_scores as token_scores_module
from harness.run.example_store import ExampleStore
from harness.run.metric_plan import ModelPlan
from harness.run.token_scores import from_values, to_values, token_scores
from harness.rundir.artifacts import ArtifactStore

TOKEN_SCORES_EXAMPLES = ExampleStore(
    [Example(f"e{k}", ("a dog", "b")) for k in range(5)]
)


class TokenScoresModel:
    def __init__(self, most: int = 99) -> None:
        self.asked: list[str] = []
        self.most = most

    def fingerprint(self) -> str:
        return "1"

    def score_references(self, examples):
        for example in examples[: self.most]:
            self.asked.append(example.id)
            yield [
                TokenScores(
                    np.array([-0.1, -np.inf]),
                    np.array([0, 3]),
                    ("a", "END"),
                    "pseudo" if k else "exact",
                )
                for k, _ in enumerate(example.references)
            ]


def scores(model, artifacts, span=(0, 5), advance=lambda n: None):
    return token_scores(
        ModelPlan("m", "mine", {}, model),
        TOKEN_SCORES_EXAMPLES,
        span,
        artifacts,
        advance,
    )


def test_scores_come_back_as_computed_and_are_not_asked_for_again(tmp_path):
    artifacts = ArtifactStore(tmp_path)
    first = TokenScoresModel()
    second = TokenScoresModel()
    steps: list[int] = []
    part = scores(first, artifacts, (1, 3))
    whole = scores(second, artifacts, advance=steps.append)
    assert steps == [2, 1, 1, 1], "those of the run count at once"
    assert (first.asked, second.asked) == (["e1", "e2"], ["e0", "e3", "e4"])
    assert len(part) == 2
    steps.clear()
    assert len(
        scores(second, artifacts, (2, 5), advance=steps.append)
    ) == 3 and steps == [3]
    for one, other in zip(whole, scores(TokenScoresModel(), artifacts)):
        for a, b in zip(one, other):
            assert (a.tokens, a.likelihood, a.log_probs.dtype, a.ranks.dtype) == (
                b.tokens,
                b.likelihood,
                b.log_probs.dtype,
                b.ranks.dtype,
            )
            assert np.array_equal(a.log_probs, b.log_probs)
            assert np.array_equal(a.ranks, [0, 3])
    assert [item.likelihood for item in whole[0]] == ["exact", "pseudo"]


def test_scores_may_lack_tokens_and_types():
    found = from_values({"log_probs": [-0.5, "-inf"], "ranks": [1, 2]})
    assert found.log_probs.tolist() == [-0.5, -np.inf] and found.ranks.tolist() == [
        1,
        2,
    ]
    assert (
        found.log_probs.dtype,
        found.ranks.dtype,
        found.tokens,
        found.likelihood,
    ) == (np.float64, np.int64, (), "exact")
    small = TokenScores(
        np.array([-0.5], np.float32), np.array([1], np.int32), ("a",), "pseudo"
    )
    again = from_values(to_values(small))
    assert (
        again.log_probs.dtype,
        again.ranks.dtype,
        again.tokens,
        again.likelihood,
    ) == (np.float32, np.int32, ("a",), "pseudo")


def test_scores_are_kept_in_blocks_of_examples(tmp_path, monkeypatch):
    monkeypatch.setattr(generate, "BLOCK", 2)
    monkeypatch.setattr(token_scores_module, "BLOCK", 2)
    model = TokenScoresModel()
    assert len(scores(model, ArtifactStore(tmp_path))) == 5
    assert len(scores(model, ArtifactStore(tmp_path), (1, 4))) == 3
    assert model.asked == [f"e{k}" for k in range(5)]
    assert len(list((tmp_path / "candidates").iterdir())) == 3


def test_another_number_of_examples_is_an_error(tmp_path):
    with pytest.raises(
        HarnessError, match="model 'm' returned token scores for 2 of 5 examples"
    ):
        scores(TokenScoresModel(2), ArtifactStore(tmp_path))
