"""Loading of model folders: kinds, placement, messages."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch

from harness.errors import HarnessError, InputError
from harness.registry.torchvision_guard import guard_torchvision

guard_torchvision()
pytest.importorskip("transformers")

from harness_models.transformers.loading import load_model  # noqa: E402
from tests.support import tiny_models  # noqa: E402


def load(path, **settings: Any):
    defaults: dict[str, Any] = {
        "kind": "auto",
        "dtype": "float32",
        "device": "cpu",
        "device_map": None,
        "trust_remote_code": False,
        "strict": True,
    }
    return load_model(str(path), **{**defaults, **settings})


@pytest.mark.parametrize(
    ("name", "kind"),
    [("gpt2", "causal"), ("t5", "text-to-text"), ("ved", "image-text")],
)
def test_the_kind_is_that_of_the_configuration(tmp_path, name: str, kind: str):
    tiny_models.BUILDERS[name](tmp_path)
    loaded = load(tmp_path)
    assert loaded.kind == kind and not loaded.model.training
    assert (loaded.images is not None) == (kind == "image-text")


def test_a_device_map_of_one_device_is_that_device(tmp_path):
    tiny_models.gpt2(tmp_path)
    loaded = load(tmp_path, device_map="cpu", dtype="float64")
    assert (
        loaded.model.device == torch.device("cpu")
        and loaded.model.dtype == torch.float64
    )
    with pytest.raises(HarnessError, match="dtype is one of float32"):
        load(tmp_path, dtype="float8")


def test_models_that_do_not_generate_text_are_refused(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "vit"}))
    with pytest.raises(InputError, match="models of type 'vit' do not generate text"):
        load(tmp_path)
    with pytest.raises(
        InputError, match="no config.json in it; expected a local folder with a model"
    ):
        load(tmp_path / "none")
