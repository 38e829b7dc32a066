"""The run directory: created, resumed, replaced, opened, locked."""

from __future__ import annotations

import errno
import json
import os

import numpy as np
import pytest

from harness.errors import HarnessError, InputError
from harness.files.outputs import write_output
from harness.rundir.artifact_key import ArtifactKey
from harness.rundir.kept_file import KeptFile
from harness.rundir.lock import RunLock
from harness.rundir.rundir import RunDir
from tests.support.run_directories import (
    MANIFEST,
    OTHER,
    create,
    cut_off_commit,
    files_of,
    fill_samples,
    finish,
)

KEY = ArtifactKey.of("artifact", 1)


def test_a_finished_run_is_opened_with_records_and_samples(tmp_path):
    finish(create(tmp_path / "r"))
    run = RunDir.open(tmp_path / "r")
    assert (run.provenance.task, run.provenance.digest) == ("t", "abc")
    assert [(record.model, record.metric, record.value) for record in run.records] == [
        ("a", "m", 0.5)
    ]
    (system,) = run.samples.systems
    assert system.examples == ("1", "2")
    assert np.array_equal(system.scores("m"), [0.5, np.nan], equal_nan=True)
    assert (run.results.failed, run.results.notes) == ({}, ["a note"])


@pytest.mark.parametrize("mode", ["auto", "resume", "extend"])
def test_a_finished_run_with_its_statistics_is_not_written_again(
    tmp_path, caplog, mode
):
    run = create(tmp_path / "r")
    run.artifacts.write_arrays(KEY, {"stats": np.zeros(2)})
    run.artifacts.write_shards("m", [KEY.stem])
    finish(run, statistics="m")
    before = files_of(tmp_path / "r")
    with create(tmp_path / "r", mode=mode) as again:
        assert again.finished
    assert files_of(tmp_path / "r") == before
    assert not caplog.messages


@pytest.mark.parametrize("mode", ["auto", "resume"])
def test_the_manifest_of_a_run_that_goes_on_stays_as_it_is(tmp_path, mode):
    create(tmp_path / "r", {**MANIFEST, "versions": {"x": "first"}}).close()
    before = (tmp_path / "r" / "manifest.json").read_bytes()
    create(tmp_path / "r", {**MANIFEST, "versions": {"x": "second"}}, mode).close()
    assert (tmp_path / "r" / "manifest.json").read_bytes() == before
    finish(create(tmp_path / "r", {**MANIFEST, "versions": {"x": "second"}}, "fresh"))
    assert json.loads((tmp_path / "r" / "manifest.json").read_text())["versions"] == {
        "x": "second"
    }


@pytest.mark.parametrize(
    ("manifest", "mode"),
    [
        (MANIFEST, "fresh"),
        (OTHER, "fresh"),
        (OTHER, "extend"),
        ({**OTHER, "digest": "aa"}, "extend"),
    ],
)
def test_the_old_run_stays_until_the_new_one_is_finished(tmp_path, manifest, mode):
    first = create(tmp_path / "r")
    first.artifacts.write_arrays(KEY, {"stats": np.ones(3)})
    finish(first)
    write_output(tmp_path / "r" / "report.html", b"<p>", overwrite=False)
    old = files_of(tmp_path / "r")
    run = create(tmp_path / "r", manifest, mode)
    run.log("started")
    assert not run.finished
    assert (run.artifacts.read_arrays(KEY.stem) is None) == (mode == "fresh")
    run.artifacts.write_arrays(ArtifactKey.of("artifact", 2), {"stats": np.zeros(3)})
    run.close()
    new = files_of(tmp_path / "r")
    assert {name: new[name] for name in old if name != "log.jsonl"} == {
        name: old[name] for name in old if name != "log.jsonl"
    }
    assert RunDir.open(tmp_path / "r").provenance.digest == "abc"

    again = create(tmp_path / "r", manifest, mode)
    assert (
        again.artifacts.read_arrays(ArtifactKey.of("artifact", 2).stem) is not None
    ), "what the killed run had stays"
    finish(again)
    assert RunDir.open(tmp_path / "r").provenance.digest == manifest["digest"]
    assert (RunDir.open(tmp_path / "r").artifacts.read_arrays(KEY.stem) is None) == (
        mode == "fresh"
    )
    assert not (tmp_path / "r" / "report.html").exists()
    assert not (tmp_path / "r" / ".next").exists()


