"""``harness train``: systems and their arguments."""

from __future__ import annotations

import sys

import pytest

from harness.cli.main import main
from harness.registry import in_use

TRAINER = '''"""Train a toy."""

def add_arguments(parser):
    parser.add_argument("--epochs", type=int, default=1)

def run(args):
    print("epochs", args.epochs)
    return 0
'''


@pytest.fixture
def toy(project):
    """A project with the trainers ``toy`` and ``tvt``,
    the latter a name of a built-in trainer.
    """
    (project / "toy_trainer.py").write_text(TRAINER)
    with (project / "registry.yaml").open("a") as file:
        file.write(
            'trainers: {toy: {import: "toy_trainer", summary: a toy}, tvt: {import: '
            '"toy_trainer"}}\n'
        )
    in_use._load.cache_clear()
    yield project
    sys.modules.pop("toy_trainer", None)


def test_systems_are_listed(toy, capsys):
    assert main(["train"]) == 0
    lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    assert ["toy", "a toy"] in lines
    assert {"clipcap", "tvt", "mine/tvt"} <= {line[0] for line in lines}


def test_help_lists_the_systems(toy, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["train", "--help"])
    assert caught.value.code == 0
    assert "clipcap" in capsys.readouterr().out


def test_a_system_is_run_with_its_own_arguments(toy, capsys):
    assert main(["train", "toy", "--epochs", "3"]) == 0
    assert capsys.readouterr().out == "epochs 3\n"
    assert main(["train", "mine/tvt"]) == 0
    assert main(["train", "toy", "--epoch", "x"]) == 2
    assert (
        "train toy: argument --epochs: invalid int value: 'x'"
        in capsys.readouterr().err
    )


def test_a_built_in_system_keeps_its_bare_name(toy, capsys):
    assert main(["train", "tvt"]) == 2
    assert "give --output DIR" in capsys.readouterr().err


def test_a_system_that_cannot_be_imported_is_one_line(toy, capsys):
    (toy / "toy_trainer.py").write_text("import nothing_of_this_name\n")
    assert main(["train", "toy"]) == 2
    assert (
        "trainer 'toy' needs the package 'nothing_of_this_name'"
        in capsys.readouterr().err
    )


def test_an_unknown_system_is_an_error(toy, capsys):
    assert main(["train", "clipcup"]) == 2
    assert (
        "unknown trainer 'clipcup'; did you mean 'clipcap'?" in capsys.readouterr().err
    )
