"""Reference policies: own references, samples, rotation, corpora."""

import numpy as np
import pytest

from harness.contracts import JudgedCaption, JudgedItem, JudgedPair, Judgments
from harness.errors import InputError
from harness.judgments.judgment_models import ReferencePolicy
from harness.judgments.reference_policy import _rotations, rival_sets, scoring_sets
from tests.support.reference_sets import ITEMS, PAIRS, SET, captions, references


def test_rotations_go_forward():
    assert list(_rotations((5, 6, 7, 8), 2)) == [(7, 8), (5, 8), (5, 6), (6, 7)]
    assert list(_rotations((5, 6, 7, 8, 9), 2)) == [
        (8, 9),
        (5, 9),
        (5, 6),
        (6, 7),
        (7, 8),
    ]
    assert list(_rotations((4, 7), 5)) == [(4, 7, 4, 7, 4)]


def test_an_item_without_references_has_one_rotation():
    bare = Judgments(
        "f", (JudgedItem("a", ()), ITEMS[1]), captions((0, "x", ()), (1, "y", ()))
    )
    assert references(bare, rotate=2) == [
        [()],
        [("s1", "s2"), ("s0", "s2"), ("s0", "s1")],
    ]


def test_equal_sets_are_scored_once():
    same = Judgments("f", ITEMS, captions((0, "x", ()), (0, "x", ()), (1, "x", ())))
    sets = scoring_sets(same, ReferencePolicy(), 0)
    assert len(sets.sets) == 2 and sets.index[:, 0, 0].tolist() == [0, 0, 1]


def test_a_set_has_the_name_of_its_item_and_system():
    judged = [
        JudgedCaption(0, ("x",), "model"),
        JudgedCaption(0, ("y",)),
        JudgedCaption(1, ("x",), "model"),
    ]
    sets = scoring_sets(Judgments("f", ITEMS, tuple(judged)), ReferencePolicy(), 0).sets
    assert [item.id for item in sets] == ["a/model", "a", "b/model"]


def test_samples_belong_to_pair_and_draw():
    policy = ReferencePolicy(own="pair", sample=2, draws=4)
    sets = scoring_sets(PAIRS, policy, 7)
    assert sets.index.shape == (4, 4, 1)
    chosen = [[sets.sets[k].references for k in row.ravel()] for row in sets.index]
    assert chosen[0] == chosen[1] and chosen[2] == chosen[3]
    assert len(set(chosen[0])) > 1 and all(len(r) == 2 for r in chosen[0])
    again = scoring_sets(PAIRS, policy, 7)
    assert [s.references for s in again.sets] == [s.references for s in sets.sets]
    alone = Judgments(
        "f",
        ITEMS[1:],
        captions((0, "u", ()), (0, "v", ())),
        (JudgedPair(0, 1, (1.0,)),),
    )
    # the sample of an item does not depend on the other items
    short = scoring_sets(alone, policy, 7)
    assert [short.sets[k].references for k in short.index[0].ravel()] == chosen[2]


SEVERAL = captions(
    (0, "u", ()), (0, "v", ()), (0, "w", ()), (0, "x", ()), (1, "y", ()), (1, "z", ())
)


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        (
            ((0, 1), (2, 3), (4, 5)),
            [["04", "02", "02"]] * 2
            + [["23", "03", "23"]] * 2
            + [["01", "01", "01"]] * 2,
        ),
        # Samples are those of an item where a caption is in several pairs, or in none.
        (
            ((0, 1), (0, 2), (4, 5), (1, 2)),
            [["04", "03", "04"]] * 4 + [["01", "12", "01"]] * 2,
        ),
        (((0, 1),), [["04", "03", "04"]] * 4 + [["01", "12", "01"]] * 2),
        ((), [["04", "03", "04"]] * 4 + [["01", "12", "01"]] * 2),
    ],
)
def test_the_samples_of_a_seed_stay_as_they_are(pairs, expected):
    judgments = Judgments(
        "f", ITEMS, SEVERAL, tuple(JudgedPair(*pair, (1.0,)) for pair in pairs)
    )
    found = references(judgments, sample=2, draws=3)
    assert [
        ["".join(text[1] for text in sample) for sample in row] for row in found
    ] == expected