@pytest.mark.parametrize("mode", ["auto", "resume"])
@pytest.mark.parametrize("killed", ["extend", "fresh"])
def test_a_killed_run_that_replaces_another_goes_on_without_its_flag(
    tmp_path, mode, killed
):
    first = create(tmp_path / "r")
    first.artifacts.write_arrays(KEY, {"stats": np.ones(3)})
    finish(first)
    run = create(tmp_path / "r", OTHER, killed)
    run.artifacts.write_arrays(ArtifactKey.of("artifact", 2), {"stats": np.ones(3)})
    run.close()
    for digest in ("w", "y"):
        with pytest.raises(InputError, match="holds another run"):
            create(tmp_path / "r", {**OTHER, "digest": digest}, mode)
    again = create(tmp_path / "r", OTHER, mode)
    assert (again.artifacts.read_arrays(KEY.stem) is not None) == (killed == "extend")
    assert again.artifacts.read_arrays(ArtifactKey.of("artifact", 2).stem) is not None
    finish(again)
    assert RunDir.open(tmp_path / "r").provenance.digest == "x"


def test_samples_are_written_beside_those_of_the_run_before(tmp_path):
    finish(create(tmp_path))
    with create(tmp_path, OTHER, "fresh") as run, run.create_samples() as file:
        file.write(b"new")
    assert (tmp_path / ".next" / "samples.parquet").read_bytes() == b"new"
    assert len(RunDir.open(tmp_path).samples) == 2


def test_a_run_that_is_replaced_in_its_place_keeps_its_statistics(tmp_path):
    run = create(tmp_path)
    run.artifacts.write_arrays(KEY, {"stats": np.ones(3)})
    run.replace_run(OTHER)
    assert (run.provenance.digest, run.finished) == ("x", False)
    assert run.artifacts.read_arrays(KEY.stem) is not None
    finish(run)
    assert RunDir.open(tmp_path).artifacts.read_arrays(KEY.stem) is not None


def test_a_fresh_run_goes_on_with_a_killed_fresh_one_and_drops_one_that_extends(
    tmp_path, caplog
):
    finish(create(tmp_path))
    for killed, size, notes in (
        ("extend", None, []),
        ("fresh", 5, [f"note: the interrupted fresh run in {tmp_path} goes on"]),
    ):
        run = create(tmp_path, OTHER, killed)
        run.write_shards(5, examples=12)
        run.close()
        caplog.clear()
        run = create(tmp_path, OTHER, "fresh")
        assert run.shard_size(12) == size
        assert caplog.messages == notes
        run.close()


def test_fresh_alone_names_the_interrupted_fresh_run_that_goes_on(tmp_path, caplog):
    create(tmp_path, mode="fresh").close()
    for mode in ("auto", "resume", "extend"):
        create(tmp_path, mode=mode).close()
    assert not caplog.messages
    create(tmp_path, mode="fresh").close()
    assert caplog.messages == [f"note: the interrupted fresh run in {tmp_path} goes on"]


@pytest.mark.parametrize(("killed", "manifest"), [("auto", MANIFEST), ("fresh", OTHER)])
def test_a_fresh_run_uses_nothing_of_a_killed_run_that_was_not_the_same(
    tmp_path, killed, manifest
):
    run = create(tmp_path, mode=killed)
    run.artifacts.write_arrays(KEY, {"stats": np.ones(3)})
    run.close()
    run = create(tmp_path, manifest, "fresh")
    assert run.artifacts.read_arrays(KEY.stem) is None
    finish(run)
    assert (
        run.finished and RunDir.open(tmp_path).provenance.digest == manifest["digest"]
    )


