"""Caption sets and specs from a file of candidates and a file of references."""

from __future__ import annotations

import json

import pytest

from harness.errors import InputError
from harness.run.file_pair import candidate_adapter, read_file_pair, reference_reader, score_spec
from harness.spec.loading import load_specs


@pytest.fixture
def pair(tmp_path):
    (tmp_path / "p.json").write_text(json.dumps({"a": ["x y"], "b": ["z", "w"]}))
    (tmp_path / "r.json").write_text(json.dumps({"a": ["x", "y"], "b": ["z"], "c": ["v"]}))
    return str(tmp_path / "p.json"), str(tmp_path / "r.json")


def test_the_engine_finds_its_components_by_their_roles():
    assert (reference_reader(), candidate_adapter()) == ("auto", "predictions")


def test_sets_are_in_the_order_of_the_references(pair):
    sets = read_file_pair(*pair, allow_missing=True)
    assert [(item.id, item.candidates, item.references) for item in sets] == [
        ("a", ("x y",), ("x", "y")), ("b", ("z", "w"), ("z",)),
    ]  # fmt: skip


def test_missing_candidates_are_refused_without_permission(pair):
    with pytest.raises(InputError, match="'c'"):
        read_file_pair(*pair)


def test_the_spec_of_two_files_has_the_options_as_places(pair):
    candidates, references = pair
    located = score_spec(
        candidates, references, ["cider", "bleu:n=2"], p_value="exact", seed=3, limit=1, allow_missing=True
    )
    (loaded,) = load_specs(located)
    assert (loaded.spec.task, loaded.spec.seed, loaded.spec.limit) == ("score p.json", 3, 1)
    assert loaded.spec.metrics == [{"cider": {}}, {"bleu": {"n": 2}}]
    assert loaded.spec.significance.method == "exact"
    places = [loaded.where(*key) for key in (("metrics", 1), ("dataset", "path"), ("models", 0), ("seed",), ("views",))]
    assert places == ["-m bleu:n=2", "--references", "--candidates", "--seed", "harness score"]
