"""Every service, with the real library and without a network;
skipped where the library is not installed.
"""

from __future__ import annotations

import json
import socket
import struct

import pytest
from caption_loggers.services import (
    SERVICES,
    MLflow,
    TensorBoard,
    Trackio,
    Wandb,
    configuration,
)

from harness.errors import MissingExtra

MANIFEST = {
    "task": "sample",
    "signature": "sample|m:2|seed:0|harness:0.1.0",
    "digest": "0123456789abcdef",
    "seed": 0,
    "variant": "",
    "models": [{"label": "ours", "params": {"n": 2}}],
}
VALUES = {"trm(meteor)/ours": 0.5, "trm(meteor)/ours/low": 0.25, "cider/ours": 1.5}
ROWS = [["ours", "", "cider", 1.5, 1.0, 2.0, None, 3, 0]]


@pytest.fixture(autouse=True)
def offline(monkeypatch, tmp_path):
    """No connection leaves the machine; files lie in a temporary folder."""
    connect = socket.socket.connect

    def local(self, address):
        host = address[0] if isinstance(address, tuple) else "localhost"
        if host not in ("localhost", "127.0.0.1", "::1"):
            raise OSError(f"the test has no network: {address}")
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", local)
    monkeypatch.chdir(tmp_path)


def log(service):
    service.record(VALUES)
    service.finish(ROWS)


def test_tensorboard(tmp_path):
    accumulator = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator"
    )
    log(TensorBoard(MANIFEST, folder=str(tmp_path / "tb")))
    (folder,) = (tmp_path / "tb").iterdir()
    assert folder.name == "sample-01234567"
    events = accumulator.EventAccumulator(str(folder)).Reload()
    assert set(events.Tags()["scalars"]) == set(VALUES)
    assert events.Scalars("cider/ours")[0].value == 1.5
    texts = {
        tag: events.Tensors(tag)[0].tensor_proto.string_val[0].decode()
        for tag in events.Tags()["tensors"]
    }
    assert (
        "| ours |  | cider | 1.5 | 1.0 | 2.0 |  | 3 | 0 |"
        in texts["results/text_summary"]
    )
    assert '"task": "sample"' in texts["manifest/text_summary"]


def test_mlflow(tmp_path):
    mlflow = pytest.importorskip("mlflow")
    pytest.importorskip(
        "sqlalchemy", reason="a local database of MLflow needs sqlalchemy"
    )
    uri = f"sqlite:///{tmp_path}/ml.db"
    for _ in range(2):  # the experiment exists the second time
        log(
            MLflow(
                MANIFEST,
                uri=uri,
                experiment="captions",
                artifacts=str(tmp_path / "files"),
            )
        )

    client = mlflow.MlflowClient(tracking_uri=uri)
    runs = client.search_runs([client.get_experiment_by_name("captions").experiment_id])
    assert len(runs) == 2

    assert runs[0].data.metrics == {
        "trm_meteor_/ours": 0.5,
        "trm_meteor_/ours/low": 0.25,
        "cider/ours": 1.5,
    }
    assert runs[0].data.params == {
        "task": "sample",
        "signature": MANIFEST["signature"],
        "digest": MANIFEST["digest"],
        "seed": "0",
    }
    assert (runs[0].info.run_name, runs[0].info.status) == (
        MANIFEST["signature"],
        "FINISHED",
    )
    (table,) = list((tmp_path / "files" / runs[0].info.run_id).rglob("results.json"))
    assert json.loads(table.read_text())["data"] == ROWS


def entries_of(data: bytes) -> list[bytes]:
    """Return the entries of a file of W&B: a header of 7 bytes, blocks of 32 KiB,
    chunks of checksum, length and type (LevelDB's log).
    """
    entries = []
    place = 7
    parts = []
    while place + 7 <= len(data):
        if 32768 - place % 32768 < 7:
            place += 32768 - place % 32768
            continue
        _, length, kind = struct.unpack("<IHB", data[place : place + 7])
        parts.append(data[place + 7 : place + 7 + length])
        place += 7 + length
        if kind in (1, 4):  # whole, or the last part
            entries.append(b"".join(parts))
            parts = []
    return entries


