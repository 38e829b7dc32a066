"""Shards of equal size, parts of a run, sizes found from memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness
from harness.contracts import Cost, MeanMetric, MetricSpec
from harness.errors import HarnessError, InputError
from harness.run import shard_grid
from harness.run.metric_plan import MetricPlan
from harness.run.shard_grid import (
    Part,
    ShardGrid,
    available_memory,
    check_example,
    duration_text,
    grid_of,
    memory_text,
)
from harness.run.text_scores import BoundMetric


@given(st.integers(1, 500), st.integers(1, 60), st.integers(1, 12))
def test_the_parts_of_a_run_are_its_shards(examples, size, count):
    grid = ShardGrid(examples, size)
    shards = [
        shard for k in range(1, count + 1) for shard in grid.of_part(Part(k, count))
    ]
    assert shards == list(grid) == grid.of_part(None)
    assert [start for start, _ in shards] == list(range(0, examples, size))
    assert shards[-1][1] == examples
    assert len(grid) == len(shards)


@pytest.mark.parametrize(
    ("shards", "count", "sizes"),
    [(7, 3, [2, 2, 3]), (6, 3, [2, 2, 2]), (2, 3, [0, 1, 1])],
)
def test_parts_have_equally_many_shards_but_for_one(shards, count, sizes):
    grid = ShardGrid(10 * shards, 10)
    assert [len(grid.of_part(Part(k, count))) for k in range(1, count + 1)] == sizes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1/1", Part(1, 1)),
        ("1/2", Part(1, 2)),
        ("2/2", Part(2, 2)),
        (" 2 / 3 ", Part(2, 3)),
    ],
)
def test_the_first_and_the_last_part_are_parts(text, expected):
    assert Part.parse(text) == expected


@pytest.mark.parametrize("text", ["3/2", "0/2", "1", "a/b", "1/0", "-1/2", "1/2/3", ""])
def test_an_impossible_part_is_refused(text):
    with pytest.raises(InputError, match="shard is"):
        Part.parse(text)


@pytest.mark.parametrize(
    "values",
    [
        {"RANK": "1", "WORLD_SIZE": "4"},
        {"SLURM_PROCID": "1", "SLURM_NTASKS": "4", "RANK": "x"},
    ],
)
def test_the_part_of_a_rank(monkeypatch, values):
    for name in ("RANK", "WORLD_SIZE", "SLURM_PROCID", "SLURM_NTASKS"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(
        InputError, match="RANK and WORLD_SIZE, or SLURM_PROCID and SLURM_NTASKS"
    ):
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
    assert grid_of(62, 6, workers=2).size == 64
    assert [grid_of(62, 6, parts=parts).size for parts in (2, 3, 62, 99)] == [
        31,
        21,
        1,
        1,
    ]
    assert grid_of(0, 6, parts=2).size == 1
    monkeypatch.setattr(shard_grid, "available_memory", lambda: 1 << 20)
    assert grid_of(5000, 6).size == shard_grid.MIN_SHARD


def test_a_shard_takes_an_eighth_of_the_memory_that_its_workers_share(monkeypatch):
    monkeypatch.setattr(shard_grid, "available_memory", lambda: 1 << 30)
    # 2^27 / 400 000 bytes
    assert [grid_of(20_000, 100, workers=workers).size for workers in (1, 2, 3)] == [
        335,
        167,
        111,
    ]
    assert [grid_of(20_000, texts).size for texts in (0, 1, 10, 100)] == [
        5000,
        5000,
        3355,
        335,
    ]
    monkeypatch.setattr(shard_grid, "available_memory", lambda: 1 << 40)
    assert grid_of(20_000, 100).size == 2684, (
        "2^30 / 400 000 bytes, however large the memory is"
    )
    assert grid_of(20_001, 1, workers=2).size == 2501
    monkeypatch.setattr(shard_grid, "available_memory", lambda: 1 << 24)
    assert [grid_of(20_000, texts).size for texts in (0, 0.5, 1, 2)] == [
        524,
        524,
        524,
        262,
    ], "an example counts as one text at least"


def test_the_memory_of_this_machine(monkeypatch, tmp_path):
    assert 1 << 26 < available_memory() < 1 << 44
    monkeypatch.setattr(shard_grid, "Path", lambda name: tmp_path / "none")
    assert available_memory() == 4 << 30
    for text, expected in (
        ("MemTotal: 1 kB\n", 4 << 30),
        ("MemTotal: 1 kB\nMemAvailable: 2 kB\nNode: 0: 3 kB\n", 2048),
    ):
        (tmp_path / "none").write_text(text)
        assert available_memory() == expected


class Cubic(MeanMetric):
    """Declares a number of each three texts, and a second of a word."""

    spec = MetricSpec("cubic", higher_is_better=True)

    def scores(self, batch, features, state):
        raise AssertionError("scored before the check")

    def cost(self, n, m, tokens, *, tested=False):
        return Cost(
            tokens,
            8.0 * (n + m) ** 3,
            fixed=1e6 if tested else 0.0,
            advice="fewer candidates",
        )


def test_an_example_that_needs_more_memory_than_is_free_is_refused_in_one_line(
    monkeypatch,
):
    monkeypatch.setattr(shard_grid, "available_memory", lambda: 2_000_000_000)
    with pytest.raises(HarnessError) as caught:
        check_example("cubic", Cubic(), 1000, 5, 12, tested=False)
    assert str(caught.value) == (
        "cubic of 1000 + 5 captions of up to 12 words needs about 8.1 GB of memory, "
        "and 2.0 GB are free; expected fewer candidates"
    )
    check_example("cubic", Cubic(), 100, 5, 12, tested=True)


def test_the_system_is_not_asked_about_what_every_process_has(monkeypatch):
    monkeypatch.setattr(shard_grid, "available_memory", lambda: 0)
    check_example("cubic", Cubic(), 1, 1, 12, tested=False)
    with pytest.raises(HarnessError, match="and 0 MB are free"):
        check_example("cubic", Cubic(), 200, 200, 12, tested=True)


def test_an_example_may_take_all_the_memory_with_what_does_not_grow(monkeypatch):
    monkeypatch.setattr(shard_grid, "SMALL_MEMORY", 0)
    monkeypatch.setattr(shard_grid, "available_memory", lambda: 1_000_064)
    check_example("cubic", Cubic(), 1, 1, 12, tested=True)  # 8 * 2^3 and 1e6 bytes
    monkeypatch.setattr(shard_grid, "available_memory", lambda: 1_000_063)
    check_example("cubic", Cubic(), 1, 1, 12, tested=False)
    with pytest.raises(
        HarnessError, match="needs about 1 MB of memory, and 1 MB are free"
    ):
        check_example("cubic", Cubic(), 1, 1, 12, tested=True)


def test_the_time_of_an_example_has_a_limit_that_the_environment_sets(monkeypatch):
    with pytest.raises(
        HarnessError,
        match=r"takes about 2 min for one example, more than 30 s "
        r"\(HARNESS_EXAMPLE_SECONDS\); expected fewer",
    ):
        check_example("cubic", Cubic(), 1, 1, 120, tested=False)
    for limit in ("130", "120"):
        monkeypatch.setenv("HARNESS_EXAMPLE_SECONDS", limit)
        check_example("cubic", Cubic(), 1, 1, 120, tested=False)


def test_a_limit_that_is_no_number_is_refused(monkeypatch):
    monkeypatch.setenv("HARNESS_EXAMPLE_SECONDS", "long")
    with pytest.raises(
        HarnessError,
        match="HARNESS_EXAMPLE_SECONDS is 'long'; expected a number of seconds",
    ):
        check_example("cubic", Cubic(), 1, 1, 1, tested=False)


def test_lists_of_texts_are_checked_before_they_are_scored():
    with pytest.raises(
        HarnessError, match="cubic of 1 \\+ 1 captions of up to 200 words takes"
    ):
        BoundMetric(MetricPlan("cubic", "cubic", {}, Cubic()), None)(
            [["a dog"], ["word " * 199 + "word"]], [["a"], ["b"]]
        )


@pytest.mark.parametrize("name", ["ter", "trm(meteor)"])
def test_texts_that_would_take_minutes_are_refused(name):
    text = " ".join(f"w{k % 50}" for k in range(10_000))
    metric = (
        harness.metric("ter")
        if name == "ter"
        else harness.metric("trm", distance="meteor")
    )
    with pytest.raises(
        HarnessError, match="of 5 \\+ 5 captions of up to 10,000 words takes about"
    ):
        metric([[text] * 5], [[text] * 5])


def test_texts_of_numbers():
    assert [memory_text(count) for count in (3e5, 2e6, 99_999_999, 1e8, 1.26e9)] == [
        "0 MB",
        "2 MB",
        "100 MB",
        "0.1 GB",
        "1.3 GB",
    ]
    assert [duration_text(seconds) for seconds in (0.2, 119, 121, 7199, 7200)] == [
        "0 s",
        "119 s",
        "2 min",
        "120 min",
        "2 h",
    ]
