"""Corpus BLEU and Self-BLEU against golden values and the definition."""

import json
import math
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.support.ngram_values import corpus_bleu, self_bleu, self_bleu_each

sentences = st.lists(
    st.lists(st.sampled_from("abc"), max_size=6), min_size=2, max_size=6
)


def loop(candidates, references_of, orders=4):
    """BLEU by the definition: ``references_of[i]`` are the references of candidate i;
    counts pooled over the candidates.
    """
    out = []
    logs = 0.0
    length = sum(map(len, candidates))
    closest = sum(
        min((abs(len(r) - len(c)), len(r)) for r in refs)[1]
        for c, refs in zip(candidates, references_of)
    )
    for n in range(1, orders + 1):
        correct = total = 0
        for candidate, refs in zip(candidates, references_of):
            counts = [
                Counter(tuple(s[i : i + n]) for i in range(len(s) - n + 1))
                for s in (candidate, *refs)
            ]
            total += sum(counts[0].values())
            correct += sum(
                min(c, max(other[g] for other in counts[1:]))
                for g, c in counts[0].items()
            )
        logs = (
            -math.inf
            if not correct or logs == -math.inf
            else logs + math.log(correct / total)
        )
        out.append(
            0.0
            if logs == -math.inf
            else math.exp(logs / n + min(0.0, 1 - closest / length))
        )
    return out


@given(sentences, sentences)
def test_definition(candidates, references):
    np.testing.assert_allclose(
        corpus_bleu(candidates, references),
        loop(candidates, [references] * len(candidates)),
        atol=1e-12,
    )
    others = [candidates[:i] + candidates[i + 1 :] for i in range(len(candidates))]
    each = [loop([candidate], [rest]) for candidate, rest in zip(candidates, others)]
    np.testing.assert_allclose(self_bleu_each(candidates), each, atol=1e-12)


def test_golden_values(golden):
    golden = json.loads((golden / "crnrr/crnrr_corpora_golden.json").read_text())
    for case in golden["tiny"] + golden["real"]:
        q, p = (
            [s.split() if isinstance(s, str) else s for s in case[side]]
            for side in ("candidate", "reference")
        )
        np.testing.assert_allclose(
            corpus_bleu(q, p), case["BLEU"], atol=1e-12, err_msg=case["name"]
        )
        # undefined for one sentence; the file has 0
        if "self_BLEU" in case and len(q) > 1:
            np.testing.assert_allclose(
                self_bleu(q), case["self_BLEU"], atol=1e-12, err_msg=case["name"]
            )
