"""Image features of scenes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from harness.errors import InputError
from harness_tasks.a3ds import image_features, pixels

torch = pytest.importorskip("torch")


def test_stored_feature_tensors(tmp_path):
    table = np.arange(12, dtype=np.float32).reshape(3, 4)
    (tmp_path / "ids.json").write_text(json.dumps([5, 479_999, 8]))
    torch.save(torch.from_numpy(table), tmp_path / "f.pt")
    np.save(tmp_path / "f.npy", table)

    for name in ("f.pt", "f.npy"):
        source = pixels.features(
            {
                "tensor": {
                    "path": str(tmp_path / name),
                    "ids": str(tmp_path / "ids.json"),
                }
            }
        )
        assert source.width == 4
        assert (source.features([8, 5]) == table[[2, 0]]).all()
        with pytest.raises(InputError, match="no features of scene 6"):
            source.features([6])
        with pytest.raises(
            InputError, match=r"shape \(3, 4\), expected \(480000, width\)"
        ):
            image_features.FeatureTensor(tmp_path / name)

    torch.save({"a": 1}, tmp_path / "d.pt")
    with pytest.raises(InputError, match="holds a dict"):
        image_features.FeatureTensor(tmp_path / "d.pt")
    (tmp_path / "short.json").write_text("[1]")
    with pytest.raises(InputError, match="1 scene ids for 3 rows"):
        image_features.FeatureTensor(tmp_path / "f.npy", tmp_path / "short.json")
