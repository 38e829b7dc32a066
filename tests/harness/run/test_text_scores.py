"""Scores of lists and mappings of texts."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import harness
from harness.contracts import MeanMetric, MetricSpec
from harness.errors import InputError
from harness.run.metric_plan import MetricPlan
from harness.run.text_scores import Scores, caption_sets, score_captions, sets_of

CANDIDATES = {"a": ["x"], "b": [" "]}
REFERENCES = {"a": ["x", "y"], "c": ["z"]}


def test_lists_become_numbered_caption_sets():
    one, other = caption_sets([["a", "b"], ["c"]], [["d"], ["e", "f"]])
    assert (one.id, one.candidates, one.references) == ("0", ("a", "b"), ("d",))
    assert other.references == ("e", "f")


def test_mappings_are_joined_by_id():
    sets = sets_of(
        {"x": ["a"], "y": ["b"]}, {"y": ["c"], "x": ["d"]}, allow_missing=False
    )
    assert {item.id: (item.candidates, item.references) for item in sets} == {
        "x": (("a",), ("d",)),
        "y": (("b",), ("c",)),
    }


def test_a_metric_is_shown_by_its_signature():
    metric = harness.metric("caption-length")
    assert repr(metric) == f"<metric {metric.plan.metric.signature()}>"


def test_candidates_and_references_may_be_named():
    (item,) = sets_of(references=[["b"]], candidates=["a"], allow_missing=False)
    assert (item.candidates, item.references) == (("a",), ("b",))


def test_dictionaries_of_pycocoevalcap():
    references = {
        7: [{"image_id": 7, "caption": "a"}, {"image_id": 7, "caption": "b"}],
        8: [{"caption": "c"}],
    }
    sets = sets_of(
        {7: [{"image_id": 7, "caption": "x"}], 8: "y"}, references, allow_missing=False
    )
    assert [(item.id, item.candidates, item.references) for item in sets] == [
        ("7", ("x",), ("a", "b")),
        ("8", ("y",), ("c",)),
    ]


@pytest.mark.parametrize(
    "pair", [("p.json", [["a"]]), ([["a"]], {"1": "a"}), ({"1": "a"}, "r.json")]
)
def test_values_of_two_kinds_are_refused(pair):
    with pytest.raises(
        InputError,
        match="candidates and references are both paths, both mappings or both lists",
    ):
        sets_of(*pair, allow_missing=False)


@pytest.mark.parametrize(
    ("candidates", "references", "message"),
    [
        ([["a"]], [], "1 example has candidates but 0 have references"),
        (
            ["a", "b"],
            [["x", "y"]] * 3,
            r"2 examples have candidates but 3 have references; "
            r"of lists .* pass list\(zip\(\*references\)\)",
        ),
        (["a", "b"], [["x"]] * 3, "2 examples have candidates but 3 have references$"),
        (
            ["a", "b"],
            [["x", "y", "z"]] * 3,
            "2 examples have candidates but 3 have references$",
        ),
        ([], [], "there are no examples"),
        (
            ["a dog", ["a cat"]],
            [["a dog"], ["a cat"]],
            "candidates: example 1: is a list, example 0 is a text; expected one kind",
        ),
        ([7], [["a dog"]], "expected a text or a list of texts; found 7"),
        ([[]], [["a"]], "the list is empty"),
        (
            "a dog",
            [["a"]],
            "expected a list with one list of texts, or one text, per example",
        ),
    ],
)
def test_mistakes_name_their_place(candidates, references, message):
    with pytest.raises(InputError, match=message):
        caption_sets(candidates, references)


@pytest.mark.parametrize("form", ["mappings", "files", "list of files"])
@pytest.mark.parametrize(
    ("allow", "message"),
    [
        (
            {"allow_missing": False, "allow_unknown": True, "allow_empty": True},
            r"'c' \(allow_missing=True ",
        ),
        ({"allow_missing": True, "allow_empty": True}, r"'b' \(allow_unknown=True "),
        ({"allow_missing": True, "allow_unknown": True, "allow_empty": True}, None),
    ],
)
def test_ids_of_one_side_are_allowed_by_name(tmp_path, form, allow, message):
    values = (CANDIDATES, REFERENCES)
    if form != "mappings":
        files = [tmp_path / "c.json", tmp_path / "r.json"]
        for file, content in zip(files, values):
            file.write_text(json.dumps(content))
        values = (str(files[0]), files[1] if form == "files" else [files[1]])
    if message is None:
        assert [
            (item.id, item.candidates, item.references)
            for item in sets_of(*values, **allow)
        ] == [("a", ("x",), ("x", "y"))]
        return
    with pytest.raises(InputError, match=message):
        sets_of(*values, **allow)


def test_a_blank_candidate_of_a_file_is_refused_unless_it_is_allowed(tmp_path):
    files = [tmp_path / "c.json", tmp_path / "r.json"]
    for file, content in zip(files, ({"a": [" "]}, {"a": ["x"]})):
        file.write_text(json.dumps(content))
    with pytest.raises(InputError, match="allow_empty=True"):
        sets_of(*files, allow_missing=False)
    (item,) = sets_of(*files, allow_missing=False, allow_empty=True)
    assert item.candidates == (" ",)


@pytest.mark.parametrize("candidates", [{}, {"a": ["x"]}])
def test_mappings_without_an_id_of_both_have_no_examples(candidates):
    with pytest.raises(InputError, match="there are no examples"):
        sets_of(candidates, {"b": ["y"]}, allow_missing=True, allow_unknown=True)


@pytest.mark.parametrize(
    "references", [[], ["missing.json"], [7], ["c.json", "missing.json"]]
)
def test_lists_that_are_no_files_are_no_paths(tmp_path, monkeypatch, references):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.json").write_text('{"a": ["x"]}')
    with pytest.raises(InputError, match="are both paths, both mappings or both lists"):
        sets_of("c.json", references, allow_missing=False)


class Words(MeanMetric):
    """Mean number of words; remembers when it is warmed and scored."""

    def __init__(self, name, seen):
        self.spec = MetricSpec(name, True)
        self.seen = seen

    def signature(self):
        return self.spec.name

    def scores(self, batch, features, state):
        self.seen.append(self.spec.name)
        return np.array([float(len(texts[0].split())) for texts in batch.texts])


class Warming(Words):
    def warm(self):
        self.seen.append(f"warm {self.spec.name}")


def test_metrics_that_warm_up_are_scored_last_and_results_have_the_order_of_the_metrics():
    seen = []
    metrics = [Warming("first", seen), Words("second", seen), Words("third", seen)]
    plans = [
        MetricPlan(metric.spec.name, metric.spec.name, {}, metric) for metric in metrics
    ]
    results = score_captions(
        plans, caption_sets(["a b", "a", "a b c"], ["x"] * 3), samples=0
    )
    assert seen == ["warm first", "second", "third", "first"]
    assert list(results) == ["first", "second", "third"]
    assert {
        result.metric: (result.value, result.per_example.tolist())
        for result in results.values()
    } == dict.fromkeys(results, (2.0, [2.0, 1.0, 3.0]))


def test_the_interval_has_as_many_samples_as_in_a_spec_unless_told_otherwise():
    texts = [f"a {'b ' * (k % 7)}" for k in range(30)]
    metric = harness.metric("caption-length")
    plain, given, none, other = (
        metric(texts, texts, **values)
        for values in (
            {},
            {"seed": 0, "bootstrap": 1000},
            {"bootstrap": 0},
            {"seed": 1},
        )
    )
    assert plain.ci95 == given.ci95 is not None
    assert none.ci95 is None and none.value == plain.value
    assert metric(references=texts, candidates=texts).ci95 == plain.ci95
    assert other.ci95 != plain.ci95
    assert (
        score_captions([metric.plan], caption_sets(texts, texts))["caption-length"].ci95
        == plain.ci95
    )


def test_results_are_shown_as_text_and_table():
    result = harness.metric("rouge")(
        ["a dog", "a cat sat"], ["a dog", "a cat"], bootstrap=0
    )
    assert repr(result) == f"<rouge {result.value:.4g}, 2 examples>"
    tested = replace(result, ci95=(0.25, 0.5), p_value=0.012345, n=1)
    assert (
        repr(tested)
        == f"<rouge {result.value:.4g} (0.25 \u2026 0.5), p 0.0123, 1 example>"
    )
    assert repr(Scores({"a": result, "b": tested})) == f"{result!r}\n{tested!r}"
    assert repr(Scores()) == "<no scores>"
    assert result._repr_html_() == Scores({"rouge": result})._repr_html_()
    assert result._repr_html_().startswith("<table>")


def test_the_distributions_of_scores_are_a_chart():
    pytest.importorskip("altair")
    texts = [f"a {'b ' * k}" for k in range(1, 12)]
    scores = harness.score(texts, ["a b"] * 11, ["caption-length"], bootstrap=0)
    assert scores.chart().to_dict()
