"""Tensors of TorchScript archives, read without running them."""

from __future__ import annotations

import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from harness.errors import InputError
from harness.files.torchscript import is_torchscript, read_torchscript

torch = pytest.importorskip("torch")


class QuickGELU(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.sigmoid(1.702 * x)


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.resolution = 7
        self.fc = torch.nn.Linear(3, 2)
        self.register_buffer("table", torch.arange(4))
        self.layers = torch.nn.Sequential(torch.nn.Linear(2, 2), QuickGELU())
        self.turned = torch.nn.Parameter(torch.arange(6.0).reshape(2, 3).T)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(self.fc(x))


@pytest.fixture
def archive(tmp_path):
    torch.manual_seed(0)
    path = tmp_path / "net.pt"
    torch.jit.script(Net().half()).save(path)
    return path


def rewrite(path: Path, change) -> None:
    """Replace the entries of an archive by what a function makes of them."""
    with zipfile.ZipFile(path) as source:
        entries = {name: source.read(name) for name in source.namelist()}
    with zipfile.ZipFile(path, "w") as target:
        for name, content in entries.items():
            target.writestr(name, change(name.partition("/")[2], content))


def test_the_tensors_are_those_of_torch(archive):
    assert is_torchscript(archive)
    found = read_torchscript(archive)
    expected = torch.jit.load(str(archive)).state_dict()
    assert found.tensors.keys() == expected.keys()
    for name, tensor in expected.items():
        np.testing.assert_array_equal(found.tensors[name], tensor.numpy())
        assert found.tensors[name].dtype == tensor.numpy().dtype
    assert found.settings["resolution"] == 7
    assert {"Net", "Linear", "Sequential", "QuickGELU"} <= found.classes


def test_a_state_dict_and_other_files_are_none(tmp_path):
    torch.save(Net().state_dict(), tmp_path / "state.pt")
    (tmp_path / "text.pt").write_text("no archive")
    for name in ("state.pt", "text.pt"):
        assert not is_torchscript(tmp_path / name)


def test_the_code_of_the_archive_is_not_read(archive):
    rewrite(archive, lambda name, data: b"1/0" if name.startswith("code/") else data)
    assert read_torchscript(archive).tensors["table"].tolist() == [0, 1, 2, 3]


class Evil:
    def __reduce__(self):
        return (exec, ("raise SystemExit('ran')",))


@pytest.mark.parametrize(
    "data, message",
    [
        (pickle.dumps(Evil(), 2), "holds an object of type .*exec"),
        (pickle.dumps([1, 2], 2), "no module in it"),
        (b"\x80\x02X", "not a complete TorchScript archive"),
        (b"\x80\x02Nr\xff\xff\xff\x7f.", "of the memo in"),
    ],
)
def test_a_hostile_pickle_is_one_line(archive, data, message):
    rewrite(archive, lambda name, old: data if name == "data.pkl" else old)
    with pytest.raises(InputError, match=message) as caught:
        read_torchscript(archive)
    assert "\n" not in str(caught.value)


def test_a_tensor_outside_of_its_storage_is_refused(archive):
    rewrite(archive, lambda name, old: old[:-2] if name == "data/0" else old)
    with pytest.raises(InputError, match="net.pt: not a complete TorchScript archive"):
        read_torchscript(archive)

    # the sizes (2, 3) of a weight become (255, 3)
    torch.jit.script(Net().half()).save(archive)
    rewrite(
        archive,
        lambda name, old: (
            old.replace(b"(K\x02K\x03t", b"(K\xffK\x03t") if name == "data.pkl" else old
        ),
    )
    with pytest.raises(InputError, match="outside of its storage"):
        read_torchscript(archive)


def test_any_cut_of_the_file_is_one_line(archive):
    content = archive.read_bytes()
    for size in range(0, len(content), 997):
        archive.write_bytes(content[:size])
        assert not is_torchscript(archive)
