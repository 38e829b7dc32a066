"""Contrastive search against a plain program, one example at a time."""

import pytest
import torch

from harness.contracts import Decoding
from harness.errors import HarnessError
from harness_models.shared.decoding.decode import decode
from harness_models.shared.decoding.types import DecodingBatch
from tests.support.toy_lm import Recurrent

START = 5
STOP = 0
LIMIT = 12


def by_definition(model, state, alpha, k):
    """Tokens of one caption from the hidden vector ``state`` (H,)."""
    tokens = []
    earlier = []
    logits, state = model(torch.tensor([START]), state[None])
    earlier.append(state[0])
    while len(tokens) < LIMIT and (not tokens or tokens[-1] != STOP):
        p = logits[0].softmax(-1)
        scores = {}
        for token in p.topk(k).indices.tolist():
            _, after = model(torch.tensor([token]), state)
            likeness = max(
                torch.cosine_similarity(after[0], h, dim=0).item() for h in earlier
            )
            scores[token] = (1 - alpha) * p[token].item() - alpha * likeness
        tokens.append(max(scores, key=lambda token: scores[token]))
        logits, state = model(torch.tensor([tokens[-1]]), state)
        earlier.append(state[0])
    return tokens


def batch_of(model, examples):
    return DecodingBatch(
        state=model.prefix(examples),
        start=torch.full((examples,), START),
        seeds=list(range(examples)),
        stop=(STOP,),
        max_length=LIMIT,
    )


@pytest.mark.parametrize(("alpha", "k"), [(0.0, 3), (0.6, 4), (0.9, 2), (1.0, 7)])
def test_tokens_by_the_definition(alpha, k):
    model = Recurrent(scale=2.0)
    batch = batch_of(model, 6)
    decoding = Decoding("contrastive", top_k=k, options={"alpha": alpha}, candidates=2)
    decoded = decode(model, decoding, batch)
    for hypotheses, state in zip(decoded, batch.state):
        assert hypotheses[0] is hypotheses[1]
        assert hypotheses[0].tokens.tolist() == by_definition(model, state, alpha, k)
    if alpha == 0.6:  # rows end at different positions
        assert len({len(hypotheses[0].tokens) for hypotheses in decoded}) > 1


def test_alpha_zero_is_greedy_search():
    model = Recurrent()
    batch = batch_of(model, 5)
    greedy = decode(model, Decoding("greedy"), batch)
    contrastive = decode(model, Decoding("contrastive", options={"alpha": 0}), batch)
    assert [h[0].tokens.tolist() for h in contrastive] == [
        h[0].tokens.tolist() for h in greedy
    ]
    assert [h[0].score for h in contrastive] == pytest.approx(
        [h[0].score for h in greedy]
    )


def test_a_forbidden_end_is_never_taken():
    model = Recurrent()
    decoded = decode(
        model,
        Decoding("contrastive", top_k=7, options={"alpha": 1, "min_length": LIMIT}),
        batch_of(model, 3),
    )
    assert all(STOP not in hypotheses[0].tokens.tolist() for hypotheses in decoded)


def test_errors():
    model = Recurrent()
    with pytest.raises(
        HarnessError, match="options.alpha must be a number from 0 to 1, found 2"
    ):
        decode(model, Decoding("contrastive", options={"alpha": 2}), batch_of(model, 1))
    with pytest.raises(
        HarnessError, match="strategy contrastive needs the hidden vectors of the model"
    ):
        decode(
            lambda tokens, state: model(tokens, state),
            Decoding("contrastive"),
            batch_of(model, 1),
        )
