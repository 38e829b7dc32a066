"""Files and errors for the tests of the readers."""

from __future__ import annotations

import gzip
import json

import pytest

from harness.errors import InputError


@pytest.fixture
def save(tmp_path):
    """A function that writes JSON, JSON Lines or gzipped JSON, by the name,
    and returns the path.
    """

    def write(value, name="data.json"):
        path = tmp_path / name
        if name.endswith(".jsonl"):
            path.write_text(
                "".join(json.dumps(item) + "\n" for item in value), encoding="utf-8"
            )
        elif name.endswith(".gz"):
            path.write_bytes(gzip.compress(json.dumps(value).encode()))
        else:
            path.write_text(json.dumps(value), encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def error_message():
    """A function that reads all examples and returns the one-line message of the
    InputError.
    """

    def message(reader) -> str:
        with pytest.raises(InputError) as caught:
            list(reader)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return message
