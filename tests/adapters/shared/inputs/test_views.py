"""Feature sequences of several views."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import Example
from harness.errors import HarnessError, InputError
from harness_models.shared.inputs.scenes import SceneViews
from harness_models.shared.inputs.views import (
    FileViews,
    SemSynAnViews,
    collate,
    open_views,
)


def test_the_published_feature_layout_is_read(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "f.h5", "w") as file:
        group = file.create_group("MSR-VTT")
        group["cnn_features"] = np.arange(24, dtype=np.float32).reshape(2, 4, 3)
        group["c3d_features"] = np.ones((2, 4, 5), dtype=np.float32)
        group["count_features"] = np.array([4, 2])
    views = SemSynAnViews(tmp_path / "f.h5")
    assert views.widths == {"appearance": 3, "motion": 5}
    assert views.read(Example("video1", ("a",)))["appearance"].tolist() == [
        [12, 13, 14],
        [15, 16, 17],
    ]
    with pytest.raises(InputError, match="no video number from 0 to 1"):
        views.read(Example("video7", ("a",)))


def test_files_give_sequences_and_single_vectors(tmp_path):
    np.savez(tmp_path / "a.npz", v=np.ones((2, 3)))
    np.savez(tmp_path / "b.npz", v=np.arange(4.0))
    views = open_views({"a": str(tmp_path / "a.npz"), "b": str(tmp_path / "b.npz")})
    assert isinstance(views, FileViews)
    assert views.widths == {"a": 3, "b": 4}
    arrays = views.read(Example("v", ("x",)))
    assert {name: array.shape for name, array in arrays.items()} == {
        "a": (2, 3),
        "b": (1, 4),
    }
    with pytest.raises(InputError, match="no features for 1 of 1 examples: w"):
        views.check([Example("w", ("x",))])


def test_scenes_open_rendered_scenes():
    assert isinstance(open_views({"scenes": {}}), SceneViews)


@pytest.mark.parametrize("features", [None, {}, "a.npz"])
def test_values_that_are_no_mapping_are_refused(features):
    with pytest.raises(HarnessError, match="features is a mapping of views to files"):
        open_views(features)


def test_files_that_are_not_in_the_published_layout_are_refused(tmp_path):
    h5py = pytest.importorskip("h5py")
    with pytest.raises(InputError, match="no such feature file"):
        SemSynAnViews(tmp_path / "none.h5")
    (tmp_path / "text.h5").write_text("no file")
    with pytest.raises(InputError, match="not a readable HDF5 file"):
        SemSynAnViews(tmp_path / "text.h5")
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file["cnn_features"] = np.ones((1, 1, 1))
    with pytest.raises(InputError, match="the file holds no arrays c3d_features"):
        SemSynAnViews(tmp_path / "f.h5")


def test_batches_are_padded_and_masked():
    rows = [
        {"a": np.ones((2, 3), dtype=np.float32)},
        {"a": np.full((1, 3), 2, dtype=np.float32)},
    ]
    views, masks = collate(rows)
    assert views["a"].tolist() == [[[1, 1, 1]] * 2, [[2, 2, 2], [0, 0, 0]]]
    assert masks["a"].tolist() == [[True, True], [True, False]]