def test_a_run_that_extends_the_one_before_it_drops_a_killed_fresh_one(tmp_path):
    first = create(tmp_path / "r")
    first.artifacts.write_arrays(KEY, {"stats": np.ones(3)})
    finish(first)
    killed = create(tmp_path / "r", OTHER, "fresh")
    killed.folder.write(".next/report.html", b"of the killed run")
    killed.close()
    run = create(tmp_path / "r", OTHER, "extend")
    assert run.artifacts.read_arrays(KEY.stem) is not None
    assert run.folder.names(".next") == ["manifest.json"]
    run.close()


def test_a_killed_fresh_run_of_an_empty_directory_goes_on_with_the_same_command(
    tmp_path,
):
    run = create(tmp_path / "r", mode="fresh")
    run.artifacts.write_arrays(KEY, {"stats": np.ones(3)})
    run.close()
    again = create(tmp_path / "r", mode="fresh")
    assert again.artifacts.read_arrays(KEY.stem) is not None
    finish(again)
    anew = create(tmp_path / "r", mode="fresh")
    assert anew.artifacts.read_arrays(KEY.stem) is None, "a finished run is replaced"
    anew.close()
    create(tmp_path / "s").close()
    other = create(tmp_path / "s", {**MANIFEST, "part": "1/2"}, "fresh")
    assert other.artifacts.read_arrays(KEY.stem) is None
    other.close()


def test_a_folder_in_a_commit_that_was_cut_off_is_not_moved(tmp_path):
    finish(create(tmp_path / "r"))
    run = RunDir.open(tmp_path / "r")
    run.folder.write(".next/scores/x.npz/inner.txt", b"mine")
    run.folder.write("commit.json", b'{"moved": {"scores": null}, "removed": []}')
    with pytest.raises(InputError, match=r"\.next/scores/x\.npz: is no plain file"):
        RunDir.open(tmp_path / "r")
    assert (tmp_path / "r" / ".next/scores/x.npz/inner.txt").read_bytes() == b"mine"


def test_what_is_kept_beside_a_run_waits_for_a_commit_that_was_cut_off(tmp_path):
    finish(create(tmp_path / "r"))
    run = RunDir.open(tmp_path / "r")
    run.folder.write("comparisons.json", b"old")
    cut_off_commit(run, "report.html", b"new", ["comparisons.json"])
    kept = KeptFile(tmp_path / "r" / "comparisons.json", "key")
    assert kept.read() is None
    kept.write(1, [1])
    assert kept.read() == [1]
    assert not (tmp_path / "r" / "commit.json").exists()


@pytest.mark.parametrize(
    "error",
    [
        HarnessError("another process is writing this run"),
        OSError(errno.EROFS, "read-only"),
    ],
    ids=repr,
)
def test_nothing_is_kept_beside_a_run_whose_commit_may_not_be_carried_out(
    tmp_path, monkeypatch, error
):
    finish(create(tmp_path / "r"))
    cut_off_commit(RunDir.open(tmp_path / "r"), "report.html", b"new")
    before = files_of(tmp_path / "r")

    def refuse(lock):
        raise error

    monkeypatch.setattr(RunLock, "acquire", refuse)
    KeptFile(tmp_path / "r" / "comparisons.json", "key").write(1, [1])
    assert files_of(tmp_path / "r") == before


def test_a_fresh_run_replaces_a_commit_whose_files_are_damaged(tmp_path, caplog):
    finish(create(tmp_path / "r"))
    run = RunDir.open(tmp_path / "r")
    cut_off_commit(run, "report.html", b"new")
    run.folder.write(".next/report.html", b"torn")
    with create(tmp_path / "r", OTHER, "fresh") as fresh:
        assert (
            not fresh.finished
            and not fresh.folder.has("commit.json")
            and not fresh.folder.has("results.json")
        )
    assert (
        "is damaged: it is not the file that commit.json names" in caplog.text
        and "; it is replaced" in caplog.text
    )
    finish(create(tmp_path / "r", OTHER, "fresh"))
    assert RunDir.open(tmp_path / "r").finished


