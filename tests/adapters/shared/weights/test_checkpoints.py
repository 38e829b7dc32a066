"""Safe loading, strict comparison, conversion."""

from __future__ import annotations

import argparse
import json
import os
import pickle

import numpy as np
import pytest
import torch

from harness.adapters.shared.weights import convert as convert_cli
from harness.adapters.shared.weights.checkpoints import (
    check_keys,
    convert,
    file_fingerprint,
    load_checkpoint,
    load_strictly,
    looks_like,
)
from harness.errors import HarnessError, InputError

STATE = {"clip_project.model.0.weight": torch.randn(4, 3), "gpt.lm_head.weight": torch.randn(5, 4)}


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
    held = load_checkpoint(save(tmp_path / "best.pth.tar", nested, **how))
    assert held.settings["settings"] == {"max_len": 30}
    assert held.settings["validate_result"]["CIDEr"] == 1.2
    parallel = {f"module.{key}": value for key, value in STATE.items()}
    assert set(load_checkpoint(save(tmp_path / "p.bin", parallel, **how)).tensors) == set(STATE)


@pytest.mark.parametrize("zipped", [True, False])
def test_objects_of_classes_are_refused_by_name(tmp_path, zipped):
    path = save(
        tmp_path / "a.pt", {"state_dict": STATE, "args": argparse.Namespace(a=1)}, _use_new_zipfile_serialization=zipped
    )
    with pytest.raises(
        InputError, match=r"a\.pt: holds an object of type argparse\.Namespace, which safe loading refuses"
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
def test_a_truncated_file_is_said(tmp_path, name, share):
    path = tmp_path / name
    if name.endswith("safetensors"):
        from safetensors.torch import save_file

        save_file(STATE, str(path))
    elif name.endswith("npz"):
        np.savez(path, a=np.ones(100))
    else:
        save(path, STATE, _use_new_zipfile_serialization=name == "a.pt")
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(InputError, match=rf"{name}: not a"):
        load_checkpoint(path)


def test_what_is_no_checkpoint_is_said(tmp_path):
    with pytest.raises(InputError, match="no such checkpoint file"):
        load_checkpoint(tmp_path / "nothing.pt")
    with pytest.raises(InputError, match="expected a state dict; found list"):
        load_checkpoint(save(tmp_path / "l.pt", [1, 2]))
    with pytest.raises(InputError, match="no tensors in it"):
        load_checkpoint(save(tmp_path / "d.pt", {"epoch": 2}))
    (tmp_path / "text.pt").write_text("hello")
    with pytest.raises(InputError, match="not a checkpoint, or truncated$"):
        load_checkpoint(tmp_path / "text.pt")
    with pytest.raises(InputError, match="holds an object of type print, which safe loading refuses"):
        load_checkpoint(save(tmp_path / "p.pt", {"a": print}))
    with pytest.raises(InputError, match="holds one .safetensors file; found 0"):
        load_checkpoint(tmp_path)


def test_keys_are_compared_strictly(tmp_path):
    found = load_checkpoint(
        save(tmp_path / "a.pt", {**STATE, "extra.bias": torch.ones(2), "old.masked_bias": torch.ones(())})
    )
    expected = {"clip_project.model.0.weight": (4, 4), "gpt.lm_head.weight": (5, 4), "gpt.ln.weight": (4,)}
    with pytest.raises(InputError) as error:
        check_keys(found, expected, "CLIPCap", ignored=[r"masked_bias$"])
    text = str(error.value)
    assert "does not fit CLIPCap (it looks like CLIPCap (MLP mapper))" in text
    assert "1 missing: gpt.ln.weight (4)" in text
    assert "1 unexpected: extra.bias (2)" in text
    assert "clip_project.model.0.weight (4, 3), expected (4, 4)" in text


def test_weights_that_are_no_numbers_are_named(tmp_path):
    layer = torch.nn.Linear(2, 2)
    bad = {"weight": torch.tensor([[1.0, float("nan")], [0, 0]]), "bias": torch.zeros(2)}
    with pytest.raises(InputError, match="'weight' holds NaN"):
        load_strictly(layer, load_checkpoint(save(tmp_path / "a.pt", bad)), "a line")


def test_the_golden_checkpoints_are_recognised(golden):
    for path, name in [
        ("clipcap/mlp/state_dict.safetensors", "CLIPCap (MLP mapper)"),
        ("clipcap/transformer/state_dict.safetensors", "CLIPCap (transformer mapper)"),
        ("vlp/state_dict.npz", "VLP"),
        ("nacf/NACF.state_dict.safetensors", "NACF or ARB2"),
        ("nacf/ARB.state_dict.safetensors", "ARB or NAB"),
        ("a3ds_lstm/speaker_state_dict.npz", "A3DS speaker"),
    ]:
        assert looks_like(load_checkpoint(golden / path).tensors) == f"it looks like {name}"


def test_convert_writes_safetensors_and_json(tmp_path, capsys):
    tied = torch.randn(3, 3)
    data = {"state_dict": {"a": tied, "b": tied, "c": tied.t()}, "settings": {"x": (1, 2)}, "score": np.float64(0.5)}
    source = save(tmp_path / "best.pth.tar", data)
    parser = argparse.ArgumentParser()
    convert_cli.add_arguments(parser)
    assert convert_cli.run(parser.parse_args([str(source), "--to", str(tmp_path / "out")])) == 0
    assert "3 tensors" in capsys.readouterr().out
    loaded = load_checkpoint(tmp_path / "out")
    assert torch.equal(loaded.tensors["c"], tied.t())
    assert loaded.settings["settings"] == {"x": [1, 2]}
    assert json.loads((tmp_path / "out/config.json").read_text())["score"] == 0.5
    with pytest.raises(HarnessError, match="exists already"):
        convert(source, tmp_path / "out")
    convert(source, tmp_path / "out", force=True)


def test_fingerprint_follows_the_bytes(tmp_path):
    one, two = save(tmp_path / "a.pt", STATE), save(tmp_path / "b.pt", {"a": torch.ones(1)})
    assert file_fingerprint(one) == file_fingerprint(one) != file_fingerprint(two)
