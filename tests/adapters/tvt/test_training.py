"""Training of TVT: resuming, the command, invalid recipes."""

from __future__ import annotations

import argparse

import pytest
import torch
import yaml

from harness.errors import HarnessError, InputError
from harness_models.tvt import training
from harness_models.tvt.adapter import TvtAdapter
from harness_models.tvt.model import Tvt
from harness_models.tvt.training import train

SMALL = {
    "width": 32,
    "heads": 4,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "inner": 64,
    "dropout": 0.1,
}


@pytest.mark.slow
def test_a_resumed_run_equals_an_uninterrupted_one(recipe, tmp_path):
    train(recipe(epochs=3), tmp_path / "once")
    train(recipe(epochs=1), tmp_path / "twice")
    train(recipe(epochs=3), tmp_path / "twice", resume=True)
    one, two = (
        Tvt.from_checkpoint(tmp_path / name).state_dict() for name in ("once", "twice")
    )
    assert all(torch.equal(one[key], two[key]) for key in one)
    assert len((tmp_path / "twice" / "curve.jsonl").read_text().splitlines()) == 3
    with pytest.raises(HarnessError, match="holds a run already"):
        train(recipe(), tmp_path / "once")
    with pytest.raises(HarnessError, match="another recipe"):
        train(recipe(batch=7), tmp_path / "once", resume=True)


def test_the_command_trains_from_yaml(data, tmp_path, capsys):
    folder, _ = data
    files = {"look": str(folder / "look.npz")}
    spec = {
        "features": files,
        "captions": str(folder / "captions.json"),
        "epochs": 1,
        "model": SMALL,
    }
    (tmp_path / "r.yaml").write_text(yaml.safe_dump(spec))
    parser = argparse.ArgumentParser()
    training.add_arguments(parser)
    assert (
        training.run(
            parser.parse_args(
                [str(tmp_path / "r.yaml"), "--output", str(tmp_path / "out")]
            )
        )
        == 0
    )
    assert "epoch   1   loss" in capsys.readouterr().out
    assert TvtAdapter(checkpoint=str(tmp_path / "out")).model.sizes.views == {"look": 6}
    (tmp_path / "r.yaml").write_text(yaml.safe_dump({**spec, "epoch": 1}))
    with pytest.raises(InputError, match="no parameter 'epoch'; did you mean 'epochs'"):
        training.run(
            parser.parse_args(
                [str(tmp_path / "r.yaml"), "--output", str(tmp_path / "out2")]
            )
        )


def test_invalid_recipes_are_refused(recipe):
    with pytest.raises(HarnessError, match="either captions"):
        recipe(scenes=3)
    with pytest.raises(HarnessError, match="unknown sizes depth"):
        recipe(model={"depth": 2})