def test_a_run_that_fails_at_once_leaves_the_one_before_it(tmp_path):
    finish(create(tmp_path / "r"))
    old = files_of(tmp_path / "r")
    for mode in ("extend", "fresh"):
        with pytest.raises(HarnessError), create(tmp_path / "r", OTHER, mode):
            raise HarnessError("no model")
        assert files_of(tmp_path / "r") == old


def test_a_run_that_fails_keeps_what_it_has_beside_the_one_before_it(tmp_path):
    first = create(tmp_path / "r")
    first.artifacts.write_arrays(KEY, {"stats": np.ones(3)})
    finish(first)
    for mode in ("extend", "fresh"):
        run = create(tmp_path / "r", OTHER, mode)
        if mode == "fresh":
            run.artifacts.write_arrays(KEY, {"stats": np.zeros(3)})
        run.discard_if_empty()
        run.close()
        assert (tmp_path / "r" / ".next").exists() == (mode == "fresh")


def test_a_finished_part_stays_finished(tmp_path):
    run = create(tmp_path / "r", {**MANIFEST, "part": "1/2"})
    run.finish_part(5, examples=10, part="1/2")
    run.write_shards(5, examples=10)
    assert json.loads((tmp_path / "r" / "shards.json").read_text())["finished"] is True


def test_a_part_is_no_finished_run(tmp_path):
    create(tmp_path, {**MANIFEST, "part": "1/2"}).close()
    with pytest.raises(
        InputError,
        match=r"has no results\.json: it is part 1/2 of a run; "
        r"join the parts with harness merge",
    ):
        RunDir.open(tmp_path)


def test_a_part_that_replaces_a_run_takes_its_place_when_it_is_complete(tmp_path):
    finish(create(tmp_path))
    part = create(tmp_path, {**OTHER, "part": "1/2"}, "fresh")
    part.finish_part(5, examples=10)
    part.close()
    assert sorted(files_of(tmp_path)) == ["log.jsonl", "manifest.json", "shards.json"]
    assert json.loads((tmp_path / "manifest.json").read_bytes())["part"] == "1/2"


@pytest.mark.parametrize("mode", ["auto", "fresh"])
def test_the_logs_of_parts_are_joined(tmp_path, mode):
    if mode == "fresh":
        before = create(tmp_path / "r", OTHER)
        before.log("before")
        finish(before)
    folders = [tmp_path / f"part{k}" for k in range(3)]
    for k, folder in enumerate(folders):
        with create(folder, {**MANIFEST, "part": f"{k + 1}/3"}) as part:
            if k != 1:
                part.log(f"of part {k}")
    run = create(tmp_path / "r", mode=mode)
    run.log("first")
    run.take_parts(folders)
    finish(run)
    lines = (tmp_path / "r" / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["event"] for line in lines] == [
        "first",
        "of part 0",
        "of part 2",
    ]


def test_two_processes_cannot_write_one_run(tmp_path):
    first = create(tmp_path / "r")
    with pytest.raises(HarnessError, match="another process is writing this run"):
        create(tmp_path / "r")
    assert (tmp_path / "r" / ".lock").exists(), (
        "a refused process leaves the lock of the other"
    )
    first.close()
    create(tmp_path / "r").close()


@pytest.mark.parametrize("removals", [1, 19, 20])
def test_a_folder_that_another_process_removes_is_created_up_to_20_times(
    tmp_path, monkeypatch, removals
):
    acquire = RunLock.acquire
    attempts = []

    def remove_first(lock):
        attempts.append((tmp_path / "r").is_dir())
        if len(attempts) <= removals:
            (tmp_path / "r").rmdir()
            raise FileNotFoundError("no folder")
        acquire(lock)

    monkeypatch.setattr(RunLock, "acquire", remove_first)
    if removals == 20:
        with pytest.raises(FileNotFoundError, match="no folder"):
            create(tmp_path / "r")
    else:
        create(tmp_path / "r").close()
    assert attempts == [True] * min(20, removals + 1)


