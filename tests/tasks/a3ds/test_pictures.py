"""Pictures of the official file."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness_tasks.a3ds import pixels
from harness_tasks.a3ds.scene import N_SCENES, indices, labels

h5py = pytest.importorskip("h5py")


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
