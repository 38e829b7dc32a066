"""Runs pushed to folders and to a hub on the loopback interface."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

import harness
from harness.errors import HarnessError, InputError
from harness.hub import push
from harness.hub.data_set import RUN_FILES
from harness.run.finished import Run
from harness.rundir.provenance import Provenance
from tests.support.push_server import Hub

datasets = pytest.importorskip("datasets")
constants = pytest.importorskip("huggingface_hub.constants")
STEPS = """
import os, signal, sys
from harness.hub import push
import harness.hub.data_set, harness.reporting.console, pyarrow.parquet

CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree")
count = step = 0

def count_changes(event, arguments):
    global count
    mode = arguments[1] if event == "open" else None
    writes = isinstance(mode, str) and set(mode) & set("wxa")
    if event in CHANGES or writes:
        count += 1
        if count == step:
            os.kill(os.getpid(), signal.SIGKILL)

for line in sys.stdin:
    child = os.fork()
    if not child:
        step = int(line)
        sys.addaudithook(count_changes)
        push("r", to="out", overwrite=sys.argv[1] == "True")
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Program that pushes a run for each number that it reads, killed before the change of
files of this number; it prints the exit codes.
"""


@pytest.fixture(autouse=True)
def local_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)


def load(folder, name):
    return datasets.load_dataset(str(folder), name)["train"]


@pytest.mark.parametrize("in_memory", [False, True])
def test_a_folder_is_a_data_set(folder, spec, in_memory):
    run = harness.evaluate(spec, output=None if in_memory else "r")
    assert push(run if in_memory else "r", to="out").place == "out"
    samples = load("out", "samples")
    results = load("out", "results")
    assert samples.to_dict() == run.to_dataset().to_dict()
    assert samples.features["bleu1"].dtype == "float64"
    assert results["metric"] == ["bleu1"] and results["value"] == [run.records[0].value]
    stored = json.loads((folder / "out" / "results.json").read_text())
    assert stored["results"] == json.loads(json.dumps(run.results))
    assert (folder / "out" / "README.md").read_text().startswith("---\npretty_name: ")


def test_references_can_be_left_out(folder, spec):
    harness.evaluate(spec, output="r")
    for place, source in enumerate(("r", Run.open("r"))):
        push(source, to=f"out{place}", references=False)
        assert "references" not in load(f"out{place}", "samples").column_names
        assert "candidates" in load(f"out{place}", "samples").column_names


def test_several_runs_have_a_configuration_each(folder, spec):
    for name in "ab":
        harness.evaluate(spec, output=name, seed=ord(name))
    push("a", "b", to="out")
    assert (
        load("out", "words-samples").num_rows
        == load("out", "words-2-samples").num_rows
        == 6
    )
    text = (folder / "out" / "README.md").read_text()
    assert "## words\n" in text and "## words-2\n" in text


def test_a_folder_with_other_files_is_not_touched(folder, spec):
    harness.evaluate(spec, output="r")
    (folder / "other").mkdir()
    (folder / "other" / "README.md").write_text("mine")
    (folder / "file").write_text("mine")
    push("r", to="out")
    for name, message in [
        ("other", "other: is not empty and no earlier push; give another folder"),
        ("file", "file: is a file; expected a folder for the data set"),
        ("out", "out: holds an earlier push; overwrite=True replaces its files"),
        ("r", "r: is not empty and no earlier push"),
    ]:
        with pytest.raises(InputError, match=message):
            push("r", to=name)
    assert (folder / "other" / "README.md").read_text() == "mine"
    push("r", to="out", overwrite=True, title="Again")
    assert "# Again" in (folder / "out" / "README.md").read_text()


def test_files_of_others_beside_an_earlier_push_stay(folder, spec):
    harness.evaluate(spec, output="r")
    for others in (
        ".git/HEAD",
        "notes.txt",
        "samples.parquet.bak",
        "mine/samples.parquet.txt",
    ):
        to = f"out-{others.replace('/', '-')}"
        push("r", to=to)
        other = folder / to / others
        other.parent.mkdir(exist_ok=True)
        other.write_text("mine")
        for overwrite in (False, True):
            with pytest.raises(
                InputError,
                match=rf"holds '{others.partition('/')[0]}' beside an earlier push; "
                r"give another folder",
            ):
                push("r", to=to, overwrite=overwrite)
        assert other.read_text() == "mine"


@pytest.mark.slow
@pytest.mark.parametrize("overwrite", [False, True])
def test_a_push_that_is_killed_at_any_step_is_given_again(folder, spec, overwrite):
    harness.evaluate(spec, output="r")
    program = [sys.executable, "-c", STEPS, str(overwrite)]
    with subprocess.Popen(
        program, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as killed:
        for step in range(1, 100):
            shutil.rmtree(folder / "out", ignore_errors=True)
            if overwrite:
                push("r", to="out", title="Before")
            print(step, file=killed.stdin, flush=True)
            code = int(killed.stdout.readline())
            if code == 0:
                break
            assert code == -9
            # A kill after the last rename leaves a whole push, which --overwrite alone
            # replaces.
            is_done = not overwrite and (folder / "out").exists()
            push("r", to="out", overwrite=overwrite or is_done)
            assert sorted(path.name for path in (folder / "out").iterdir()) == sorted(
                ["README.md", *RUN_FILES]
            )
            assert not list(folder.glob(".out*"))
        killed.stdin.close()
    assert step > 10, "the changes of files were counted"


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_push_that_fails_or_is_killed_is_given_again(
    folder, spec, monkeypatch, overwrite
):
    harness.evaluate(spec, output="r")
    if overwrite:
        push("r", to="out", title="Before")
    with monkeypatch.context() as patch:

        def fail(*arguments: object) -> str:
            raise OSError(28, "No space left on device")

        patch.setattr("harness.hub.data_set.card", fail)
        with pytest.raises(OSError, match="No space left"):
            push("r", to="out", overwrite=overwrite)
    assert (folder / "out").exists() == overwrite
    if overwrite:
        assert "# Before" in (folder / "out" / "README.md").read_text()
    (folder / ".out.99999999.tmp").mkdir()  # what a kill leaves
    (folder / ".out.99999999.tmp" / "samples.parquet").write_text("torn")
    push("r", to="out", overwrite=overwrite, title="After")
    assert "# After" in (folder / "out" / "README.md").read_text()
    assert not list(folder.glob(".out*"))


def test_mistakes_are_one_line(folder, spec, monkeypatch):
    harness.evaluate(spec, output="r")
    with pytest.raises(
        HarnessError,
        match=r"no target: give a folder \(to='DIR'\) or a repository of the hub",
    ):
        push("r")
    with pytest.raises(HarnessError, match="no run to push"):
        push(to="out")
    with pytest.raises(InputError, match=r"nowhere: has no manifest.json: no run here"):
        push("nowhere", to="out")
    with pytest.raises(
        InputError, match=r"'a/b/c' is no name of a data set \(OWNER/NAME\)"
    ):
        push("r", repo="a/b/c")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(
        HarnessError,
        match=r"HF_HUB_OFFLINE is set: .* hf upload owner/name DIR \. "
        r"--repo-type dataset",
    ):
        push("r", repo="owner/name")
    assert not (folder / "out").exists()


def test_judgments_are_no_data_set(folder, spec):
    run = harness.evaluate(spec)
    judged = replace(run, provenance=Provenance({**run.manifest, "kind": "judgments"}))
    with pytest.raises(InputError, match="is a run of judgments"):
        push(judged, to="out")


@pytest.fixture
def endpoint(monkeypatch):
    hub = Hub()
    monkeypatch.setattr(constants, "ENDPOINT", hub.url)
    monkeypatch.setenv("HF_TOKEN", "hf_test")
    yield hub
    hub.shutdown()
    hub.server_close()


def test_a_push_to_the_hub(spec, endpoint):
    run = harness.evaluate(spec, output="r")
    assert (
        push("r", repo="owner/name", private=True).place
        == f"{endpoint.url}/datasets/owner/name"
    )
    (body,) = endpoint.created
    assert (body["name"], body["organization"], body["type"]) == (
        "name",
        "owner",
        "dataset",
    )
    assert body.get("private") is True or body.get("visibility") == "private"
    files = endpoint.files["owner/name"]
    assert set(files) == {
        "README.md",
        "manifest.json",
        "results.json",
        "results.parquet",
        "samples.parquet",
    }
    assert b'load_dataset("owner/name", "samples")' in files["README.md"]
    assert json.loads(files["results.json"])["results"] == json.loads(
        json.dumps(run.results)
    )


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (
            401,
            "owner/name: the hub does not know you: log in with 'hf auth login', "
            "or set HF_TOKEN; to='DIR' writes a folder",
        ),
        (403, "owner/name: the token has no permission to write there; to='DIR'"),
        (422, "owner/name: the hub refuses: HTTP 422 "),
    ],
)
def test_a_hub_that_refuses(spec, endpoint, status, message):
    harness.evaluate(spec, output="r")
    endpoint.refuse_creation = status
    with pytest.raises(InputError) as caught:
        push("r", repo="owner/name")
    assert str(caught.value).startswith(message) and "\n" not in str(caught.value)


def test_a_hub_that_cannot_be_reached(folder, spec, monkeypatch):
    harness.evaluate(spec, output="r")
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(
        InputError,
        match=r"owner/name: the hub cannot be reached \(.*\); to='DIR' writes a folder",
    ):
        push("r", repo="owner/name")
