"""Systems of a run: sizes, keys of statistics, metrics without corpus state."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from harness.contracts import Decoding, Example, TaskView
from harness.registry import current
from harness.run import systems
from harness.run.example_store import ExampleStore
from harness.run.generate import generate
from harness.run.metric_plan import ModelPlan, metric_plan
from harness.run.reference_subsets import ReferenceSubset
from harness.run.systems import PlannedSystem, StatisticsKeys, scorable_examples
from harness.spec.models import SignificanceSpec

EXAMPLES = [Example(f"e{k}", ("r",) * (1 + k % 3)) for k in range(6)]
ROWS = [
    {"candidates": ["a", "b", "c"], "references": ["r"]},
    {"failure": "no file"},
    {"candidates": []},
    {"candidates": ["d", "e"], "held_out": [1], "references": ["r", "t"]},
]
TEXTS = [
    Example("first", ("r",)),
    *(Example(f"e{k}", ("r", "s", "t"), "m.jpg", "source", {"k": k}) for k in range(4)),
]


class Model:
    def fingerprint(self):
        return "1"

    def generate(self, examples, decoding, seeds):
        yield from (("a",) * (int(e.id[1:]) % 3) for e in examples)


@pytest.fixture
def store():
    return ExampleStore(EXAMPLES)


def captions_of(store):
    return generate(
        ModelPlan("m", "mine", {}, Model()), TaskView(store, Decoding()), seed=0
    )


@pytest.fixture
def captions(store):
    return captions_of(store)


def system(
    captions, candidates=None, references=None, largest=(None, None)
) -> PlannedSystem:
    return replace(
        captions,
        decoding=Decoding(candidates=candidates),
        references=references,
        largest=largest,
    )


def test_sizes_are_those_of_the_examples_with_candidates(captions):
    n, m = system(captions).sizes()
    assert (n.tolist(), m.tolist()) == ([1, 2, 1, 2], [2, 3, 2, 3])
    assert [
        len(s.candidates) for s in system(captions).caption_sets(0, 6)
    ] == n.tolist()
    assert system(captions, 1, 2).sizes()[1].tolist() == [2, 2, 2, 2]
    equal = system(captions, largest=(1, 2))
    assert [
        (len(s.candidates), len(s.references)) for s in equal.caption_sets(2, 6)
    ] == [(1, 2)] * 3
    assert equal.sizes()[0].tolist() == [1, 1, 1, 1]


def test_captions_that_no_model_generates(store):
    given = PlannedSystem.of_rows(
        "m", store, [{"candidates": ["a"] * (k % 3)} for k in range(6)]
    )
    assert given.caption_sets() == captions_of(store).caption_sets()
    assert given.digest(0, 6) == captions_of(store).digest(0, 6)


def test_captions_that_utf8_cannot_encode_have_keys(store):
    given = PlannedSystem.of_rows(
        "m", store, [{"candidates": [text]} for text in ("\ud800", "\ud801", "é")]
    )
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
        keys.of(system(captions), plan, 0, 4, None),
        keys.of(system(captions, 1), plan, 0, 3, None),
        keys.of(system(captions, None, 1), plan, 0, 3, None),
        keys.of(system(captions), plan, 0, 3, 7),
        keys.of(system(captions), other, 0, 3, None),
        seeded.of(system(captions), plan, 0, 3, None),
        keys.of(system(captions), cider, 0, 3, None),
    ]
    assert len({base, *(key.stem for key in different)}) == len(different) + 1
    longer = ExampleStore([*EXAMPLES, Example("e6", ("r",))])
    grown = system(captions_of(longer))
    more = StatisticsKeys(SignificanceSpec(), 0, longer.digest())
    assert more.of(grown, plan, 0, 3, None).stem == base
    assert (
        more.of(grown, cider, 0, 3, None).stem
        != keys.of(system(captions), cider, 0, 3, None).stem
    )


@pytest.mark.parametrize(
    ("name", "params", "bound"),
    [
        ("bleu4", {}, False),
        ("meteor", {}, False),
        ("trm", {"distance": "meteor"}, False),
        ("cider", {}, True),
        ("trm", {"distance": "cider"}, True),
        ("mmd", {"embedding": "bow"}, False),
        ("novelty", {}, True),
    ],
)
def test_statistics_with_corpus_state_are_named_by_the_references_of_all_examples(
    captions, name, params, bound
):
    plan = metric_plan(name, params, current().create("metrics", name, params))
    keys = (
        StatisticsKeys(SignificanceSpec(), 0, corpus).of(
            system(captions), plan, 0, 3, None
        )
        for corpus in ("a", "b")
    )
    assert (len({key.stem for key in keys}) == 2) is bound


def test_rows_of_a_part_of_the_examples():
    part = PlannedSystem.of_rows("m", ExampleStore(TEXTS), ROWS, 1)
    assert (
        len(part),
        part.candidate_counts.tolist(),
        part.reference_counts.tolist(),
    ) == (4, [3, -1, 0, 2], [1, 3, 3, 2])
    assert (part.failures, part.missing, part.present.tolist()) == (
        {"e1": "no file"},
        ["e2"],
        [True, False, False, True],
    )
    assert part.rows(2, 4) == ROWS[1:3]
    assert part.keys.shape == (4, 16) and len({key.tobytes() for key in part.keys}) == 4
    first, last = part.caption_sets()
    assert (first.id, first.candidates, first.references) == (
        "e0",
        ("a", "b", "c"),
        ("r",),
    )
    assert (last.id, last.candidates, last.references) == ("e3", ("d", "e"), ("r", "t"))
    assert (last.media, last.source, last.meta) == ("m.jpg", "source", {"k": 3})
    assert [item.id for item in part.caption_sets(2)] == ["e3"] and [
        item.id for item in part.caption_sets(stop=4)
    ] == ["e0"]
    again = PlannedSystem.of_rows("m", ExampleStore(TEXTS), ROWS[2:], 3)
    assert part.digest(3, 5) == again.digest(3, 5) != part.digest(2, 4)
    assert part.digest(2, 4) == PlannedSystem.of_rows(
        "m", ExampleStore(TEXTS), ROWS[1:3], 2
    ).digest(2, 4)


def test_keys_do_not_depend_on_the_order_of_the_fields_of_a_row():
    turned = [dict(reversed(row.items())) for row in ROWS]
    one, other = (
        PlannedSystem.of_rows("m", ExampleStore(TEXTS), rows, 1)
        for rows in (ROWS, turned)
    )
    assert list(turned[0]) != list(ROWS[0]) and one.digest(1, 5) == other.digest(1, 5)


def test_rows_may_be_read_later():
    read = {(1, 3): ROWS[:2]}
    late = PlannedSystem.of_rows(
        "m", ExampleStore(TEXTS), ROWS[:2], 1, lambda first, last: read[first, last]
    )
    assert [item.candidates for item in late.caption_sets()] == [("a", "b", "c")]


def test_blocks_are_joined_in_their_order():
    store = ExampleStore([*TEXTS, *(Example(f"f{k}", ("u",)) for k in range(4))])
    blocks = [PlannedSystem.of_rows("m", store, ROWS, start) for start in (1, 5)]
    whole = PlannedSystem.join(blocks)
    assert (whole.start, len(whole), whole.candidate_counts.tolist()) == (
        1,
        8,
        [3, -1, 0, 2] * 2,
    )
    assert (whole.failures, whole.missing) == (
        {"e1": "no file", "f1": "no file"},
        ["e2", "f2"],
    )
    assert whole.reference_counts.tolist() == [1, 3, 3, 2, 1, 1, 1, 2]
    assert whole.digest(5, 9) == blocks[1].digest(5, 9)


def test_sets_are_cut_to_the_smaller_of_two_limits():
    part = PlannedSystem.of_rows("m", ExampleStore(TEXTS), ROWS, 1)
    cut = system(part, 2, 3, largest=(3, 1))
    assert (
        cut.cuts == (2, 1)
        and system(part).cuts == (None, None)
        and system(part, 2, None, largest=(None, 1)).cuts == (2, 1)
    )
    assert [sizes.tolist() for sizes in cut.sizes()] == [[2, 2], [1, 1]]
    assert [
        (len(item.candidates), len(item.references)) for item in cut.caption_sets()
    ] == [(2, 1), (2, 1)]
    assert [
        (len(item.candidates), len(item.references))
        for item in cut.caption_sets(uncut=True)
    ] == [(3, 1), (2, 1)]


def test_uncut_sets_are_shared_unless_other_references_are_drawn():
    part = PlannedSystem.of_rows("m", ExampleStore(TEXTS), ROWS, 1)
    one, two, whole = (replace(part, references=size) for size in (1, 2, None))
    assert one.uncut_key(1, 5) == two.uncut_key(1, 5) == whole.uncut_key(1, 5)
    other = PlannedSystem.of_rows("m", ExampleStore(TEXTS), ROWS, 1)
    assert other.uncut_key(1, 5) != part.uncut_key(1, 5)
    one, two, three, whole = (
        replace(part, references=size, subset_seed=0) for size in (1, 2, 3, None)
    )
    assert one.uncut_key(1, 5) != two.uncut_key(1, 5), (
        "2 references of the last example are all of them"
    )
    assert one.uncut_key(2, 4) == two.uncut_key(2, 4), "3 are more than both sizes"
    assert three.uncut_key(1, 5) != two.uncut_key(1, 5)
    assert three.uncut_key(4, 5) == two.uncut_key(4, 5) != one.uncut_key(4, 5)
    assert whole.uncut_key(1, 5) == part.uncut_key(1, 5)


@pytest.mark.parametrize(
    ("size", "seed", "marks"),
    [(None, None, []), (3, None, []), (None, 0, []), (3, 0, ["drawn"])],
)
def test_keys_tell_drawn_references(size, seed, marks):
    assert systems._draw(SimpleNamespace(subset=ReferenceSubset(size, seed))) == marks
