"""Examples on which two systems differ most."""

from __future__ import annotations

import harness
from harness.analysis.differing_examples import differing_most
from harness.analysis.pairs import ComparedRun, pairs

CLUSTERS_SPEC = {
    "task": "words",
    "dataset": {"reader": "words", "count": 12},
    "models": [{"echo": {"n": n, "label": f"m{n}"}} for n in (1, 2, 4)],
    "metrics": ["length"],
}


def test_the_largest_differences_come_first(project):
    harness.evaluate(
        {**CLUSTERS_SPEC, "models": CLUSTERS_SPEC["models"][:2]}, output="r"
    )
    (pair,) = pairs([ComparedRun.open("r")])
    examples = differing_most(pair, "length", 2)
    assert len(examples) == 2
    assert examples[0].candidates_a == (examples[0].references[0],)
    assert abs(examples[0].score_a - examples[0].score_b) >= abs(
        examples[1].score_a - examples[1].score_b
    )
    assert differing_most(pair, "other", 2) == []


def test_equal_systems_differ_nowhere(project):
    models = [{"echo": {"n": 2, "label": name}} for name in ("one", "other")]
    harness.evaluate({**CLUSTERS_SPEC, "models": models}, output="r")
    (pair,) = pairs([ComparedRun.open("r")])
    assert differing_most(pair, "length", 3) == []


def test_captions_of_both_systems_are_those_of_the_example(project):
    models = [
        {"echo": {"n": 1, "label": "a"}},
        {"echo": {"n": 2, "fail": ["e0", "e3"], "label": "b"}},
    ]
    run = harness.evaluate({**CLUSTERS_SPEC, "models": models}, output="r")
    (pair,) = pairs([ComparedRun.open("r")])
    for one in differing_most(pair, "length", 20):
        a, b = (
            next(i for i in system.caption_sets() if i.id == one.example)
            for system in run.samples.systems
        )
        assert (one.candidates_a, one.candidates_b, one.references) == (
            a.candidates,
            b.candidates,
            a.references,
        )
