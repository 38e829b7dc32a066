"""JSON of users' files, and one-line errors with the place of the mistake."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness.files.strict_json import decode_json, load_json


def write(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def message(call, *args) -> str:
    with pytest.raises(InputError) as caught:
        result = call(*args)
        if not isinstance(result, (dict, list, Path)):
            list(result)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_truncated_json_names_the_byte(tmp_path):
    path = write(tmp_path / "a.json", '[{"caption": "é"}, {"cap')
    text = message(load_json, path)
    assert (
        text
        == f"{path}: not JSON at byte 21: Unterminated string starting at (the file "
        "breaks off after 25 bytes)"
    )


def test_invalid_json_names_the_byte(tmp_path):
    path = write(tmp_path / "a.json", '{"a": dog}')
    assert message(load_json, path) == f"{path}: not JSON at byte 6: Expecting value"


def test_empty_file(tmp_path):
    path = write(tmp_path / "a.json", "")
    assert (
        message(load_json, path)
        == f"{path}: not JSON at byte 0: Expecting value (the file is empty)"
    )


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity"])
def test_nan_is_refused(tmp_path, name):
    path = write(tmp_path / "a.json", f'[{{"score": {name}}}]')
    assert (
        message(load_json, path)
        == f"{path}: record 1: 'score': found {name}; JSON numbers are finite"
    )


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("NaN", ""),
        ('{"b": ["NaN, [", 1, NaN]}', ": 'b': record 3"),
        (
            '{"images": [{"id": 1}], "annotations": [{"a": {"x": [1]}}, {"id": 2, '
            '"caption": NaN}]}',
            ": 'annotations': record 2: 'caption'",
        ),
        ('[[1, 2], {"k\\"": -Infinity}]', ": record 2: 'k\\\"'"),
    ],
)
def test_nan_names_its_record(tmp_path, text, place):
    path = write(tmp_path / "a.json", text)
    assert message(load_json, path).startswith(f"{path}{place}: found ")


def test_bytes_that_are_not_utf8(tmp_path):
    path = write(tmp_path / "a.json", b'["caf\xe9"]')
    assert message(load_json, path).startswith(f"{path}: not UTF-8 at byte 5: ")
    path = write(tmp_path / "b.json", '["café"]'.encode("utf-16"))
    assert message(load_json, path).endswith(
        " (UTF-16; convert it: iconv -f UTF-16 -t UTF-8 " + f"{path} > NEW)"
    )


def test_nested_too_deeply(tmp_path):
    path = write(tmp_path / "a.json", "[" * 200_000)
    assert message(load_json, path).startswith(f"{path}: not readable as JSON: ")


def test_byte_order_mark_is_skipped(tmp_path):
    assert load_json(write(tmp_path / "a.json", b"\xef\xbb\xbf[1]")) == [1]


def test_keys_that_occur_twice_are_refused_in_whole_files(tmp_path):
    path = write(tmp_path / "a.json", '{"a": {"1": 2, "1": 3}}')
    assert message(load_json, path) == f"{path}: the key '1' occurs twice in one object"


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(json_values)
def test_written_json_is_read_back(value):
    data = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return
    assert decode_json(data, "here") == value


@given(st.binary(max_size=60))
def test_other_bytes_raise_an_input_error(data):
    try:
        json.loads(
            data.removeprefix(b"\xef\xbb\xbf").decode("utf-8"),
            parse_constant=lambda name: 1 / 0,
        )
    except (ValueError, ZeroDivisionError):
        with pytest.raises(InputError, match=r"^here: "):
            decode_json(data, "here", complete=True)
    else:
        decode_json(data, "here", complete=True)
