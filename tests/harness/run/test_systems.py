"""Systems of a run: sizes, keys of statistics, metrics without corpus state."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from harness.contracts import Decoding, Example, MetricSpec, TaskView
from harness.registry import current
from harness.run import systems
from harness.run.example_store import ExampleStore
from harness.run.generate import generate
from harness.run.metric_plan import ModelPlan, metric_plan
from harness.run.reference_subsets import ReferenceSubset
from harness.run.systems import PlannedSystem, StatisticsKeys, has_trivial_fit, is_corpus_free, scorable_examples
from harness.spec.models import SignificanceSpec

EXAMPLES = [Example(f"e{k}", ("r",) * (1 + k % 3)) for k in range(6)]


class Model:
    def fingerprint(self):
        return "1"

    def generate(self, examples, decoding, seeds):
        yield from (("a",) * (int(e.id[1:]) % 3) for e in examples)


@pytest.fixture
def store():
    return ExampleStore(EXAMPLES)


def captions_of(store):
    return generate(ModelPlan("m", "mine", {}, Model()), TaskView(store, Decoding()), seed=0)


@pytest.fixture
def captions(store):
    return captions_of(store)


def system(captions, candidates=None, references=None, largest=(None, None)) -> PlannedSystem:
    return replace(captions, decoding=Decoding(candidates=candidates), references=references, largest=largest)


def test_sizes_are_those_of_the_examples_with_candidates(captions):
    n, m = system(captions).sizes()
    assert (n.tolist(), m.tolist()) == ([1, 2, 1, 2], [2, 3, 2, 3])
    assert [len(s.candidates) for s in system(captions).caption_sets(0, 6)] == n.tolist()
    assert system(captions, 1, 2).sizes()[1].tolist() == [2, 2, 2, 2]
    equal = system(captions, largest=(1, 2))
    assert [(len(s.candidates), len(s.references)) for s in equal.caption_sets(2, 6)] == [(1, 2)] * 3
    assert equal.sizes()[0].tolist() == [1, 1, 1, 1]


def test_captions_that_no_model_generates(store):
    given = PlannedSystem.of_rows("m", store, [{"candidates": ["a"] * (k % 3)} for k in range(6)])
    assert given.caption_sets() == captions_of(store).caption_sets()
    assert given.digest(0, 6) == captions_of(store).digest(0, 6)


def test_captions_that_utf8_cannot_encode_have_keys(store):
    given = PlannedSystem.of_rows("m", store, [{"candidates": [text]} for text in ("\ud800", "\ud801", "é")])
    assert len({key.tobytes() for key in given.keys}) == 3


def test_scorable_examples_have_the_texts_that_a_metric_needs(captions):
    trm = current().create("metrics", "trm", {"distance": "cider"})
    assert scorable_examples(system(captions), trm) == 4
    assert scorable_examples(system(captions, 1, 1), trm) == 0


def test_a_description_has_what_differs_from_the_defaults(captions):
    assert system(captions).describe() == {}
    assert system(captions, 2, 3).describe() == {"candidates": 2, "references": 3}


def test_keys_name_everything_that_statistics_depend_on(store, captions):
    plan = metric_plan("bleu4", {}, current().create("metrics", "bleu4", {}))
    other = metric_plan("bleu1", {}, current().create("metrics", "bleu1", {}))
    cider = metric_plan("cider", {}, current().create("metrics", "cider", {}))
    keys = StatisticsKeys(SignificanceSpec(), 0, store.digest())
    base = keys.of(system(captions), plan, 0, 3, None).stem
    seeded = StatisticsKeys(SignificanceSpec(), 1, store.digest())
    different = [
        keys.of(system(captions), plan, 0, 4, None), keys.of(system(captions, 1), plan, 0, 3, None),
        keys.of(system(captions, None, 1), plan, 0, 3, None), keys.of(system(captions), plan, 0, 3, 7),
        keys.of(system(captions), other, 0, 3, None), seeded.of(system(captions), plan, 0, 3, None),
        keys.of(system(captions), cider, 0, 3, None),
    ]  # fmt: skip
    assert len({base, *(key.stem for key in different)}) == len(different) + 1
    longer = ExampleStore([*EXAMPLES, Example("e6", ("r",))])
    grown, more = system(captions_of(longer)), StatisticsKeys(SignificanceSpec(), 0, longer.digest())
    assert more.of(grown, plan, 0, 3, None).stem == base
    assert more.of(grown, cider, 0, 3, None).stem != keys.of(system(captions), cider, 0, 3, None).stem


@pytest.mark.parametrize(
    ("name", "params", "free"),
    [("bleu4", {}, True), ("meteor", {}, True), ("trm", {"distance": "meteor"}, True), ("cider", {}, False),
     ("trm", {"distance": "cider"}, False), ("mmd", {"embedding": "bow"}, False), ("novelty", {}, False)],
)  # fmt: skip
def test_metrics_whose_statistics_depend_on_the_scored_example_alone(name, params, free):
    assert is_corpus_free(current().create("metrics", name, params)) is free


def test_a_metric_is_free_of_the_corpus_by_its_fit_its_note_and_its_parts():
    class Free:
        def __init__(self, *parts, held_fixed=""):
            self.parts, self.spec = parts, MetricSpec("free", True, held_fixed=held_fixed)

        def fit(self, references, features):
            """Return None."""

    class Fitted(Free):
        def fit(self, references, features):
            return references

    class Embedding:
        def encode(self, texts):
            return texts

    assert is_corpus_free(Free()) and is_corpus_free(Free("encode", 3))
    assert not is_corpus_free(Free(held_fixed="vocabulary held fixed"))
    assert not is_corpus_free(Fitted())
    assert not is_corpus_free(Free(Embedding())) and not is_corpus_free(Free(Free(Free(Free(Embedding())))))


def test_a_fit_that_returns_its_argument_is_not_trivial():
    class Returns:
        def fit(self, references, features):
            return references

    class Nothing:
        def fit(self, references, features):
            """Return None."""

    assert not has_trivial_fit(Returns())  # type: ignore[arg-type]
    assert has_trivial_fit(Nothing())  # type: ignore[arg-type]


@pytest.mark.parametrize(("size", "seed", "marks"), [(None, None, []), (3, None, []), (None, 0, []), (3, 0, ["drawn"])])
def test_keys_tell_drawn_references(size, seed, marks):
    assert systems._draw(SimpleNamespace(subset=ReferenceSubset(size, seed))) == marks