def test_wandb(tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb")
    from wandb.proto import wandb_internal_pb2

    monkeypatch.setenv("WANDB_SILENT", "true")
    log(Wandb(MANIFEST, project="captions", mode="offline", folder=str(tmp_path)))
    wandb.teardown()
    (path,) = (tmp_path / "wandb").rglob("run-*.wandb")
    numbers = {}
    runs = []
    for data in entries_of(path.read_bytes()):
        record = wandb_internal_pb2.Record()
        record.ParseFromString(data)
        if record.WhichOneof("record_type") == "history":
            for item in record.history.item:
                numbers["/".join(item.nested_key) or item.key] = json.loads(
                    item.value_json
                )
        elif record.WhichOneof("record_type") == "run":
            runs.append(record.run)
    assert {name: numbers[name] for name in VALUES} == VALUES
    assert {name: numbers[name] for name in numbers if name.endswith("nrows")} == {
        "results/nrows": 1
    }
    assert (runs[0].project, runs[0].display_name) == (
        "captions",
        MANIFEST["signature"],
    )
    config = {item.key: json.loads(item.value_json) for item in runs[0].config.update}
    assert config["digest"] == MANIFEST["digest"]


def test_trackio(tmp_path, monkeypatch):
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))
    pytest.importorskip("trackio")
    import trackio.sqlite_storage
    import trackio.utils
    from trackio.sqlite_storage import SQLiteStorage

    for module in (trackio.utils, trackio.sqlite_storage):
        monkeypatch.setattr(module, "TRACKIO_DIR", tmp_path / "trackio")
    log(Trackio(MANIFEST, project="captions", name="one"))
    rows = SQLiteStorage.get_logs("captions", "one")
    numbers = {name: value for row in rows for name, value in row.items()}
    assert {name: numbers[name] for name in VALUES} == VALUES


def test_a_failed_run_is_closed_with_its_error(tmp_path, monkeypatch):
    accumulator = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator"
    )
    TensorBoard(MANIFEST, folder=str(tmp_path / "tb")).stop(
        "ValueError: it broke", interrupted=False
    )
    (folder,) = (tmp_path / "tb").iterdir()
    events = accumulator.EventAccumulator(str(folder)).Reload()
    assert events.Tensors("error/text_summary")[0].tensor_proto.string_val == [
        b"ValueError: it broke"
    ]


@pytest.mark.parametrize(
    ("interrupted", "status"), [(False, "FAILED"), (True, "KILLED")]
)
def test_a_failed_run_of_mlflow(tmp_path, interrupted, status):
    mlflow = pytest.importorskip("mlflow")
    pytest.importorskip(
        "sqlalchemy", reason="a local database of MLflow needs sqlalchemy"
    )
    uri = f"sqlite:///{tmp_path}/ml.db"
    MLflow(MANIFEST, uri=uri, experiment="captions", artifacts=str(tmp_path)).stop(
        "it broke", interrupted=interrupted
    )
    client = mlflow.MlflowClient(tracking_uri=uri)
    (run,) = client.search_runs(
        [client.get_experiment_by_name("captions").experiment_id]
    )
    assert (run.info.status, run.data.tags["error"]) == (status, "it broke")


def test_a_failed_run_of_wandb(tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb")
    from wandb.proto import wandb_internal_pb2

    monkeypatch.setenv("WANDB_SILENT", "true")
    Wandb(MANIFEST, mode="offline", folder=str(tmp_path)).stop(
        "it broke", interrupted=False
    )
    wandb.teardown()
    (path,) = (tmp_path / "wandb").rglob("run-*.wandb")
    codes = []
    errors = []
    for data in entries_of(path.read_bytes()):
        record = wandb_internal_pb2.Record()
        record.ParseFromString(data)
        if record.WhichOneof("record_type") == "exit":
            codes.append(record.exit.exit_code)
        elif record.WhichOneof("record_type") == "summary":
            errors += [
                item.value_json for item in record.summary.update if item.key == "error"
            ]
    assert (codes, errors) == ([1], ['"it broke"'])


def test_a_failed_run_of_trackio(tmp_path, monkeypatch):
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))
    pytest.importorskip("trackio")
    import trackio.sqlite_storage
    import trackio.utils
    from trackio.sqlite_storage import SQLiteStorage

    for module in (trackio.utils, trackio.sqlite_storage):
        monkeypatch.setattr(module, "TRACKIO_DIR", tmp_path / "trackio")
    Trackio(MANIFEST, project="captions", name="one").stop(
        "it broke", interrupted=False
    )
    (alert,) = SQLiteStorage.get_alerts("captions")
    assert (alert["title"], alert["text"], alert["level"]) == (
        "failed",
        "it broke",
        "error",
    )


@pytest.mark.parametrize("name", SERVICES)
def test_a_missing_library_is_one_line(name, monkeypatch):
    import harness.errors

    def missing(module):
        raise ModuleNotFoundError(
            f"No module named '{module}'", name=module.split(".")[0]
        )

    monkeypatch.setattr(harness.errors.importlib, "import_module", missing)
    with pytest.raises(
        MissingExtra,
        match=rf"logger {name} needs the package '\w+', "
        r".* pip install 'caption-harness\[loggers\]'",
    ):
        SERVICES[name](MANIFEST)


def test_the_configuration_is_what_identifies_the_run():
    assert configuration({**MANIFEST, "spec": {"a": 1}, "notice": "x"}) == {
        name: MANIFEST[name]
        for name in ("task", "signature", "digest", "seed", "models")
    }
