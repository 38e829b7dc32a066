"""Cached models with shared prefixes: captions depend on the example only and have the
log-probabilities of a forced pass.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch

from harness.contracts import Decoding
from harness_models.clipcap import authors_search as clipcap_search
from harness_models.clipcap.mappers import ClipCapSizes
from harness_models.clipcap.model import ClipCap, ClipCapStep
from harness_models.shared.decoding.decode import decode, forced_scores
from harness_models.shared.decoding.types import DecodingBatch
from harness_models.shared.gpt2 import Gpt2Sizes
from harness_models.vlp import authors_search as vlp_search
from harness_models.vlp.model import Vlp, VlpStep
from harness_models.vlp.sizes import BertSizes, VlpSizes

COUNT = 64
LIMIT = 14
STOP = 3
SEARCHES = [
    Decoding("greedy"),
    Decoding("sample", candidates=4),
    Decoding("nucleus", temperature=1.3, top_k=20, top_p=0.9, candidates=4),
    Decoding("beam", beams=4, candidates=3, length_penalty=0.7, max_length=10),
    Decoding(
        "diverse-beam", beams=4, candidates=4, options={"groups": 2}, max_length=10
    ),
    Decoding("authors-beam", beams=4, candidates=2, max_length=10),
    Decoding("authors-greedy", max_length=10),
]


class ClipCapCase:
    authors = clipcap_search.STRATEGIES

    def __init__(self):
        torch.manual_seed(0)
        gpt2 = Gpt2Sizes(
            vocabulary=60, positions=64, width=32, layers=2, heads=4, inner=48
        )
        self.model = ClipCap(
            ClipCapSizes(mapper="mlp", clip=6, prefix_length=3, hidden=48, gpt2=gpt2)
        ).eval()
        with torch.no_grad():
            for weight in self.model.parameters():
                weight.mul_(4)
        self.vectors = torch.randn(COUNT, 6)
        self.step = ClipCapStep(self.model)

    def state(self, index):
        return {"prefix": self.model.prefix_embeddings(self.vectors[index])}

    def forced(self, index, tokens):
        return self.model.caption_logits(tokens, self.vectors[index])


class VlpCase:
    authors = vlp_search.STRATEGIES

    def __init__(self):
        torch.manual_seed(0)
        bert = BertSizes(
            vocabulary=60,
            width=24,
            layers=2,
            heads=3,
            inner=32,
            positions=64,
            segments=6,
        )
        special = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4}
        self.model = Vlp(
            VlpSizes(bert=bert, region=10, hidden=12, geometry=9, special_ids=special)
        ).eval()
        with torch.no_grad():
            for name, weight in self.model.named_parameters():
                weight.mul_(1 if "LayerNorm" in name else 2)
            self.model.cls.predictions.bias[STOP] += 5
        self.inputs = torch.randn(COUNT, 7, 10) * 2, torch.randn(COUNT, 7, 9)
        self.step = VlpStep(self.model)

    def state(self, index):
        return self.model.context(*(x[index] for x in self.inputs))

    def forced(self, index, tokens):
        return self.model(tokens, *(x[index] for x in self.inputs))


@pytest.fixture(scope="module", params=[ClipCapCase, VlpCase])
def case(request):
    return request.param()


def captions(case, decoding, index):
    index = torch.as_tensor(index)
    with torch.inference_mode():
        batch = DecodingBatch(
            state=case.state(index),
            seeds=(1000 + index).tolist(),
            stop=(STOP,),
            max_length=LIMIT,
        )
        return decode(case.step, decoding, batch, case.authors)


def ids(decoded):
    return [[h.tokens.tolist() for h in hypotheses] for hypotheses in decoded]


@pytest.mark.first_case_fast
@pytest.mark.parametrize("decoding", SEARCHES, ids=lambda d: d.strategy)
def test_captions_depend_on_the_example_only(case, decoding):
    whole = ids(captions(case, decoding, range(COUNT)))
    lengths = {len(tokens) for hypotheses in whole for tokens in hypotheses}
    # rows leave the batch at many steps
    assert decoding.strategy not in ("sample", "nucleus") or len(lengths) > 5
    for size, until in ((1, 10), (7, COUNT)):
        parts = [
            ids(captions(case, decoding, range(i, min(i + size, until))))
            for i in range(0, until, size)
        ]
        assert sum(parts, []) == whole[:until]
    order = np.random.default_rng(0).permutation(COUNT)
    assert ids(captions(case, decoding, order)) == [whole[i] for i in order]
    shards = [ids(captions(case, decoding, range(s, COUNT, 3))) for s in range(3)]
    assert all(shards[i % 3][i // 3] == whole[i] for i in range(COUNT))


@pytest.mark.parametrize("decoding", SEARCHES, ids=lambda d: d.strategy)
def test_log_probs_and_ranks_equal_a_forced_pass(case, decoding):
    for example, hypotheses in enumerate(captions(case, decoding, range(12))):
        for h in hypotheses:
            tokens = torch.from_numpy(h.tokens)
            with torch.inference_mode():
                log_probs, ranks = forced_scores(
                    case.forced(torch.tensor([example]), tokens[None])[0], tokens
                )
            np.testing.assert_allclose(h.log_probs, log_probs, atol=1e-5)
            agreement = (h.ranks == ranks).mean()
            # logits that are equal within float32 rounding may change their order
            assert agreement > 0.99
            assert h.stop_reason == ("stop" if h.tokens[-1] == STOP else "length")
