"""Strategies of fuzzed inputs: altered files, odd texts, almost valid structures.

Every input is bytes.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

TOKENS = (
    b"",
    b"\x00",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\r",
    b"\n",
    b'"',
    b"'",
    b"{}",
    b"[]",
    b"null",
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"1" * 5000,
    b"[" * 3000,
    b'{"a":' * 2000,
    b"\xf0\x9f\x98\x80",
    b"-1",
    b"&a [*a]",
    b"*a",
    b"!!python/object:os.system",
    b"${HOME}",
    b"../",
    b"1..9",
    b"\x1f\x8b",
    b"PAR1",
    b"PK\x03\x04",
    b"\x80\x04",
    b"\xff\xff\xff\xff\xff\xff\xff\x7f",
    b"true",
    b"0x10",
    b"2001-01-01",
    b"<<",
    b"%",
    b",",
)
"""Pieces that are inserted into files."""

WORDS = st.sampled_from(
    [
        "a",
        "dog",
        "the",
        "runs",
        "Mr.",
        "U.S.",
        "can't",
        "dogs",
        ".",
        "...",
        "--",
        "1/2",
        "$5",
        "&amp;",
        "<b>",
        "(",
        ")",
        "\u2019s",
        "-LRB-",
        "@-@",
    ]
)
CHARACTERS = st.characters(codec=None) | st.sampled_from(
    "\x00\ud800\udfff\u2028\u00ad\ufeff\u202e\x85\xa0 \t\n.'\"-"
)
TEXTS = (
    st.lists(WORDS, max_size=8).map(" ".join)
    | st.text(CHARACTERS, max_size=20)
    | st.sampled_from(
        [
            "a" * 5000,
            "a " * 3000,
            "." * 2000,
            "'" * 500,
            "1" * 5000,
            "-" * 3000,
            "\u0301" * 500,
        ]
    )
)
"""Captions: sentences of few words, any characters, long ones."""

SCALARS: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers(-3, 12)
    | st.sampled_from(
        [
            2**31,
            2**63,
            -(2**63),
            10**40,
            1e308,
            -1e308,
            5e-324,
            float("nan"),
            float("inf"),
            -0.0,
        ]
    )
    | st.floats(-3, 3)
    | TEXTS
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)
"""JSON values of any shape, NaN and huge numbers included."""


def encoded(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[bytes]:
    """Return the strategy as JSON in ASCII."""
    return strategy.map(lambda value: json.dumps(value).encode())


def altered(seeds: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """Return files with up to five pieces cut out, replaced, repeated or inserted."""
    change = st.tuples(
        st.floats(0, 1),
        st.integers(0, 5),
        st.integers(0, 64),
        st.sampled_from(TOKENS) | st.binary(min_size=1, max_size=8),
    )
    return st.builds(alter, st.sampled_from(seeds), st.lists(change, max_size=5))


def alter(data: bytes, changes: Sequence[tuple[float, int, int, bytes]]) -> bytes:
    """Return a file with changes: relative place, kind (0 to 5), length,
    and the piece that is put there.
    """
    for place, kind, length, piece in changes:
        at = int(place * len(data))
        if kind == 0:
            data = data[:at]
        elif kind == 1:
            data = data[:at] + data[at + length :]
        elif kind == 2:
            data = data[:at] + piece + data[at:]
        elif kind == 3:
            data = data[:at] + piece + data[at + len(piece) :]
        elif kind == 4:
            data = data[:at] + data[at : at + length] * 3 + data[at + length :]
        elif at < len(data):
            data = data[:at] + bytes([data[at] ^ (1 << length % 8)]) + data[at + 1 :]
    return data[: 1 << 16]


def replaced(template: Any) -> st.SearchStrategy[Any]:
    """Return the template with one or two of its values replaced by values of any
    shape, or with a key added.
    """
    paths = list(_paths(template))
    change = st.tuples(st.sampled_from(paths), VALUES)
    return st.lists(change, min_size=1, max_size=2).map(
        lambda changes: _replaced(template, changes)
    )


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Any:
    yield path
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, item in items:
        yield from _paths(item, (*path, key))


def _replaced(template: Any, changes: Sequence[tuple[tuple[Any, ...], Any]]) -> Any:
    result = json.loads(json.dumps(template))
    for path, value in changes:
        if not path:
            continue
        here = result
        try:
            for key in path[:-1]:
                here = here[key]
            here[path[-1]] = value
        except (KeyError, IndexError, TypeError):
            # an earlier change has replaced this part
            continue
    return result


def parquet_bytes(rows: list[dict[str, Any]]) -> bytes:
    """Return a Parquet file of rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out)
    return out.getvalue()
