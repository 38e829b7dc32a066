"""Fingerprints of weights."""

from __future__ import annotations

import torch

from harness_models.shared.weights.fingerprints import file_fingerprint

STATE = {
    "clip_project.model.0.weight": torch.randn(4, 3),
    "gpt.lm_head.weight": torch.randn(5, 4),
}


def save(path, data, **how):
    torch.save(data, path, **how)
    return path


def test_fingerprint_follows_the_bytes(tmp_path):
    one = save(tmp_path / "a.pt", STATE)
    two = save(tmp_path / "b.pt", {"a": torch.ones(1)})
    assert file_fingerprint(one) == file_fingerprint(one) != file_fingerprint(two)


def test_fingerprint_of_a_folder_does_not_depend_on_its_path(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name / "inner").mkdir(parents=True)
        (tmp_path / name / "a.txt").write_text("a")
        (tmp_path / name / "inner" / "b.txt").write_text("b")
    assert file_fingerprint(tmp_path / "one") == file_fingerprint(tmp_path / "two")
    (tmp_path / "two" / "inner" / "b.txt").write_text("c")
    assert file_fingerprint(tmp_path / "one") != file_fingerprint(tmp_path / "two")
