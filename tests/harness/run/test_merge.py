"""Parts of a run joined: the same digits in any order, and what is not a part."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import harness.api
from harness.errors import InputError
from harness.run import progress
from harness.run.execution import Options
from harness.run.merge import PartFolder, _check, merge
from harness.run.shard_grid import Part

SPEC = {
    "task": "words",
    "dataset": {"reader": "words", "count": 9},
    "models": [{"echo": {"fail": ["e3"]}}],
    "metrics": ["length", "cider", "distinct"],
    "significance": "exact",
}
OTHER_RUN = "is part of another run than p1: spec, data, models, metrics or code differ"


def parts(count: int = 3, spec=SPEC, size: int | None = None) -> list[Path]:
    folders = [Path(f"p{k}") for k in range(1, count + 1)]
    for k, folder in enumerate(folders, 1):
        harness.api.evaluate_all(
            spec, output=folder, options=Options(shard_size=size, part=Part(k, count))
        )
    return folders


@pytest.mark.equal_bits
@pytest.mark.parametrize("count", [2, 4])
def test_merged_parts_are_the_run(project, count):
    whole = harness.evaluate(SPEC, output="whole")
    folders = parts(count)
    merged = merge(folders[::-1], Path("merged"))
    assert merged.samples.to_dict() == whole.samples.to_dict()
    assert [(r.value, r.ci95, r.p_value, r.n) for r in merged.records] == [
        (r.value, r.ci95, r.p_value, r.n) for r in whole.records
    ]
    assert merged.failed == whole.failed
    assert merge(folders, Path("merged")).results == merged.results, (
        "merging again reads the finished run"
    )


def test_nothing_is_generated_again_and_nothing_is_shown(project, monkeypatch, capsys):
    spec = {**SPEC, "models": [{"echo": {"log": "calls.txt"}}]}
    folders = parts(3, spec)
    monkeypatch.setattr(progress, "LINE_SECONDS", 1e-6)
    capsys.readouterr()
    merge(folders, Path("merged"))
    assert capsys.readouterr().err == ""
    calls = [line.split()[0] for line in Path("calls.txt").read_text().splitlines()]
    assert sorted(calls) == [f"e{k}" for k in range(9)]


def test_a_part_has_no_results(project):
    parts(2)
    with pytest.raises(
        InputError, match="it is part 1/2 of a run; join the parts with harness merge"
    ):
        harness.Run.open("p1")
    with pytest.raises(InputError, match="holds part 1/2, and this is the whole run"):
        harness.evaluate(SPEC, output="p1")


def test_mistakes(project):
    folders = parts(3)
    harness.evaluate(SPEC, output="whole")
    other = Path("other")
    harness.api.evaluate_all(
        {**SPEC, "seed": 1}, output=other, options=Options(part=Part(2, 3))
    )
    sized = Path("sized")
    harness.api.evaluate_all(
        SPEC, output=sized, options=Options(shard_size=1, part=Part(3, 3))
    )
    for chosen, output, message in (
        (folders[:2], "m", "p1: part 3/3 of 3 is missing"),
        (folders[:1], "m", "parts 2/3, 3/3 of 3 are missing"),
        ([*folders, folders[0]], "m", "p1: is part 1/3, as p1 is"),
        ([folders[0], other, folders[2]], "m", "other: is part of another run than p1"),
        (
            [*folders[:2], sized],
            "m",
            "sized: has shards of 1 examples, and p1 of 3; "
            "all parts need shards of the same size",
        ),
        ([*folders[:2], Path("whole")], "m", "whole: is a whole run, not a part"),
        ([*folders[:2], Path("none")], "m", "none: no run here"),
        (folders, "p2", "p2: is a part of the run; give another folder"),
    ):
        with pytest.raises(InputError, match=message):
            merge(chosen, Path(output))
        assert not Path("m").exists()
    state = json.loads(Path("p2/shards.json").read_text())
    Path("p2/shards.json").write_text(json.dumps({**state, "finished": False}))
    with pytest.raises(
        InputError, match="p2: part 2/3 has not finished; run its command again"
    ):
        merge(folders, Path("m"))


def part_folder(name: str, part: str, digest: str = "d", size: int = 1) -> PartFolder:
    return PartFolder(Path(name), {"digest": digest, "part": part}, {"size": size})


@pytest.mark.parametrize(
    ("count", "named"),
    [(6, "2/6, 3/6, 4/6, 5/6, 6/6 of 6"), (7, "2/7, 3/7, 4/7, 5/7, 6/7, ... of 7")],
)
def test_five_missing_parts_are_named(count, named):
    with pytest.raises(InputError, match=f"p1: parts {named} are missing"):
        _check([part_folder("p1", f"1/{count}")])


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (("1/2", "a"), ("2/2", "b"), OTHER_RUN),
        (("1/2", "b"), ("2/2", "a"), OTHER_RUN),
        (("1/2",), ("2/3",), "is part 2/3, and p1 is part 1/2"),
        (("1/3",), ("2/2",), "is part 2/2, and p1 is part 1/3"),
        (
            ("1/2", "d", 4),
            ("2/2", "d", 5),
            "has shards of 5 examples, and p1 of 4; all parts need shards "
            "of the same size",
        ),
        (
            ("1/2", "d", 5),
            ("2/2", "d", 4),
            "has shards of 4 examples, and p1 of 5; all parts need shards "
            "of the same size",
        ),
        (("1/2",), ("1/2",), "is part 1/2, as p1 is"),
    ],
)
def test_two_parts_that_do_not_fit_are_refused_in_any_order(first, second, message):
    with pytest.raises(InputError) as caught:
        _check([part_folder("p1", *first), part_folder("p2", *second)])
    assert str(caught.value) == f"p2: {message}"


@pytest.mark.parametrize(
    ("parts", "missing"),
    [
        (["2/2"], "part 1/2 of 2 is"),
        (["2/3"], "parts 1/3, 3/3 of 3 are"),
        (["1/1"], None),
        (["2/2", "1/2"], None),
    ],
)
def test_parts_that_are_missing(parts, missing):
    folders = [part_folder(f"p{part[0]}", part) for part in parts]
    if missing is None:
        _check(folders)
    else:
        with pytest.raises(InputError) as caught:
            _check(folders)
        assert str(caught.value) == f"p2: {missing} missing"


def test_parts_of_other_code_are_merged_and_parts_of_other_data_refused(
    project, caplog
):
    folders = parts(2)
    expected = [record.value for record in merge(folders, Path("merged")).records]
    assert not caplog.messages, "parts of the code that is installed"

    def change(**fields):
        for folder in folders:
            manifest = json.loads((folder / "manifest.json").read_text())
            (folder / "manifest.json").write_text(
                json.dumps({**manifest, "digest": "0" * 64, **fields})
            )

    change()
    assert [
        record.value for record in merge(folders, Path("other")).records
    ] == expected
    assert (
        "computed with another version or other code: statistics are computed again"
        in caplog.text
    )
    for fingerprint in ("words-8", "x"):
        change(data={"fingerprint": fingerprint}, metrics=[], digest="f" * 64)
        with pytest.raises(
            InputError,
            match="p1: the parts were computed with other data and metrics than are "
            "installed here",
        ):
            merge(folders, Path("refused"))
    assert not Path("refused").exists()
