"""Region files and geometry vectors."""

from __future__ import annotations

import json

import numpy as np
import pytest

from harness.contracts import Example
from harness.errors import HarnessError, InputError
from harness_models.vlp.region_sources import open_regions
from harness_models.vlp.regions import RegionFiles, geometry
from harness_models.vlp.scene_regions import HUES, SceneRegions, hue_shares
from harness_tasks.a3ds.render import render


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


def test_regions_are_windows_of_the_picture():
    source = SceneRegions(grid=3)
    result = source.read(Example("1234", ("a",)))
    assert (result.features.shape, result.geometry.shape) == ((10, 640), (10, 19))
    assert (result.features.shape[1], result.geometry.shape[1]) == source.widths
    assert source.boxes[0] == (0, 0, 64, 64)
    assert source.boxes[1:5] == [
        (0, 0, 32, 32),
        (16, 0, 48, 32),
        (32, 0, 64, 32),
        (0, 16, 32, 48),
    ]
    picture = render([1234])
    window = picture[:, 16:48, 0:32]
    np.testing.assert_allclose(
        result.features[0], source.network(picture)[0], atol=1e-3
    )
    np.testing.assert_allclose(
        result.features[4],
        source.network(window.repeat(2, 1).repeat(2, 2))[0],
        atol=1e-3,
    )
    shares = hue_shares(window)[0]
    boxes = np.array(
        [[*source.boxes[0], 0, 1], [0, 16, 32, 48, shares.argmax(), shares.max()]]
    )
    np.testing.assert_allclose(
        result.geometry[4], geometry(boxes, np.stack([shares, shares]))[1], atol=1e-6
    )


def test_many_scenes_are_the_same_as_one():
    together = SceneRegions(grid=2)
    alone = SceneRegions(grid=2)
    together.check([Example(str(scene), ("a",)) for scene in (5, 99, 480)])
    for scene in ("5", "99", "480"):
        one, two = (source.read(Example(scene, ("a",))) for source in (together, alone))
        np.testing.assert_allclose(one.features, two.features, atol=1e-3)
        assert np.array_equal(one.geometry, two.geometry)


def test_hues_are_counted():
    picture = np.zeros((1, 1, 4, 3), dtype=np.uint8)
    picture[0, 0] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [200, 190, 200]]
    shares = hue_shares(picture)[0]
    assert shares[[0, 4, 8, HUES]].tolist() == [0.25] * 4
    assert shares.sum() == 1


def test_invalid_input_is_refused():
    with pytest.raises(
        HarnessError, match="grid is a whole number of windows from 2 to 9; found 1"
    ):
        SceneRegions(grid=1)
    with pytest.raises(HarnessError, match="is 'first'; expected middle or last"):
        SceneRegions(view="first")


def test_paths_open_files_and_scenes_open_rendered_scenes(tmp_path):
    np.savez(tmp_path / "r.npz", x=np.zeros(1))
    assert isinstance(open_regions(str(tmp_path / "r.npz")), RegionFiles)
    assert isinstance(open_regions({"path": str(tmp_path / "r.npz")}), RegionFiles)
    source = open_regions({"scenes": {"grid": 2}})
    assert isinstance(source, SceneRegions)
    assert len(source.boxes) == 5


@pytest.mark.parametrize(
    "features", [None, 7, {}, {"boxes": "b.h5"}, {"path": "p", "more": 1}]
)
def test_other_values_are_refused(features):
    with pytest.raises(
        HarnessError, match="features is a path, {path, boxes}, or {scenes: {}}; found"
    ):
        open_regions(features)
