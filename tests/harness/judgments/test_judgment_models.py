"""Models of judgment tasks, and their loading."""

import pytest
from pydantic import ValidationError

from harness.judgments import judgment_models as models
from harness.spec.loading import LoadedTask, load_specs

BASE = {
    "task": "t",
    "judgments": {"form": "captions", "path": "f"},
    "statistics": ["pearson"],
    "metrics": ["m"],
}


def make(**keys):
    return models.JudgmentSpec.model_validate({**BASE, **keys})


def test_short_forms():
    spec = make(
        groups="kind",
        published={"reference": "R", "values": {"m": [1, 2]}},
        statistics=["pearson", "auc", "pearson"],
    )
    assert spec.groups is not None and (spec.groups.by, spec.headline) == (
        "kind",
        ("pearson", "all"),
    )
    assert spec.published[0].values == {"m": (1, 2)} and spec.statistics == [
        "pearson",
        "auc",
    ]
    assert make(judgments={"form": "captions", "path": ["a", "b"]}).judgments.paths == [
        "a",
        "b",
    ]
    assert make(groups={"by": "k", "labels": {1: "a"}}).groups.labels == {"1": "a"}


@pytest.mark.parametrize(
    "keys",
    [
        {"judgments": {"form": "captions"}},
        {"judgments": {"form": "captions", "path": "f", "hf": {"name": "x"}}},
        {"judgments": {"form": "keyed-pairs", "path": "f"}},
        {"references": {"draws": 3}},
        {"statistics": []},
        {"metrics": []},
        {"published": {"values": {"m": 1}}},
        {"tests": {"level": 0}},
        {"models": ["human"]},
    ],
)
def test_what_does_not_fit(keys):
    with pytest.raises(ValidationError):
        make(**keys)


def test_paths_beside_the_file(tmp_path):
    for name in ("j.jsonl", "r.jsonl"):
        (tmp_path / name).write_text("")
    (tmp_path / "t.yaml").write_text(
        "task: t\njudgments: {form: pairs, path: [j.jsonl, other.jsonl], references: "
        "{path: r.jsonl}}\n"
        "statistics: [accuracy]\nmetrics: [novelty]\n"
    )
    (loaded,) = load_specs(tmp_path / "t.yaml")
    assert isinstance(loaded, LoadedTask)
    assert loaded.spec.judgments.paths == [str(tmp_path / "j.jsonl"), "other.jsonl"]
    assert loaded.spec.judgments.references.path == str(tmp_path / "r.jsonl")


def test_a_suite_overrides_its_parts(tmp_path):
    part = (
        "task: {0}\njudgments: {{form: captions, path: f}}\nstatistics: [pearson]\n"
        "metrics: [novelty]\n"
    )
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(part.format(name))
    (tmp_path / "s.yaml").write_text(
        "include: [a.yaml, b.yaml]\nmetrics: [vocabulary]\n"
    )
    assert [(x.spec.task, x.spec.metrics) for x in load_specs(tmp_path / "s.yaml")] == [
        ("a", ["vocabulary"]),
        ("b", ["vocabulary"]),
    ]


def test_numbers_in_texts():
    assert [
        models.looks_like_number(t) for t in ("1", "-2.5e3", " 7 ", "1a", "", "v2")
    ] == [True, True, True, False, False, False]


def test_references_are_sampled_or_rotated_but_not_both():
    policy = models.ReferencePolicy
    assert policy.model_validate({"sample": 2, "draws": 3}).draws == 3
    assert policy.model_validate({"rotate": 2}).rotate == 2
    with pytest.raises(ValidationError, match="found both 'sample' and 'rotate'"):
        policy.model_validate({"sample": 2, "rotate": 2})
    with pytest.raises(ValidationError, match="found draws: 2 without it"):
        policy.model_validate({"draws": 2})


def test_defaults_of_the_tests_between_metrics():
    spec = models.MetricTestsSpec()
    assert (spec.draws, spec.level) == (1000, 0.05)
