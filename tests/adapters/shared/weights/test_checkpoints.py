"""Safe loading, strict comparison, conversion."""

from __future__ import annotations

import argparse
import os
import pickle

import numpy as np
import pytest
import torch

from harness.errors import InputError
from harness_models.shared.weights.checkpoints import load_checkpoint, looks_like

STATE = {
    "clip_project.model.0.weight": torch.randn(4, 3),
    "gpt.lm_head.weight": torch.randn(5, 4),
}


def save(path, data, **how):
    torch.save(data, path, **how)
    return path


@pytest.mark.parametrize("zipped", [True, False])
def test_published_layouts_load(tmp_path, zipped):
    how = {"_use_new_zipfile_serialization": zipped}
    bare = load_checkpoint(save(tmp_path / "a.pt", STATE, **how))
    assert bare.shapes() == {key: tuple(value.shape) for key, value in STATE.items()}
    nested = {
        "epoch": 3,
        "state_dict": STATE,
        "settings": {"max_len": 30},
        "validate_result": {"CIDEr": np.float64(1.2)},
    }
    nested_checkpoint = load_checkpoint(save(tmp_path / "best.pth.tar", nested, **how))
    assert nested_checkpoint.settings["settings"] == {"max_len": 30}
    assert nested_checkpoint.settings["validate_result"]["CIDEr"] == 1.2
    parallel = {f"module.{key}": value for key, value in STATE.items()}
    assert set(
        load_checkpoint(save(tmp_path / "p.bin", parallel, **how)).tensors
    ) == set(STATE)


@pytest.mark.parametrize("zipped", [True, False])
def test_the_message_names_the_class_that_is_refused(tmp_path, zipped):
    path = save(
        tmp_path / "a.pt",
        {"state_dict": STATE, "args": argparse.Namespace(a=1)},
        _use_new_zipfile_serialization=zipped,
    )
    with pytest.raises(
        InputError,
        match=r"a\.pt: holds an object of type argparse\.Namespace, "
        r"which safe loading refuses",
    ):
        load_checkpoint(path)


def test_code_in_a_pickle_never_runs(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (os.mkdir, (str(tmp_path / "ran"),))

    with (tmp_path / "bomb.pt").open("wb") as handle:
        pickle.dump({"state_dict": Bomb()}, handle)
    with pytest.raises(InputError):
        load_checkpoint(tmp_path / "bomb.pt")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["a.pt", "old.pt", "a.safetensors", "a.npz"])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.95])
def test_a_truncated_file_is_refused(tmp_path, name, share):
    path = tmp_path / name
    if name.endswith("safetensors"):
        from safetensors.torch import save_file

        save_file(STATE, str(path))
    elif name.endswith("npz"):
        np.savez(path, a=np.ones(100))
    else:
        save(path, STATE, _use_new_zipfile_serialization=name == "a.pt")
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(InputError, match=rf"{name}: not a"):
        load_checkpoint(path)


def test_files_that_are_no_checkpoint_are_refused(tmp_path):
    with pytest.raises(InputError, match="no such checkpoint file"):
        load_checkpoint(tmp_path / "nothing.pt")
    with pytest.raises(InputError, match="expected a state dict; found list"):
        load_checkpoint(save(tmp_path / "l.pt", [1, 2]))
    with pytest.raises(InputError, match="no tensors in it"):
        load_checkpoint(save(tmp_path / "d.pt", {"epoch": 2}))
    (tmp_path / "text.pt").write_text("hello")
    with pytest.raises(InputError, match="not a checkpoint, or truncated$"):
        load_checkpoint(tmp_path / "text.pt")
    with pytest.raises(
        InputError, match="holds an object of type print, which safe loading refuses"
    ):
        load_checkpoint(save(tmp_path / "p.pt", {"a": print}))
    with pytest.raises(InputError, match="holds one .safetensors file; found 0"):
        load_checkpoint(tmp_path)


def test_the_golden_checkpoints_are_recognised(golden):
    for path, name in [
        ("clipcap/mlp/state_dict.safetensors", "CLIPCap (MLP mapper)"),
        ("clipcap/transformer/state_dict.safetensors", "CLIPCap (transformer mapper)"),
        ("vlp/state_dict.npz", "VLP"),
        ("a3ds_lstm/speaker_state_dict.npz", "A3DS speaker"),
    ]:
        assert (
            looks_like(load_checkpoint(golden / path).tensors)
            == f"it looks like {name}"
        )


def test_unknown_keys_are_listed():
    assert (
        looks_like(["b", "a"])
        == "it looks like no known architecture (first keys: a, b)"
    )
