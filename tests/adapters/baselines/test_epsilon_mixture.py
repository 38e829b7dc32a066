"""Draws from the references of a task, mixed with noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from harness.contracts import Decoding, Example, TaskView
from harness.errors import InputError
from harness_models.baselines.epsilon_mixture import EpsilonMixture

EXAMPLES = [Example(str(i), (f"A w{i} v{i} end.",)) for i in range(20)]
TEXTS = {text for example in EXAMPLES for text in example.references}


def samples(
    epsilon, length: Any = "same", seeds: Sequence[int] = range(400), candidates=1
):
    adapter = EpsilonMixture(epsilon=epsilon, length=length)
    adapter.prepare(TaskView(EXAMPLES, Decoding()))
    return list(adapter.generate(EXAMPLES * 20, Decoding(candidates=candidates), seeds))


def test_without_noise_every_candidate_is_a_reference():
    assert {text for texts in samples(0.0) for text in texts} == TEXTS


def test_share_and_length_of_noise():
    texts = [text for (text,) in samples(0.4, 5)]
    noise = [text for text in texts if text not in TEXTS]
    assert 0.3 < len(noise) / len(texts) < 0.5
    assert {len(text.split()) for text in noise} == {5}
    assert {len(text.split()) for (text,) in samples(1.0)} == {4}


def test_a_candidate_depends_on_its_seed_only():
    assert samples(0.5, seeds=[7]) == samples(0.5, seeds=[3, 7])[1:]
    assert samples(0.5, seeds=[7], candidates=3)[0][:1] == samples(0.5, seeds=[7])[0]


def test_the_fingerprint_names_the_parameters():
    assert (
        EpsilonMixture(epsilon=0.25, length=5).fingerprint()
        == "epsilon-mixture|epsilon:0.25|length:5"
    )


def test_invalid_input_is_refused():
    with pytest.raises(InputError, match="epsilon is 1.5"):
        EpsilonMixture(epsilon=1.5)
    with pytest.raises(InputError, match="length is 'long'"):
        EpsilonMixture(epsilon=0.5, length="long")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="contain no word"):
        EpsilonMixture(epsilon=0.5).prepare(
            TaskView([Example("1", ("...",))], Decoding())
        )
