"""Media of examples: files, cells of data sets, the cache of their content."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from harness.contracts import Example
from harness.errors import HarnessError, InputError
from harness.files.dataset_source import DatasetSource
from harness.files.media import (
    MediaCell,
    check_media,
    encoded_content,
    media_file,
    media_label,
    open_media,
    require_media,
    store_media,
    suffix_of,
)

datasets = pytest.importorskip("datasets")
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
HEADS = [
    PNG,
    b"\xff\xd8\xff\xe0\0\x10JFIF",
    b"GIF89a\x01\0\x01\0",
    b"RIFF\x24\0\0\0WEBPVP8 ",
    b"RIFF\x24\0\0\0WAVEfmt ",
    b"fLaC\0\0\0\x22",
    b"OggS\0\x02",
    b"ID3\x04\0",
    b"\xff\xfb\x90\x64\0",
    b"\xff\xf1\x50\x80\x02",
    b"\0\0\0\x20ftypisom",
    b"\0\0\0\x08wide\0\0",
    b"\x1aE\xdf\xa3\x01",
    b"RIFF\x24\0\0\0AVI LIST",
    b"BM\x36\0\0\0",
    b"II*\0\x08",
    b"MM\0*\0",
    b"\0\0\0\x0cjP  ",
    b"FLV\x01\x05\0",
    b"\0\0\x01\xba\x44",
    b"G@\0\x10\0",
    b"0&\xb2u\x8ef\xcf\x11",
    b"FORM\0\0\x01\0AIFFCOMM",
    b"#!AMR\n\x04",
    b".snd\0\0\0\x18",
    b"caff\0\x01",
    b"P6\n8 8\n255\n\0\x01",
]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def cell(tmp_path):
    """The second row of a saved data set with a column of sound."""
    rows = [
        {"bytes": b"first", "path": "a.wav"},
        {"bytes": b"RIFF....WAVE2", "path": "b c.wav"},
    ]
    data = datasets.Dataset.from_dict({"id": [1, 2], "audio": rows}).cast_column(
        "audio", datasets.Audio()
    )
    data.save_to_disk(str(tmp_path / "a folder"))
    return MediaCell(
        DatasetSource(str(tmp_path / "a folder"), split="train"), "audio", 1, "b c.wav"
    )


def content(media, folder=None):
    with open_media(media, folder) as file:
        return file.read()


def test_a_cell_is_a_text_and_back(cell):
    assert MediaCell.parse(cell.text) == cell
    assert Path(cell.text).stem == "b c"
    other = MediaCell(
        DatasetSource("owner/name", "config & co", "test[:5]", "main"),
        "a column",
        0,
        "0",
    )
    assert MediaCell.parse(other.text) == other
    assert [
        MediaCell.parse(text) for text in ("a.png", "dataset:x", "dataset:x?row=y/z")
    ] == [None] * 3


@pytest.mark.slow
def test_a_cell_is_read_here_and_in_another_process(cell):
    assert (
        content(cell.text)
        == content(pickle.loads(pickle.dumps(cell.text)))
        == b"RIFF....WAVE2"
    )
    code = (
        "import sys; from harness.files.media import open_media; "
        "print(open_media(sys.argv[1]).read())"
    )
    reply = subprocess.run(
        [sys.executable, "-c", code, cell.text],
        capture_output=True,
        text=True,
        check=True,
    )
    assert reply.stdout.strip() == "b'RIFF....WAVE2'"


def test_a_file_is_opened_in_its_folder(tmp_path):
    (tmp_path / "a.png").write_bytes(PNG)
    assert content("a.png", tmp_path) == content(str(tmp_path / "a.png")) == PNG
    assert media_file("a.png", tmp_path) == tmp_path / "a.png"
    with pytest.raises(FileNotFoundError):
        open_media("b.png", tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "root:x:0:0:root:/root",
        "",
        "#EXTM3U\nhttp://host/",
        "BMW is a car",
        "P5 is next",
        "I am free",
        "FLVs and GIFs",
        "GIF87a",
        "ID3 tags",
    ],
)
def test_a_file_that_is_no_media_is_not_opened(tmp_path, text):
    (tmp_path / "a.png").write_text(text)
    for folder, name in ((tmp_path, "a.png"), (None, str(tmp_path / "a.png"))):
        with pytest.raises(
            InputError, match=r"a\.png: is no image, video or sound by its content"
        ):
            open_media(name, folder)


@pytest.mark.parametrize("head", HEADS)
def test_the_formats_of_media_are_known_by_their_first_bytes(head):
    require_media(head, "a")


def test_a_media_name_does_not_lead_out_of_its_folder(tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    (tmp_path / "secret.png").write_bytes(PNG)
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    (folder / "a.png").write_bytes(PNG)
    (folder / "inside.png").symlink_to("a.png")
    (tmp_path / "alias").symlink_to(folder)

    for name in ("../secret.png", "link.png"):
        for function in (open_media, media_file):
            with pytest.raises(
                InputError,
                match=f"leads out of the folder {folder}, to {tmp_path}/secret.png",
            ):
                function(name, folder)

    for name, place in (
        ("a.png", folder),
        ("inside.png", folder),
        ("a.png", tmp_path / "alias"),
        ("images/link.png", tmp_path),
    ):
        assert content(name, place) == PNG


def test_a_folder_that_the_name_begins_with_is_not_joined_twice(tmp_path, monkeypatch):
    folder = tmp_path / "data" / "images"
    (folder / "val").mkdir(parents=True)
    for name in ("a.png", "val/b.png"):
        (folder / name).write_bytes(PNG)

    monkeypatch.chdir(tmp_path)
    for name in (
        "a.png",
        "images/a.png",
        "data/images/a.png",
        "images/val/b.png",
        str(folder / "a.png"),
    ):
        assert content(name, folder) == PNG, "a whole path of the folder"
        assert content(name, Path("data/images")) == PNG

    assert media_file("images/c.png", folder) == folder / "images" / "c.png", (
        "a file that is nowhere is looked for as it is named"
    )

    (folder / "images").mkdir()
    (folder / "images" / "a.png").write_bytes(PNG + b"other")
    assert content("images/a.png", folder) == PNG + b"other", (
        "a folder of the same name inside goes first"
    )


def check(media: str | None, *names: object) -> None:
    """Check one media name against the parameters of its data set."""
    (example,) = check_media([Example("7", ("r",), media)], names)
    assert example.media == media


def test_media_lie_in_the_folders_that_the_spec_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in (
        "data/captions.json",
        "data/images/1.png",
        "data/link.png",
        "home/secret.png",
        "home/1.png",
        "data2/1.png",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name == "data/link.png":
            path.symlink_to("../home/secret.png")
        else:
            path.write_bytes(PNG)

    data = str(tmp_path / "data")
    captions = f"{data}/captions.json"
    other = str(tmp_path / "home")
    cell = MediaCell(DatasetSource(other), "image", 0, "x").text
    relative = [
        "data/images/1.png",
        "not there.png",
        "deep/not there.png",
        "3dshapes:12",
    ]
    hub = ["hf://datasets/a/b.png", "zip://a.png::hf://datasets/a/b.zip"]
    for media in (
        None,
        f"{data}/images/1.png",
        f"{data}/not there.png",
        "/data/upload/1/1.jpg",  # the server of an annotation tool
        "/home/somebody/coco/1.jpg",
        *relative,
        *hub,
    ):
        check(media, captions, None, 3, ["x"])

    links = [f"{data}/link.png", "data/link.png"]
    for media in (
        "/etc/passwd",
        "/proc/self/fd/99",
        f"{data}/../home/1.png",
        "../x.png",
        "home/1.png",
        str(tmp_path),
        f"{data}2/1.png",
        "a\0b",
        "/a\0b",
        cell,
        *links,
    ):
        with pytest.raises(
            InputError,
            match=r"^example '7': the media .* lies outside of the folders of the data "
            r"set; where it belongs",
        ):
            check(media, captions)

    # media_root, or images of a model
    check("home/1.png", captions, str(tmp_path / "home"))
    check(f"{data}/link.png", captions, str(tmp_path / "home"))
    check(cell, other)


@pytest.mark.parametrize("name", ["http://host/?hf://x", "file:///etc/passwd?hf://"])
def test_an_address_that_contains_that_of_the_hub_is_the_name_of_a_file(
    name, monkeypatch
):
    monkeypatch.setitem(sys.modules, "fsspec", None)  # no import: nothing is asked for
    with pytest.raises(FileNotFoundError):
        open_media(name)


def test_a_cell_becomes_a_file_once(cell, tmp_path):
    path = media_file(cell.text, tmp_path)
    assert path.name == "b c.wav" and path.read_bytes() == b"RIFF....WAVE2"
    first = path.stat().st_mtime_ns
    assert media_file(cell.text) == path and path.stat().st_mtime_ns == first
    path.write_bytes(b"cut")  # a file of another size is written again
    assert media_file(cell.text).read_bytes() == b"RIFF....WAVE2"
    assert store_media(b"\x89PNG", "").name == "media.png"


@pytest.mark.parametrize(
    "damaged", [b"", b"RIFF....WAV", bytes(13), b"RIFF....WAVE3", b"RIFF....WAVE2\0"]
)
def test_a_damaged_media_file_of_the_cache_is_written_again(
    tmp_path, monkeypatch, damaged
):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    path = store_media(b"RIFF....WAVE2", "a.wav")
    path.write_bytes(damaged)
    assert store_media(b"RIFF....WAVE2", "a.wav") == path
    assert path.read_bytes() == b"RIFF....WAVE2"


def test_a_full_disk_leaves_no_part_of_a_media_file(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(HarnessError, match="No space left on device"):
        store_media(b"content", "a.png")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_cache_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "file"))
    with pytest.raises(
        HarnessError, match="the cache of media cannot be written .*: set HARNESS_CACHE"
    ):
        store_media(b"content", "a.png")


def test_cells_without_content(cell, tmp_path):
    with pytest.raises(InputError, match=r"a folder: no row 9 of the column 'audio'"):
        open_media(MediaCell(cell.source, "audio", 9, "x").text)
    with pytest.raises(InputError, match="no row 0 of the column 'image'"):
        open_media(MediaCell(cell.source, "image", 0, "x").text)
    with pytest.raises(InputError, match="here: the media cell is empty"):
        encoded_content({"bytes": None, "path": None}, "here")
    with pytest.raises(
        InputError, match=r"gone.wav: the file cannot be read \(No such file"
    ):
        encoded_content({"bytes": None, "path": str(tmp_path / "gone.wav")}, "here")


def test_labels_for_messages(cell):
    assert media_label(cell.text) == f"{cell.source.path}: row 2, audio b c.wav"
    assert media_label("a.png", Path("images")) == "images/a.png"


@pytest.mark.parametrize(
    "head, suffix",
    [
        (b"\xff\xd8\xff\xe0", ".jpg"),
        (b"RIFF\0\0\0\0WEBP", ".webp"),
        (b"fLaC", ".flac"),
        (b"none", ""),
    ],
)
def test_suffixes_by_content(head, suffix):
    assert suffix_of(head) == suffix


def test_media_outside_of_the_folders_are_left_out_where_the_caller_takes_them(
    tmp_path,
):
    (tmp_path / "1.png").write_bytes(PNG)
    outside = [Example("a", ("r",), str(tmp_path / "1.png")), Example("b", ("r",))]
    left_out: list[Example] = []
    examples = list(check_media(outside, ["/data set"], left_out.append))
    assert [example.media for example in examples] == [None, None]
    assert left_out == outside[:1]
