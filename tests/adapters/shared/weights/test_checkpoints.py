"""Safe loading, strict comparison, conversion."""

from __future__ import annotations

import argparse
import os
import pickle

import numpy as np
import pytest
import torch

from harness.errors import HarnessError, InputError
from harness_models.shared.weights.checkpoints import load_checkpoint, looks_like
from harness_models.shared.weights.fingerprints import file_fingerprint
from harness_models.shared.weights.saving import convert, save_checkpoint
from harness_models.shared.weights.strict_loading import check_keys, load_strictly

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


def test_keys_are_compared_strictly(tmp_path):
    checkpoint = load_checkpoint(
        save(
            tmp_path / "a.pt",
            {**STATE, "extra.bias": torch.ones(2), "old.masked_bias": torch.ones(())},
        )
    )
    expected = {
        "clip_project.model.0.weight": (4, 4),
        "gpt.lm_head.weight": (5, 4),
        "gpt.ln.weight": (4,),
    }
    with pytest.raises(InputError) as error:
        check_keys(checkpoint, expected, "CLIPCap", ignored=[r"masked_bias$"])
    text = str(error.value)
    assert "does not fit CLIPCap (it looks like CLIPCap (MLP mapper))" in text
    assert "1 missing: gpt.ln.weight (4)" in text
    assert "1 unexpected: extra.bias (2)" in text
    assert "clip_project.model.0.weight (4, 3), expected (4, 4)" in text


def test_weights_with_nan_are_refused(tmp_path):
    layer = torch.nn.Linear(2, 2)
    bad = {
        "weight": torch.tensor([[1.0, float("nan")], [0, 0]]),
        "bias": torch.zeros(2),
    }
    with pytest.raises(InputError, match="'weight' holds NaN"):
        load_strictly(
            layer, load_checkpoint(save(tmp_path / "a.pt", bad)), "a linear layer"
        )


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


def test_existing_files_are_not_replaced(tmp_path):
    source = save(tmp_path / "a.pt", STATE)
    path = convert(source, tmp_path / "out")
    assert convert(source, tmp_path / "out") == path, "the same content again"
    (tmp_path / "out" / "config.json").unlink()  # a kill between the two renames
    assert convert(source, tmp_path / "out") == path
    before = path.read_bytes()
    other = save(tmp_path / "b.pt", {name: value + 1 for name, value in STATE.items()})
    with pytest.raises(
        HarnessError,
        match="exists already, with other content; choose another folder or use "
        "--overwrite",
    ):
        convert(other, tmp_path / "out")
    assert path.read_bytes() == before
    assert convert(other, tmp_path / "out", force=True) == path
    assert path.read_bytes() != before
    assert sorted(file.name for file in path.parent.iterdir()) == [
        "config.json",
        "model.safetensors",
    ]


def test_settings_that_are_not_json_are_refused(tmp_path):
    with pytest.raises(
        HarnessError, match="a setting of the checkpoint cannot be written as JSON"
    ):
        save_checkpoint(STATE, {"x": object()}, tmp_path)


def test_fingerprint_follows_the_bytes(tmp_path):
    one = save(tmp_path / "a.pt", STATE)
    two = save(tmp_path / "b.pt", {"a": torch.ones(1)})
    assert file_fingerprint(one) == file_fingerprint(one) != file_fingerprint(two)


def test_fingerprint_of_a_folder_does_not_depend_on_its_path(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name / "inner").mkdir(parents=True)
        (tmp_path / name / "a.txt").write_text("a")
        (tmp_path / name / "inner" / "b.txt").write_text("b")
    assert file_fingerprint(tmp_path / "one") == file_fingerprint(tmp_path / "two")
    (tmp_path / "two" / "inner" / "b.txt").write_text("c")
    assert file_fingerprint(tmp_path / "one") != file_fingerprint(tmp_path / "two")


def test_unknown_keys_are_listed():
    assert (
        looks_like(["b", "a"])
        == "it looks like no known architecture (first keys: a, b)"
    )
