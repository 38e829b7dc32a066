"""The command ``harness train a3ds``."""

from __future__ import annotations

import argparse

import pytest

from harness_models.a3ds import train_cli


def test_command_line(one_hot, tmp_path, capsys):
    parser = argparse.ArgumentParser()
    train_cli.add_arguments(parser)
    arguments = (
        "--stage baseline --images 20 --captions 2 --epochs 1 --batch 16 --output "
        f"{tmp_path}"
    )
    assert train_cli.run(parser.parse_args(arguments.split())) == 0
    printed = capsys.readouterr()
    assert printed.out.strip() == str(tmp_path / "speaker.safetensors")
    assert "epoch 1" in printed.err


def test_the_stage_is_required(capsys):
    parser = argparse.ArgumentParser()
    train_cli.add_arguments(parser)
    with pytest.raises(SystemExit):
        parser.parse_args(["--output", "x"])
    assert "--stage" in capsys.readouterr().err
