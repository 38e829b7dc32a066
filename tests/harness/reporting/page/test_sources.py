"""Captions read by row group, in any layout of the file, and from memory."""

from __future__ import annotations

from dataclasses import replace

import pyarrow.parquet as parquet
import pytest

from harness.errors import InputError
from harness.reporting.page.sources import stream
from harness.run.finished import Run


def test_every_layout_gives_the_captions_of_the_system(finished, project):
    run = Run.open(finished())
    system = run.samples.systems[1]
    expected = [(item.id, item.candidates, item.references) for item in system.caption_sets()]
    path = project / "r" / "samples.parquet"
    table = parquet.read_table(path)
    for size in (2, 100):
        parquet.write_table(table, path, row_group_size=size)
        assert [(item.id, item.candidates, item.references) for item in stream(run, system)] == expected
    assert [item.id for item in stream(replace(run, path=None), system)] == [name for name, _, _ in expected]


def test_a_damaged_file_is_named(finished, project):
    run = Run.open(finished())
    system = run.samples.systems[0]
    (project / "r" / "samples.parquet").write_bytes(b"PAR1" + b"\0" * 40)
    with pytest.raises(InputError, match=r"samples\.parquet: is damaged"):
        list(stream(run, system))
