"""Rows and groups of a judgment set, and sets that no metric can agree with."""

import numpy as np
import pytest

from harness.contracts import JudgedCaption, JudgedItem, JudgedPair, Judgments
from harness.errors import InputError
from harness.judgments.judgment_models import JudgmentSpec
from harness.judgments.rows import JudgmentRows

ITEMS = (JudgedItem("a", ("r",)), JudgedItem("b", ("r",)))


def rows(captions, pairs=(), **keys):
    content = {
        "task": "t",
        "metrics": ["m"],
        "statistics": ["kendall_b"],
        "judgments": {"form": "captions", "path": "f"},
        **keys,
    }
    return JudgmentRows(
        Judgments("f", ITEMS, tuple(captions), tuple(pairs)),
        JudgmentSpec.model_validate(content),
    )


def caption(item, score=None, **meta):
    return JudgedCaption(
        item, ("x",), "", () if score is None else (score,), (), {}, meta
    )


def test_constant_scores():
    with pytest.raises(
        InputError, match="f: all 2 human scores are 3: kendall_b is undefined"
    ):
        rows([caption(0, 3.0), caption(1, 3.0)]).check()
    lower = {"form": "captions", "path": "f", "higher_is_better": False}
    with pytest.raises(
        InputError, match="f: all 2 human scores are 3: kendall_b is undefined"
    ):
        rows([caption(0, 3.0), caption(1, 3.0)], judgments=lower).check()
    assert rows(
        [caption(0, 3.0), caption(1, 1.0)], judgments=lower
    ).rated.human.tolist() == [-3.0, -1.0]


def test_ratings_are_needed():
    with pytest.raises(
        InputError,
        match="the captions have no ratings, which kendall_b needs; "
        "pairs have the statistic accuracy",
    ):
        rows([caption(0), caption(1)]).check()


def test_ties_everywhere():
    pairs = [JudgedPair(0, 1, (0.0,)), JudgedPair(1, 0, (0.0,))]
    with pytest.raises(InputError, match="every pair is a tie"):
        rows([caption(0), caption(0)], pairs, statistics=["accuracy"]).check()
    with pytest.raises(InputError, match="no item has two judged captions"):
        rows([caption(0, 1.0), caption(1, 2.0)], statistics=["accuracy"]).check()


def test_every_statistic_is_checked():
    pairs = [JudgedPair(0, 1, (1.0,))]
    with pytest.raises(
        InputError, match="all 2 human scores are 3: kendall_b is undefined"
    ):
        rows(
            [caption(0, 3.0), caption(0, 3.0)],
            pairs,
            statistics=["accuracy", "kendall_b"],
        ).check()


def test_labels_of_three_values():
    with pytest.raises(
        InputError, match="auc needs labels of two values; the human scores have 3"
    ):
        rows(
            [caption(0, 1.0), caption(1, 2.0), caption(0, 3.0)], statistics=["auc"]
        ).check()


@pytest.mark.parametrize("value", ["1", 1, 1.0, " 2e3 "])
def test_groups_that_look_like_numbers(value):
    with pytest.raises(
        InputError, match=r"the groups of 'code' are numbers .*labels: \{.*: NAME\}"
    ):
        rows(
            [caption(0, 1.0, code=value), caption(1, 2.0, code=value)], groups="code"
        ).check()


def test_groups_with_names():
    named = rows(
        [caption(0, 1.0, code=2), caption(1, 2.0, code="1"), caption(0, 2.0, code=2.0)],
        groups={"by": "code", "labels": {1: "HC", 2: "HI", 3: "HM"}},
    )
    assert named.group_names == ("all", "HC", "HI", "mean")
    assert named.rated.groups.tolist() == ["HI", "HC", "HI"]
    with pytest.raises(
        InputError, match=r"groups\.labels has no name for code '2'; found 1"
    ):
        rows(
            [caption(0, 1.0, code=2)], groups={"by": "code", "labels": {1: "HC"}}
        ).check()
    with pytest.raises(
        InputError, match="a judgment has no 'cod' to group by; did you mean 'code'"
    ):
        rows([caption(0, 1.0, code="x")], groups="cod").check()


def test_a_column_that_some_judgments_lack_is_not_proposed_for_itself():
    with pytest.raises(
        InputError, match="f: a judgment has no 'code' to group by; it has part$"
    ):
        rows(
            [caption(0, 1.0, code="x"), caption(1, 2.0, part="y")], groups="code"
        ).check()
    with pytest.raises(
        InputError,
        match="a judgment has no 'code' to group by; did you mean 'codes'.; "
        "it has no fields$",
    ):
        rows(
            [caption(0, 1.0, code="x", codes="y"), caption(1, 2.0)], groups="code"
        ).check()


def test_ratings_of_one_caption_are_no_pair():
    each = rows(
        [
            JudgedCaption(0, ("x",), "", (1.0, 2.0)),
            JudgedCaption(0, ("y",), "", (3.0, 1.0)),
        ],
        statistics=["accuracy"],
        judgments={"form": "captions", "path": "f", "raters": "each"},
    )
    assert len(each.pairs.human) == 4
    assert (each.pairs.first != each.pairs.second).all()


def test_rows_of_captions_are_their_means_and_rows_of_raters_their_ratings():
    captions = [
        JudgedCaption(0, ("x",), "", (1.0, 2.0)),
        JudgedCaption(1, ("y",), "", (4.0,)),
    ]
    mean, each = (
        rows(captions, judgments={"form": "captions", "path": "f", "raters": raters})
        for raters in ("mean", "each")
    )
    for of_rows, caption_of, human, ratings in (
        (mean, [0, 1], [1.5, 4.0], [2, 1]),
        (each, [0, 0, 1], [1.0, 2.0, 4.0], [1, 1, 1]),
    ):
        rated = of_rows.rated
        assert (rated.caption.tolist(), rated.item.tolist()) == (caption_of, caption_of)
        assert (
            rated.human.tolist(),
            rated.ratings.tolist(),
            rated.groups.tolist(),
        ) == (human, ratings, ["all"] * len(human))


