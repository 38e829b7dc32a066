"""The command that trains a captioner."""

from __future__ import annotations

import argparse
import json

import pytest

from harness.errors import HarnessError
from harness_models.captioner import train_cli
from harness_models.captioner.model import load

SMALL = {
    "scenes": 40,
    "captions": 2,
    "kind": "short",
    "epochs": 4,
    "width": 12,
    "batch": 16,
    "save_at": [3, 8],
}


def test_options_take_precedence_over_the_spec(tmp_path, capsys):
    parser = argparse.ArgumentParser()
    train_cli.add_arguments(parser)
    spec = tmp_path / "small.yaml"
    spec.write_text(json.dumps({**SMALL, "output": str(tmp_path / "from-spec")}))
    assert train_cli.run(parser.parse_args([str(spec), "--architecture", "par"])) == 0
    assert "held-out perplexity" in capsys.readouterr().out
    model, settings = load(tmp_path / "from-spec" / "stage-003")
    assert model.architecture == "par" and settings["scenes"] == 40
    spec.write_text("scens: 40\n")
    with pytest.raises(HarnessError, match="did you mean 'scenes'"):
        train_cli.run(parser.parse_args([str(spec), "--output", str(tmp_path / "x")]))
    with pytest.raises(HarnessError, match="the folder is missing: give --output"):
        train_cli.run(parser.parse_args(["--scenes", "40"]))
