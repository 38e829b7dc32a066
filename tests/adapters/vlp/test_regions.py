"""Region files and geometry vectors."""

from __future__ import annotations

import json

import numpy as np
import pytest

from harness.contracts import Example
from harness.errors import InputError
from harness_models.vlp.regions import RegionFiles, geometry


@pytest.fixture(scope="module")
def golden(golden):
    folder = golden / "vlp"
    config = json.loads((folder / "config.json").read_text())
    files = RegionFiles(path=folder / "region_features.npz")
    images = [files.read(Example(name, ("a",))) for name in config["image_ids"]]
    return images, folder, config


def test_geometry_equals_the_authors_loader(golden):
    images, folder, _ = golden
    with np.load(folder / "preprocessed.npz") as values:
        np.testing.assert_allclose(
            np.stack([image.geometry for image in images]), values["vis_pe"], atol=2e-5
        )


def test_layouts_give_the_same_regions(golden, tmp_path):
    h5py = pytest.importorskip("h5py")
    images, folder, config = golden
    with (
        np.load(folder / "region_features.npz") as values,
        h5py.File(tmp_path / "boxes.h5", "w") as boxes,
    ):
        (tmp_path / "npy").mkdir()
        for name in config["image_ids"]:
            boxes[name] = values[f"{name}.bbox"]
            np.save(tmp_path / "npy" / f"{name}.npy", values[f"{name}.feat"])
            np.save(tmp_path / "npy" / f"{name}_cls_prob.npy", values[f"{name}.cls"])
            for kind, key in (("feat", "feat"), ("cls", "cls")):
                with h5py.File(tmp_path / f"coco_{kind}{name[-3:]}.h5", "a") as shard:
                    shard[name] = values[f"{name}.{key}"]
    for path in (tmp_path / "npy", tmp_path / "coco"):
        files = RegionFiles(path=path, boxes=tmp_path / "boxes.h5")
        for i, name in enumerate(config["image_ids"]):
            image = files.read(Example("x", ("a",), f"val/{name}.jpg"))
            np.testing.assert_array_equal(image.features, images[i].features)
            np.testing.assert_array_equal(image.geometry, images[i].geometry)
        with pytest.raises(
            InputError,
            match=r"no region features 'COCO_val2014_000000300000' for example 'y'",
        ):
            files.read(Example("y", ("a",), "COCO_val2014_000000300000.jpg"))


def test_features_that_are_not_finite_are_refused(tmp_path):
    feat = np.zeros((3, 4), dtype=np.float32)
    feat[1, 2] = np.nan
    np.savez(
        tmp_path / "f.npz",
        **{"a.feat": feat, "a.cls": np.ones((3, 5)), "a.bbox": np.ones((3, 6))},
    )
    with pytest.raises(InputError, match="region features of example 'a' contain NaN"):
        RegionFiles(path=tmp_path / "f.npz").read(Example("a", ("r",)))
    np.savez(
        tmp_path / "g.npz",
        **{"a.feat": feat, "a.cls": np.ones((2, 5)), "a.bbox": np.ones((3, 6))},
    )
    with pytest.raises(InputError, match="do not match"):
        RegionFiles(path=tmp_path / "g.npz").read(Example("a", ("r",)))


def test_geometry_is_scale_free():
    generator = np.random.default_rng(0)
    boxes = generator.uniform(10, 400, size=(7, 6)).astype(np.float32)
    classes = generator.uniform(size=(7, 11)).astype(np.float32)
    wide = boxes.copy()
    wide[:, :4] *= 3
    np.testing.assert_allclose(
        geometry(boxes, classes), geometry(wide, classes), atol=1e-4
    )


def test_missing_files_are_refused(tmp_path):
    with pytest.raises(
        InputError,
        match="expected a folder of .npy files, a .npz file, or the prefix of",
    ):
        RegionFiles(path=tmp_path / "none")
    with pytest.raises(InputError, match="no such file of region features"):
        RegionFiles(path=tmp_path / "none.npz")
    with pytest.raises(InputError, match="region features need the h5 file of boxes"):
        RegionFiles(path=tmp_path)
