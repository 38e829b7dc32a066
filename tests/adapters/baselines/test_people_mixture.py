"""Captions of people, random or central, beside captions of other examples."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts import Decoding, Example, TaskView, TextDistance
from harness.errors import InputError
from harness_models.baselines.people_mixture import PeopleMixture

EXAMPLES = [Example(f"e{i}", tuple(f"{i}-{j}" for j in range(8))) for i in range(12)]
SEEDS = list(range(100, 112))


class Number(TextDistance):
    """Difference of the numbers behind the hyphen."""

    name = "number"

    def pairwise(self, texts):
        values = np.array([float(text.split("-")[1]) for text in texts])
        return np.abs(values[:, None] - values[None, :])


def sets(examples=EXAMPLES, **params):
    adapter = PeopleMixture(**params)
    adapter.prepare(TaskView(examples, Decoding()))
    return list(adapter.generate(examples, Decoding(), SEEDS[: len(examples)]))


@given(st.integers(0, 5), st.integers(0, 6), st.sampled_from(["random", "central"]))
def test_m_of_n_are_captions_of_people_and_the_others_are_of_other_examples(
    unique, more, choice
):
    correct = min(unique + more, 6) if unique else 0
    made = sets(
        unique=unique,
        correct=correct,
        choice=choice,
        n=6,
        held_out=5,
        distance=Number(),
    )
    for example, item in zip(EXAMPLES, made):
        people = [text for text in item.candidates if text in example.references]
        wrong = [text for text in item.candidates if text not in example.references]
        assert (len(people), len(wrong)) == (correct, 6 - correct)
        assert len(set(people)) == unique
        counts = Counter(people).values()
        assert not counts or max(counts) - min(counts) <= 1
        assert len({text.split("-")[0] for text in wrong}) == len(wrong)
        # no candidate is one of the references that are scored against
        assert len(item.references) == 3 and not set(item.references) & set(people)


def test_central_captions_are_chosen_among_those_that_are_no_references():
    example = Example("x", ("x-0", "x-1", "x-10", "x-11", "x-12", "x-40"))
    (item,) = sets([example], unique=1, correct=1, choice="central", n=1, held_out=5)
    held_out = [text for text in example.references if text not in item.references]
    (three,) = sets(
        [example],
        unique=3,
        choice="central",
        n=3,
        held_out=5,
        distance=Number(),
    )
    values = sorted(float(text.split("-")[1]) for text in held_out)
    totals = {v: sum(abs(v - w) for w in values) for v in values}
    assert {float(text.split("-")[1]) for text in three.candidates} == set(
        sorted(values, key=totals.__getitem__)[:3]
    )
    assert three.references == item.references


def test_systems_of_a_study_share_references_and_captions():
    people = sets(unique=5, n=5, held_out=5)
    fewer = sets(unique=2, correct=2, n=5, held_out=5)
    central = sets(unique=2, n=2, held_out=5, choice="central", distance=Number())
    for example, full, part, bland in zip(EXAMPLES, people, fewer, central):
        assert full.references == part.references == bland.references
        own = set(part.candidates) & set(example.references)
        assert own < set(full.candidates) and len(own) == 2


def test_people_are_as_many_equal_captions_as_they_write():
    """Equal captions are drawn as often as others: people and references are
    exchangeable.
    """
    examples = [Example(str(i), ("a", "a", "a", "b")) for i in range(400)]
    adapter = PeopleMixture(unique=2, n=2, held_out=2)
    adapter.prepare(TaskView(examples, Decoding()))
    made = list(adapter.generate(examples, Decoding(), list(range(400))))
    equal = sum(len(set(item.candidates)) == 1 for item in made)
    assert 160 <= equal <= 240  # half of the pairs, five standard deviations are 50


def test_parameters_that_make_no_set():
    for params, message in (
        ({"unique": 3, "correct": 2}, "correct is 2; expected at least the 3"),
        ({"unique": 0, "correct": 2}, "and 0 without any"),
        ({"unique": 3, "held_out": 2}, "held_out is 2, fewer than the 3"),
        ({"unique": 3, "n": 2}, "n is 2, too few for 3"),
    ):
        with pytest.raises(InputError, match=message):
            PeopleMixture(**params)
    with pytest.raises(InputError, match="12 captions of other examples are needed"):
        sets(unique=1, correct=1, n=13)
    with pytest.raises(InputError, match="10 candidates are too few for 11"):
        sets(unique=8, correct=11)
    with pytest.raises(InputError, match="people-mixture: 12 of 12 examples have"):
        sets(unique=8, n=8)
    (skipped,) = sets([EXAMPLES[0]], unique=1, n=1, held_out=8, skip_small=True)
    assert skipped.candidates == ()


def test_the_fingerprint_names_what_changes_the_sets():
    prints = {
        PeopleMixture(**params).fingerprint()
        for params in (
            {"unique": 1},
            {"unique": 1, "correct": 2},
            {"unique": 1, "held_out": 2},
            {"unique": 1, "choice": "central"},
            {"unique": 1, "choice": "central", "distance": "meteor"},
            {"unique": 1, "distance": "meteor"},
        )
    }
    assert len(prints) == 5
