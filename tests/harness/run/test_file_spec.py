"""The spec of files of candidates and references."""

from __future__ import annotations

import json

import pytest

from harness.errors import HarnessError
from harness.run.file_options import FileOptions
from harness.run.file_spec import score_spec
from harness.spec.loading import load_specs


@pytest.fixture
def pair(tmp_path):
    (tmp_path / "p.json").write_text(json.dumps({"a": ["x y"], "b": ["z", "w"]}))
    (tmp_path / "r.json").write_text(
        json.dumps({"a": ["x", "y"], "b": ["z"], "c": ["v"]})
    )
    return str(tmp_path / "p.json"), str(tmp_path / "r.json")


def test_the_spec_of_two_files_has_the_options_as_places(pair):
    candidates, references = pair
    located = score_spec(
        [candidates],
        references,
        ["cider", "bleu:n=2"],
        p_value="exact",
        seed=3,
        limit=1,
        allow=["missing"],
    )
    (loaded,) = load_specs(located)
    assert (loaded.spec.task, loaded.spec.seed, loaded.spec.limit) == (
        "score p.json",
        3,
        1,
    )
    assert loaded.spec.metrics == [{"cider": {}}, {"bleu": {"n": 2}}]
    assert loaded.spec.models == [
        {"predictions": {"path": candidates, "allow_missing": True, "label": "p"}}
    ]
    (strict,) = load_specs(score_spec([candidates], references, ["cider"]))
    assert strict.spec.models == [
        {"predictions": {"path": candidates, "allow_missing": False, "label": "p"}}
    ]
    assert loaded.spec.significance.method == "exact"
    places = [
        loaded.where(*key)
        for key in (
            ("metrics", 1),
            ("dataset", "path"),
            ("models", 0),
            ("seed",),
            ("views",),
        )
    ]
    assert places == [
        "-m bleu:n=2",
        "--references",
        f"--candidates {candidates}",
        "--seed",
        "harness score",
    ]


def test_every_file_is_a_model_and_a_metric_under_two_names_is_one(pair):
    candidates, references = pair
    located = score_spec(
        [candidates, references],
        references,
        ["CIDEr,rouge", "ROUGE_L", "bleu:n=2", "bleu"],
    )
    (loaded,) = load_specs(located)
    assert [next(iter(model.values()))["label"] for model in loaded.spec.models] == [
        "p",
        "r",
    ]
    assert loaded.spec.metrics == [
        {"CIDEr": {}},
        {"rouge": {}},
        {"bleu": {"n": 2}},
        {"bleu": {}},
    ]


def test_a_metric_that_is_not_known_stays_for_the_message_of_the_run(pair):
    located = score_spec([pair[0]], pair[1], ["cidr", "cidr", "CIDER, cider"])
    assert located.data["metrics"] == [{"cidr": {}}, {"CIDER": {}}]


def test_every_system_of_every_file_is_a_model(pair):
    options = FileOptions("key", (), ("u", "v"), None, ("one", "two"))
    located = score_spec(
        ["p/a.json", "b.json"],
        ["r.json", "s.json"],
        ["cider"],
        allow=["unknown", "empty"],
        options=options,
    )
    shared = {
        "columns": {"id": "key"},
        "allow_missing": False,
        "allow_unknown": True,
        "allow_empty": True,
    }
    assert located.data["models"] == [
        {
            "predictions": {
                "path": file,
                "system": system,
                "label": f"{file[-6]}/{system}",
                **shared,
            }
        }
        for file in ("p/a.json", "b.json")
        for system in ("u", "v")
    ]
    assert located.data["dataset"] == {
        "reader": "auto",
        "path": ["r.json", "s.json"],
        "allow_empty": True,
        "columns": {"id": None, "references": ["one", "two"]},
    }
    rest = {
        name: located.data[name] for name in ("task", "significance", "seed", "limit")
    }
    assert rest == {
        "task": "score a.json, b.json",
        "significance": {"method": "none"},
        "seed": 0,
        "limit": None,
    }
    assert [located.where(("models", k)) for k in range(4)] == [
        "--candidates p/a.json"
    ] * 2 + ["--candidates b.json"] * 2
    assert [
        located.where(key) for key in (("models",), ("limit",), ("metrics", 0))
    ] == ["--candidates", "--limit", "-m cider"]


def test_references_are_strict_where_other_faults_are_allowed(pair):
    assert score_spec([pair[0]], pair[1], ["cider"], allow=["missing"]).data[
        "dataset"
    ] == {"reader": "auto", "path": pair[1]}
    located = score_spec(files=[pair[0]], references=[pair[1]], metrics=["cider"])
    assert located.data["dataset"]["path"] == pair[1], "a list of one file is that file"


def test_no_file_is_refused(pair):
    with pytest.raises(HarnessError, match="no file of candidates"):
        score_spec([], pair[1], ["cider"])


def test_the_folder_of_images_goes_to_metrics_that_look_images_up(tmp_path):
    """A judge gets the images of the examples."""
    (tmp_path / "p.json").write_text(json.dumps({"a": ["x y"]}))
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a.png").write_bytes(b"")
    judge = {"fleur": {"judge": {"base_url": "http://h/v1", "image": True}}}
    folder = str(tmp_path / "images")
    candidates = [str(tmp_path / "p.json")]
    located = score_spec(candidates, None, ["clipscore", judge], images=folder)
    assert located.data["metrics"] == [{"clipscore": {"images": folder}}, judge]
