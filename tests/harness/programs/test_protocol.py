"""Messages of the protocol: requests as json writes them, answers in groups."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.programs import protocol
from harness.programs.protocol import (
    ProgramFault,
    encode_fields,
    pack_vector,
    parse_answers,
    unpack_vector,
)

texts = st.text(max_size=5)
values = st.one_of(
    texts,
    st.none(),
    st.integers(),
    st.lists(texts),
    st.lists(st.one_of(texts, st.integers())),
    st.dictionaries(texts, texts),
)


@given(st.dictionaries(texts, values, min_size=1))
def test_requests_are_as_json_writes_them(fields):
    expected = json.dumps(fields, separators=(",", ":"))
    assert encode_fields(fields) == expected
    assert encode_fields({"texts": ("a", "b")}) == '{"texts":["a","b"]}'


@given(st.lists(st.integers(0, 400)), st.integers(1, 1000))
def test_answers_do_not_depend_on_the_groups(lengths, group):
    answers = [{"id": k, "value": "x" * size} for k, size in enumerate(lengths)]
    lines = [json.dumps(answer).encode() for answer in answers]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(protocol, "_GROUP_BYTES", group)
        assert list(parse_answers(lines, "x")) == answers


@pytest.mark.parametrize("line", [b"7", b"Loading", b'{"id":1},{"id":2}', b"[1]"])
def test_a_line_that_is_no_object_is_named(line):
    with pytest.raises(ProgramFault, match="among its answers, which is no JSON"):
        list(parse_answers([b'{"id":0}', line], "metric 'x'"))


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1))
def test_a_packed_vector_has_its_numbers(numbers):
    answer = {"value": [float(f"{number:.6g}") for number in numbers]}
    expected = answer["value"]
    pack_vector(answer)
    assert isinstance(answer["value"], bytes)
    unpacked = unpack_vector(answer["value"])
    assert [float(f"{number:.6g}") for number in unpacked] == expected


@pytest.mark.parametrize("value", ["AAA=", [], ["a"], [[1.0]], None, 1.0, [10**400]])
def test_what_is_no_vector_is_left(value):
    answer = {"value": value}
    pack_vector(answer)
    assert answer == {"value": value}
