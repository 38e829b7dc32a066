"""Forms whose records are converted one by one."""

from __future__ import annotations

from collections import Counter

from harness.errors import InputError
from harness.files.forms.record_forms import (
    Conversion,
    convert_records,
    has,
    items,
    mapping,
    prefix_scalars,
    record_kind,
    single,
)
from tests.support.form_content import captions, lines, sample_of


def convert(row, conversion):
    """Return the text of ``said``; a record of a dog is left out, null is an error."""
    said = row.fields["said"]
    if said is None:
        raise InputError("nobody said it", row.where)
    if said == "a dog":
        conversion.left_out["dogs"] += 1
        return None
    return {**row.fields, **conversion.captions(said)}


KIND = record_kind(
    "said", "what people said", lambda fields: "said" in fields, convert, []
)


def test_all_of_the_first_records_have_to_fit(tmp_path):
    assert KIND.recognise(sample_of(tmp_path, lines({"said": "a"}, {"said": "b"})))
    assert not KIND.recognise(sample_of(tmp_path, lines({"said": "a"}, {"x": "b"})))
    assert not KIND.recognise(sample_of(tmp_path, "a\nb\n"))


def test_records_that_are_left_out_are_counted_once(tmp_path):
    content = lines({"id": 1, "said": "a dog"}, {"id": 2, "said": "a cat"})
    form = KIND.read(sample_of(tmp_path, content))
    assert captions(form) == {"2": "a cat"}
    assert form.left_out == {"dogs": 1}, "the look at the ids counts nothing"
    assert (form.ids, form.numbered) == (("id",), False)


def test_records_without_ids_are_numbered(tmp_path):
    form = KIND.read(sample_of(tmp_path, lines({"said": "a cat"})))
    assert (form.ids, form.numbered) == ((), True)
    further = convert_records(
        sample_of(tmp_path, lines({"said": "a cat", "shelf": 3})),
        "said",
        convert,
        others=["shelf"],
    )
    assert (further.ids, further.numbered) == (("shelf",), False)


def test_an_error_of_a_conversion_waits_for_its_record(tmp_path):
    content = lines({"id": 1, "said": None}, {"id": 2, "said": "a cat"})
    assert KIND.read(sample_of(tmp_path, content)).ids == ("id",)


def test_small_values():
    assert has({"a": None, "b": 1}, "a", "b")
    assert (mapping([]), mapping({"a": 1})) == ({}, {"a": 1})
    assert (items({}), items([1])) == ([], [1])
    assert prefix_scalars("vars", {"a": 1, "b": [2], "c": "x"}) == {
        "vars.a": 1,
        "vars.c": "x",
    }
    assert [single(texts) for texts in ([], ["a"], ["a", "b"])] == [
        None,
        "a",
        ["a", "b"],
    ]
    counted = Counter()
    assert Conversion("references", counted).captions("a") == {"references": "a"}
