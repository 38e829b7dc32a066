"""The decoder: exact sampling, agreement with a forced pass,
invariance to batching, errors.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch

from harness.contracts import Decoding
from harness.errors import HarnessError, UnknownName
from harness_models.shared.decoding.decode import decode
from harness_models.shared.decoding.types import DecodingBatch
from tests.support.toy_lm import Recurrent, every_sequence

STOP = 0
START = 1
SEARCHES = [
    Decoding("greedy", candidates=2),
    Decoding("sample", temperature=0.8, candidates=4),
    Decoding("nucleus", temperature=1.3, top_k=5, top_p=0.9, candidates=4),
    Decoding("beam", beams=4, candidates=3, length_penalty=0.7),
    Decoding(
        "beam",
        beams=4,
        candidates=3,
        length_penalty=1.0,
        options={"early_stopping": "heuristic"},
    ),
    Decoding(
        "diverse-beam", beams=4, candidates=4, options={"groups": 2, "diversity": 1.0}
    ),
]
LARGE = [
    Decoding("sample"),
    Decoding("sample", temperature=0.4),
    Decoding("sample", top_k=50),
    Decoding("nucleus", top_p=0.5),
    Decoding("nucleus", temperature=1.2, top_p=0.99),
    Decoding("nucleus", temperature=1.5, top_k=400, top_p=0.9),
]


def batch(model, states, seeds, limit=6, ids=()):
    start = torch.full((len(states),), START)
    return DecodingBatch(
        state=states, seeds=seeds, stop=(STOP,), max_length=limit, start=start, ids=ids
    )


def captions(decoded):
    return [[h.tokens.tolist() for h in hypotheses] for hypotheses in decoded]


@pytest.mark.first_case_fast
@pytest.mark.parametrize(
    "decoding", SEARCHES, ids=lambda d: f"{d.strategy}-{d.length_penalty}"
)
def test_captions_depend_on_the_example_alone(decoding):
    model = Recurrent()
    states = model.prefix(64)
    seeds = list(range(1000, 1064))
    whole = captions(decode(model, decoding, batch(model, states, seeds)))

    for size in (1, 7, 64):
        parts = [
            captions(
                decode(
                    model,
                    decoding,
                    batch(model, states[i : i + size], seeds[i : i + size]),
                )
            )
            for i in range(0, 64, size)
        ]
        assert sum(parts, []) == whole

    order = np.random.default_rng(0).permutation(64)
    shuffled = captions(
        decode(model, decoding, batch(model, states[order], [seeds[i] for i in order]))
    )
    assert shuffled == [whole[i] for i in order]

    shards = [
        captions(decode(model, decoding, batch(model, states[s::3], seeds[s::3])))
        for s in range(3)
    ]
    assert all(shards[i % 3][i // 3] == whole[i] for i in range(64))


@pytest.mark.parametrize(
    "decoding", SEARCHES, ids=lambda d: f"{d.strategy}-{d.length_penalty}"
)
def test_log_probs_and_ranks_equal_a_forced_pass(decoding):
    model = Recurrent()
    states = model.prefix(5)
    for e, hypotheses in enumerate(
        decode(model, decoding, batch(model, states, range(5)))
    ):
        for h in hypotheses:
            forced = model.log_probs(START, states[e], h.tokens.tolist())
            np.testing.assert_allclose(h.log_probs, forced.detach().numpy(), atol=1e-9)
            assert h.stop_reason == ("stop" if h.tokens[-1] == STOP else "length")
            assert len(h.tokens) == len(h.ranks) <= 6
            assert STOP not in h.tokens[:-1]


def test_greedy_ranks_are_zero_and_equal_beam_one():
    model = Recurrent(seed=3)
    states = model.prefix(20)
    best = decode(model, Decoding("greedy"), batch(model, states, range(20)))
    beam = decode(model, Decoding("beam", beams=1), batch(model, states, range(20)))
    assert captions(best) == captions(beam)
    assert all((h.ranks == 0).all() for (h,) in best)


def test_nested_candidates():
    model = Recurrent()
    states = model.prefix(4)
    sets = [
        captions(
            decode(
                model, Decoding("sample", candidates=n), batch(model, states, range(4))
            )
        )
        for n in (1, 2, 5)
    ]
    for e in range(4):
        assert sets[2][e][:2] == sets[1][e]
        assert sets[1][e][:1] == sets[0][e]


def test_another_seed_gives_other_captions():
    model = Recurrent()
    states = model.prefix(8)
    one = captions(
        decode(model, Decoding("sample", candidates=3), batch(model, states, range(8)))
    )
    two = captions(
        decode(
            model,
            Decoding("sample", candidates=3),
            batch(model, states, range(100, 108)),
        )
    )
    assert one != two


def expected_distribution(model, state, decoding, limit):
    """Return the probability of every complete sequence under the tempered and filtered
    model, by the definition.
    """
    result = {}
    for tokens in every_sequence(4, STOP, limit):
        probability = 1.0
        hidden = state[None]
        for last, token in zip([START, *tokens], tokens):
            logits, hidden = model(torch.tensor([last]), hidden)
            p = (logits[0].detach() / decoding.temperature).softmax(-1).numpy()
            if decoding.top_k:
                p = np.where(p >= np.sort(p)[-decoding.top_k], p, 0)
                p /= p.sum()
            if decoding.top_p:
                order = np.argsort(-p, kind="stable")
                nucleus = order[
                    : int(np.searchsorted(np.cumsum(p[order]), decoding.top_p)) + 1
                ]
                p = np.where(np.isin(np.arange(len(p)), nucleus), p, 0)
                p /= p.sum()
            probability *= p[token]
        if probability > 0:
            result[tuple(tokens)] = probability
    return result


@pytest.mark.first_case_fast
@pytest.mark.parametrize(
    "decoding",
    [
        Decoding("sample"),
        Decoding("sample", temperature=0.5),
        Decoding("sample", temperature=2.0, top_k=2),
        Decoding("nucleus", temperature=1.0, top_p=0.8),
        Decoding("nucleus", temperature=1.7, top_k=3, top_p=0.85),
    ],
    ids=["plain", "T0.5", "T2-k2", "p0.8", "T1.7-k3-p0.85"],
)
def test_draws_follow_the_distribution(decoding):
    from scipy.stats import chisquare

    model = Recurrent(vocabulary=4, seed=5, scale=2.0)
    states = model.prefix(1)
    expected = expected_distribution(model, states[0], decoding, 3)
    assert sum(expected.values()) == pytest.approx(1, abs=1e-9)

    many = Decoding(
        decoding.strategy,
        decoding.temperature,
        decoding.top_p,
        decoding.top_k,
        candidates=200,
    )
    drawn = decode(
        model, many, batch(model, states.expand(100, -1), range(100), limit=3)
    )

    counts: dict[tuple, int] = {}
    for hypotheses in drawn:
        for h in hypotheses:
            counts[tuple(h.tokens.tolist())] = (
                counts.get(tuple(h.tokens.tolist()), 0) + 1
            )

    assert set(counts) <= set(expected)
    common = [k for k in expected if expected[k] * 20000 >= 5]
    observed = [counts.get(k, 0) for k in common]
    predicted = [expected[k] * 20000 for k in common]
    if len(common) < len(expected):
        observed.append(20000 - sum(observed))
        predicted.append(20000 - sum(predicted))

    # the seeds are fixed, so the test is deterministic; 1e-3 is the rejection level of
    # one test
    assert chisquare(observed, predicted).pvalue > 1e-3


def test_a_caption_may_end_at_once():
    def step(tokens, state):
        logits = torch.full((len(tokens), 4), -50.0)
        logits[:, STOP] = 50.0
        return logits, state

    states = torch.zeros(3, 1)
    for decoding in (
        Decoding("greedy"),
        Decoding("sample", candidates=2),
        Decoding("beam", beams=2),
    ):
        decoded = decode(step, decoding, batch(None, states, range(3)))
        assert all(len(h[0].words) == 0 and h[0].stop_reason == "stop" for h in decoded)
        assert (
            decoded.generations(lambda ids: " ".join(map(str, ids)))[0].candidates[0]
            == ""
        )
    assert len(decode(step, Decoding("greedy"), batch(None, states[:0], []))) == 0


def test_min_length_forbids_the_end():
    model = Recurrent(seed=2)
    for decoding in ("greedy", "sample", "beam"):
        spec = Decoding(decoding, options={"min_length": 4})
        assert all(
            len(h[0].tokens) >= 5 or h[0].stop_reason == "length"
            for h in decode(model, spec, batch(model, model.prefix(10), range(10)))
        )


@pytest.mark.parametrize(
    ("decoding", "message"),
    [
        (
            Decoding("sample", temperature=0.0),
            "temperature must be a number above 0, found 0.0",
        ),
        (Decoding("sample", temperature=-1), "temperature"),
        (Decoding("sample", temperature=float("nan")), "temperature"),
        (
            Decoding("nucleus", top_p=0.0),
            "top_p must be above 0 and at most 1, found 0.0",
        ),
        (Decoding("nucleus", top_p=1.5), "top_p"),
        (Decoding("nucleus"), "nucleus needs top_p"),
        (Decoding("sample", top_k=0), "top_k must be at least 1"),
        (Decoding("sample", candidates=0), "candidates must be at least 1"),
        (Decoding("greedy", max_length=0), "max_length must be at least 1"),
        (Decoding("beam", beams=2, candidates=3), "2 beams give at most 2"),
        (
            Decoding("diverse-beam", beams=4, options={"groups": 3}),
            "options.groups must divide",
        ),
        (Decoding("beam", options={"early_stopping": "maybe"}), "early_stopping"),
    ],
)
def test_settings_out_of_range_are_refused(decoding, message):
    model = Recurrent()
    with pytest.raises(HarnessError, match=message):
        decode(model, decoding, batch(model, model.prefix(2), [1, 2]))


def test_an_unknown_strategy_names_the_nearest():
    model = Recurrent()
    with pytest.raises(UnknownName, match="did you mean 'nucleus'"):
        decode(model, Decoding("nuclues"), batch(model, model.prefix(1), [1]))


def test_an_adapter_adds_a_strategy():
    from harness_models.shared.decoding.decode import rollout
    from harness_models.shared.decoding.types import Decoded

    def last(step, decoding, batch):
        return Decoded(
            rollout(
                step,
                decoding,
                batch,
                1,
                lambda logits, rows, position: logits.argmin(-1),
            )
        )

    model = Recurrent()
    (hypotheses,) = decode(
        model, Decoding("least"), batch(model, model.prefix(1), [1]), {"least": last}
    )
    assert hypotheses[0].ranks[0] == 6


@pytest.mark.parametrize("strategy", ["greedy", "sample", "beam"])
@pytest.mark.parametrize(
    ("value", "content"),
    [(float("nan"), "NaN"), (float("inf"), r"\+inf"), (float("-inf"), "no finite")],
)
def test_the_message_about_bad_logits_names_the_example(strategy, value, content):
    def step(tokens, state):
        logits = torch.zeros(len(tokens), 4)
        logits[:, STOP] = -50.0
        logits[state[:, 0] == 2] = value
        return logits, state

    states = torch.tensor([[0.0], [2.0], [0.0]])
    with pytest.raises(HarnessError, match=f"example 'b' hold {content}.* token 1"):
        decode(
            step, Decoding(strategy), batch(None, states, range(3), ids=("a", "b", "c"))
        )


@pytest.mark.slow
@pytest.mark.first_case_fast
@pytest.mark.parametrize(
    "decoding", LARGE, ids=lambda d: f"T{d.temperature}-k{d.top_k}-p{d.top_p}"
)
@pytest.mark.parametrize("ties", [False, True])
def test_draws_from_a_large_vocabulary_follow_the_distribution(decoding, ties):
    """20,000 draws.

    The nucleus is searched among the most likely tokens first,
    and rows are processed in blocks.
    """
    from scipy.stats import chisquare

    size = 1000
    row = torch.randn(size, generator=torch.Generator().manual_seed(0)) * 3
    row = row.round() if ties else row

    def step(tokens, state):
        return row.expand(len(tokens), -1), state

    many = Decoding(
        decoding.strategy,
        decoding.temperature,
        decoding.top_p,
        decoding.top_k,
        candidates=200,
    )

    start = torch.zeros(100, dtype=torch.long)
    inputs = DecodingBatch(
        state=None, seeds=range(100), stop=(), max_length=1, start=start
    )
    drawn = np.bincount(
        [
            int(h.tokens[0])
            for hypotheses in decode(step, many, inputs)
            for h in hypotheses
        ],
        minlength=size,
    )

    share = (row.double() / decoding.temperature).softmax(-1).numpy()
    if decoding.top_k:
        share = np.where(row.numpy() >= np.sort(row.numpy())[-decoding.top_k], share, 0)
        share /= share.sum()
    if decoding.top_p:
        order = np.argsort(-share, kind="stable")
        share[
            order[int(np.searchsorted(np.cumsum(share[order]), decoding.top_p)) + 1 :]
        ] = 0
        share /= share.sum()

    assert drawn[share == 0].sum() == 0
    common = share * 20000 >= 5
    observed = [*drawn[common], drawn[~common].sum()]
    expected = [*share[common] * 20000, share[~common].sum() * 20000]
    if expected[-1] == 0:
        observed = observed[:-1]
        expected = expected[:-1]
    assert chisquare(observed, expected).pvalue > 1e-3
