"""Image features that need no network: one-hot factors."""

from __future__ import annotations

import numpy as np
import pytest

from harness_tasks.a3ds import pixels
from harness_tasks.a3ds.scene import SIZES, indices


class OneHot:
    name = "one-hot factors"
    width = sum(SIZES)

    def features(self, ids):
        values = indices(ids)
        parts = [
            np.eye(size, dtype=np.float32)[values[:, k]] for k, size in enumerate(SIZES)
        ]
        return np.concatenate(parts, axis=1)


@pytest.fixture
def one_hot(monkeypatch):
    source = OneHot()
    monkeypatch.setattr(pixels, "features", lambda *_: source)
    return source
