"""Columns of images, videos and sound of the hf reader: what reaches a model,
and when it is read.
"""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from harness.contracts import Failure
from harness.errors import InputError
from harness.files import media as media_module
from harness.files.media import MediaCell, media_file, open_media
from harness_models.shared.inputs.pictures import open_picture
from harness_tasks.readers.hf import HuggingFaceDataset

datasets = pytest.importorskip("datasets")
Image = pytest.importorskip("PIL.Image")
COLOURS = [(255, 0, 0), (0, 255, 0), (0, 0, 255)]


@pytest.fixture(autouse=True)
def local_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "harness"))


def png(colour, mode="RGB") -> bytes:
    file = io.BytesIO()
    Image.new(mode, (6, 4), colour).save(file, "PNG" if mode != "CMYK" else "JPEG")
    return file.getvalue()


def table(kind="image", **extra):
    """A data set of three examples with two captions each and one media column."""
    cells = [
        {"bytes": png(c) if kind == "image" else b"bytes %d" % i, "path": f"{i}.x"}
        for i, c in enumerate(COLOURS)
    ]
    columns = {
        "id": [7, 8, 9],
        "captions": [["a", "b"], ["c", "d"], ["e", "f"]],
        kind: cells,
        **extra,
    }
    types = {
        "image": datasets.Image(),
        "video": datasets.Video(),
        "audio": datasets.Audio(),
    }
    return datasets.Dataset.from_dict(columns).cast_column(kind, types[kind])


def layouts(data, tmp_path):
    """The same data set as a saved folder, a Parquet file and a folder of Parquet."""
    data.save_to_disk(str(tmp_path / "saved"))
    (tmp_path / "folder").mkdir()
    data.to_parquet(str(tmp_path / "folder" / "train.parquet"))
    return [
        tmp_path / "saved",
        tmp_path / "folder" / "train.parquet",
        tmp_path / "folder",
    ]


def pixel(example):
    image = open_picture(example, Path("not used"))
    assert not isinstance(image, Failure), image
    return image.getpixel((0, 0))


@pytest.mark.parametrize("streaming", [False, True])
def test_images_reach_a_model_from_each_layout(tmp_path, streaming):
    for path in layouts(table(), tmp_path):
        examples = list(
            HuggingFaceDataset(path=str(path), split="train[1:]", streaming=streaming)
        )
        assert [(e.id, e.references) for e in examples] == [
            ("8", ("c", "d")),
            ("9", ("e", "f")),
        ]
        assert [pixel(example) for example in examples] == COLOURS[1:]


@pytest.mark.parametrize("kind", ["video", "audio"])
@pytest.mark.parametrize("streaming", [False, True])
def test_videos_and_sound_are_files_for_a_model(tmp_path, kind, streaming):
    path, *_ = layouts(table(kind), tmp_path)
    examples = list(HuggingFaceDataset(path=str(path), streaming=streaming))
    assert [media_file(example.media).read_bytes() for example in examples] == [
        b"bytes 0",
        b"bytes 1",
        b"bytes 2",
    ]
    assert [Path(example.media).name for example in examples] == ["0.x", "1.x", "2.x"]


def test_no_content_is_read_until_something_opens_it(tmp_path, monkeypatch):
    path, *_ = layouts(table(), tmp_path)
    reads = []
    whole = MediaCell.read
    monkeypatch.setattr(
        MediaCell, "read", lambda self: reads.append(self.row) or whole(self)
    )
    examples = list(HuggingFaceDataset(path=str(path)))
    assert reads == [] and not (tmp_path / "harness").exists()
    assert pixel(examples[2]) == COLOURS[2]
    assert reads == [2] and not (tmp_path / "harness").exists()


def test_cells_are_read_after_a_filter_and_in_any_order(tmp_path):
    path, *_ = layouts(table(part=["x", "y", "x"]), tmp_path)
    examples = list(HuggingFaceDataset(path=str(path), where={"part": "x"}))
    media_module._opened.clear()
    assert [pixel(example) for example in reversed(examples)] == [
        COLOURS[2],
        COLOURS[0],
    ]


def test_one_caption_per_row_keeps_the_first_image(tmp_path):
    cells = [{"bytes": png(colour), "path": None} for colour in COLOURS]
    data = datasets.Dataset.from_dict(
        {"id": [1, 1, 2], "caption": ["a", "b", "c"], "image": cells}
    )
    data.cast_column("image", datasets.Image()).save_to_disk(str(tmp_path / "rows"))
    first, second = HuggingFaceDataset(path=str(tmp_path / "rows"))
    assert first.references == ("a", "b") and (pixel(first), pixel(second)) == (
        COLOURS[0],
        COLOURS[2],
    )


def test_a_folder_of_images_with_metadata(tmp_path):
    for name, colour in zip("abc", COLOURS):
        (tmp_path / f"{name}.png").write_bytes(png(colour))
    lines = [
        f'{{"file_name": "{name}.png", "captions": ["text {name}"], "id": "{name}"}}'
        for name in "abc"
    ]
    (tmp_path / "metadata.jsonl").write_text("\n".join(lines))
    examples = {
        example.id: example for example in HuggingFaceDataset(path=str(tmp_path))
    }
    assert examples["b"].media == str(tmp_path / "b.png")
    assert pixel(examples["c"]) == COLOURS[2]


