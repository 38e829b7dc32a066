"""Media of examples: files, cells of data sets, the cache of their content."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import HarnessError, InputError
from harness.files.dataset_source import DatasetSource
from harness.files.media import MediaCell, encoded_content, media_file, media_label, open_media, store_media, suffix_of

datasets = pytest.importorskip("datasets")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def cell(tmp_path):
    """The second row of a saved data set with a column of sound."""
    rows = [{"bytes": b"first", "path": "a.wav"}, {"bytes": b"RIFF....WAVE2", "path": "b c.wav"}]
    data = datasets.Dataset.from_dict({"id": [1, 2], "audio": rows}).cast_column("audio", datasets.Audio())
    data.save_to_disk(str(tmp_path / "a folder"))
    return MediaCell(DatasetSource(str(tmp_path / "a folder"), split="train"), "audio", 1, "b c.wav")


def content(media, folder=None):
    with open_media(media, folder) as file:
        return file.read()


def test_a_cell_is_a_text_and_back(cell):
    assert MediaCell.parse(cell.text) == cell
    assert Path(cell.text).stem == "b c"
    other = MediaCell(DatasetSource("owner/name", "config & co", "test[:5]", "main"), "a column", 0, "0")
    assert MediaCell.parse(other.text) == other
    assert [MediaCell.parse(text) for text in ("a.png", "dataset:x", "dataset:x?row=y/z")] == [None] * 3


def test_a_cell_is_read_here_and_in_another_process(cell):
    assert content(cell.text) == content(pickle.loads(pickle.dumps(cell.text))) == b"RIFF....WAVE2"
    code = "import sys; from harness.files.media import open_media; print(open_media(sys.argv[1]).read())"
    reply = subprocess.run([sys.executable, "-c", code, cell.text], capture_output=True, text=True, check=True)
    assert reply.stdout.strip() == "b'RIFF....WAVE2'"


def test_a_file_is_opened_in_its_folder(tmp_path):
    (tmp_path / "a.png").write_bytes(b"image")
    assert content("a.png", tmp_path) == content(str(tmp_path / "a.png")) == b"image"
    assert media_file("a.png", tmp_path) == tmp_path / "a.png"
    with pytest.raises(FileNotFoundError):
        open_media("b.png", tmp_path)


def test_a_cell_becomes_a_file_once(cell, tmp_path):
    path = media_file(cell.text, tmp_path)
    assert path.name == "b c.wav" and path.read_bytes() == b"RIFF....WAVE2"
    first = path.stat().st_mtime_ns
    assert media_file(cell.text) == path and path.stat().st_mtime_ns == first
    path.write_bytes(b"cut")  # a file of another size is written again
    assert media_file(cell.text).read_bytes() == b"RIFF....WAVE2"
    assert store_media(b"\x89PNG", "").name == "media.png"


def test_a_cache_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "file"))
    with pytest.raises(HarnessError, match="the cache of media cannot be written .*: set HARNESS_CACHE"):
        store_media(b"content", "a.png")


def test_cells_without_content(cell, tmp_path):
    with pytest.raises(InputError, match=r"a folder: no row 9 of the column 'audio'"):
        open_media(MediaCell(cell.source, "audio", 9, "x").text)
    with pytest.raises(InputError, match="no row 0 of the column 'image'"):
        open_media(MediaCell(cell.source, "image", 0, "x").text)
    with pytest.raises(InputError, match="here: the media cell is empty"):
        encoded_content({"bytes": None, "path": None}, "here")
    with pytest.raises(InputError, match=r"gone.wav: the file cannot be read \(No such file"):
        encoded_content({"bytes": None, "path": str(tmp_path / "gone.wav")}, "here")


def test_labels_for_messages(cell):
    assert media_label(cell.text) == f"{cell.source.path}: row 2, audio b c.wav"
    assert media_label("a.png", Path("images")) == "images/a.png"


@pytest.mark.parametrize("head, suffix", [(b"\xff\xd8\xff\xe0", ".jpg"), (b"RIFF\0\0\0\0WEBP", ".webp"), (b"fLaC", ".flac"), (b"none", "")])
def test_suffixes_by_content(head, suffix):
    assert suffix_of(head) == suffix
