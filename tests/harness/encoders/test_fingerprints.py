"""Fingerprints of weights."""

from __future__ import annotations

import pytest

from harness.encoders.fingerprints import weights_fingerprint
from harness.errors import InputError


def test_the_fingerprint_follows_the_content_of_a_file(tmp_path):
    file = tmp_path / "w.bin"
    file.write_bytes(b"abc")
    # SHA-256 of "abc" (FIPS 180-4, appendix B.1)
    assert weights_fingerprint(file) == "ba7816bf8f01"
    file.write_bytes(b"abd")
    assert weights_fingerprint(file) != "ba7816bf8f01"


def test_the_fingerprint_of_a_folder_ignores_other_files(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    before = weights_fingerprint(tmp_path)
    (tmp_path / "README.md").write_text("text")
    assert weights_fingerprint(tmp_path) == before
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    assert weights_fingerprint(tmp_path) != before


def test_a_path_without_a_model_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="no such model file"):
        weights_fingerprint(tmp_path)
