"""Systems of a run: sizes, keys of statistics, metrics without corpus state."""

from __future__ import annotations

import pytest

from harness.contracts import Decoding, Example, TaskView
from harness.registry import current
from harness.run.example_store import ExampleStore
from harness.run.generate import generate
from harness.run.metric_plan import metric_plan
from harness.run.plan import GridPoint, ModelPlan
from harness.run.systems import PlannedSystem, StatisticsKeys, Unit, has_trivial_fit, is_corpus_free, scorable_examples
from harness.spec.models import Spec

EXAMPLES = [Example(f"e{k}", ("r",) * (1 + k % 3)) for k in range(6)]


class Model:
    def fingerprint(self):
        return "1"

    def generate(self, examples, decoding, seeds):
        yield from (("a",) * (int(e.id[1:]) % 3) for e in examples)


@pytest.fixture
def store():
    return ExampleStore(EXAMPLES)


@pytest.fixture
def unit(store):
    model = ModelPlan("m", "mine", {}, Model())
    return Unit(model, generate(model, TaskView(store, Decoding()), seed=0))


def system(candidates=None, references=None) -> PlannedSystem:
    decoding = Decoding(candidates=candidates)
    return PlannedSystem(0, GridPoint(decoding, decoding), references)


def test_sizes_are_those_of_the_examples_with_candidates(unit):
    n, m = unit.sizes()
    assert (n.tolist(), m.tolist()) == ([1, 2, 1, 2], [2, 3, 2, 3])
    assert [len(s.candidates) for s in unit.caption_sets(0, 6)] == n.tolist()
    assert unit.sizes(1, 2)[1].tolist() == [2, 2, 2, 2]
    equal = Unit(unit.model, unit.captions, (1, 2))
    assert [(len(s.candidates), len(s.references)) for s in equal.caption_sets(2, 6)] == [(1, 2)] * 3
    assert equal.sizes()[0].tolist() == [1, 1, 1, 1]


def test_scorable_examples_have_the_texts_that_a_metric_needs(unit):
    trm = current().create("metrics", "trm", {"distance": "cider"})
    assert scorable_examples(unit, system(), trm) == 4
    assert scorable_examples(unit, system(1, 1), trm) == 0


def test_a_description_has_what_differs_from_the_defaults():
    assert system().described() == {}
    assert system(2, 3).described() == {"candidates": 2, "references": 3}


def test_keys_name_everything_that_statistics_depend_on(store, unit):
    spec = Spec.model_validate({"task": "t", "dataset": {"reader": "x"}, "models": ["m"], "metrics": ["bleu4"]})
    plan = metric_plan("bleu4", {}, current().create("metrics", "bleu4", {}))
    other = metric_plan("bleu1", {}, current().create("metrics", "bleu1", {}))
    keys = StatisticsKeys(spec, store, [unit], [True])
    base = keys.of(system(), 0, plan, 0, 3, None).stem
    seeded = StatisticsKeys(spec.model_copy(update={"seed": 1}), store, [unit], [True])
    fitted = StatisticsKeys(spec, store, [unit], [False])
    different = [
        keys.of(system(), 0, plan, 0, 4, None), keys.of(system(1), 0, plan, 0, 3, None), keys.of(system(None, 1), 0, plan, 0, 3, None),
        keys.of(system(), 0, plan, 0, 3, 7), keys.of(system(), 0, other, 0, 3, None), seeded.of(system(), 0, plan, 0, 3, None),
        fitted.of(system(), 0, plan, 0, 3, None),
    ]  # fmt: skip
    assert len({base, *(key.stem for key in different)}) == len(different) + 1
    longer = ExampleStore([*EXAMPLES, Example("e6", ("r",))])
    grown = Unit(unit.model, generate(unit.model, TaskView(longer, Decoding()), seed=0))
    assert StatisticsKeys(spec, longer, [grown], [True]).of(system(), 0, plan, 0, 3, None).stem == base
    assert (
        StatisticsKeys(spec, longer, [grown], [False]).of(system(), 0, plan, 0, 3, None).stem
        != fitted.of(system(), 0, plan, 0, 3, None).stem
    )


@pytest.mark.parametrize(
    ("name", "params", "free"),
    [("bleu4", {}, True), ("meteor", {}, True), ("trm", {"distance": "meteor"}, True), ("cider", {}, False),
     ("trm", {"distance": "cider"}, False), ("mmd", {"embedding": "bow"}, False), ("novelty", {}, False)],
)  # fmt: skip
def test_metrics_whose_statistics_depend_on_the_scored_example_alone(name, params, free):
    assert is_corpus_free(current().create("metrics", name, params)) is free


def test_a_fit_that_returns_its_argument_is_not_trivial():
    class Returns:
        def fit(self, references, features):
            return references

    class Nothing:
        def fit(self, references, features):
            """Return None."""

    assert not has_trivial_fit(Returns())  # type: ignore[arg-type]
    assert has_trivial_fit(Nothing())  # type: ignore[arg-type]
