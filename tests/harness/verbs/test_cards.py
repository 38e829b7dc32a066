"""Cards of components: what a name reaches, and the card as people read it."""

from __future__ import annotations

import pytest

import harness
from harness.errors import UnknownName
from harness.registry import current
from harness.verbs.cards import card_text, find_entries, plain


def test_a_card_has_parameters_and_an_unknown_name_its_neighbour():
    (card,) = harness.show("metrics/rouge")
    assert card["parameters"] == {"tokenizer": "'ptb'"}
    assert harness.show("metrics/rouge").to_arrow().num_rows == 1
    with pytest.raises(UnknownName, match="did you mean 'rouge'"):
        harness.show("rogue")


def kinds(text):
    return [entry.kind for entry in find_entries(current(), text)]


def test_a_name_reaches_one_component_of_each_kind():
    assert kinds("rouge") == ["metrics", "distances"]
    assert kinds("metrics/rouge") == ["metrics"]
    assert kinds("distances/rouge") == ["distances"]
    assert kinds("tasks/a3ds") == ["tasks"]


def test_a_name_may_have_slashes_of_its_own():
    task = next(
        entry.name
        for entry in current().entries()
        if entry.kind == "tasks" and "/" in entry.name
    )
    assert kinds(task) == kinds(f"tasks/{task}") == ["tasks"]


def test_a_form_of_files_is_found_by_its_kind():
    form = harness.list("forms").entries[0]["name"]
    (card,) = harness.show(f"forms/{form}")
    assert card["kind"] == "forms" and card["text"]
    with pytest.raises(UnknownName, match="there is no form called"):
        harness.show("forms/nothing")


@pytest.mark.parametrize("name", ["metrics/nothing", "nothing", "metrics/", ""])
def test_a_name_of_nothing_is_unknown(name):
    with pytest.raises(UnknownName, match="there is nothing called"):
        harness.show(name)


def test_a_name_of_a_kind_has_neighbours_of_its_kind():
    with pytest.raises(UnknownName, match="did you mean 'rouge'"):
        harness.show("metrics/rogue")
    with pytest.raises(UnknownName) as caught:
        harness.show("tasks/rogue")
    assert "'rouge'" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("metric/cider", "metrics/cider"),
        ("task/coco", "tasks/coco"),
        ("metrc/cidr", "metrics/cider"),
        ("x/meteor", "meteor"),
    ],
)
def test_a_misspelled_kind_has_its_neighbour(name, nearest):
    with pytest.raises(UnknownName, match=f"called '{name}'; did you mean '{nearest}'"):
        harness.show(name)


def test_a_task_has_its_file_and_a_metric_its_docstring():
    (task,) = harness.show("tasks/a3ds")
    assert "dataset:" in task["text"] and "parameters" not in task
    (metric,) = harness.show("metrics/bertscore")
    assert metric["extra"] and "pip install 'caption-harness[" in card_text(metric)
    assert (
        metric["parameters"] and metric["choices"].keys() <= metric["parameters"].keys()
    )


VALUES = {
    "name": "fox",
    "kind": "metrics",
    "provider": "acme",
    "summary": "Foxes",
    "target": "acme.fox:Fox",
    "extra": None,
    "level": "item",
    "higher_is_better": False,
    "aliases": [],
}


def test_a_card_is_read_from_top_to_bottom():
    text = card_text(
        {
            **VALUES,
            "aliases": ["vixen", "tod"],
            "parameters": {"n": "(required)", "mode": "'a'"},
            "choices": {"mode": ["a", "b"]},
            "text": "Count ``foxes`` as :class:`~acme.Hen` does.",
        }
    )
    assert text.splitlines() == [
        "fox (metric of acme, level item, lower is better)",
        "  Foxes",
        "  acme.fox:Fox",
        "  aliases: vixen, tod",
        "",
        "parameters:",
        "  n = (required)",
        "  mode = 'a'  (a, b)",
        "",
        "Count foxes as Hen does.",
    ]


@pytest.mark.parametrize(
    ("values", "line"),
    [
        (
            {"higher_is_better": True},
            "fox (metric of acme, level item, higher is better)",
        ),
        ({"higher_is_better": None, "level": None}, "fox (metric of acme)"),
        (
            {"kind": "distances", "level": None},
            "fox (distance of acme, lower is better)",
        ),
        ({"not_available": "no torch"}, "  not available here: no torch"),
        (
            {"extra": "models", "provider": "harness"},
            "  needs: pip install 'caption-harness[models]'",
        ),
    ],
)
def test_lines_of_a_card(values, line):
    assert line in card_text({**VALUES, **values}).splitlines()


def test_an_extra_of_another_distribution_is_not_ours():
    assert "pip install" not in card_text({**VALUES, "extra": "models"})


def test_the_text_of_a_file_keeps_its_marks():
    assert card_text({**VALUES, "text": "a: ``b``\n"}).endswith("a: ``b``\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (":func:`stats` of ``n``", "stats of n"),
        (":class:`~a.b.C`, :meth:`~C.run`", "C, run"),
        (":py:class:`~a.C`", "C"),
        ("as follows::\n\n  x", "as follows:\n\n  x"),
        ("a `plain` mark: ok", "a `plain` mark: ok"),
    ],
)
def test_marks_are_left_out(text, expected):
    assert plain(text) == expected
