"""Explanations of the largest scores, for metrics that can and whose scores are those
of the run.
"""

from __future__ import annotations

import json

import pytest

from harness import page
from harness.page import PageOptions
from harness.page.explanations import explanations
from harness.page.groups import groups_of
from harness.results import Run
from harness.run import score as scoring

TRM = {"metrics": ["mine/length", {"trm": {"distance": {"chars": {}}}}], "views": []}
TOLD = """

class Told(Length):
    def __init__(self):
        super().__init__()
        self.spec = MetricSpec("told", True, level="item", min_candidates=2)

    def signature(self):
        return "told"

    def scores(self, batch, features, state):
        scores = super().scores(batch, features, state)
        return np.where(scores < 3, np.nan, scores)

    def explain(self, batch, features, state):
        return [Explanation("first", ((0, "first"),))] * len(batch)
"""
EXPLAINED = {"metric": "told", "title": "told: first", "texts": [[0, "first"]]}


@pytest.fixture
def group(finished):
    (only,) = groups_of([("r", Run.open(finished(**TRM)))])
    return only


def test_the_largest_scores_are_explained(group):
    ids = [f"e{k}" for k in range(6)]
    result = explanations(group, ids, (), 2)
    assert len(result.data) == 2 and result.note.endswith("TRM (chars) (2).")
    systems = next(iter(result.data.values()))
    assert len(systems) == 4 and systems[0][0]["title"].startswith(
        "TRM (chars): Heaviest triangle: two "
    )
    assert all(0 <= place < 4 for place, _ in systems[0][0]["texts"])
    assert not explanations(group, ids, (), 0).data


def test_without_the_data_set_the_references_of_the_run_are_the_corpus(finished):
    (group,) = groups_of(
        [("r", Run.open(finished(metrics=[{"trm": {"distance": "cider"}}], views=[])))]
    )
    assert explanations(group, [f"e{k}" for k in range(6)], (), 2).data


def test_metrics_that_explain_nothing_are_not_fitted_again(group, monkeypatch):
    fitted = []
    fit_once = scoring.fit_once
    monkeypatch.setattr(
        scoring,
        "fit_once",
        lambda metric, features: (
            fitted.append(metric.spec.name),
            fit_once(metric, features),
        )[1],
    )
    assert explanations(group, ["e0", "e1"], ()).data
    assert len(group.metrics) == 2 and "length" not in fitted and fitted


def test_metrics_with_embeddings_are_explained_where_it_is_asked_for(finished):
    (group,) = groups_of(
        [("r", Run.open(finished(metrics=[{"mmd": {"embedding": "bow"}}], views=[])))]
    )
    assert not explanations(group, ["e0", "e1"], ()).data
    assert explanations(group, ["e0", "e1"], (), 2).data


@pytest.mark.parametrize(("shift", "explained"), [(1, False), (1e-7, True)])
def test_scores_of_another_metric_are_not_explained_but_rounded_ones_are(
    group, shift, explained
):
    class Shifted:
        def __init__(self, metric):
            self.metric = metric

        def __getattr__(self, name):
            return getattr(self.metric, name)

        def per_example(self, stats):
            return self.metric.per_example(stats) + shift

        def explain(self, batch, features, state):
            return self.metric.explain(batch, features, state)

    from harness.page.explanations import _explain
    from harness.registry import current

    metric = Shifted(current().create("metrics", "trm", {"distance": "chars"}))
    data: dict = {}
    assert _explain(group, metric, "trm(chars)", ["e0", "e2"], (), data) is explained
    assert list(data) == (["e0", "e2"] if explained else [])


@pytest.fixture
def told(project):
    """The spec of two models and a metric that needs two candidates and has no score
    for short ones; it explains any set.
    """
    code = (
        (project / "mine_parts.py")
        .read_text()
        .replace("import Example,", "import Example, Explanation,")
    )
    (project / "mine_parts.py").write_text(code + TOLD)
    entry = (
        'told: {import: "mine_parts:Told", summary: words, level: item, '
        "higher_is_better: true}"
    )
    registry = (project / "registry.yaml").read_text()
    (project / "registry.yaml").write_text(
        registry.replace("metrics: {", "metrics: {" + entry + ", ")
    )
    captions = [["a dog"], ["a", "b"], *[["a dog runs", "a dog sits down"]] * 4]
    rows = [{"id": f"e{k}", "candidates": texts} for k, texts in enumerate(captions)]
    (project / "two.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    models = [
        {"echo": {"label": "one"}},
        {"predictions": {"label": "two", "path": "two.jsonl"}},
    ]
    return {"models": models, "metrics": ["mine/told"], "views": []}


def test_sets_that_are_too_small_have_no_explanation_beside_those_of_the_others(
    finished, told
):
    (group,) = groups_of([("r", Run.open(finished(**told)))])
    result = explanations(group, ["e0", "e1", "e2"], ())
    assert result.data == {
        "e0": [[EXPLAINED], []],
        "e1": [[EXPLAINED], [EXPLAINED]],
        "e2": [[EXPLAINED], [EXPLAINED]],
    }
    assert (
        result.note == "Explained, for the examples with the largest scores: told (3)."
    )
    assert [block.name for block in result.blocks("g0")] == ["g0-explain"]


def test_explanations_stand_at_the_number_of_their_system(finished, told):
    names = [
        finished("a", **{**told, "metrics": ["mine/length"]}),
        finished("b", **{**told, "metrics": ["mine/length", "mine/told"]}),
    ]
    (group,) = groups_of([(name, Run.open(name)) for name in names])
    result = explanations(group, ["e0", "e5"], (), 1)
    assert result.data == {"e0": [[], [], [EXPLAINED], []]}, (
        "the first of equal scores; two systems without the metric come first"
    )


def test_forty_examples_are_explained_where_no_number_is_given(finished, told):
    more = {"models": [{"echo": {}}], "dataset": {"reader": "words", "count": 42}}
    (group,) = groups_of([("r", Run.open(finished(**{**told, **more})))])
    assert list(explanations(group, [f"e{k}" for k in range(42)], ()).data) == [
        f"e{k}" for k in range(40)
    ]


def test_nothing_explained_is_no_block_and_no_note(finished, told):
    (group,) = groups_of(
        [("r", Run.open(finished(**{**told, "metrics": ["mine/length"]})))]
    )
    result = explanations(group, ["e0"], ())
    assert result.blocks("g0") == [] and result.note == ""


@pytest.mark.slow
def test_the_page_shows_them(finished, blocks, browse):
    file = page.write([finished(**TRM)], options=PageOptions(explain=6))
    assert json.loads(blocks(file.read_text())["g0-explain"])
    with browse(file) as view:
        view.click('.tabs a[href="#examples"]')
        view.wait_for_selector(".explanation >> nth=0")
        assert "Heaviest triangle" in view.inner_text(".explanation >> nth=0")
