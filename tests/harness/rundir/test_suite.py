"""Folders of runs."""

from harness.rundir.format import to_json
from harness.rundir.suite import run_folders


def test_run_folders(tmp_path):
    for name in ("b/deep", "a"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "manifest.json").write_text("{}")
    assert run_folders(tmp_path / "a") == ([tmp_path / "a"], [])
    assert run_folders(tmp_path) == ([tmp_path / "a", tmp_path / "b/deep"], [])
    assert run_folders(tmp_path / "nothing") == ([tmp_path / "nothing"], [])
    (tmp_path / "suite.json").write_bytes(to_json({"runs": ["b/deep", "a"], "absent": {"t": "t: not there: f"}}))
    assert run_folders(tmp_path) == ([tmp_path / "b/deep", tmp_path / "a"], ["t"])
