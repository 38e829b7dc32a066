"""Files that a killed process was writing."""

from __future__ import annotations

import pytest

from tests.support.run_directories import create


def test_a_temporary_file_of_a_killed_process_is_no_obstacle(tmp_path):
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / ".manifest.json.4711.tmp").write_text("{")
    create(tmp_path / "r").close()
    assert (tmp_path / "r" / "manifest.json").is_file()


@pytest.mark.parametrize(
    ("name", "removed"),
    [
        (".manifest.json.999.tmp", True),
        (".results.json.999.tmp", True),
        (".samples.parquet.999.tmp", True),
        ("scores/.bleu-0123.npz.999.tmp", True),
        ("candidates/.echo-0123.json.999.tmp", True),
        (".comparisons.json.99999999.tmp", True),
        # 'harness compare' writes it without the lock, and may be running
        (".comparisons.json.1.tmp", False),
        (".notes.txt.99999999.tmp", False),
        ("scores/notes.tmp", False),
        ("scores/.hidden", False),
    ],
)
def test_what_a_killed_process_was_writing_is_removed(tmp_path, name, removed):
    create(tmp_path / "r").close()
    file = tmp_path / "r" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("{")
    create(tmp_path / "r", mode="resume").close()
    assert file.exists() != removed
