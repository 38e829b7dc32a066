"""Specs: includes, variants, --set, environment variables,
and errors that name file and line.
"""

from __future__ import annotations

import pytest

from harness.errors import HarnessError, InputError
from harness.run.decoding_grid import decoding_grid
from harness.run.plan import make_plan
from harness.spec.loading import load_specs
from harness.spec.models import DecodingSpec, Spec
from tests.support.spec_text import BASE


def test_a_spec_loads_and_its_ranges_expand(spec_file):
    (loaded,) = load_specs(spec_file)
    assert loaded.spec.decoding.candidates == [1, 2, 3]
    assert loaded.where("metrics") == f"{spec_file}:7"


def test_a_range_of_candidates_is_an_axis_of_the_grid():
    assert (
        len(
            decoding_grid(
                DecodingSpec.model_validate(
                    {"temperature": [0.5, 1.0], "candidates": "1..3"}
                )
            )
        )
        == 6
    )


def test_a_view_of_a_metric_that_is_not_there_is_told_before_the_run(spec_file):
    spec_file.write_text(
        BASE
        + "views:\n  - {plot: bar, y: length}\n  - {plot: bar, y: 'log p:lenght'}\n"
    )
    with pytest.raises(
        InputError,
        match=r"s\.yaml:10: the view asks for the metric 'lenght'; "
        r"did you mean 'length'",
    ):
        make_plan(load_specs(spec_file)[0])


def test_list_valued_metric_parameters_are_axes_unless_the_metric_says_otherwise(
    project,
):
    (project / "s.yaml").write_text(
        BASE.replace("[length]", "[{length: {scale: [1, 2], undefined: [e1, e2]}}]")
    )
    plan = make_plan(load_specs(project / "s.yaml")[0])
    assert [m.params for m in plan.metrics] == [
        {"scale": s, "undefined": ["e1", "e2"]} for s in (1, 2)
    ]
    assert len({m.label for m in plan.metrics}) == 2


def test_parts_of_a_file_and_of_the_command_line(spec_file):
    (loaded,) = load_specs(spec_file, ["seed=3"])
    assert loaded.in_file("task")  # its first line
    assert loaded.in_file("metrics")
    assert not loaded.in_file("seed")


def test_a_missing_file_names_the_nearest_task(project):
    with pytest.raises(HarnessError, match="no such spec file or task"):
        load_specs("tasks/nothing-like-it.yaml")


def test_tasks_of_plugins_have_full_names_and_do_not_replace_shipped_ones(project):
    (project / "own.yaml").write_text(BASE.replace("task: t", "task: own"))
    manifest = (project / "registry.yaml").read_text()
    (project / "registry.yaml").write_text(
        manifest
        + "tasks: {coco: {path: own.yaml, summary: x}, own-task: {path: own.yaml}}\n"
    )
    assert (
        load_specs("own-task")[0].spec.task
        == load_specs("mine/coco")[0].spec.task
        == "own"
    )
    assert (
        load_specs("coco")[0].spec.task
        == load_specs("tasks/coco.yaml")[0].spec.task
        == "coco"
    )
    (project / "own.yaml").write_text(BASE.replace("task: t", "tsk: own"))
    with pytest.raises(
        InputError, match=rf"{project}/own\.yaml:\d+: unknown key 'tsk'"
    ):
        load_specs("own-task")


def test_a_spec_is_checked_from_python_too():
    with pytest.raises(InputError, match="unknown key 'tsk'"):
        load_specs({"tsk": "x"})
    assert isinstance(
        load_specs(
            {
                "task": "x",
                "dataset": {"reader": "words"},
                "models": ["a"],
                "metrics": ["b"],
            }
        )[0].spec,
        Spec,
    )


def test_replaced_keys_are_those_with_a_value(spec_file):
    (loaded,) = load_specs(spec_file, limit=3, seed=None)
    assert (loaded.spec.limit, loaded.spec.seed) == (3, 0)
    assert loaded.located.replaced == {"limit"}
