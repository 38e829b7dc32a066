"""Token scores kept answer by answer."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import Example, TokenScores
from harness.errors import HarnessError
from harness.run.example_store import ExampleStore
from harness.run.task_plan import ModelPlan
from harness.run.token_scores import token_scores
from harness.rundir.artifacts import ArtifactStore

EXAMPLES = ExampleStore([Example(f"e{k}", ("a dog", "b")) for k in range(5)])


class Model:
    def __init__(self, most: int = 99) -> None:
        self.asked: list[str] = []
        self.most = most

    def fingerprint(self) -> str:
        return "1"

    def score_references(self, examples):
        for example in examples[: self.most]:
            self.asked.append(example.id)
            yield [
                TokenScores(np.array([-0.1, -np.inf]), np.array([0, 3]), ("a", "END"), "pseudo" if k else "exact")
                for k, _ in enumerate(example.references)
            ]


def scores(model, artifacts, span=(0, 5)):
    return token_scores(ModelPlan("m", "mine", {}, model), EXAMPLES, span, artifacts, lambda n: None)


def test_scores_come_back_as_computed_and_are_not_asked_for_again(tmp_path):
    artifacts, first, second = ArtifactStore(tmp_path), Model(), Model()
    part = scores(first, artifacts, (1, 3))
    whole = scores(second, artifacts)
    assert (first.asked, second.asked) == (["e1", "e2"], ["e0", "e3", "e4"])
    assert len(part) == 2
    for one, other in zip(whole, scores(Model(), artifacts)):
        for a, b in zip(one, other):
            assert (a.tokens, a.likelihood, a.log_probs.dtype, a.ranks.dtype) == (b.tokens, b.likelihood, b.log_probs.dtype, b.ranks.dtype)
            assert np.array_equal(a.log_probs, b.log_probs)
            assert np.array_equal(a.ranks, [0, 3])
    assert [item.likelihood for item in whole[0]] == ["exact", "pseudo"]


def test_another_number_of_examples_is_an_error(tmp_path):
    with pytest.raises(HarnessError, match="model 'm' returned token scores for 2 of 5 examples"):
        scores(Model(2), ArtifactStore(tmp_path))
