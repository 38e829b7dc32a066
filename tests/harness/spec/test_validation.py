"""Mistakes in the content of a spec, as one line with its place."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.run.plan import make_plan
from harness.spec.loading import load_specs
from harness.spec.models import DecodingSpec
from harness.spec.validation import _model_in
from tests.support.spec_text import BASE


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            "metrics: [length]|metric: [length]",
            ":7: unknown key 'metric'; did you mean 'metrics'?",
        ),
        (
            "temperature|temprature",
            ":5: unknown key 'temprature'; did you mean 'temperature'?",
        ),
        (
            "[0.5, 1.0]|[0.5, -1]",
            ":5: decoding.temperature: found -1; a temperature is above 0",
        ),
        (
            "[0.5, 1.0]|.nan",
            ":5: decoding.temperature: found nan; expected a finite number",
        ),
        ("[0.5, 1.0]|warm", ":5: decoding.temperature:"),
        ("models: [echo]|models: []", ":3: models: list should have at least 1 item"),
        (
            "models: [echo]|models: [3]",
            ":3: models.0: expected a name or one name with its parameters",
        ),
        ("task: t|task: t\ntask: u", ":2: the key 'task' is given twice"),
        ("task: t|task: [t", "not valid YAML"),
        ("dataset: {reader: words}|dataset: {}", ":2: 'dataset.reader' is missing"),
        (
            "dataset: {reader: words}|references: {}\ndataset: {reader: words}",
            ":2: 'references.first' is missing",
        ),
    ],
)
def test_mistakes_are_told_with_file_and_line(spec_file, change, message):
    old, new = change.split("|")
    spec_file.write_text(BASE.replace(old, new))
    with pytest.raises(InputError) as caught:
        load_specs(spec_file)
    assert message in str(caught.value)
    assert "s.yaml" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("[length]|[lenght]", ":7: unknown metric 'lenght'; did you mean 'length'?"),
        ("[echo]|[eco]", ":3: unknown adapter 'eco'; did you mean 'echo'?"),
        (
            "reader: words|reader: wordz",
            ":2: unknown reader 'wordz'; did you mean 'words'?",
        ),
        (
            "[length]|[{length: {scal: 2}}]",
            ":7: metric 'length' has no parameter 'scal'; did you mean 'scale'?",
        ),
    ],
)
def test_unknown_names_are_told_with_file_and_line(spec_file, change, message):
    old, new = change.split("|")
    spec_file.write_text(BASE.replace(old, new))
    with pytest.raises(InputError, match=r"s\.yaml") as caught:
        make_plan(load_specs(spec_file)[0])
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: \0", "not valid YAML"),
        ("a: &a [*a]", "holds itself"),
        ('task: "x\\0y"', "task"),
    ],
)
def test_odd_yaml_is_one_line(project, text, message):
    (project / "odd.yaml").write_text(
        text + BASE.replace("task: t", "") if "task" in text else text
    )
    with pytest.raises(InputError, match=message):
        load_specs("odd.yaml")


def test_a_long_value_is_cut_in_a_message(project):
    for length, shown in ((78, "'" + "x" * 78 + "'"), (79, "'" + "x" * 76 + "...")):
        (project / "s.yaml").write_text(BASE + f"seed: {'x' * length}\n")
        with pytest.raises(InputError) as caught:
            load_specs("s.yaml")
        assert str(caught.value).endswith(f"found {shown}")


@pytest.mark.parametrize(
    "annotation", [int, int | None, list[str], dict[str, list[int]]]
)
def test_annotations_without_a_model_have_none(annotation):
    assert _model_in(annotation) is None
    assert _model_in(annotation | DecodingSpec) is DecodingSpec
