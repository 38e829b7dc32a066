"""Plugins from one function: components, parameters,
and functions that do not keep to their contract.
"""

from __future__ import annotations

import json
import pickle
import sys

import pytest

import harness
from harness.cli.main import main
from harness.contracts import Distance, Embedding, Metric
from harness.errors import HarnessError
from harness.registry import create
from harness.registry.function_components import component_of
from harness.registry.function_plugins import (
    distance_function,
    embedding_function,
    metric_function,
)

CODE = '''
import harness
import numpy as np


@harness.metric_function(higher_is_better=True, bounds=(0, 1))
def overlap(candidates: list[str], references: list[str], lower: bool = True) -> float:
    """Share of words that occur in a reference."""
    words = set(" ".join(references).split())
    hits = [word in words for text in candidates for word in text.split()]
    return sum(hits) / max(1, len(hits))


@harness.distance_function(symmetric=True)
def jaccard(a: str, b: str) -> float:
    """One minus the share of common words."""
    one, other = set(a.split()), set(b.split())
    return 1 - len(one & other) / len(one | other) if one | other else 0.0


@harness.embedding_function
def letters(texts: list[str], size: int = 26) -> np.ndarray:
    """Counts of letters."""
    return np.array([[text.count(chr(97 + k)) for k in range(size)] for text in texts])
'''
MANIFEST = """
provider: mine
metrics: {overlap: {import: "mine_functions:overlap", summary: "Share of words"}}
distances: {jaccard: {import: "mine_functions:jaccard", summary: "Words"}}
embeddings: {letters: {import: "mine_functions:letters", summary: "Letters"}}
"""
CANDIDATES = [["a cat", "cats"], ["a bus", "bus"]]
REFERENCES = [["a dog runs", "a dog"], ["a red bus", "the bus"]]


@pytest.fixture
def plugins(tmp_path, monkeypatch):
    """A working directory with a manifest of three functions."""
    (tmp_path / "mine_functions.py").write_text(CODE)
    (tmp_path / "registry.yaml").write_text(MANIFEST)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("mine_functions", None)


def test_the_functions_are_components(plugins):
    metric = create("metrics", "overlap").instance
    assert isinstance(metric, Metric)
    assert (metric.spec.name, metric.spec.higher_is_better, metric.spec.bounds) == (
        "overlap",
        True,
        (0, 1),
    )
    assert metric.spec.needs == {"references"}
    assert isinstance(create("distances", "jaccard").instance, Distance)
    assert isinstance(
        create("embeddings", {"letters": {"size": 3}}).instance, Embedding
    )
    function = sys.modules["mine_functions"].overlap
    assert function(["a dog"], ["a cat"]) == 0.5
    assert metric.__doc__ == function.__doc__
    # its file is part of the identity of a run
    assert type(metric).__module__ == "mine_functions"


def test_parameters_are_checked_and_part_of_the_signature(plugins):
    one, other = (
        create("metrics", {"overlap": params}).instance
        for params in ({}, {"lower": False})
    )
    assert (one.signature(), other.signature()) == ("overlap", "overlap|lower:False")
    with pytest.raises(HarnessError, match="no parameter 'lowr'; did you mean 'lower'"):
        create("metrics", {"overlap": {"lowr": True}})
    with pytest.raises(HarnessError, match="lower is 3; expected true or false"):
        create("metrics", {"overlap": {"lower": 3}})
    with pytest.raises(HarnessError, match="no parameter 'candidates'"):
        create("metrics", {"overlap": {"candidates": []}})


def test_a_run_has_intervals_paired_tests_and_permutation_p_values(plugins, capsys):
    for name, texts in (("a", CANDIDATES), ("b", REFERENCES)):
        (plugins / f"{name}.json").write_text(
            json.dumps({str(k): texts[k] for k in range(2)})
        )
    (plugins / "r.json").write_text(
        json.dumps({str(k): REFERENCES[k] for k in range(2)})
    )
    metrics = "overlap,trm:distance=jaccard,mmd:embedding=letters"
    arguments = [
        "score",
        "a.json",
        "b.json",
        "--references",
        "r.json",
        "-m",
        metrics,
        "--p-values",
        "exact",
        "--json",
    ]
    assert main(arguments) == 0
    data = json.loads(capsys.readouterr().out)
    assert [record["metric"] for record in data["results"]][:3] == [
        "overlap",
        "trm(jaccard)",
        "mmd(letters)",
    ]
    for record in data["results"]:
        assert record["p_method"].startswith("exact")
        assert 0 < record["p_value"] <= 1
    overlap = data["results"][0]
    assert overlap["value"] == pytest.approx((1 / 3 + 1) / 2)
    assert len(overlap["ci95"]) == 2
    assert {row["metric"] for row in data["comparisons"]} == {
        "overlap",
        "trm(jaccard)",
        "mmd(letters)",
    }
    assert all(0 < row["p_value"] <= 1 for row in data["comparisons"])


def test_the_conformance_checks_pass_by_name_and_by_module(plugins, capsys):
    for name in (
        "overlap",
        "jaccard",
        "letters",
        "mine_functions:overlap",
        "mine_functions:jaccard",
    ):
        assert main(["check", name]) == 0, capsys.readouterr().out


def test_the_card_lists_parameters_without_importing(plugins, capsys):
    assert main(["show", "overlap"]) == 0
    shown = capsys.readouterr().out
    assert "lower = True" in shown
    assert "candidates" not in shown
    assert "mine_functions" not in sys.modules


def test_a_function_is_a_metric_of_score():
    @harness.metric_function(higher_is_better=True)
    def same_length(hypotheses, refs):
        return float(len(hypotheses[0]) == len(refs[0]))

    result = harness.score(
        ["a dog", "cats"], ["a cat", "a dog"], [same_length], p_value="exact"
    )["same-length"]
    assert result.value == 0.5
    assert result.p_values is not None


def test_arguments_by_name():
    @metric_function(name="sourced", higher_is_better=False)
    def copied(candidates, source=None, meta=None, *, scale: float = 1.0):
        return scale * (candidates[0] == source)

    metric = component_of(copied)(scale=2.0)
    assert metric.spec.needs == frozenset()
    assert metric.spec.name == "sourced"
    assert list(metric.constructor_parameters) == ["scale"]
    from harness.contracts import CaptionSet
    from harness.run.features import FeatureCache

    sets = [
        CaptionSet("1", ("a",), ("b",), source="a"),
        CaptionSet("2", ("a",), ("b",)),
    ]
    features = FeatureCache([item.references for item in sets])
    assert metric.scores(features.batch(sets), features, None).tolist() == [2.0, 0.0]


@pytest.mark.parametrize(
    ("decorator", "function", "message"),
    [
        (metric_function, lambda a, b, c: 0, "has the argument 'c' without default"),
        (metric_function, lambda: 0, "takes no candidates"),
        (
            metric_function,
            lambda candidates, **rest: 0,
            "the argument 'rest' of the function takes any number of values",
        ),
        (distance_function, lambda a: 0, "has 1 arguments without default; expected 2"),
        (
            embedding_function,
            lambda a, b: 0,
            "has 2 arguments without default; expected 1",
        ),
    ],
)
def test_functions_that_do_not_fit_are_refused_when_they_are_declared(
    decorator, function, message
):
    with pytest.raises(HarnessError, match=message):
        decorator(function)


def test_a_component_is_created_again_in_another_process(plugins):
    metric = create("metrics", {"overlap": {"lower": False}}).instance
    again = pickle.loads(pickle.dumps(metric))
    assert (again.signature(), again.parameters) == (
        metric.signature(),
        {"lower": False},
    )
