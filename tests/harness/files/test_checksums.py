"""Checksums of files and folders of the cache, and the table of what the cache
holds.
"""

from __future__ import annotations

import re
import zlib
from pathlib import Path

import pytest

from harness.files.checksums import LIST, find_damage, record_checksums

ROOT = Path(__file__).parents[3]
TABLE = (
    (ROOT / "docs" / "testing.md")
    .read_text(encoding="utf-8")
    .partition("## Damaged caches")[2]
    .partition("\n## ")[0]
)
MODULES = {
    "adapters/harness_models/shared/training/model_cache.py": ("KIND/KEY/",),
    "harness/files/media.py": ("media/",),
    "harness/files/user_path.py": (),
    "harness/llm/store.py": ("answers/", "judges/", "programs/"),
    "harness/programs/environment.py": ("environments/KEY/",),
    "kernels/caption_kernels/lexicon/installed.py": (
        "meteor/*.lexicon",
        "meteor/*.sha256",
        "meteor/*.lock",
    ),
    "plugins/harness_metrics/wrapped/spice_jars.py": ("spice/*.jar",),
    "plugins/harness_metrics/wrapped/spice_process.py": ("spice/classes-KEY/",),
}
"""Modules that write below the folder of caches, and the rows of their files in the
table.
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with files at two depths, and its checksums."""
    place = tmp_path / "model"
    (place / "stage 1").mkdir(parents=True)
    (place / "weights").write_bytes(bytes(range(256)) * 400)
    (place / "stage 1" / "config.json").write_text("{}")
    (place / "empty").touch()
    record_checksums(place)
    return place


def test_a_whole_folder_has_no_damage(folder):
    assert find_damage(folder) is None
    (folder / "later").touch()
    assert find_damage(folder) is None
    record_checksums(folder)
    assert find_damage(folder) is None
    assert sorted(path.name for path in folder.iterdir()) == [
        LIST,
        "empty",
        "later",
        "stage 1",
        "weights",
    ]


@pytest.mark.parametrize("name", ["weights", "stage 1/config.json"])
@pytest.mark.parametrize("damage", ["flipped", "cut", "empty", "longer", "zeros"])
def test_any_damaged_file_is_found(folder, name, damage):
    path = folder / name
    content = path.read_bytes()
    middle = len(content) // 2
    changed = {
        "flipped": content[:middle]
        + bytes([content[middle] ^ 1])
        + content[middle + 1 :],
        "cut": content[:middle],
        "empty": b"",
        "longer": content + b"\0",
        "zeros": content[:middle] + bytes(len(content) - middle),
    }
    path.write_bytes(changed[damage])
    assert find_damage(folder) == path


@pytest.mark.parametrize("name", ["weights", "empty"])
def test_a_missing_file_is_found(folder, name):
    (folder / name).unlink()
    assert find_damage(folder) == folder / name


@pytest.mark.parametrize(
    "text", ["", "zz", "00000000", "00000000 weights", "00000000 weights\nx\n"]
)
def test_a_damaged_list_is_damage(folder, text):
    (folder / LIST).write_text(text)
    assert find_damage(folder) == folder / LIST


def test_a_list_of_other_sums_is_damage(folder):
    text = (folder / LIST).read_text()
    (folder / LIST).write_text(re.sub("(?m)^.", "g", text))
    assert find_damage(folder) is not None


def test_the_list_of_a_file_lies_beside_it(tmp_path):
    path = tmp_path / "a.jar"
    path.write_bytes(b"content")
    with pytest.raises(FileNotFoundError):
        find_damage(path)
    record_checksums(path)
    assert (
        tmp_path / "a.jar.crc32"
    ).read_text() == f"{zlib.crc32(b'content'):08x} a.jar\n"
    assert find_damage(path) is None
    path.write_bytes(b"contenT")
    assert find_damage(path) == path


def test_every_file_of_the_cache_is_in_the_table():
    sources = [
        path
        for name in ("harness", "plugins", "adapters", "tasks", "kernels", "examples")
        for path in (ROOT / name).rglob("*.py")
    ]
    writes = re.compile(r"cache_folder\(|environ.*HARNESS_CACHE")
    found = {
        path.relative_to(ROOT)
        for path in sources
        if writes.search(path.read_text(encoding="utf-8"))
    }
    names = {path.as_posix() for path in found if "build" not in path.parts}
    assert names == set(MODULES)
    for row in (row for rows in MODULES.values() for row in rows):
        assert f"| `{row}`" in TABLE


def test_every_row_of_the_table_names_a_test_that_is_there():
    rows = [line for line in TABLE.splitlines() if line.startswith("| `")]
    assert len(rows) == sum(map(len, MODULES.values()))
    for row in rows:
        names = re.findall(r"`(test_\w+)`", row)
        paths = re.findall(r"\(\.\./(\S+)\)", row)
        assert (names and len(paths) == 1) or "holds nothing" in row
        for name in names:
            assert f"def {name}(" in (ROOT / paths[0]).read_text(encoding="utf-8")