@pytest.mark.parametrize("sample", [3, 4])
def test_a_sample_of_all_references_has_them_in_their_order(sample):
    assert references(SET, own="keep", sample=sample)[3] == [ITEMS[1].references]


def test_rotation_and_filling():
    five = references(SET, own="keep", rotate=4)[0]
    three = references(SET, own="keep", rotate=4)[3]
    assert five == [
        tuple(r for r in ITEMS[0].references if r != f"r{k}") for k in range(5)
    ]
    assert three == [("s0", "s1", "s2", "s0")]
    sets = scoring_sets(SET, ReferencePolicy(own="caption", rotate=4), 0)
    assert (sets.index >= 0).sum(axis=(1, 2)).tolist() == [1, 5, 1, 1]
    assert (sets.index[[0, 2, 3], 0, 1:] == -1).all()
    per_set = np.sqrt(np.arange(1.0, 1 + len(sets.sets)))
    expected = [per_set[row[row >= 0]].mean() for row in sets.index[:, 0]]
    np.testing.assert_allclose(sets.scores(per_set)[:, 0], expected)


def test_the_second_caption_of_a_pair_stands_for_the_references_of_a_rival():
    items = (JudgedItem("a", ("r",), "a.png", "text"), JudgedItem("b", ("s",)))
    judged = captions(
        (0, "x", ()),
        (0, "y", ()),
        (0, "x", ()),
        (0, "z", ()),
        (0, "y", ()),
        (1, "x", ()),
        (1, "y", ()),
    )
    pairs = tuple(
        JudgedPair(*pair, (1.0,)) for pair in ((0, 1), (1, 0), (2, 4), (0, 3), (5, 6))
    )
    sets = rival_sets(Judgments("f", items, judged, pairs))
    found = [(s.id, s.candidates, s.references, s.media, s.source) for s in sets.sets]
    of_a = [
        ("a", (first,), (second,), "a.png", "text")
        for first, second in ("xy", "yx", "xz")
    ]
    assert found == [
        *of_a,
        ("b", ("x",), ("y",), None, None),
    ] and sets.index.tolist() == [[[k]] for k in (0, 1, 0, 2, 3)]
    (corpus,) = sets.corpora
    assert (corpus.start, corpus.stop, list(corpus.references)) == (
        0,
        4,
        [("y",), ("x",), ("z",), ("y",)],
    )


def test_corpora():
    (items,) = scoring_sets(SET, ReferencePolicy(own="item"), 0).corpora
    assert (items.start, items.stop, list(items.references)) == (
        0,
        4,
        [ITEMS[0].references, ITEMS[1].references],
    )
    (sets,) = scoring_sets(SET, ReferencePolicy(own="item", corpus="sets"), 0).corpora
    assert len(sets.references) == 4 and sets.references[0] == ("r0", "r2", "r4")
    (rotated,) = scoring_sets(
        SET, ReferencePolicy(own="caption", rotate=4, corpus="sets"), 0
    ).corpora
    assert (rotated.start, rotated.stop, len(rotated.references)) == (0, 8, 8)
    split = scoring_sets(PAIRS, ReferencePolicy(own="pair", corpus=[["HC"], ["MM"]]), 0)
    assert [len(c.references) for c in split.corpora] == [1, 1, 1, 1]
    assert [(c.start, c.stop) for c in split.corpora] == [
        (0, 1),
        (1, 2),
        (2, 3),
        (3, 4),
    ]
    assert [s.candidates for s in split.sets] == [("x",), ("y",), ("u",), ("v",)]
    unpaired = Judgments(
        "f", ITEMS, (*PAIRS.captions, JudgedCaption(1, ("w",))), PAIRS.pairs
    )
    first, *_ = scoring_sets(
        unpaired, ReferencePolicy(own="caption", corpus=[["HC"], ["MM"]]), 0
    ).corpora
    assert list(first.references) == [("r0", "r2", "r3", "r4"), ITEMS[1].references]
    with pytest.raises(
        InputError, match=r"references\.corpus has no list with category 'MM'"
    ):
        scoring_sets(PAIRS, ReferencePolicy(corpus=[["HC"]]), 0)


def test_no_reference_left():
    bare = Judgments("f", (JudgedItem("a", ("r",)),), captions((0, "r", (0,))))
    with pytest.raises(
        InputError, match="f: no reference is left for the caption 'r' of the item 'a'"
    ):
        references(bare, own="caption")
