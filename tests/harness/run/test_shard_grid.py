"""Shards of equal size, parts of a run, sizes found from memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness.run import shard_grid
from harness.run.shard_grid import Part, ShardGrid, available_memory, grid_of


@given(st.integers(1, 500), st.integers(1, 60), st.integers(1, 12))
def test_the_parts_of_a_run_are_its_shards(examples, size, count):
    grid = ShardGrid(examples, size)
    shards = [shard for k in range(1, count + 1) for shard in grid.of_part(Part(k, count))]
    assert shards == list(grid) == grid.of_part(None)
    assert [start for start, _ in shards] == list(range(0, examples, size))
    assert shards[-1][1] == examples
    assert len(grid) == len(shards)


@pytest.mark.parametrize("text", ["3/2", "0/2", "1", "a/b", "1/0", "-1/2", "1/2/3", ""])
def test_an_impossible_part_is_refused(text):
    with pytest.raises(InputError, match="--shard is"):
        Part.parse(text)


@pytest.mark.parametrize("values", [{"RANK": "1", "WORLD_SIZE": "4"}, {"SLURM_PROCID": "1", "SLURM_NTASKS": "4", "RANK": "x"}])
def test_the_part_of_a_rank(monkeypatch, values):
    for name in ("RANK", "WORLD_SIZE", "SLURM_PROCID", "SLURM_NTASKS"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InputError, match="RANK and WORLD_SIZE, or SLURM_PROCID and SLURM_NTASKS"):
        Part.from_environment()
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    assert Part.from_environment() == Part(2, 4)
    assert str(Part(2, 4)) == "2/4"


def test_the_size_of_shards(monkeypatch):
    monkeypatch.setattr(shard_grid, "available_memory", lambda: 64 << 30)
    assert grid_of(5000, 6).size == shard_grid.MAX_SHARD
    assert grid_of(5000, 6, size=70).size == 70
    assert grid_of(5000, 1000).size == (1 << 30) // (4000 * 1000)
    assert grid_of(5000, 6, workers=2).size == 625
    assert grid_of(62, 6, workers=2).size == shard_grid.MIN_SHARD
    assert grid_of(62, 6, parts=3).size == 21
    monkeypatch.setattr(shard_grid, "available_memory", lambda: 1 << 20)
    assert grid_of(5000, 6).size == shard_grid.MIN_SHARD


def test_the_memory_of_this_machine(monkeypatch, tmp_path):
    assert 1 << 26 < available_memory() < 1 << 44
    monkeypatch.setattr(shard_grid, "Path", lambda name: tmp_path / "none")
    assert available_memory() == 4 << 30
