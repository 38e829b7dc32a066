"""References that are scored in batches get the scores of single references; failures
and generations of a batch.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch

from harness.contracts import Decoding, Example, Failure, Generation
from harness.errors import InputError
from harness_models.shared.decoding.left_to_right import LeftToRight, Prefix
from harness_models.shared.decoding.states import select_rows
from tests.support.toy_lm import Recurrent

STOP = 0
START = 1


class Toy(LeftToRight):
    """A model of digits; the id of an example is the seed of its state."""

    stop = (STOP,)
    max_length = 9

    def __init__(self, batch_size):
        self.batch_size = batch_size
        self.model = Recurrent()
        self.step = self.model
        self.widths: list[tuple[int, int]] = []

    def inputs(self, examples):
        return [
            Failure("no number") if example.id == "x" else int(example.id)
            for example in examples
        ]

    def groups(self, inputs):
        parts = [[i for i, n in enumerate(inputs) if n % 2 == odd] for odd in (0, 1)]
        return [part for part in parts if part]

    def prefix(self, inputs, examples):
        return Prefix(
            torch.cat([self.model.prefix(1, seed) for seed in inputs]),
            torch.full((len(inputs),), START),
        )

    def reference_tokens(self, text):
        return [int(digit) for digit in text]

    def to_text(self, ids):
        return "".join(map(str, ids))

    def pieces(self, ids):
        return tuple(map(str, ids))

    def forced_logits(self, prefix, owner, tokens):
        self.widths.append((len(tokens), tokens.shape[1]))
        state = select_rows(prefix.state, owner)
        last = torch.full((len(tokens),), START)
        out = []
        for t in range(tokens.shape[1]):
            logits, state = self.model(last, state)
            out.append(logits)
            last = tokens[:, t]
        return torch.stack(out, dim=1)


def examples(count):
    generator = np.random.default_rng(0)
    return [
        Example(
            str(i),
            tuple(
                "".join(map(str, generator.integers(1, 7, generator.integers(1, 10))))
                for _ in range(1 + i % 4)
            ),
        )
        for i in range(count)
    ]


@pytest.mark.parametrize("size", [1, 7, 64])
def test_batched_references_get_the_scores_of_single_references(size):
    adapter = Toy(size)
    items = examples(50)
    scored = list(adapter.score_references(items))
    assert len(scored) == 50
    for example, scores in zip(items, scored):
        assert len(scores) == len(example.references)
        state = adapter.model.prefix(1, int(example.id))[0]
        for text, score in zip(example.references, scores):
            ids = [int(digit) for digit in text]
            logits = adapter.forced_logits(
                Prefix(state[None]), torch.tensor([0]), torch.tensor([ids])
            )[0]
            expected = logits.log_softmax(-1).numpy()
            np.testing.assert_allclose(
                score.log_probs, expected[range(len(ids)), ids], atol=1e-9
            )
            ranks = [(row > row[i]).sum() for row, i in zip(expected, ids)]
            assert score.ranks.tolist() == ranks
            assert score.tokens == tuple(text)


def test_references_of_similar_length_share_a_pass():
    adapter = Toy(400)
    list(adapter.score_references(examples(400)))
    computed = sum(rows * length for rows, length in adapter.widths)
    needed = sum(len(text) for example in examples(400) for text in example.references)
    assert computed < 1.25 * needed


def test_references_without_tokens_or_too_long_are_refused():
    for text, count in (("", 0), ("1" * 10, 10)):
        with pytest.raises(
            InputError, match=f"example '3' has {count} tokens; 1 to 9 can be scored"
        ):
            list(
                Toy(4).score_references(
                    [Example("2", ("1",)), Example("3", ("2", text))]
                )
            )


@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_failure_takes_the_place_of_its_example(size):
    items = [Example(name, ("1",)) for name in ("0", "x", "3", "2", "x")]
    results = list(
        Toy(size).generate(items, Decoding("sample", candidates=2), range(5))
    )
    assert [isinstance(item, Failure) for item in results] == [
        False,
        True,
        False,
        False,
        True,
    ]
    for i in (0, 2, 3):
        (alone,) = Toy(1).generate([items[i]], Decoding("sample", candidates=2), [i])
        batched = results[i]
        assert isinstance(alone, Generation) and isinstance(batched, Generation)
        assert alone.candidates == batched.candidates


def test_an_example_that_cannot_be_read_is_not_scored():
    with pytest.raises(InputError, match="example 'x' cannot be scored: no number"):
        list(Toy(4).score_references([Example("x", ("1",))]))
