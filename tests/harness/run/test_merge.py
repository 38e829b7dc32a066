"""Parts of a run joined: the same digits in any order, and what is not a part."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import harness.api
from harness.errors import InputError
from harness.run.execute import Options
from harness.run.merge import PartFolder, _check, merge
from harness.run.shard_grid import Part

SPEC = {
    "task": "words",
    "dataset": {"reader": "words", "count": 9},
    "models": [{"echo": {"fail": ["e3"]}}],
    "metrics": ["length", "cider", "distinct"],
    "significance": "exact",
}


def parts(count: int = 3, spec=SPEC, size: int | None = None) -> list[Path]:
    folders = [Path(f"p{k}") for k in range(1, count + 1)]
    for k, folder in enumerate(folders, 1):
        harness.api.evaluate_all(spec, output=folder, options=Options(shard_size=size, part=Part(k, count)))
    return folders


@pytest.mark.equal_bits
@pytest.mark.parametrize("count", [2, 4])
def test_merged_parts_are_the_run(project, count):
    whole = harness.evaluate(SPEC, output="whole")
    folders = parts(count)
    merged = merge(folders[::-1], Path("merged"))
    assert merged.samples.to_dict() == whole.samples.to_dict()
    assert [(r.value, r.ci95, r.p_value, r.n) for r in merged.records] == [(r.value, r.ci95, r.p_value, r.n) for r in whole.records]
    assert merged.failed == whole.failed
    assert merge(folders, Path("merged")).results == merged.results, "merging again reads the finished run"


def test_nothing_is_generated_again(project):
    spec = {**SPEC, "models": [{"echo": {"log": "calls.txt"}}]}
    merge(parts(3, spec), Path("merged"))
    calls = [line.split()[0] for line in Path("calls.txt").read_text().splitlines()]
    assert sorted(calls) == [f"e{k}" for k in range(9)]


def test_a_part_has_no_results(project):
    parts(2)
    with pytest.raises(InputError, match="it is part 1/2 of a run; join the parts with harness merge"):
        harness.Run.open("p1")
    with pytest.raises(InputError, match="holds part 1/2, and this is the whole run"):
        harness.evaluate(SPEC, output="p1")


def test_mistakes(project):
    folders = parts(3)
    harness.evaluate(SPEC, output="whole")
    other = Path("other")
    harness.api.evaluate_all({**SPEC, "seed": 1}, output=other, options=Options(part=Part(2, 3)))
    sized = Path("sized")
    harness.api.evaluate_all(SPEC, output=sized, options=Options(shard_size=1, part=Part(3, 3)))
    for chosen, output, message in (
        (folders[:2], "m", "p1: part 3/3 of 3 is missing"),
        (folders[:1], "m", "parts 2/3, 3/3 of 3 are missing"),
        ([*folders, folders[0]], "m", "p1: is part 1/3, as p1 is"),
        ([folders[0], other, folders[2]], "m", "other: is part of another run than p1"),
        ([*folders[:2], sized], "m", "sized: has shards of 1 examples, and p1 of 3; give all parts the same --shard-size"),
        ([*folders[:2], Path("whole")], "m", "whole: is a whole run, not a part"),
        ([*folders[:2], Path("none")], "m", "none: no run here"),
        (folders, "p2", "p2: is a part of the run; give another --output"),
    ):
        with pytest.raises(InputError, match=message):
            merge(chosen, Path(output))
        assert not Path("m").exists()
    state = json.loads(Path("p2/shards.json").read_text())
    Path("p2/shards.json").write_text(json.dumps({**state, "finished": False}))
    with pytest.raises(InputError, match="p2: part 2/3 has not finished; run its command again"):
        merge(folders, Path("m"))


@pytest.mark.parametrize(("count", "named"), [(6, "2/6, 3/6, 4/6, 5/6, 6/6 of 6"), (7, "2/7, 3/7, 4/7, 5/7, 6/7, ... of 7")])
def test_five_missing_parts_are_named(count, named):
    first = PartFolder(Path("p1"), {"digest": "d", "part": f"1/{count}"}, {"size": 1})
    with pytest.raises(InputError, match=f"p1: parts {named} are missing"):
        _check([first])


def test_parts_of_other_code_are_merged_with_a_warning_and_parts_of_other_data_are_refused(project, caplog):
    folders = parts(2)
    expected = [record.value for record in merge(folders, Path("merged")).records]
    assert not caplog.messages, "parts of the code that is installed"

    def change(**fields):
        for folder in folders:
            manifest = json.loads((folder / "manifest.json").read_text())
            (folder / "manifest.json").write_text(json.dumps({**manifest, "digest": "0" * 64, **fields}))

    change()
    assert [record.value for record in merge(folders, Path("other")).records] == expected
    assert "computed with another version or other code: statistics are computed again" in caplog.text
    change(data={"fingerprint": "words-8"}, metrics=[])
    with pytest.raises(InputError, match="p1: the parts were computed with other data and metrics than are installed here"):
        merge(folders, Path("refused"))
    assert not Path("refused").exists()
