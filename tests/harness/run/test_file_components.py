"""The components that read files of candidates and references."""

from __future__ import annotations

from harness.run.file_components import candidate_adapter, reference_reader


def test_the_engine_finds_its_components_by_their_roles():
    assert (reference_reader(), candidate_adapter()) == ("auto", "predictions")
