"""The captioner adapter: training on first use, stages, scores, invalid input."""

import math

import numpy as np
import pytest

from harness.contracts import Decoding, Example, Scorer, TaskView
from harness.errors import HarnessError, InputError
from harness_models.captioner.adapter import TrainedCaptioner
from harness_models.captioner.model import ARCHITECTURES, load
from harness_models.captioner.recipe import CaptionerRecipe
from harness_models.captioner.training import train
from harness_tasks.a3ds.grammar import captions

SMALL = {
    "scenes": 40,
    "captions": 2,
    "kind": "short",
    "epochs": 4,
    "width": 12,
    "batch": 16,
    "save_at": [3, 8],
}
SCENES = (5, 123_456, 479_999)
EXAMPLES = [
    Example(str(s), tuple(captions(s, "short")[:4]), meta={"target_id": s})
    for s in SCENES
]


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


def test_one_training_on_first_use_serves_all_stages():
    first, second = (TrainedCaptioner(train=SMALL, stage=stage) for stage in (1, 2))
    assert isinstance(first, Scorer)
    assert first.fingerprint() != second.fingerprint()
    a, b = (
        next(iter(adapter.score_references(EXAMPLES))) for adapter in (first, second)
    )
    # two steps against eight
    assert sum(s.log_probs.sum() for s in b) > sum(s.log_probs.sum() for s in a)
    assert TrainedCaptioner(train=SMALL).stage == 3


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_scores_of_a_caption_equal_those_of_decoding(architecture):
    adapter = TrainedCaptioner(
        train={**SMALL, "architecture": architecture, "epochs": 8}
    )
    decoding = Decoding("sample", temperature=0.7, candidates=3, max_length=12)

    for example, generation in zip(
        EXAMPLES, adapter.generate(EXAMPLES, decoding, [1, 2, 3])
    ):
        again = Example(example.id, generation.candidates, meta=example.meta)
        (scores,) = adapter.score_references([again])
        for number, score in enumerate(scores):
            if generation.stop_reasons[number] == "stop":
                assert score.log_probs.sum() == pytest.approx(
                    generation.log_probs[number], abs=1e-5
                )
                assert (
                    len(score.log_probs) == generation.lengths[number]
                    and score.tokens[-1] == "END"
                )

    (greedy,) = adapter.generate(EXAMPLES[:1], Decoding("greedy"), [0])
    if greedy.stop_reasons[0] == "stop":
        again = Example("x", greedy.candidates, meta=EXAMPLES[0].meta)
        assert (next(iter(adapter.score_references([again])))[0].ranks == 0).all()


def test_scores_do_not_depend_on_the_batch():
    whole = list(TrainedCaptioner(train=SMALL).score_references(EXAMPLES))
    single = list(
        TrainedCaptioner(train=SMALL, batch_size=1).score_references(EXAMPLES)
    )
    for a, b in zip(whole, single):
        for x, y in zip(a, b):
            assert np.allclose(x.log_probs, y.log_probs, atol=1e-6) and np.array_equal(
                x.ranks, y.ranks
            )


def test_unknown_words_are_scored_as_unk():
    adapter = TrainedCaptioner(train=SMALL)
    (scores,) = adapter.score_references(
        [Example("x", ("a purple zeppelin",), meta={"target_id": 0})]
    )
    assert scores[0].tokens[-2:] == ("UNK", "END") and math.isfinite(
        scores[0].log_probs.sum()
    )


def test_checkpoints_by_run_and_by_stage(tmp_path):
    train(CaptionerRecipe(**SMALL), tmp_path / "run")
    last = TrainedCaptioner(checkpoint=str(tmp_path / "run"))
    assert last.stage == 3
    stage_itself = TrainedCaptioner(checkpoint=str(tmp_path / "run" / "stage-003"))
    assert stage_itself.fingerprint() == last.fingerprint()
    assert (
        TrainedCaptioner(checkpoint=str(tmp_path / "run"), stage=1).fingerprint()
        != last.fingerprint()
    )
    (tmp_path / "run" / "stage-003" / "config.json").write_text("{}")
    with pytest.raises(InputError, match="hold no list of words"):
        load(tmp_path / "run" / "stage-003")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "either checkpoint"),
        ({"checkpoint": "nowhere"}, "no such folder"),
        ({"train": {"architecture": "merg"}}, "did you mean 'merge'"),
        ({"train": {"epoch": 3}}, "did you mean 'epochs'"),
        ({"train": {"epochs": 0}}, "epochs is 0"),
        ({"train": {"save_at": [5, 3]}}, "rising numbers"),
        ({"train": {"save_at": [5], "save_every": 3}}, "not both"),
        ({"train": SMALL, "stage": 4}, "stage 4 of a training that has 3"),
        ({"train": SMALL, "stage": 0}, "counted from 1"),
    ],
)
def test_invalid_parameters_are_refused(params, message):
    with pytest.raises(HarnessError, match=message):
        TrainedCaptioner(**params)


def test_examples_without_a_scene_are_refused():
    adapter = TrainedCaptioner(train=SMALL)
    with pytest.raises(InputError, match="use the reader 'a3ds'"):
        adapter.prepare(TaskView([Example("x", ("a",))], Decoding()))
