"""Video features from files and scenes."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import Example
from harness.errors import HarnessError, InputError
from harness_models.shared.inputs.videos import (
    SceneVideos,
    VideoFeatureFiles,
    open_videos,
    sampled_frames,
)


def test_frames_are_the_middles_of_equal_spans():
    assert sampled_frames(60, 8).tolist() == [3, 11, 18, 26, 33, 41, 48, 56]
    assert sampled_frames(8, 8).tolist() == list(range(8))
    assert len(sampled_frames(3, 8)) == 8
    assert sampled_frames(1, 1).tolist() == [0]


@pytest.fixture
def files(tmp_path):
    for name, width in (("m", 4), ("i", 3)):
        np.savez(
            tmp_path / f"{name}.npz",
            v1=np.arange(6.0 * width).reshape(6, width),
            video2=np.ones((2, width)),
        )
    return {name: str(tmp_path / f"{name}.npz") for name in "mi"}


def test_series_are_read_in_the_order_of_the_widths(files):
    source = open_videos(files, 3)
    assert isinstance(source, VideoFeatureFiles)
    example = Example("v1", ("a",))
    assert source.widths(example) == {"m": 4, "i": 3}
    image, motion = source.read(example, {"i": 3, "m": 4})
    assert (image.shape, motion.shape) == ((3, 3), (3, 4))
    assert image[:, 0].tolist() == [3, 9, 15]
    assert image.dtype == np.float32


def test_series_are_named_by_id_number_or_media(files):
    source = open_videos(files, 2)
    source.check(
        [
            Example("v1", ("a",)),
            Example("2", ("a",)),
            Example("x", ("a",), "videos/v1.mp4"),
        ]
    )
    with pytest.raises(InputError, match="no features for 2 of 3 examples: y, z"):
        source.check(
            [Example("v1", ("a",)), Example("y", ("a",)), Example("z", ("a",))]
        )


def test_hdf5_files_give_the_same_series(files, tmp_path):
    h5py = pytest.importorskip("h5py")
    with np.load(files["m"]) as arrays, h5py.File(tmp_path / "m.hdf5", "w") as file:
        for name in arrays.files:
            file[name] = arrays[name]
    example = Example("v1", ("a",))
    (one,) = open_videos({"m": files["m"]}, 3).read(example, {"m": 4})
    (two,) = open_videos({"m": str(tmp_path / "m.hdf5")}, 3).read(example, {"m": 4})
    assert np.array_equal(one, two)
    (tmp_path / "bad.hdf5").write_bytes(b"no file")
    with pytest.raises(InputError, match="not a readable HDF5 file"):
        open_videos({"m": str(tmp_path / "bad.hdf5")}, 3).check([example])


def test_features_that_do_not_fit_are_refused(files, tmp_path):
    source = open_videos(files, 2)
    example = Example("v1", ("a",))
    with pytest.raises(InputError, match=r"features \(6, 4\), expected \(frames, 5\)"):
        source.read(example, {"m": 5})
    with pytest.raises(
        InputError, match="the checkpoint takes the modality 'o'; features has m, i"
    ):
        source.read(example, {"o": 5})
    np.savez(tmp_path / "nan.npz", v1=np.full((2, 4), np.nan))
    with pytest.raises(
        InputError, match="features of example 'v1' contain NaN or infinity"
    ):
        open_videos({"m": str(tmp_path / "nan.npz")}, 2).read(example, {"m": 4})
    with pytest.raises(InputError, match="no such feature file"):
        open_videos({"m": str(tmp_path / "none.npz")}, 2)


@pytest.mark.parametrize("features", [None, {}, "m.npz", 3])
def test_values_that_are_no_mapping_are_refused(features):
    with pytest.raises(
        HarnessError, match="features is a mapping of modalities to files"
    ):
        open_videos(features, 2)


def test_scenes_have_motion_and_image():
    source = open_videos({"scenes": {"frames": 2, "stride": 3}}, 8)
    assert isinstance(source, SceneVideos)
    widths = source.widths()
    assert list(widths) == ["m", "i"]
    with pytest.raises(InputError, match="the features of scenes are"):
        source.read(Example("5", ("a",)), {"m": 1})
