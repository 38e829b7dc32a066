"""Plans and manifests of judgment tasks."""

import pytest

from harness.errors import InputError
from tests.support.judged_sets import THREE_RATED, content, planned


def test_the_absence_names_the_file_and_tells_how_to_get_it(jsonl):
    whole = planned(content(jsonl))
    assert (whole.absence, whole.obstacle, whole.describe()["missing"]) == ("", "", "")
    for get, more in (
        (None, ""),
        ("ask the\n  authors", "; how to get it: ask the authors"),
    ):
        source = {
            "form": "captions",
            "path": "nowhere.jsonl",
            **({"get": get} if get else {}),
        }
        plan = planned(content(jsonl, judgments=source))
        assert (
            plan.absence
            == plan.obstacle
            == plan.describe()["missing"]
            == f"judgments/t: not there: {plan.missing[0]}{more}"
        )
        assert plan.missing[0].endswith("nowhere.jsonl")
        with pytest.raises(InputError, match="not there: "):
            plan.read()


def test_the_obstacle_of_a_set_is_the_mistake_in_it(jsonl):
    lost = jsonl(
        [*THREE_RATED, {"id": "3", "caption": "c3", "references": ["r"]}], "lost.jsonl"
    )
    plan = planned(content(jsonl, judgments={"form": "captions", "path": lost}))
    assert plan.absence == ""
    assert (
        plan.obstacle == f"judgments/t: left out: {lost}:4: 'human_score' is missing; "
        "expected a human score or a list of the raters' scores"
    )


def test_statistics_of_systems_need_systems(jsonl):
    plan = planned(content(jsonl, statistics=["pearson", "pearson_system"]))
    assert plan.compares_systems and not planned(content(jsonl)).compares_systems
    assert (
        planned(content(jsonl, grouping="system")).compares_systems
        and not planned(content(jsonl, grouping="item")).compares_systems
    )
    assert not planned(
        content(jsonl, statistics=["kendall_within"], grouping="system")
    ).compares_systems
    with pytest.raises(
        InputError, match="need captions of at least two systems; found none"
    ):
        plan.prepare()


def test_metrics_of_models_judge_no_captions(jsonl):
    with pytest.raises(
        InputError, match="judges token scores of a model, not captions"
    ):
        planned(content(jsonl, metrics=["pregen"]))


def test_published_values_of_a_statistic_that_is_not_computed(jsonl):
    table = {"reference": "R", "values": {"bleu1": 30}, "statistic": "kendall_c"}
    with pytest.raises(
        InputError,
        match="published values of kendall_c.*, which the task does not compute",
    ):
        planned(content(jsonl, published=table))
    computed = [{**table, "statistic": name} for name in (None, "pearson", "kendall_b")]
    with pytest.raises(
        InputError, match="published values of kendall_b; did you mean 'kendall_c'"
    ):
        planned(content(jsonl, statistics=["pearson", "kendall_c"], published=computed))
    assert (
        planned(content(jsonl, published=computed[:2])).spec.published[1].statistic
        == "pearson"
    )


@pytest.mark.parametrize("form", ["pairs", "foil", "keyed-pairs"])
def test_pairs_have_accuracy_and_statistics_of_systems(jsonl, form):
    keys = {"keys": ["HC"]} if form == "keyed-pairs" else {}
    judged = {"form": form, "path": jsonl(THREE_RATED), **keys}
    assert planned(
        content(jsonl, judgments=judged, statistics=["accuracy", "kendall_system"])
    ).metrics
    with pytest.raises(
        InputError,
        match=f"auc needs rated captions; judgments of form {form} have accuracy and "
        "statistics",
    ) as caught:
        planned(
            content(jsonl, judgments=judged, statistics=["accuracy", "auc", "pearson"])
        )
    assert caught.value.value == "auc"
    assert planned(
        content(
            jsonl,
            judgments={"form": "best-worst", "path": jsonl(THREE_RATED)},
            statistics=["accuracy", "auc"],
        )
    ).metrics
