"""The command that trains a language model."""

from __future__ import annotations

import argparse

import pytest

from harness.errors import HarnessError
from harness_models.rnnlm import train_cli

LINES = [
    f"a {animal} {verb} ."
    for animal in ("dog", "cat", "bird")
    for verb in ("runs", "sits", "sleeps")
] * 12


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "lines.txt"
    path.write_text("\n".join(LINES))
    return str(path)


def test_a_model_is_trained_and_not_overwritten(corpus, tmp_path, capsys):
    parser = argparse.ArgumentParser()
    train_cli.add_arguments(parser)
    args = parser.parse_args(
        [
            "--corpus",
            corpus,
            "--output",
            str(tmp_path / "lm"),
            "--epochs",
            "1",
            "--size",
            "8",
        ]
    )
    assert train_cli.run(args) == 0
    assert "held-out perplexity" in capsys.readouterr().out
    with pytest.raises(HarnessError, match="holds a model already"):
        train_cli.run(args)