def test_a_lock_that_cannot_be_written_for_another_reason_is_an_error(
    tmp_path, monkeypatch
):
    def refuse(lock):
        raise OSError(errno.ENOSPC, "No space left on device")

    finish(create(tmp_path))
    monkeypatch.setattr(RunLock, "acquire", refuse)
    with pytest.raises(OSError, match="No space left"):
        create(tmp_path)


def test_the_folders_above_a_run_are_created_and_its_name_is_text(tmp_path):
    create(tmp_path / "a" / "b" / "r").close()
    assert (tmp_path / "a" / "b" / "r" / "manifest.json").is_file()
    with pytest.raises(
        InputError, match="the name of a run directory is UTF-8; found other bytes"
    ):
        create(tmp_path / "r\udcff")


def test_an_unfinished_run_is_reported(tmp_path):
    with pytest.raises(InputError, match=r"has no manifest\.json: no run here"):
        RunDir.open(tmp_path)
    (tmp_path / "first").mkdir()
    with pytest.raises(InputError, match="no run here; did you mean '.*first'?"):
        RunDir.open(tmp_path / "frist")
    (tmp_path / "manifest.json").write_text(json.dumps(MANIFEST))
    with pytest.raises(
        InputError,
        match=r"has no results\.json: the run has not finished; "
        r"run its spec again to continue it",
    ):
        RunDir.open(tmp_path)
    (tmp_path / "results.json").write_text("{")
    with pytest.raises(InputError, match="not valid JSON"):
        RunDir.open(tmp_path)
    (tmp_path / "results.json").write_text("{}")
    with pytest.raises(
        InputError, match="holds no results of a run: results: field required"
    ):
        RunDir.open(tmp_path)


def test_a_run_that_failed_at_once_leaves_nothing(tmp_path):
    run = create(tmp_path / "r")
    run.log("started")
    run.discard_if_empty()
    assert not (tmp_path / "r").exists()


def test_a_run_that_failed_at_once_leaves_the_files_of_others(tmp_path):
    name = f".comparisons.json.{os.getpid()}.tmp"
    (tmp_path / name).write_text("{")
    create(tmp_path).discard_if_empty()
    assert list(files_of(tmp_path)) == [name]


def test_a_finished_run_without_artifacts_is_not_discarded(tmp_path):
    finish(create(tmp_path))
    before = files_of(tmp_path)
    with pytest.raises(HarnessError), create(tmp_path):
        raise HarnessError("no model")
    assert files_of(tmp_path) == before


def test_an_interrupted_run_keeps_its_manifest(tmp_path):
    with pytest.raises(KeyboardInterrupt), create(tmp_path):
        raise KeyboardInterrupt
    assert list(files_of(tmp_path)) == ["manifest.json"]


@pytest.mark.parametrize("name", ["results.json", "samples.parquet"])
def test_a_run_is_finished_with_results_and_samples_alone(tmp_path, name):
    run = create(tmp_path)
    assert not run.finished
    finish(run)
    assert run.finished
    (tmp_path / name).unlink()
    assert not run.finished


def test_a_run_without_samples_says_so(tmp_path):
    run = create(tmp_path / "r")
    finish(run)
    (tmp_path / "r" / "samples.parquet").unlink()
    with pytest.raises(
        InputError, match=r"samples\.parquet: is missing; run the spec again"
    ):
        _ = RunDir.open(tmp_path / "r").samples.systems


