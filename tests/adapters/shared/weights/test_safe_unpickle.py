"""The restricted unpickler: content that it reads and content that it refuses."""

from __future__ import annotations

import collections
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch

from harness.errors import InputError
from harness_models.shared.weights.safe_unpickle import load_plain_pickle


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_plain_data_arrays_and_tensors_are_read(tmp_path: Path, protocol: int):
    data = {
        "plain": [
            1,
            2.5,
            "text",
            b"bytes",
            None,
            True,
            (1, {2}),
            collections.OrderedDict(a=1),
        ],
        "array": np.arange(6, dtype=np.float32).reshape(2, 3),
        "scalar": np.float64(0.5),
        "tensor": torch.arange(4).reshape(2, 2),
        "half": torch.ones(2, dtype=torch.bfloat16),
    }

    path = tmp_path / "data.pkl"
    path.write_bytes(pickle.dumps(data, protocol=protocol))
    loaded = load_plain_pickle(path)

    assert loaded["plain"] == data["plain"] and loaded["scalar"] == 0.5
    np.testing.assert_array_equal(loaded["array"], data["array"])
    assert torch.equal(loaded["tensor"], data["tensor"]) and torch.equal(
        loaded["half"], data["half"]
    )


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ((os.system, ("true",)), "posix.system"),
        ((eval, ("1",)), "builtins.eval"),
        ((getattr, ("a", "upper")), "builtins.getattr"),
        ((torch.load, ("x",)), "torch.serialization.load"),
        ((np.load, ("x",)), "numpy.load"),
    ],
)
def test_a_pickle_that_calls_a_function_is_refused(
    tmp_path: Path, call: tuple, name: str
):
    class Bomb:
        def __reduce__(self):
            return call

    path = tmp_path / "bomb.pkl"
    path.write_bytes(pickle.dumps({"a": Bomb()}))
    with pytest.raises(InputError) as caught:
        load_plain_pickle(path)
    assert str(caught.value).startswith(
        f"{path}: holds an object of type {name}, which is not plain data"
    )


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_truncated_pickle_is_refused(tmp_path: Path, share: float):
    content = pickle.dumps({"a": np.ones(30), "b": list(range(50))})
    (tmp_path / "cut.pkl").write_bytes(content[: int(len(content) * share)])
    with pytest.raises(InputError, match="cut.pkl: not a complete pickle"):
        load_plain_pickle(tmp_path / "cut.pkl")


def test_a_missing_pickle_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="none.pkl: no such file"):
        load_plain_pickle(tmp_path / "none.pkl")


@pytest.mark.parametrize("put", [b"r\xd4\x98\x94\x28", b"p680825748\n"])
def test_a_place_in_the_memo_beyond_the_file_is_refused(tmp_path: Path, put: bytes):
    """Such a file of a few bytes would take gigabytes of memory."""
    path = tmp_path / "bomb.pkl"
    path.write_bytes(b"\x80\x02]" + put + b".")
    with pytest.raises(
        InputError, match=r"place 680,82\d,\d+ of the memo in a file of \d+ bytes"
    ):
        load_plain_pickle(path)
