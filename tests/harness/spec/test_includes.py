"""Specs that include files: keys, suites, circles, places."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.spec.loading import load_specs
from tests.support.spec_text import BASE


def test_include_lies_beneath_the_files_own_keys(project):
    (project / "base.yaml").write_text(BASE)
    (project / "s.yaml").write_text(
        "include: base.yaml\nseed: 9\nmetrics: [{length: {scale: 3}}]\n"
    )
    (loaded,) = load_specs("s.yaml")
    assert (loaded.spec.seed, loaded.spec.task) == (9, "t")
    assert loaded.where("metrics") == "s.yaml:3"
    assert loaded.where("models").endswith("base.yaml:3")


def test_several_included_tasks_make_a_suite(project):
    (project / "a.yaml").write_text(BASE)
    (project / "b.yaml").write_text(BASE.replace("task: t", "task: u"))
    (project / "suite.yaml").write_text("include: [a.yaml, b.yaml]\nseed: 4\n")
    loaded = load_specs("suite.yaml")
    assert [(item.spec.task, item.spec.seed) for item in loaded] == [("t", 4), ("u", 4)]


def test_a_suite_does_not_rename_its_parts(project):
    (project / "a.yaml").write_text(BASE)
    (project / "b.yaml").write_text(BASE.replace("task: t", "task: u"))
    (project / "suite.yaml").write_text("task: both\ninclude: [a.yaml, b.yaml]\n")
    with pytest.raises(
        InputError,
        match=r"suite\.yaml:1: a suite has no task name: each part has a run directory",
    ):
        load_specs("suite.yaml")


def test_a_spec_that_includes_itself_is_an_error(project):
    (project / "a.yaml").write_text("include: b.yaml\n" + BASE)
    (project / "b.yaml").write_text("task: x\ninclude: a.yaml\n")
    with pytest.raises(
        InputError,
        match=r"b\.yaml:2: the spec includes itself: a\.yaml -> b\.yaml -> a\.yaml",
    ):
        load_specs("a.yaml")
    (project / "b.yaml").write_text("include: none.yaml\n" + BASE)
    with pytest.raises(InputError, match=r"included file 'none\.yaml' does not exist"):
        load_specs("b.yaml")


def test_names_that_no_file_can_have_name_no_file(project):
    for name in ("x" * 5000, "a\\0b"):
        text = (
            f'variants:\n  - name: real\n    when: {{exists: "{name}"}}\n  - name: '
            "sample\n"
        )
        (project / "s.yaml").write_text(BASE + text)
        assert load_specs("s.yaml")[0].spec.variant == "sample"
        (project / "s.yaml").write_text(f'include: "{name}"\n' + BASE)
        with pytest.raises(InputError, match="included file .* does not exist"):
            load_specs("s.yaml")


def test_an_included_file_is_absolute_or_of_the_working_directory_or_beside_the_spec(
    project, tmp_path_factory
):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "far.yaml"
    elsewhere.write_text("seed: 1\n")
    (project / "here.yaml").write_text("seed: 2\n")
    (project / "below").mkdir()
    (project / "below" / "beside.yaml").write_text("seed: 3\n")
    for include, seed in ((str(elsewhere), 1), ("here.yaml", 2), ("beside.yaml", 3)):
        (project / "below" / "s.yaml").write_text(f"include: {include}\n" + BASE)
        assert load_specs("below/s.yaml")[0].spec.seed == seed
