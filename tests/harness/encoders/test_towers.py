"""Vectors of two towers: batches, orders, windows, copies, memory that runs out."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from harness.encoders.replicas import spread_vectors
from harness.encoders.towers import encode_images, encode_texts, in_order
from harness.encoders.transformers_towers import TransformersTowers
from harness.errors import HarnessError, InputError
from harness.registry.torchvision_guard import guard_torchvision

torch = pytest.importorskip("torch")
guard_torchvision()
pytest.importorskip("transformers")
pytest.importorskip("PIL.Image")

from tests.support import tiny_towers  # noqa: E402

TEXTS = [*tiny_towers.TEXTS, "", "dog", "a cat runs", "zebra"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_towers.write(tmp_path_factory.mktemp("towers") / "clip")


@pytest.fixture
def towers(folder):
    return TransformersTowers(folder, "cpu", "float32")


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    return tiny_towers.pictures(tmp_path_factory.mktemp("pictures"))


@pytest.mark.parametrize("size", [1, 2, 5])
def test_vectors_depend_on_neither_batch_nor_order(towers, pictures, size):
    texts = encode_texts(towers, TEXTS)
    backwards = encode_texts(towers, TEXTS[::-1], batch_size=size)[::-1]
    assert backwards == pytest.approx(texts, abs=1e-6)
    images = encode_images(towers, pictures, tiny_towers.open_rgb)
    backwards = encode_images(
        towers, pictures[::-1], tiny_towers.open_rgb, batch_size=size, workers=1
    )[::-1]
    assert backwards == pytest.approx(images, abs=1e-6)
    for vectors in (texts, images):
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0)


def test_copies_on_two_devices_give_the_vectors_of_one(folder, towers, pictures):
    copies = [TransformersTowers(folder, name, "float32") for name in ("cpu", "cpu:0")]
    texts = spread_vectors(
        TEXTS,
        [len(text) for text in TEXTS],
        [partial(encode_texts, copy) for copy in copies],
        "float32",
    )
    assert texts == pytest.approx(encode_texts(towers, TEXTS), abs=1e-6)
    encode = partial(encode_images, open_image=tiny_towers.open_rgb)
    images = spread_vectors(
        pictures,
        [1] * len(pictures),
        [partial(encode, copy) for copy in copies],
        "float32",
    )
    assert images == pytest.approx(encode(towers, pictures), abs=1e-6)


def test_windows_of_a_long_text_are_averaged(towers):
    windows = encode_texts(towers, TEXTS, long="windows")
    ends = encode_texts(towers, TEXTS)
    # the third text alone is longer than the model reads
    assert np.flatnonzero((windows != ends).any(axis=1)).tolist() == [2]


def test_batches_of_images_are_halved_where_memory_runs_out(
    towers, pictures, monkeypatch
):
    expected = encode_images(towers, pictures, tiny_towers.open_rgb)
    encode, sizes = towers.encode_pixels, []

    def short_of_memory(pixels):
        sizes.append(len(pixels))
        if len(pixels) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
        return encode(pixels)

    monkeypatch.setattr(towers, "encode_pixels", short_of_memory)
    found = encode_images(towers, pictures, tiny_towers.open_rgb)
    assert found == pytest.approx(expected, abs=1e-6)
    assert max(sizes[1:]) < len(pictures) and sizes[-1] <= 3

    def full(pixels):
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(towers, "encode_pixels", full)
    with pytest.raises(HarnessError, match="clip: out of memory with one image; use"):
        encode_images(towers, pictures, tiny_towers.open_rgb)


def test_threads_that_decode_leave_those_of_the_model_as_they_are(towers, pictures):
    before = torch.get_num_threads()
    torch.set_num_threads(before + 1)
    try:
        seen = []

        def open_image(name):
            seen.append(torch.get_num_threads())
            return tiny_towers.open_rgb(name)

        encode_images(towers, pictures, open_image)
        assert set(seen) == {1} and torch.get_num_threads() == before + 1
    finally:
        torch.set_num_threads(before)


def test_a_broken_image_is_named(towers, pictures):
    def open_image(name):
        if name == pictures[4]:
            raise InputError("the image does not decode", name)
        return tiny_towers.open_rgb(name)

    with pytest.raises(InputError, match=r"4\.png: the image does not decode"):
        encode_images(towers, pictures, open_image)


def test_blocks_of_any_format_are_put_in_order():
    blocks = [
        (np.array([2, 0]), torch.tensor([[2.0], [0.0]], dtype=torch.bfloat16)),
        (np.array([1]), torch.tensor([[1.0]], dtype=torch.bfloat16)),
    ]
    ordered = in_order(blocks)
    assert ordered.tolist() == [[0.0], [1.0], [2.0]] and ordered.dtype == np.float32
