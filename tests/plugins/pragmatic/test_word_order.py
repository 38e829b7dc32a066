"""Size before colour."""

import math

import pytest

from harness.contracts import CaptionSet
from harness.run.features import FeatureCache
from harness_metrics.pragmatic.word_order import AdjectiveOrder, size_first
from harness_tasks.a3ds.grammar import captions


def test_the_grammar_puts_size_first():
    values = [size_first(text) for text in captions(12345, "exhaustive")]
    assert {value for value in values if not math.isnan(value)} == {1.0}
    # one of the two adjectives is the predicate
    assert sum(map(math.isnan, values)) == 8


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a red tiny ball", 0.0),
        ("A medium-sized dark blue cylinder on red floor", 1.0),
        ("red floor and a tiny wall", None),
        ("", None),
    ],
)
def test_captions_of_a_model(text, value):
    found = size_first(text)
    assert found == value or (value is None and math.isnan(found))


def test_mean_over_the_defined_captions_of_an_example():
    features = FeatureCache()
    sets = [
        CaptionSet("a", ("a red tiny ball", "a tiny red ball", "a ball"), ("x",)),
        CaptionSet("b", ("a ball", "a block", "a pill"), ("x",)),
    ]
    first, second = AdjectiveOrder().scores(features.batch(sets), features, None)
    assert first == 0.5 and math.isnan(second)
