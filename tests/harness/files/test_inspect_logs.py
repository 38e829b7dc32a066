"""Logs of lm-eval and inspect as records."""

from __future__ import annotations

import json
import zipfile

import pyarrow as pa
import pytest

from harness.errors import InputError
from harness.files.forms import read_form
from harness.files.inspect_logs import inspect_rows

NAN = float("nan")


def test_nan_is_read_in_logs_alone(tmp_path):
    """Python's json writes the constant for a sample without a score; in captions it is
    no JSON.
    """
    logs = {
        "s.jsonl": [
            {"doc_id": k, "filtered_resps": ["x"], "acc": NAN} for k in range(2)
        ],
        "one.json": [{"doc_id": 1, "filtered_resps": ["x"], "acc": NAN}],
        "l.json": [
            {
                "eval": {},
                "samples": [{**sample(1, ["x"]), "scores": {"m": {"value": NAN}}}],
            }
        ],
        "c.jsonl": [{"id": k, "caption": "x", "acc": NAN} for k in range(2)],
    }

    for name, rows in logs.items():
        indent = 1 if name == "l.json" else None
        text = "\n".join(json.dumps(row, indent=indent) for row in rows)
        (tmp_path / name).write_text(text)

    for name, form in (
        ("s.jsonl", "lm-eval"),
        ("one.json", "lm-eval"),
        ("l.json", "inspect"),
    ):
        for given in (None, form):
            read = read_form(tmp_path / name, "candidates", form=given)
            first = next(iter(read.rows))
            assert (read.name, first.fields["candidates"]) == (form, ["x"])

    with pytest.raises(InputError, match="found NaN; JSON numbers are finite"):
        list(read_form(tmp_path / "c.jsonl", "candidates").rows)


def sample(key, content, epoch=1):
    choices = [{"message": {"role": "assistant", "content": text}} for text in content]
    return {
        "id": key,
        "epoch": epoch,
        "input": "describe",
        "target": "a dog",
        "output": {"choices": choices},
    }


def test_epochs_and_choices_of_inspect_are_candidates():
    parts = [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "c"}]
    log = {
        "eval": {},
        "samples": [
            sample(1, ["a"]),
            sample(2, ["b"]),
            sample(1, [parts, "d"], epoch=2),
        ],
    }
    rows = list(inspect_rows(log, "log.json"))
    assert [(row.fields["id"], row.fields["candidates"]) for row in rows] == [
        ("1", ["a", "c", "d"]),
        ("2", ["b"]),
    ]
    assert rows[0].fields["references"] == "a dog"
    assert rows[0].fields["source"] == "describe"


def test_a_sample_with_an_error_has_no_prediction():
    (row,) = inspect_rows(
        {"eval": {}, "samples": [{**sample(1, []), "error": {"message": "x"}}]},
        "log.json",
    )
    assert row.fields["candidates"] is None


def test_logs_without_samples():
    for log in (
        {"eval": {}, "samples": None, "status": "error"},
        {"eval": {}, "samples": []},
    ):
        with pytest.raises(
            InputError, match=r"log\.json: the log has no samples \(status"
        ):
            list(inspect_rows(log, "log.json"))
    with pytest.raises(
        InputError, match="found the number 3; expected a sample of inspect"
    ):
        list(inspect_rows({"eval": {}, "samples": [3]}, "log.json"))


def test_the_archive_of_inspect(tmp_path):
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"eval": {}}))
        archive.writestr("samples/1_epoch_1.json", json.dumps(sample(1, ["a dog"])))
        archive.writestr(
            "samples/1_epoch_2.json", json.dumps(sample(1, ["a cat"], epoch=2))
        )
    form = read_form(path, "candidates")
    assert (form.name, [row.fields["candidates"] for row in form.rows]) == (
        "inspect",
        [["a dog", "a cat"]],
    )


def test_an_archive_with_zstandard(tmp_path):
    """inspect compresses the members with method 93; the archive is written as stored
    bytes and its methods are changed.
    """
    path = tmp_path / "log.eval"
    content = json.dumps(sample("b", ["a dog"])).encode()
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)

    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("samples/b_epoch_1.json", sink.getvalue().to_pybytes())

    data = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        place = data.index(mark) + offset
        data[place : place + 2] = (93).to_bytes(2, "little")
    path.write_bytes(data)

    assert [row.fields["candidates"] for row in read_form(path, "candidates").rows] == [
        ["a dog"]
    ]


def test_other_archives_are_refused(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "a dog")
    with pytest.raises(InputError, match="is a zip archive of 1 file"):
        list(read_form(path, "candidates").rows)
    path.write_bytes(path.read_bytes()[:30])
    with pytest.raises(InputError, match="not a complete zip archive"):
        list(read_form(path, "candidates").rows)
