"""Paths in a spec: parameters annotated with PathParam are resolved beside the spec
file, others are not.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.registry import in_use
from harness.spec.loading import load_specs
from harness.spec.path_parameters import is_path

CODE = '''
from harness.contracts import MeanMetric, MetricSpec, PathParam


class Weighted(MeanMetric):
    """Two paths and a plain text."""

    spec = MetricSpec("weighted", higher_is_better=True)

    def __init__(
        self,
        *,
        table: PathParam | None = None,
        name: str = "",
        several: list[PathParam] = (),
        distance: object = None,
    ) -> None: ...

    def scores(self, batch, features, state):
        return [1.0] * len(batch)


class Table(Chars):
    def __init__(self, *, file: PathParam, label: str = "") -> None: ...


class Model(Echo):
    def __init__(self, *, checkpoint: PathParam, style: str = "plain") -> None:
        super().__init__()


class Nested(Words):
    def __init__(self, *, path: PathParam, note: str = "", of: object = None) -> None:
        super().__init__()
'''
REGISTRY = """
provider: mine
readers: {words: {import: "mine_parts:Words"}, nested: {import: "mine_parts:Nested"}}
adapters:
  echo: {import: "mine_parts:Echo"}
  model: {import: "mine_parts:Model"}
  gone: {import: "mine_parts:Gone"}
metrics: {weighted: {import: "mine_parts:Weighted"}}
distances: {table: {import: "mine_parts:Table"}}
"""
SPEC = """
task: paths
dataset:
  reader: nested
  path: data.txt
  note: data.txt
  of: {reader: nested, path: data.txt, note: data.txt}
models:
  - model: {checkpoint: data.txt, style: data.txt}
metrics:
  - weighted: {table: data.txt, name: data.txt, several: [data.txt, other.txt]}
  - weighted: {distance: {table: {file: data.txt, label: data.txt}}}
"""


@pytest.fixture
def folder(project):
    """A subfolder with a spec and the file ``data.txt``;
    the current directory is its parent.
    """
    (project / "mine_parts.py").write_text(
        (project / "mine_parts.py").read_text()
        + CODE.replace("from __future__ import annotations\n", "")
    )
    (project / "registry.yaml").write_text(REGISTRY)
    in_use._load.cache_clear()
    below = project / "below"
    below.mkdir()
    (below / "spec.yaml").write_text(SPEC)
    (below / "data.txt").write_text("x")
    return below


def test_annotated_parameters_of_a_third_party_are_resolved_beside_the_spec(folder):
    (loaded,) = load_specs("below/spec.yaml")
    model = loaded.spec.models[0]
    assert model == {"model": {"checkpoint": "below/data.txt", "style": "data.txt"}}
    metric = loaded.spec.metrics[0]
    assert metric == {
        "weighted": {
            "table": "below/data.txt",
            "name": "data.txt",
            "several": ["below/data.txt", "other.txt"],
        }
    }


def test_parameters_of_nested_components_are_resolved_too(folder):
    (loaded,) = load_specs("below/spec.yaml")
    distance = {"table": {"file": "below/data.txt", "label": "data.txt"}}
    assert loaded.spec.metrics[1] == {"weighted": {"distance": distance}}
    dataset = loaded.spec.dataset.params
    assert (dataset["path"], dataset["note"]) == ("below/data.txt", "data.txt")
    assert dataset["of"] == {
        "reader": "nested",
        "path": "below/data.txt",
        "note": "data.txt",
    }


def test_a_file_of_the_working_directory_stays_where_none_lies_beside_the_spec(
    folder,
):
    (folder / "data.txt").rename(folder.parent / "data.txt")
    (loaded,) = load_specs("below/spec.yaml")
    assert loaded.spec.models[0] == {
        "model": {"checkpoint": "data.txt", "style": "data.txt"}
    }


def test_an_absolute_path_is_left_as_it_is(folder):
    (loaded,) = load_specs(
        folder / "spec.yaml", [f"models.0.model.checkpoint={folder}/data.txt"]
    )
    model: Any = loaded.spec.models[0]["model"]
    assert model["checkpoint"] == f"{folder}/data.txt"


@pytest.mark.parametrize(
    ("data", "key", "expected"),
    [
        ({"include": "x.yaml"}, ("include",), True),
        (
            {"models": [{"model": {"checkpoint": "c"}}]},
            ("models", 0, "model", "checkpoint"),
            True,
        ),
        (
            {"models": [{"mine/model": {"checkpoint": "c"}}]},
            ("models", 0, "mine/model", "checkpoint"),
            True,
        ),
        (
            {"models": [{"model": {"style": "c"}}]},
            ("models", 0, "model", "style"),
            False,
        ),
        ({"models": [{"model": None}]}, ("models", 0, "model"), False),
        (
            {"models": [{"gone": {"checkpoint": "c"}}]},
            ("models", 0, "gone", "checkpoint"),
            False,
        ),
        (
            {"models": [{"unknown": {"checkpoint": "c"}}]},
            ("models", 0, "unknown", "checkpoint"),
            False,
        ),
        ({"metrics": ["weighted"]}, ("metrics", 0), False),
        ({"task": "x"}, ("task",), False),
        ({"dataset": {"reader": "nested"}}, ("dataset", "reader"), False),
        ({"judgments": {"path": "p"}}, ("judgments", "path"), True),
        (
            {"judgments": {"references": {"path": "p"}}},
            ("judgments", "references", "path"),
            True,
        ),
        ({"judgments": {"hf": {"name": "p"}}}, ("judgments", "hf", "name"), True),
        (
            {"judgments": {"columns": {"of": {"path": "p"}}}},
            ("judgments", "columns", "of", "path"),
            False,
        ),
    ],
)
def test_places_of_paths(folder, data, key, expected):
    assert is_path(data, key) is expected
