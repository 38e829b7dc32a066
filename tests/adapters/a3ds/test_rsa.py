"""Rational-speech-acts re-ranking."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from harness.contracts import Decoding
from harness.errors import HarnessError
from harness_models.a3ds.adapter import A3DS
from harness_models.a3ds.model import Listener, ListenerSizes, Speaker, SpeakerSizes
from harness_models.a3ds.rsa import literal_listener
from harness_models.shared.decoding.decode import decode
from harness_models.shared.decoding.types import DecodingBatch, Hypothesis
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


def test_rsa_ranks_by_the_literal_listener(adapter):
    decoding = Decoding("rsa", candidates=3, options={"alpha": 0.0, "proposals": 8})
    (plain,) = adapter.generate(GAMES[:1], decoding, [3])
    assert list(plain.log_probs) == sorted(plain.log_probs, reverse=True)
    (sharp,) = adapter.generate(
        GAMES[:1], Decoding("rsa", options={"alpha": 1e6, "proposals": 8}), [3]
    )

    step = adapter.speaker.step()
    assert step is not None
    features = adapter._features(GAMES[:1])
    batch = DecodingBatch(
        state=step.start(features),
        seeds=[3],
        stop=(1,),
        max_length=24,
        start=torch.zeros(1, dtype=torch.long),
    )

    proposals = decode(step, Decoding("sample", candidates=8), batch)[0]
    gain = literal_listener(adapter.speaker, features[0], list(proposals))
    assert np.allclose(np.exp(gain).sum(1), 1)

    best = proposals[int(gain[:, 0].argmax())]
    assert sharp.candidates[0] == adapter.speaker.vocabulary.decode(
        best.tokens.tolist()
    )


@pytest.mark.parametrize(
    "options, match",
    [
        ({"alfa": 1}, "unknown option 'alfa'; did you mean 'alpha'"),
        ({"alpha": -1}, "alpha must be a number of at least 0"),
        ({"proposals": 0}, "proposals must be at least"),
        ({"propose": "greedy"}, "propose must be sample or beam"),
    ],
)
def test_invalid_rsa_options_are_refused(adapter, options, match):
    with pytest.raises(HarnessError, match=match):
        list(adapter.generate(GAMES[:1], Decoding("rsa", options=options), [0]))


def test_the_literal_listener_is_bayes_rule():
    torch.manual_seed(0)
    speaker = Speaker(SpeakerSizes(47, 4, 4, 6, 5)).eval()
    images = torch.randn(3, 5)
    captions = [np.array([4, 6, 1]), np.array([9, 1])]
    hypotheses = [
        Hypothesis(ids, np.zeros(len(ids)), np.zeros(len(ids)), "stop", 0.0)
        for ids in captions
    ]

    result = literal_listener(speaker, images, hypotheses)
    for row, ids in enumerate(captions):
        inputs = torch.tensor([[0, *ids[:-1]]])
        with torch.no_grad():
            scores = [
                float(
                    speaker(image.expand(1, 2, -1), inputs)[0]
                    .double()
                    .log_softmax(-1)[range(len(ids)), ids]
                    .sum()
                )
                for image in images
            ]
        expected = np.array(scores) - np.logaddexp.reduce(scores)
        np.testing.assert_allclose(result[row], expected, atol=1e-6)
