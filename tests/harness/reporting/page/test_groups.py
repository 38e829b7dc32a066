"""Runs that compare with each other, and runs of newer schemas."""

from __future__ import annotations

import json

import pytest

from harness.errors import InputError
from harness.reporting.page.groups import groups_of, open_run


def test_runs_join_the_group_of_their_data(finished):
    names = [
        finished("a"),
        finished("b", models=[{"echo": {"label": "third"}}]),
        finished("c", dataset={"reader": "words", "count": 4}),
        finished("d", metrics=[{"length": {"scale": 2.0}}]),
    ]
    groups = groups_of([(name, open_run(name)) for name in names])
    assert [[side.name for side in group.sides] for group in groups] == [["a", "b"], ["c"], ["d"]]
    assert groups[0].several_runs and not groups[1].several_runs
    assert groups[0].metrics == ("length",) and len(groups[0].systems) == 5


@pytest.mark.parametrize("file", ["manifest.json", "results.json"])
def test_a_newer_schema_is_named_with_its_file(finished, project, file):
    path = project / finished() / file
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema": 99}))
    with pytest.raises(InputError, match=f"{file}: has the schema 99; this version reads schemas up to"):
        open_run("r")
