"""Files of predictions."""

from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest


@pytest.fixture
def save(tmp_path):
    def write(value, name="pred.json"):
        path = tmp_path / name
        if name.endswith(".parquet"):
            pq.write_table(pa.Table.from_pylist(value), path)
            return str(path)
        lines = ".jsonl" in name
        text = (
            "".join(json.dumps(item) + "\n" for item in value)
            if lines
            else json.dumps(value)
        )
        path.write_bytes(
            gzip.compress(text.encode()) if name.endswith(".gz") else text.encode()
        )
        return str(path)

    return write
