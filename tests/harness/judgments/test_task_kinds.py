"""Suites of judgment tasks: sets that are not there are reported once and left out."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.errors import HarnessError, InputError
from harness.judgments import task_kinds
from harness.judgments.task_kinds import _folder, execute_tasks
from harness.rundir.format import run_folders

RECORDS = [{"id": str(i), "caption": "c" * (i + 1), "human_score": i, "references": ["r"]} for i in range(4)]


@pytest.fixture
def suite(plan, jsonl, length, tmp_path):
    """A set that is there and one that is not."""
    here = {"form": "captions", "path": jsonl(RECORDS)}
    return [
        plan(source, [length()], task=f"judgments/{name}", bootstrap={"samples": 20})
        for name, source in (("here", here), ("gone", {**here, "path": str(tmp_path / "gone.jsonl")}))
    ]


def test_a_set_without_its_file_is_reported_and_left_out(suite, tmp_path):
    reports = []
    runs = execute_tasks(suite, output=tmp_path / "out", on_absent=lambda *report: reports.append(report))
    assert [run.provenance.task for run in runs] == ["judgments/here"]
    ((line, absent),) = reports
    assert line.startswith("judgments/gone: not there: ") and line.endswith("gone.jsonl") and absent is True
    assert run_folders(tmp_path / "out")[0] == [tmp_path / "out" / "here"]
    assert [run.provenance.task for run in execute_tasks(suite)] == ["judgments/here"]  # without a report too


def test_a_set_that_cannot_be_read_is_left_out_of_a_suite_and_refused_alone(suite, plan, tmp_path, length):
    (tmp_path / "broken.jsonl").write_text("{\n")
    broken = plan({"form": "captions", "path": str(tmp_path / "broken.jsonl")}, [length()], task="judgments/broken")
    reports = []
    assert len(execute_tasks([suite[0], broken], on_absent=lambda *report: reports.append(report))) == 1
    ((line, absent),) = reports
    assert line.startswith("judgments/broken: left out: ") and absent is False
    with pytest.raises(InputError, match=r"broken\.jsonl"):
        execute_tasks([broken])


def test_bars_are_shown_where_they_are_asked_for(suite, monkeypatch):
    shown: list[bool] = []
    monkeypatch.setattr(task_kinds, "execute_task", lambda plan, *, show, **options: shown.append(show))
    execute_tasks(suite[:1])
    execute_tasks(suite[:1], show=True)
    assert shown == [False, True]


@pytest.mark.parametrize(
    ("kind", "several", "output", "default", "folder"),
    [
        ("judgments", True, "out", "runs", "out/flickr"),
        (None, True, "out", "runs", "out/judgments/flickr"),
        ("judgments", False, "out", "runs", "out"),
        ("judgments", True, None, "runs", "runs/judgments/flickr"),
        ("judgments", False, None, "runs", "runs/judgments/flickr"),
        (None, True, None, "runs", "runs/flickr"),
        (None, False, None, "runs", "runs/flickr"),
        ("judgments", True, None, None, None),
        (None, False, None, None, None),
    ],
)
def test_the_folder_of_a_plan(kind, several, output, default, folder):
    plan = SimpleNamespace(kind=kind, spec=SimpleNamespace(task="judgments/flickr"))
    assert _folder(plan, several, output and Path(output), default and Path(default)) == (folder and Path(folder))


def test_a_suite_of_nothing_and_one_of_two_kinds_are_refused(suite):
    gone = suite[1]
    lost = replace(gone, spec=gone.spec.model_copy(update={"task": "judgments/lost"}))
    with pytest.raises(InputError, match=r"no set of the suite can be read; the first one: .*gone\.jsonl"):
        execute_tasks([gone, lost])
    with pytest.raises(InputError, match=r"judgments/gone: not there: .*gone\.jsonl"):
        execute_tasks([gone])
    models = SimpleNamespace(kind=None, spec=gone.spec)
    with pytest.raises(HarnessError, match="a suite holds tasks of judgments alone, or none") as caught:
        execute_tasks([suite[0], models])
    assert caught.value.value == "judgments/gone", "the task that is not of judgments"