def test_captions_of_one_system_and_item_with_the_same_texts_count_once():
    captions = [
        JudgedCaption(0, ("x",), "s", (1.0,)),
        JudgedCaption(0, ("x",), "s", (2.0,)),
        JudgedCaption(0, ("x",), "t", (2.0,)),
    ]
    counted = rows([*captions, JudgedCaption(1, ("x",), "s", (3.0, 3.0))])
    assert counted.distinct.tolist() == [0, 0, 1, 2]
    assert counted.counts(np.array([0, 1, 3])) == {"items": 2, "captions": 2}
    assert counted.counts(np.array([0, 1, 2]), np.array([1, 1, 2])) == {
        "items": 1,
        "captions": 2,
        "ratings": 4,
    }


def test_pairs_of_rated_captions_are_those_within_an_item():
    rated = [
        caption(item, score, kind=kind)
        for item, score, kind in (
            (0, 3.0, "u"),
            (1, 2.0, "v"),
            (0, 1.0, "u"),
            (1, 5.0, "v"),
        )
    ]
    within = rows(rated, statistics=["accuracy"], groups="kind").pairs
    assert (within.first.tolist(), within.second.tolist(), within.human.tolist()) == (
        [0, 1],
        [2, 3],
        [2.0, -3.0],
    )
    assert (within.item.tolist(), within.groups.tolist()) == ([0, 1], ["u", "v"])


def test_judged_pairs_have_the_item_of_their_captions_and_groups_of_their_own():
    pairs = [
        JudgedPair(1, 2, (1.0, 1.0, -1.0), {"kind": "p"}),
        JudgedPair(0, 3, (-1.0,), {"kind": "q"}),
    ]
    captions = [
        caption(0, 1.0, kind="u"),
        caption(1, 2.0, kind="v"),
        caption(1, 3.0, kind="u"),
        caption(0, 4.0, kind="v"),
    ]
    both = rows(captions, pairs, statistics=["accuracy"], groups="kind")
    assert (
        both.pairs.first.tolist(),
        both.pairs.second.tolist(),
        both.pairs.human.tolist(),
    ) == ([1, 0], [2, 3], [1.0, -1.0])
    assert (both.pairs.item.tolist(), both.pairs.groups.tolist()) == (
        [1, 0],
        ["p", "q"],
    )
    assert both.group_names == ("all", "p", "q", "mean")
    assert rows(
        captions, pairs, statistics=["accuracy", "kendall_b"], groups="kind"
    ).group_names == ("all", "u", "v", "mean")
    assert rows(
        captions, pairs, statistics=["kendall_b"], groups="kind"
    ).group_names == ("all", "u", "v", "mean")
    unrated = [caption(0), caption(1), caption(1), caption(0)]
    assert rows(
        unrated, pairs, statistics=["pearson_system"], groups="kind"
    ).group_names == ("all", "p", "q", "mean")


def test_strengths_of_systems_need_a_preference_as_accuracy_does():
    pairs = [JudgedPair(0, 1, (0.0,)), JudgedPair(1, 0, (1.0, -1.0))]
    with pytest.raises(InputError, match="every pair is a tie"):
        rows([caption(0), caption(0)], pairs, statistics=["pearson_system"]).check()
    # means of ratings need none
    rows(
        [caption(0, 1.0), caption(0, 2.0)], pairs, statistics=["pearson_system"]
    ).check()


def test_systems_are_groups():
    captions = [
        JudgedCaption(item, ("x",), system, (score,))
        for item, system, score in ((0, "a", 1.0), (0, "b", 2.0), (1, "a", 3.0))
    ]
    of_systems = rows(captions, groups={"by": "system", "labels": {"a": "A", "b": "B"}})
    assert of_systems.rated.groups.tolist() == ["A", "B", "A"]
    assert of_systems.group_names == ("all", "A", "B", "mean")


def test_a_judgment_without_a_group_names_what_it_has():
    with pytest.raises(
        InputError, match="a judgment has no 'kind' to group by; it has no fields"
    ):
        rows([caption(0, 1.0, kind="u"), caption(1, 2.0)], groups="kind").check()
    with pytest.raises(
        InputError, match="a judgment has no 'kind' to group by; it has code, lang"
    ):
        rows(
            [caption(0, 1.0, kind="u"), caption(1, 2.0, code="c", lang="de")],
            groups="kind",
        ).check()


def test_a_whole_number_is_named_without_its_point():
    half = rows(
        [caption(0, 1.0, code=2.5), caption(1, 2.0, code=2.0)],
        groups={"by": "code", "labels": {"2.5": "half", 2: "two"}},
    )
    assert half.rated.groups.tolist() == ["half", "two"]


def test_labels_of_two_values_suffice():
    rows(
        [caption(0, 1.0), caption(1, 2.0), caption(0, 2.0)],
        statistics=["auc", "average_precision"],
    ).check()


def test_scores_that_fall_from_the_first_on_are_not_constant():
    rows([caption(0, 3.0), caption(1, 1.0), caption(0, 2.0)]).check()
    with pytest.raises(
        InputError, match="f: all 1 human scores are 2: kendall_b is undefined"
    ):
        rows([caption(0, 2.0)]).check()


def test_captions_are_rated_where_the_first_one_is():
    with pytest.raises(
        InputError, match="the captions have no ratings, which kendall_b needs"
    ):
        rows([caption(0), caption(1, 2.0)]).check()
