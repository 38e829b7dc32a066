"""The target that reads run directories, altered and forged."""

from __future__ import annotations

import io
import json
import shutil
from functools import cache
from pathlib import Path

from hypothesis import strategies as st

import harness
from harness.errors import HarnessError
from tools.fuzz.fuzz_files import EXAMPLES
from tools.fuzz.fuzz_inputs import altered, encoded, replaced
from tools.fuzz.fuzz_target import NotAnInput, check_one_line, target

FILES = (
    "manifest.json",
    "results.json",
    "samples.parquet",
    "comparisons.json",
    "scores",
    "candidates",
)


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
        if own:
            file.write_bytes(content)
        else:
            file.write_bytes(_without_checksums(original) if forged else original)
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
