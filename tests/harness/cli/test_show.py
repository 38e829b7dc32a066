"""``harness show``: cards, kinds, shadowed and missing names."""

from __future__ import annotations

import json

import pytest

from harness.cli.main import main
from harness.registry import in_use


def shown(capsys, *arguments):
    assert main(["show", *arguments]) == 0
    return capsys.readouterr().out


def test_the_card_of_a_component(project, capsys):
    code = project / "mine_parts.py"
    code.write_text(
        code.read_text().replace(
            "Mean number of words", "Mean ``number`` of words (see :class:`~a.b.Chars`)"
        )
    )
    output = shown(capsys, "length")
    assert output.startswith(
        "length (metric of mine, level item, higher is better)\n  words\n  "
        "mine_parts:Length\n"
    )
    assert "Mean number of words (see Chars) of the candidates" in output
    assert "parameters:\n  scale = 1.0\n  undefined = ()\n" in output


def test_json(project, capsys):
    (card,) = json.loads(shown(capsys, "chars", "--json"))
    assert (card["name"], card["kind"], card["text"], card["parameters"]) == (
        "chars",
        "distances",
        "Difference of lengths.",
        {},
    )


def test_a_required_parameter_is_marked(project, capsys):
    code = project / "mine_parts.py"
    code.write_text(code.read_text().replace("count=6", "count"))
    assert "  count = (required)\n" in shown(capsys, "words")


def test_the_names_among_which_a_parameter_chooses_stand_beside_its_default(capsys):
    assert (
        "  tokenizer = 'ptb'  (ptb, java-ptb, none, zh, characters, ja, zh-words)\n"
        in shown(capsys, "metrics/bleu")
    )
    (card,) = json.loads(shown(capsys, "metrics/bleu", "--json"))
    assert card["choices"] == {
        "tokenizer": ["ptb", "java-ptb", "none", "zh", "characters", "ja", "zh-words"]
    }
    assert "  q = 1.0\n" in shown(capsys, "metrics/vendi")  # a number, or the word inf


def test_all_kinds_with_the_name_or_one_of_them(project, capsys):
    names = [
        (card["kind"], card["name"])
        for card in json.loads(shown(capsys, "bleu", "--json"))
    ]
    assert {kind for kind, _ in names} >= {"metrics", "distances"}
    assert {name for _, name in names} == {"bleu"}
    (card,) = json.loads(shown(capsys, "distances/bleu", "--json"))
    assert card["kind"] == "distances"


def test_a_task_is_shown_as_its_file(project, capsys):
    assert "dataset:" in shown(capsys, "tasks/coco")


def test_a_shadowed_component_is_reached_by_its_full_name(project, capsys):
    text = (project / "registry.yaml").read_text()
    (project / "registry.yaml").write_text(
        text.replace("metrics: {", 'metrics: {rouge: {import: "mine_parts:Length"}, ')
    )
    in_use._load.cache_clear()
    cards = json.loads(shown(capsys, "rouge", "--json"))
    assert {card["provider"] for card in cards} == {"harness"}
    (card,) = json.loads(shown(capsys, "mine/rouge", "--json"))
    assert (card["name"], card["provider"]) == ("mine/rouge", "mine")
    assert shown(capsys, "metrics/mine/rouge").startswith("mine/rouge (metric of mine")


def test_local_code_is_read_and_not_imported(project, capsys):
    code = project / "mine_parts.py"
    code.write_text("open('imported.txt', 'w')\n" + code.read_text())
    assert "  scale = 1.0\n" in shown(capsys, "length")
    assert not (project / "imported.txt").exists()


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import nothing_of_this_name\n", "mine_parts.py defines no 'Length'"),
        ("def broken(:\n", "mine_parts.py is no Python source"),
        (None, "there is no source file of 'mine_parts'"),
    ],
)
def test_a_component_that_cannot_be_read_keeps_its_catalogue_entry(
    project, capsys, code, reason
):
    (project / "mine_parts.py").unlink()
    if code is not None:
        (project / "mine_parts.py").write_text(code)
    output = shown(capsys, "length")
    assert "  words\n" in output
    assert "not available here: " in output
    assert reason in output


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("metoer", "there is nothing called 'metoer'; did you mean 'meteor'?"),
        ("metrics/lenth", "there is nothing called 'lenth'; did you mean 'length'?"),
        ("readers/lenth", "there is nothing called 'lenth'\n"),
    ],
)
def test_an_unknown_name_is_an_error(project, capsys, name, message):
    assert main(["show", name]) == 2
    assert message in capsys.readouterr().err


def test_names_may_be_spelled_freely(project, capsys):
    assert shown(capsys, "LENGTH") == shown(capsys, "length")
    (card,) = json.loads(shown(capsys, "metrics/ROUGE_L", "--json"))
    assert card["name"] == "rouge"
