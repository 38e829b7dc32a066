"""Suites of judgment tasks: sets that are not there are reported once and left out."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness import api
from harness.errors import HarnessError, InputError
from harness.run import tasks as task_kinds
from harness.run.tasks import _folder, execute_tasks, rescore
from harness.rundir.format import SUITE, run_folders

RECORDS = [
    {"id": str(i), "caption": "c" * (i + 1), "human_score": i, "references": ["r"]}
    for i in range(4)
]


@pytest.fixture
def suite(plan, jsonl, length, tmp_path):
    """A set that is there and one that is not."""
    here = {"form": "captions", "path": jsonl(RECORDS)}
    return [
        plan(source, [length()], task=f"judgments/{name}", bootstrap={"samples": 20})
        for name, source in (
            ("here", here),
            ("gone", {**here, "path": str(tmp_path / "gone.jsonl")}),
        )
    ]


def test_a_set_without_its_file_is_reported_and_left_out(suite, tmp_path):
    reports = []
    runs = execute_tasks(
        plans=suite,
        output=tmp_path / "out",
        on_absent=lambda *report: reports.append(report),
    )
    assert [run.provenance.task for run in runs] == ["judgments/here"]
    ((line, absent),) = reports
    assert (
        line.startswith("judgments/gone: not there: ")
        and line.endswith("gone.jsonl")
        and absent is True
    )
    assert run_folders(tmp_path / "out")[0] == [tmp_path / "out" / "here"]
    # without a report too
    assert [run.provenance.task for run in execute_tasks(suite)] == ["judgments/here"]


def test_a_set_that_cannot_be_read_is_left_out_of_a_suite_and_refused_alone(
    suite, plan, tmp_path, length
):
    (tmp_path / "broken.jsonl").write_text("{\n")
    broken = plan(
        {"form": "captions", "path": str(tmp_path / "broken.jsonl")},
        [length()],
        task="judgments/broken",
    )
    reports = []
    assert (
        len(
            execute_tasks(
                [suite[0], broken], on_absent=lambda *report: reports.append(report)
            )
        )
        == 1
    )
    ((line, absent),) = reports
    assert line.startswith("judgments/broken: left out: ") and absent is False
    with pytest.raises(InputError, match=r"broken\.jsonl"):
        execute_tasks([broken])


def test_bars_are_shown_where_they_are_asked_for(suite, monkeypatch):
    shown: list[bool] = []
    monkeypatch.setattr(
        task_kinds, "execute_task", lambda plan, *, show, **options: shown.append(show)
    )
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
    assert _folder(
        plan, several, output and Path(output), default and Path(default)
    ) == (folder and Path(folder))


def test_the_default_folder_of_a_task_with_a_name_of_its_own():
    plan = SimpleNamespace(kind="judgments", spec=SimpleNamespace(task="mine/flickr"))
    assert [
        _folder(plan, several, None, Path("runs")) for several in (True, False)
    ] == [
        Path("runs/judgments/flickr"),
        Path("runs/mine/flickr"),
    ]


def test_a_suite_of_nothing_and_one_of_two_kinds_are_refused(suite):
    gone = suite[1]
    lost = replace(gone, spec=gone.spec.model_copy(update={"task": "judgments/lost"}))
    with pytest.raises(
        InputError,
        match=r"no set of the suite can be read; the first one: .*gone\.jsonl",
    ):
        execute_tasks([gone, lost])
    with pytest.raises(InputError, match=r"judgments/gone: not there: .*gone\.jsonl"):
        execute_tasks([gone])
    models = SimpleNamespace(kind=None, spec=gone.spec)
    with pytest.raises(
        HarnessError, match="a suite holds tasks of judgments alone, or none"
    ) as caught:
        execute_tasks([suite[0], models])
    assert caught.value.value == "judgments/gone", "the task that is not of judgments"


def test_a_suite_lists_its_runs_and_what_it_leaves_out(suite, tmp_path):
    second = replace(
        suite[0], spec=suite[0].spec.model_copy(update={"task": "judgments/second"})
    )
    runs = execute_tasks([suite[0], suite[1], second], default_output=tmp_path / "runs")
    folder = tmp_path / "runs" / "judgments"
    assert [run.path for run in runs] == [folder / "here", folder / "second"]
    assert run_folders(folder) == (
        [folder / "here", folder / "second"],
        ["judgments/gone"],
    )
    assert "judgments/gone: not there" in (folder / SUITE).read_text()


def test_one_task_writes_no_list_of_a_suite(suite, tmp_path):
    (run,) = execute_tasks(suite[:1], output=tmp_path / "out")
    assert run.path == tmp_path / "out" and not list(tmp_path.rglob(SUITE))
    with pytest.raises(
        InputError, match=r"out: holds a run; give the suite another output"
    ):
        execute_tasks([*suite], output=tmp_path / "out")
    assert not list(tmp_path.rglob(SUITE)) and not (tmp_path / "out" / "here").exists()


def test_notices_are_given_for_the_sets_that_are_run(suite):
    notices = []
    plans = [
        replace(
            plan, spec=plan.spec.model_copy(update={"notice": text, "variant": "v"})
        )
        for plan, text in zip([*suite, suite[0]], "ab ")
    ]
    plans[2] = replace(
        plans[2],
        spec=plans[2].spec.model_copy(
            update={"task": "judgments/silent", "notice": ""}
        ),
    )
    assert (
        len(execute_tasks(plans, on_notice=lambda *notice: notices.append(notice))) == 2
    )
    assert notices == [("a", "v")] and len(execute_tasks(plans[:1])) == 1


def test_metrics_are_added_to_a_run_of_judgments_once(jsonl, tmp_path, monkeypatch):
    judged = {
        "form": "captions",
        "path": jsonl([{**record, "references": ["cc d"]} for record in RECORDS]),
    }
    content = {
        "task": "t",
        "judgments": judged,
        "metrics": ["chrf"],
        "statistics": ["pearson"],
        "bootstrap": {"samples": 0},
    }
    api.evaluate(content, output=tmp_path / "r")
    run = rescore(run=tmp_path / "r", metrics=["chrf,rouge", "chrf:beta=1"])
    assert [record.metric for record in run.records] == [
        "chrf",
        "rouge",
        "chrf[beta=1]",
    ]
    assert run.provenance.spec["metrics"] == ["chrf", "rouge", {"chrf": {"beta": 1}}]
    written = (tmp_path / "r" / "results.json").stat()
    again = rescore(tmp_path / "r", ["rouge", "chrf"])
    assert [record.metric for record in again.records] == [
        "chrf",
        "rouge",
        "chrf[beta=1]",
    ]
    after = (tmp_path / "r" / "results.json").stat()
    assert (after.st_ino, after.st_mtime_ns) == (written.st_ino, written.st_mtime_ns), (
        "nothing is written"
    )
    shown: list[bool] = []
    monkeypatch.setattr(
        task_kinds, "execute_task", lambda plan, *, show, **options: shown.append(show)
    )
    rescore(tmp_path / "r", ["bleu1"])
    rescore(tmp_path / "r", ["bleu1"], show=True)
    assert shown == [False, True]
