"""Arrays of pickles: what numpy writes is read, and what would end the process in
numpy's own code is refused.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from harness.errors import InputError
from harness_models.shared.weights.pickled_arrays import (
    PickledType,
    make_empty,
    make_from_buffer,
    make_scalar,
)
from harness_models.shared.weights.safe_unpickle import load_plain_pickle

KINDS = arrays.scalar_dtypes().filter(lambda dtype: dtype.kind in "biufcSU")
F4 = PickledType("f4")


@given(
    array=arrays.arrays(KINDS, arrays.array_shapes(min_dims=0, min_side=0, max_side=4)),
    order=st.sampled_from("CF"),
    protocol=st.integers(2, pickle.HIGHEST_PROTOCOL),
)
def test_every_array_of_numbers_and_texts_comes_back(
    tmp_path_factory, array, order, protocol
):
    if not array.dtype.itemsize:
        return
    path = tmp_path_factory.mktemp("arrays") / "a.pkl"
    path.write_bytes(pickle.dumps(np.asarray(array, order=order), protocol=protocol))
    loaded = load_plain_pickle(path)
    # numpy itself may read an array into the processor's order of bytes
    kinds = {item.dtype.newbyteorder("=") for item in (loaded, array)}
    assert len(kinds) == 1 and loaded.shape == array.shape
    np.testing.assert_array_equal(np.asarray(loaded), array)


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_arrays_of_objects_come_back(tmp_path: Path, protocol: int):
    content = np.array(["a dog", None, [1, 2]], dtype=object)
    (tmp_path / "a.pkl").write_bytes(pickle.dumps(content, protocol=protocol))
    assert load_plain_pickle(tmp_path / "a.pkl").tolist() == content.tolist()


def test_an_array_that_was_read_goes_to_another_process(tmp_path: Path):
    rows = np.arange(6, dtype=np.float32).reshape(2, 3)
    (tmp_path / "a.pkl").write_bytes(pickle.dumps(rows))
    loaded = load_plain_pickle(tmp_path / "a.pkl")
    for sent in (loaded, loaded[1:], loaded.T):
        again = pickle.loads(pickle.dumps(sent))
        assert type(again) is np.ndarray
        np.testing.assert_array_equal(again, np.asarray(sent))


def dtype_with(state: tuple) -> bytes:
    """Return a pickle of a data type with a state of its own."""

    class Named:
        def __reduce__(self):
            return np.dtype, ("f4", False, True), state

    return pickle.dumps(Named())


@pytest.mark.parametrize(
    "state",
    [
        (3, "<", 4.5e-300, None, None, -1, -1, 0),
        (3, "<", None, 7, None, -1, -1, 0),
        (3, "<", None, ("a",), {"a": 1}, -1, -1, 0),
        (3, "x", None, None, None, -1, -1, 0),
        ("3", "<", None, None, None, -1, -1, 0),
        (3, "<"),
        (),
    ],
)
def test_a_state_that_numpy_trusts_is_refused(tmp_path: Path, state: tuple):
    """In a process of its own: numpy's ``dtype.__setstate__`` ends it."""
    (tmp_path / "bad.pkl").write_bytes(dtype_with(state))
    code = (
        "import sys; from harness_models.shared.weights import safe_unpickle\n"
        "try: safe_unpickle.load_plain_pickle(sys.argv[1])\n"
        "except safe_unpickle.InputError as error: print(error)"
    )
    end = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "bad.pkl")],
        capture_output=True,
        text=True,
    )
    assert end.returncode == 0, end.stderr
    assert "bad.pkl: not a complete pickle" in end.stdout


@pytest.mark.parametrize(
    "state",
    [
        (1, (2,), F4, False, b"\0" * 7),
        (1, (2,), "f4", False, b"\0" * 8),
        (1, (-2,), F4, False, b""),
        (1, (2.0,), F4, False, b"\0" * 8),
        (1, (1 << 62,), F4, False, b""),
        (1, (2,), PickledType("O8"), False, [1]),
        (1, (2,), PickledType("O8"), False, b"\0" * 16),
        (1, (2,), F4, False, 8),
    ],
)
def test_an_array_that_its_bytes_do_not_fill_is_refused(state: tuple):
    with pytest.raises(ValueError):
        make_empty().__setstate__(state)


def test_scalars_and_buffers_are_checked():
    assert make_scalar(F4, np.float32(1.5).tobytes()) == np.float32(1.5)
    assert make_scalar(PickledType("O"), "text") == "text"
    data = np.arange(6, dtype=np.float32)
    np.testing.assert_array_equal(
        make_from_buffer(data.tobytes(), F4, (3, 2), "K", (1, 0)),
        data.reshape(3, 2).T,
    )
    for call in (
        lambda: make_scalar(F4, b"\0\0"),
        lambda: make_scalar("f4", b"\0" * 4),
        lambda: make_from_buffer(data.tobytes(), F4, (4, 2), "C"),
        lambda: make_from_buffer(data.tobytes(), F4, (3, 2), "Z"),
        lambda: make_from_buffer(b"\0" * 8, PickledType("O8"), (1,), "C"),
    ):
        with pytest.raises(ValueError):
            call()


@pytest.mark.parametrize("text", ["f4,f4", "V8", "M8[s]", "object", "", 4])
def test_other_kinds_of_types_are_refused(text: object):
    with pytest.raises(ValueError, match="data type"):
        PickledType(text)


class Asks:
    """Pickled as a call of a builtin."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (Asks(bytes, 1 << 40), "builtins.bytes of int"),
        (Asks(bytearray, 1 << 40), "builtins.bytes of int"),
        (Asks(list, Asks(range, 1 << 40)), r"range\(0, 1099511627776\)"),
        (Asks(str, [1]), "builtins.str of list"),
    ],
)
def test_a_few_bytes_do_not_ask_for_much_memory(tmp_path: Path, content, named: str):
    path = tmp_path / "bomb.pkl"
    path.write_bytes(pickle.dumps(content))
    with pytest.raises(InputError, match=f"holds an object of type {named}"):
        load_plain_pickle(path)


def test_numpys_class_itself_is_not_called(tmp_path: Path):
    path = tmp_path / "big.pkl"
    path.write_bytes(pickle.dumps(Asks(np.ndarray, (1 << 40,))))
    with pytest.raises(InputError, match="not a complete pickle"):
        load_plain_pickle(path)
