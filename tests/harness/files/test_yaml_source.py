"""YAML with line numbers."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness.files.yaml_source import Located, load, loads

TEXT = """task: coco
dataset:
  reader: jsonl
  columns: {id: key}
models:
- blind
- human: {n: 5}
"""


def error_message(call, *args) -> str:
    with pytest.raises(InputError) as caught:
        call(*args)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_every_key_has_its_line():
    located = loads(TEXT, "spec.yaml")
    lines = {
        ("task",): 1,
        ("dataset", "reader"): 3,
        ("dataset", "columns", "id"): 4,
        ("models", 1, "human", "n"): 7,
    }
    assert {key: located.place(key)[1] for key in lines} == lines
    assert located.data == yaml.safe_load(TEXT)


def test_unknown_keys_have_the_line_of_their_ancestor():
    located = loads(TEXT, "spec.yaml")
    assert located.where(("dataset", "path", 3)) == "spec.yaml:2"
    assert located.where(("metrics",)) == "spec.yaml:1"
    assert Located({}).where(("task",)) == "spec"


def test_parts_keep_their_places_when_they_move():
    located = loads(TEXT, "a.yaml")
    other = loads("x: 1\nmodels: [best]\n", "b.yaml")
    located.put(("models",), other.data["models"], other.part(("models",)))
    assert located.data["models"] == ["best"]
    assert located.where(("models", 0)) == "b.yaml:2"
    assert located.where(("models", 1, "human")) == "b.yaml:2"
    assert located.where(("task",)) == "a.yaml:1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\na: 2\n", "f:2: the key 'a' is given twice"),
        (
            "a: 1\n? [x]\n: 2\n",
            "f:2: a key must be text, a number or a boolean; found ",
        ),
        ("a: [1\n", "f:2: not valid YAML: "),
        ("a: !!python/none 1\n", "f:1: not valid YAML: "),
        ("a: &x [*x]\n", "f: a value holds itself"),
        ("\0", "f: not valid YAML: "),
    ],
)
def test_invalid_yaml(text, expected):
    assert error_message(loads, text, "f").startswith(expected)


def test_files(tmp_path):
    path = tmp_path / "spec.yaml"
    assert error_message(load, path) == f"{path}: no such YAML file"
    assert (
        error_message(load, tmp_path, "here")
        == "here: is a folder; expected a YAML file"
    )
    path.write_bytes(b"a: caf\xe9")
    assert error_message(load, path) == f"{path}: not UTF-8 text (byte 6)"
    path.write_text("")
    assert load(path).data == {}


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(st.characters(codec="ascii", categories=["L", "N"]), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from("abcd"), plain, min_size=1))
def test_data_equal_those_of_the_safe_loader(value):
    assert loads(yaml.safe_dump(value), "f").data == value


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\nb: [1, two, {c: null}]\n",
        "base: &x {k: 1.5}\nother:\n  <<: *x\n  l: yes\nlist:\n- 2020-01-01\n- 'q'\n",
        "a: é\U0001f600\n? b\n: |\n  two\n  lines\n",
        "",
        "# only a comment\n",
    ],
)
def test_libyaml_reads_the_same_data_and_places(text):
    assert loads(text, "f", compiled=True) == loads(text, "f")


@pytest.mark.first_case_fast
@pytest.mark.parametrize(
    "text",
    [
        "a: [1",
        "a: 1\na: 2",
        "a: &x [*x]",
        "a: *none",
        "[" * 20_000,
        "- " * 20_000,
        "a: 1\n--- \nb: 2",
        "{[1]: 2}",
        "a:\t- b\n\t- c",
        "a: \x00",
    ],
)
def test_libyaml_refuses_with_the_same_message(text):
    with pytest.raises(InputError) as slow:
        loads(text, "f")
    with pytest.raises(InputError) as fast:
        loads(text, "f", compiled=True)
    assert str(fast.value) == str(slow.value)


@pytest.mark.parametrize(
    "value, read", [("1:30:00", "5400"), ("-1:30", "-90"), ("1:30.5", "90.5")]
)
def test_a_number_of_base_60_is_refused(value, read):
    with pytest.raises(
        InputError,
        match=rf"^s.yaml:2: YAML reads {value} as {read} \(base 60\); "
        rf"write '{value}' in quotes",
    ):
        loads(f"task: t\nseed: {value}\n", "s.yaml")
    assert loads(f"seed: '{value}'\n", "s.yaml").data == {"seed": value}


def test_what_only_looks_like_base_60_is_a_text():
    assert loads("a: 1:75\nb: 12:x\n", "s.yaml").data == {"a": "1:75", "b": "12:x"}
