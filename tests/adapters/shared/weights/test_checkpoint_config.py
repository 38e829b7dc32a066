"""Configuration of checkpoints: files, sizes that disagree, numbers of heads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from harness.errors import HarnessError, InputError
from harness_models.shared.weights.checkpoint_config import (
    config_beside,
    heads_of,
    must_agree,
    read_config,
    torch_dtype,
    weight_files,
)


def test_a_configuration_is_a_mapping_a_file_or_nothing(tmp_path: Path):
    path = tmp_path / "c.json"
    path.write_text('{"n_head": 4}')
    assert (
        read_config(path)
        == read_config(str(path))
        == read_config({"n_head": 4})
        == {"n_head": 4}
    )
    assert read_config(None) == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "no such configuration file"),
        ("{", "not valid JSON"),
        ("[1]", "expected a mapping of settings"),
    ],
)
def test_a_file_that_is_no_configuration_is_refused(
    tmp_path: Path, text: str | None, message: str
):
    path = tmp_path / "c.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match=f"c.json: {message}"):
        read_config(path)


def test_the_configuration_lies_in_the_folder_of_the_checkpoint(tmp_path: Path):
    path = tmp_path / "model.safetensors"
    with pytest.raises(InputError, match="model.safetensors: no such checkpoint file"):
        config_beside(path)
    path.touch()
    assert config_beside(path) == config_beside(tmp_path) == {}
    (tmp_path / "config.json").write_text('{"a": 1}')
    assert config_beside(path) == config_beside(tmp_path) == {"a": 1}


def test_the_state_of_a_training_is_not_among_the_weight_files(tmp_path: Path):
    for name in ("model.safetensors", "state.pt", "curve.jsonl", "config.json"):
        (tmp_path / name).touch()
    assert weight_files(tmp_path) == [
        tmp_path / "model.safetensors",
        tmp_path / "config.json",
    ]
    assert weight_files(tmp_path / "state.pt") == [tmp_path / "state.pt"]


def test_sizes_must_agree():
    must_agree(
        {"layers": 2, "width": None, "other": 9}, {"layers": 2, "width": 8}, "m.pt"
    )
    with pytest.raises(
        InputError,
        match="m.pt: the configuration says layers = 2, the checkpoint has 3",
    ):
        must_agree({"layers": 2}, {"layers": 3}, "m.pt")


@pytest.mark.parametrize(
    ("settings", "default", "heads"),
    [({"n": 4}, None, 4), ({}, 2, 2), ({"n": 1}, 2, 1)],
)
def test_the_number_of_heads(settings: dict[str, Any], default: int | None, heads: int):
    assert heads_of(settings, "n", 8, default, "m.pt") == heads


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {},
            "the number of heads cannot be read off a width of 8: "
            "give it in the configuration as n",
        ),
        ({"n": 3}, "n must divide the width 8; found 3"),
        ({"n": 0}, "n must divide the width 8; found 0"),
        ({"n": "2"}, "n must divide the width 8; found '2'"),
    ],
)
def test_a_number_of_heads_that_does_not_fit_is_refused(
    settings: dict[str, Any], message: str
):
    with pytest.raises(InputError, match=message):
        heads_of(settings, "n", 8, None, "m.pt")


def test_dtypes_by_name():
    assert torch_dtype("bfloat16") is torch.bfloat16
    with pytest.raises(
        HarnessError,
        match="dtype is one of float32, float16, bfloat16, float64; found 'int8'",
    ):
        torch_dtype("int8")
