"""Beam search against exhaustive search and against transformers."""

from __future__ import annotations

import pytest
import torch

from harness.contracts import Decoding
from harness.errors import HarnessError
from harness.registry.torchvision_guard import guard_torchvision
from harness_models.shared.decoding.decode import decode
from harness_models.shared.decoding.types import DecodingBatch
from tests.support.toy_lm import Recurrent, every_sequence

STOP = 0
START = 1


def run(model, states, decoding, limit):
    start = torch.full((len(states),), START)
    batch = DecodingBatch(
        state=states,
        seeds=range(len(states)),
        stop=(STOP,),
        max_length=limit,
        start=start,
    )
    return decode(model, decoding, batch)


@pytest.mark.parametrize("penalty", [0.0, 0.6, 1.0, 2.0, -0.5])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_wide_beam_is_exhaustive_search(penalty, seed):
    model = Recurrent(vocabulary=4, seed=seed, scale=1.5)
    states = model.prefix(2, seed)
    decoded = run(
        model,
        states,
        Decoding("beam", beams=60, candidates=10, length_penalty=penalty),
        limit=4,
    )
    for e in range(2):
        scored = []
        for tokens in every_sequence(4, STOP, 4):
            total = float(model.log_probs(START, states[e], tokens).sum())
            scored.append((total / len(tokens) ** penalty, tokens))
        scored.sort(key=lambda pair: -pair[0])
        assert [h.tokens.tolist() for h in decoded[e]] == [
            tokens for _, tokens in scored[:10]
        ]
        assert [h.score for h in decoded[e]] == pytest.approx(
            [score for score, _ in scored[:10]], abs=1e-9
        )


def test_a_wider_beam_never_scores_worse_on_average():
    model = Recurrent(vocabulary=9, seed=4)
    states = model.prefix(30)
    means = [
        sum(h[0].score for h in run(model, states, Decoding("beam", beams=k), limit=8))
        / 30
        for k in (1, 2, 4, 16)
    ]
    assert means == sorted(means)


def test_repeat_returns_the_best_caption_for_every_candidate():
    model = Recurrent()
    repeated = run(
        model,
        model.prefix(3),
        Decoding("beam", beams=3, candidates=10, options={"repeat": True}),
        limit=5,
    )
    best = run(model, model.prefix(3), Decoding("beam", beams=3), limit=5)
    for many, one in zip(repeated, best):
        assert len(many) == 10
        assert {tuple(h.tokens.tolist()) for h in many} == {
            tuple(one[0].tokens.tolist())
        }


def test_a_vocabulary_that_is_too_small_is_refused():
    model = Recurrent(vocabulary=2)
    with pytest.raises(HarnessError, match="found only 2 of 5 candidates"):
        run(model, model.prefix(1), Decoding("beam", beams=5, candidates=5), limit=1)


def test_high_diversity_separates_the_groups():
    model = Recurrent(vocabulary=12, seed=1, scale=1.0)
    decoding = Decoding(
        "diverse-beam", beams=4, candidates=4, options={"diversity": 50.0}
    )
    for hypotheses in run(model, model.prefix(6), decoding, limit=5):
        assert len({int(h.tokens[0]) for h in hypotheses}) == 4


def test_no_diversity_and_one_group_is_beam_search():
    model = Recurrent(vocabulary=12, seed=1)
    states = model.prefix(6)
    plain = run(model, states, Decoding("beam", beams=4, candidates=4), limit=5)
    grouped = run(
        model,
        states,
        Decoding(
            "diverse-beam",
            beams=4,
            candidates=4,
            options={"groups": 1, "diversity": 3.0},
        ),
        limit=5,
    )
    for a, b in zip(plain, grouped):
        assert [h.tokens.tolist() for h in a] == [h.tokens.tolist() for h in b]


@pytest.mark.parametrize("early", [True, "never", "heuristic"])
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_sequences_equal_those_of_transformers(early, penalty):
    guard_torchvision()
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=30,
        n_positions=32,
        n_embd=16,
        n_layer=1,
        n_head=2,
        bos_token_id=START,
        eos_token_id=STOP,
    )
    model = transformers.GPT2LMHeadModel(config).eval().double()
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(6)

    def step(tokens, state):
        out = model(input_ids=tokens[:, None], past_key_values=state, use_cache=True)
        return out.logits[:, -1], out.past_key_values

    prompt = torch.tensor([[START], [5], [9]])
    theirs = model.generate(
        prompt,
        num_beams=4,
        num_return_sequences=4,
        max_new_tokens=7,
        do_sample=False,
        length_penalty=penalty,
        early_stopping={"heuristic": False}.get(early, early),
        pad_token_id=STOP,
        attention_mask=torch.ones_like(prompt),
    )

    batch = DecodingBatch(
        state=None, seeds=range(3), stop=(STOP,), max_length=7, start=prompt[:, 0]
    )
    options = {"early_stopping": early}
    ours = decode(
        step,
        Decoding(
            "beam", beams=4, candidates=4, length_penalty=penalty, options=options
        ),
        batch,
    )

    for e in range(3):
        for k in range(4):
            expected = theirs[e * 4 + k, 1:].tolist()
            expected = (
                expected[: expected.index(STOP) + 1] if STOP in expected else expected
            )
            assert ours[e][k].tokens.tolist() == expected
