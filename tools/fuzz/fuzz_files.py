"""Targets that read files of captions, judgments and token scores."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from hypothesis import strategies as st

from harness.contracts import Decoding, Example, TaskView
from harness.errors import HarnessError
from harness.registry import current
from tools.fuzz.fuzz_inputs import altered, encoded, parquet_bytes, replaced
from tools.fuzz.fuzz_target import check_one_line, target

EXAMPLES = [
    Example("1", ("a dog runs", "the dog")),
    Example("2", ("a cat", "two cats sit .")),
]
JUDGMENTS = [
    b'{"id": "1", "system": "s", "caption": "a dog", "references": ["a", "b"], '
    b'"score": 1}\n',
    b"system\tbleu\thuman\na\t1\t2\nb\t2\t3\nc\t1\t4\n",
    b"system,bleu,human\na,1,2\nb,nan,3\nc,inf,4\n",
]
TOKEN_SCORES = [
    b'{"id": "1", "probabilities": [0.5, 1.0], "ranks": [0, 2], "tokens": ["a", '
    b'"END"]}\n{"id": "2", "log_probs": [-1.5], "ranks": [0]}\n',
    b'{"id": "1", "references": [{"probabilities": [0.5], "ranks": [0]}]}\n',
]


PREDICTIONS = [
    b'[{"image_id": 1, "caption": "a dog"}, {"image_id": 2, "caption": "a cat"}]',
    b'{"1": ["a dog", "dogs"], "2": ["a cat"]}',
    b'{"id": "1", "candidates": ["a dog"]}\n{"id": "2", "candidates": ["a cat", '
    b'"x"]}\n',
    b'[{"references": ["a"], "candidates": ["a dog"], "media_path": "1.jpg"}]',
    parquet_bytes(
        [{"id": "1", "candidates": ["a dog"]}, {"id": "2", "candidates": ["a cat"]}]
    ),
    gzip.compress(b'{"1": ["a dog"], "2": ["a cat"]}', mtime=0),
]
DATA = [
    b'{"images": [{"id": 1, "file_name": "1.jpg"}], "annotations": [{"id": 3, '
    b'"image_id": 1, "caption": "a"}]}',
    b'{"images": [{"imgid": 1, "filename": "a.jpg", "split": "test", "sentences": '
    b'[{"raw": "a dog"}]}], "dataset": "coco"}',
    b'{"videos": [{"video_id": "video1", "split": "test"}], "sentences": '
    b'[{"video_id": "video1", "caption": "a dog", "sen_id": 1}]}',
    b'{"id": "1", "references": ["a dog"]}\n',
    b"1\ta dog\n2\ta cat\n",
    *PREDICTIONS,
]


@target(
    altered(PREDICTIONS)
    | encoded(replaced(json.loads(PREDICTIONS[0])))
    | encoded(replaced(json.loads(PREDICTIONS[1])))
)
def predictions(data: bytes, folder: Path) -> None:
    """Predictions in every format."""
    path = folder / "p.json"
    path.write_bytes(data)
    adapter = current().create(
        "adapters",
        "predictions",
        {"path": str(path), "allow_missing": True, "allow_unknown": True},
    )
    adapter.prepare(TaskView(EXAMPLES, Decoding(), partial=False))
    list(adapter.generate(EXAMPLES, Decoding(), [0, 1]))


@target(
    altered(DATA) | encoded(st.sampled_from(DATA[:3]).map(json.loads).flatmap(replaced))
)
def readers(data: bytes, folder: Path) -> None:
    """Every reader of files, on the same content."""
    path = folder / "d.json"
    path.write_bytes(data)
    problems: list[str] = []
    for name in ("auto", "coco", "jsonl", "karpathy", "lines", "msrvtt", "vdtk"):
        try:
            reader = current().create("readers", name, {"path": str(path)})
            reader.fingerprint()
            list(reader)
        except HarnessError as error:
            problems.append(str(error))
    check_one_line(*problems)


@target(altered(JUDGMENTS))
def tables(data: bytes, folder: Path) -> None:
    """Tables and human judgments."""
    from harness.decisions.correlate.column_table import read_table
    from harness.decisions.correlate.judgment_columns import read_judgments

    problems: list[str] = []
    for name, read in (
        ("t.tsv", read_table),
        ("t.csv", read_table),
        ("j.jsonl", read_judgments),
    ):
        (folder / name).write_bytes(data)
        try:
            read(folder / name)
        except HarnessError as error:
            problems.append(str(error))
    check_one_line(*problems)


@target(altered(TOKEN_SCORES) | encoded(replaced(json.loads(TOKEN_SCORES[1]))))
def token_scores(data: bytes, folder: Path) -> None:
    """Files of token scores."""
    from harness_models.token_scores.adapter import read_token_scores

    (folder / "t.jsonl").write_bytes(data)
    read_token_scores(folder / "t.jsonl")
