"""Minimum-Bayes-risk choice among captions."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import Decoding, Example, Failure, Generation, TaskView
from harness.errors import HarnessError
from harness.run.features import FeatureCache
from harness_models.wrappers import mbr as mbr_module
from harness_models.wrappers.mbr import Mbr, rank_captions

POOL = ("a dog runs", "a red bus", "a dog runs", "a dog sits", "the dog runs fast")
EXAMPLE = Example("x", ("a dog", "a cat"))


class Model:
    """Adapter with fixed captions, which records the decoding that it gets."""

    def __init__(self, results):
        self.results = results
        self.decodings = []

    def fingerprint(self):
        return "model"

    def prepare(self, task):
        self.decodings.append(task.decoding)

    def generate(self, examples, decoding, seeds):
        self.decodings.append(decoding)
        return iter(self.results)


class Words:
    """Distance by the number of words of the hypothesis that the reference lacks."""

    name = "words"

    def signature(self):
        return "words"

    def matrices(self, batch, features):
        return np.array(
            [
                [
                    [float(len(set(h.split()) - set(r.split()))) for r in texts]
                    for h in texts
                ]
                for texts in batch.texts
            ]
        )


def test_the_smallest_risk_first_and_repeated_captions_last():
    # sums of missing words: 4 ("a dog runs", twice), 9, 6 and 11
    (order,) = rank_captions([POOL], Words(), FeatureCache([EXAMPLE.references]))
    assert order == [0, 3, 1, 4, 2]
    assert rank_captions([("one",), ("a", "b")], Words(), FeatureCache([("x",)])) == [
        [0],
        [0, 1],
    ]


def test_all_fields_follow_and_failures_pass():
    generation = Generation(
        POOL, ("kept",), tuple(map(float, range(5))), tuple(range(5)), ("stop",) * 5
    )
    model = Model([generation, Failure("no image"), POOL])
    mbr = Mbr(model=model, distance=Words(), pool=5)
    decoding = Decoding(strategy="sample", candidates=2)
    mbr.prepare(TaskView([EXAMPLE] * 3, decoding))
    first, failed, plain = mbr.generate([EXAMPLE] * 3, decoding, [1, 2, 3])
    assert first == Generation(
        (POOL[0], POOL[3]), ("kept",), (0.0, 3.0), (0, 3), ("stop", "stop")
    )
    assert failed == Failure("no image")
    assert plain.candidates == first.candidates
    assert [d.candidates for d in model.decodings] == [5, 5]
    (single,) = Mbr(model=Model([POOL]), distance=Words()).generate(
        [EXAMPLE], Decoding(), [1]
    )
    assert single.candidates == (POOL[0],)


class Pools(Model):
    """Gives a pool of its own to each example, the last example first;
    its ``generate`` gives the same in order.
    """

    def pool(self, example):
        return (f"a dog {example.id}", *POOL[:4])

    def generate(self, examples, decoding, seeds):
        self.stored = []
        for example in examples:
            yield self.pool(example)
            self.stored.append(example.id)

    def generate_unordered(self, examples, decoding, seeds, store):
        for position in reversed(range(len(examples))):
            store(position, Generation(self.pool(examples[position])))


def test_a_pool_is_ranked_as_soon_as_it_is_there(monkeypatch):
    monkeypatch.setattr(mbr_module, "KEPT_POOLS", 2)
    examples = [Example(str(k), ("a dog", "a cat")) for k in range(5)]
    model = Pools([])
    decoding = Decoding("sample", candidates=2)
    mbr = Mbr(model=model, distance="cider", pool=5)
    mbr.prepare(TaskView(examples, decoding))
    results = mbr.generate(examples, decoding, [0] * 5)
    first = next(results)
    assert model.stored == []  # the model has not been asked for the second example
    in_order = [first, *results]
    stored = []
    mbr.generate_unordered(
        examples,
        decoding,
        [0] * 5,
        lambda position, result: stored.append((position, result)),
    )
    assert [position for position, _ in stored] == [4, 3, 2, 1, 0]
    assert [result for _, result in reversed(stored)] == in_order
    assert rank_captions(
        [model.pool(example) for example in examples],
        mbr.distance,
        FeatureCache([e.references for e in examples]),
    ) == [
        rank_captions(
            [model.pool(example)],
            mbr.distance,
            FeatureCache([e.references for e in examples]),
        )[0]
        for example in examples
    ]


def test_a_registered_distance_and_the_fingerprint():
    mbr = Mbr(model=Model([POOL]), distance="bleu", pool=5)
    assert mbr.fingerprint().startswith("mbr|pool=5|")
    (result,) = mbr.generate([EXAMPLE], Decoding(candidates=1), [0])
    assert result.candidates == ("a dog runs",)


def test_mistakes():
    with pytest.raises(
        HarnessError, match="Mbr: pool is 1; expected a whole number of at least 2"
    ):
        Mbr(model=Model([]), pool=1)
    with pytest.raises(
        HarnessError, match="mbr: 20 candidates cannot be chosen from a pool of 16"
    ):
        list(
            Mbr(model=Model([]), distance="bleu").generate(
                [EXAMPLE], Decoding(candidates=20), [0]
            )
        )
    with pytest.raises(HarnessError, match="mbr: Model does not score references"):
        Mbr(model=Model([]), distance="bleu").score_references([EXAMPLE])