def test_the_column_is_chosen_or_left_out(tmp_path):
    path, *_ = layouts(table(filename=["x.jpg", "y.jpg", "z.jpg"]), tmp_path)
    by_name = HuggingFaceDataset(path=str(path), columns={"media": "filename"})
    assert [example.media for example in by_name] == ["x.jpg", "y.jpg", "z.jpg"]
    assert [
        example.media
        for example in HuggingFaceDataset(path=str(path), columns={"media": None})
    ] == [None] * 3
    assert all(
        example.media.startswith("dataset:")
        for example in HuggingFaceDataset(path=str(path), mapping="coco")
    )


@pytest.mark.parametrize("streaming", [False, True])
def test_a_row_without_image(tmp_path, streaming):
    data = datasets.Dataset.from_dict(
        {
            "id": [1, 2],
            "captions": [["a"], ["b"]],
            "image": [None, {"bytes": png((1, 2, 3)), "path": None}],
        }
    )
    data.cast_column("image", datasets.Image()).save_to_disk(str(tmp_path / "gap"))
    first, second = HuggingFaceDataset(path=str(tmp_path / "gap"), streaming=streaming)
    assert first.media is None and pixel(second) == (1, 2, 3)
    assert open_picture(first, None) == Failure(
        "the example names no image; columns: {media: "
        "NAME} of the data set names the column"
    )


def test_captions_in_objects_of_lists(tmp_path):
    data = datasets.Dataset.from_dict(
        {
            "cocoid": [1],
            "sentences": [{"raw": ["a dog", "a cat"], "tokens": [["a"], ["b"]]}],
        }
    )
    data.save_to_disk(str(tmp_path / "objects"))
    (example,) = HuggingFaceDataset(path=str(tmp_path / "objects"), mapping="coco")
    assert example.references == ("a dog", "a cat")


DAMAGED = {
    "truncated": (png((9, 9, 9))[:50], "the image does not decode (OSError: "),
    "no image": (
        b"hello",
        "the image does not decode (UnidentifiedImageError: "
        "cannot identify image file)",
    ),
    "empty": (
        b"",
        "the image does not decode (UnidentifiedImageError: "
        "cannot identify image file)",
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_images_are_failures_of_their_example(tmp_path, name):
    content, reason = DAMAGED[name]
    data = datasets.Dataset.from_dict(
        {"id": [1], "captions": [["a"]], "image": [{"bytes": content, "path": "a.png"}]}
    )
    data.cast_column("image", datasets.Image()).save_to_disk(str(tmp_path / "data"))
    (example,) = HuggingFaceDataset(path=str(tmp_path / "data"))
    failure = open_picture(example, None)
    assert (
        isinstance(failure, Failure)
        and f"data: row 1, image a.png: {reason}" in failure.reason
    )
    assert "\n" not in failure.reason and "0x" not in failure.reason


def test_images_of_other_modes(tmp_path):
    deep = io.BytesIO()
    Image.new("I;16", (6, 4), 257 * 128).save(deep, "PNG")
    cells = [
        {"bytes": content, "path": None}
        for content in (png((0, 0, 0, 0), "CMYK"), deep.getvalue(), png(7, "L"))
    ]
    data = datasets.Dataset.from_dict(
        {"id": [1, 2, 3], "captions": [["a"]] * 3, "image": cells}
    )
    data.cast_column("image", datasets.Image()).save_to_disk(str(tmp_path / "data"))
    pixels = [
        pixel(example) for example in HuggingFaceDataset(path=str(tmp_path / "data"))
    ]
    assert pixels[1:] == [(128, 128, 128), (7, 7, 7)] and all(
        value > 250 for value in pixels[0]
    )


def test_a_huge_image_is_a_failure(tmp_path, monkeypatch):
    path, *_ = layouts(table(), tmp_path)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 8)
    example, *_ = HuggingFaceDataset(path=str(path))
    failure = open_picture(example, None)
    assert (
        isinstance(failure, Failure)
        and "DecompressionBombError: Image size (24 pixels) exceeds limit"
        in failure.reason
    )


def test_a_data_set_that_is_gone(tmp_path):
    path, *_ = layouts(table(), tmp_path)
    example, *_ = HuggingFaceDataset(path=str(path))
    media_module._opened.clear()
    path.rename(tmp_path / "moved")
    with pytest.raises(InputError, match="no such file or folder"):
        open_media(example.media)
    failure = open_picture(example, None)
    assert isinstance(failure, Failure) and "no such file or folder" in failure.reason


def test_a_column_of_lists_of_images_is_refused(tmp_path):
    cells = [[{"bytes": png((1, 2, 3)), "path": None}] * 2]
    data = datasets.Dataset.from_dict({"id": [1], "captions": [["a"]], "media": cells})
    data.cast_column("media", datasets.List(datasets.Image())).save_to_disk(
        str(tmp_path / "data")
    )
    with pytest.raises(
        InputError,
        match="the column 'media' is of the type List; expected names, or one image, "
        "video or sound",
    ):
        list(HuggingFaceDataset(path=str(tmp_path / "data")))
    (example,) = HuggingFaceDataset(
        path=str(tmp_path / "data"), columns={"media": None}
    )
    assert example.media is None