def test_events_are_appended_one_line_each(tmp_path, monkeypatch):
    monkeypatch.setattr("time.time", lambda: 1234.56789)
    run = create(tmp_path / "r")
    run.log("note", text="a\nb\ud800")
    run.log("finished", results=float("nan"))
    run.close()
    lines = [
        json.loads(line)
        for line in (tmp_path / "r" / "log.jsonl").read_text().splitlines()
    ]
    assert lines == [
        {"time": 1234.568, "event": "note", "text": "a\nb\ud800"},
        {"time": 1234.568, "event": "finished", "results": None},
    ]


@pytest.mark.parametrize("mode", ["auto", "resume", "extend"])
def test_a_finished_run_in_a_folder_that_cannot_be_written_is_opened(
    tmp_path, monkeypatch, mode
):
    finish(create(tmp_path / "r"))
    (tmp_path / "r" / ".results.json.999.tmp").write_text("{")
    files = files_of(tmp_path / "r")
    open_file = os.open

    def read_only(path, flags, *arguments, **folders):
        if flags & (os.O_RDWR | os.O_WRONLY | os.O_CREAT):
            raise OSError(errno.EROFS, "Read-only file system", str(tmp_path))
        return open_file(path, flags, *arguments, **folders)

    monkeypatch.setattr(os, "open", read_only)
    run = create(tmp_path / "r", mode=mode)
    assert run.finished
    run.close()
    assert files_of(tmp_path / "r") == files
    with pytest.raises(OSError, match="Read-only"):
        create(tmp_path / "r", mode="fresh")
    for digest in ("aa", "x"):
        with pytest.raises(OSError, match="Read-only"):
            create(tmp_path / "r", {**OTHER, "digest": digest}, "extend")
    (tmp_path / "r" / "results.json").unlink()
    with pytest.raises(OSError, match="Read-only"):
        create(tmp_path / "r")


def test_the_manifest_is_read_again_under_the_lock(tmp_path, monkeypatch):
    acquire = RunLock.acquire

    def late(lock):
        acquire(lock)
        # another process came first
        (tmp_path / "r" / "manifest.json").write_text('{"digest": "x", "task": "u"}')

    monkeypatch.setattr(RunLock, "acquire", late)
    with pytest.raises(InputError, match="holds another run"):
        create(tmp_path / "r")
    assert not (tmp_path / "r" / ".lock").exists()
    assert json.loads((tmp_path / "r" / "manifest.json").read_text())["digest"] == "x"


@pytest.mark.parametrize(
    "content", ["{}", '{"task": "t", "digest": 3, "signature": ""}', '{"task": ["t"]}']
)
def test_a_damaged_manifest_is_one_line(tmp_path, content):
    finish(create(tmp_path / "r"))
    (tmp_path / "r" / "manifest.json").write_text(content)
    with pytest.raises(
        InputError, match=r"manifest\.json: is no manifest of a run: \w+: "
    ):
        RunDir.open(tmp_path / "r")


def damaged(data: bytes) -> bytes:
    at = len(data) // 2
    return data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]


@pytest.mark.parametrize("name", ["samples.parquet", "results.json"])
@pytest.mark.parametrize(
    "damage", [lambda data: data[:40], lambda data: b"", lambda data: b"{}", damaged]
)
def test_damaged_results_are_named_when_opened_and_written_again_by_a_run(
    tmp_path, caplog, name, damage
):
    finish(create(tmp_path / "r"))
    file = tmp_path / "r" / name
    good = file.read_bytes()
    file.write_bytes(
        b"{" + good[1:-9]
        if name == "results.json" and damage is damaged
        else damage(good)
    )
    with pytest.raises(InputError, match=name) as caught:
        _ = RunDir.open(tmp_path / "r").samples.systems
    assert "\n" not in str(caught.value)
    run = create(tmp_path / "r")
    assert not run.finished
    assert len(caplog.records) == 1
    finish(run)
    assert file.read_bytes() == good
    assert create(tmp_path / "r").finished


def test_a_run_that_failed_with_artifacts_keeps_them(tmp_path):
    run = create(tmp_path / "r")
    run.artifacts.write_arrays(ArtifactKey.of("artifact", 1), {"stats": np.ones(3)})
    run.discard_if_empty()
    run.close()
    assert (tmp_path / "r" / "manifest.json").is_file()
    assert len(list((tmp_path / "r" / "scores").iterdir())) == 1


def test_a_changed_digit_of_the_results_is_found(tmp_path, project):
    spec = {
        "task": "words",
        "dataset": {"reader": "words"},
        "models": ["echo"],
        "metrics": ["length"],
    }
    import harness.api

    before = harness.api.evaluate(spec, output=tmp_path / "run")
    file = tmp_path / "run" / "results.json"
    text = file.read_text()
    value = json.loads(text)["results"][0]["value"]
    file.write_text(text.replace(f'"value": {value}', f'"value": {value + 1}'))
    with pytest.raises(
        InputError, match=r"results.json: is damaged \(its checksum differs\)"
    ):
        _ = RunDir(tmp_path / "run").records
    after = harness.api.evaluate(spec, output=tmp_path / "run")
    assert after.results[0]["value"] == before.results[0]["value"] == value


@pytest.mark.parametrize("schema", [0, 1])
def test_the_checksum_of_results_is_that_of_its_schema_and_may_be_absent(
    tmp_path, schema
):
    finish(create(tmp_path))
    content = json.loads((tmp_path / "results.json").read_bytes()) | {"schema": schema}
    (tmp_path / "results.json").write_text(json.dumps(content | {"checksum": "0" * 64}))
    if schema == 1:
        with pytest.raises(InputError, match="its checksum differs"):
            RunDir.open(tmp_path)
    else:
        assert RunDir.open(tmp_path).results.notes == ["a note"]
    del content["checksum"]
    (tmp_path / "results.json").write_text(json.dumps(content))
    assert RunDir.open(tmp_path).results.notes == ["a note"]


def test_results_of_a_newer_schema_are_refused(tmp_path):
    finish(create(tmp_path))
    content = json.loads((tmp_path / "results.json").read_bytes()) | {"schema": 2}
    (tmp_path / "results.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match="this version reads schemas up to 1"):
        RunDir.open(tmp_path)


def test_the_size_of_shards_and_the_costs_of_models_are_read_back(tmp_path):
    run = create(tmp_path)
    assert run.shard_size() is None
    run.write_shards(5, examples=12)
    assert run.shard_size() == 5
    run.write_shards(0)
    assert run.shard_size() is None
    run.write_shards(5, examples=12)
    file = run.path / "shards.json"
    whole = file.read_bytes()
    for torn in (
        b"",
        whole[: len(whole) // 2],
        whole.replace(b"5", b"7", 1),
        whole.replace(b"12", b"13", 1),
    ):
        file.write_bytes(torn)
        assert run.shard_size() is None
    fill_samples(run)
    run.write_results([], {}, [], {"model": {"tokens": 3}})
    run.close()
    assert RunDir.open(tmp_path).results.costs == {"model": {"tokens": 3}}


def test_a_run_that_replaces_another_has_its_shards_where_the_examples_are_as_many(
    tmp_path,
):
    run = create(tmp_path)
    run.write_shards(5, examples=12)
    finish(run)
    run = create(tmp_path, OTHER, "extend")
    assert (run.shard_size(12), run.shard_size(13)) == (5, None)
    run.close()
    run = create(tmp_path, OTHER, "fresh")
    assert run.shard_size(12) is None
    run.close()


def test_damaged_shards_are_written_again_and_whole_ones_are_kept(tmp_path, caplog):
    run = create(tmp_path)
    run.write_shards(5, examples=2)
    finish(run)
    again = create(tmp_path)
    assert again.finished and not caplog.records
    again.close()
    (tmp_path / "shards.json").write_text("{")
    again = create(tmp_path)
    assert not again.finished and "shards.json: is damaged" in caplog.text
    again.close()
