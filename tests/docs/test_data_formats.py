"""The examples of docs/data-formats.md are read by what they document."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from harness.contracts import Decoding, Example, TaskView
from harness.files.columns import CANDIDATE_COLUMNS, FILE_ID_COLUMNS, REFERENCE_COLUMNS
from harness.files.forms import FORM_TABLE, read_form
from harness.registry import current
from harness_models.predictions.adapter import Predictions
from harness_models.predictions.formats import FORMATS
from tools.documentation.forms import renewed


@pytest.fixture(scope="module")
def text(root):
    return (root / "docs" / "data-formats.md").read_text(encoding="utf-8")


def blocks(part: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", part, flags=re.DOTALL)


@pytest.mark.parametrize(
    "reader", ["coco", "karpathy", "msrvtt", "vdtk", "jsonl", "multiple-choice"]
)
def test_readers_read_their_examples(text, reader, tmp_path):
    part = text.split(f"### `{reader}`")[1].split("\n### ")[0]
    found = blocks(part, "json")
    assert found
    for block in found:
        path = tmp_path / "data"
        path.write_text(block, encoding="utf-8")
        assert list(current().create("readers", reader, {"path": str(path)}))


def test_the_table_of_forms_is_as_the_code_says(text):
    assert renewed(text) == text, "write it anew: python -m tools.documentation.forms"
    assert all(
        f"| `{form.name}` |" in text and form.examples and form.reading
        for form in FORM_TABLE
    )


@pytest.mark.parametrize("form", FORM_TABLE, ids=lambda form: form.name)
def test_every_form_is_read_as_candidates_and_as_references(form, tmp_path):
    for example in form.examples:
        path = tmp_path / "file"
        if not example.is_text:
            continue
        path.write_text(example.text, encoding="utf-8")
        title = example.title or form.name
        if not title.endswith("vdtk"):
            assert read_form(path, "candidates").name == form.name, title
        examples = list(current().create("readers", "auto", {"path": str(path)}))
        ids = (
            ["vid_4_2", "vid_7_3"]
            if form.name == "video-lines"
            else ["1", "2"]
            if "number of the cue" in example.ids
            else ["42", "73"]
        )
        numbered = "by position" in example.ids and not any(
            name in example.text for name in ('"id"', '"key"', ".jpg")
        )
        assert [item.id.removesuffix(".jpg") for item in examples] == (
            ["0", "1"] if numbered else ids
        ), title
        assert examples[0].references[0] == "a dog", title

        adapter = Predictions(path=str(path))
        expected = [Example(ids[0], ("a dog",)), Example(ids[1], ("a cat",))]
        adapter.prepare(TaskView(expected, Decoding()))
        ours = list(adapter.generate(expected, Decoding(), [0, 0]))
        assert ours[0][0] == "a dog" and ours[1][0].startswith("a cat"), title


def test_the_usual_columns_are_listed(text):
    for name in (*CANDIDATE_COLUMNS, *REFERENCE_COLUMNS, *FILE_ID_COLUMNS):
        assert re.search(rf"[` \n]{name}[` \n]", text), name
    for name in FORMATS[1:]:
        assert f"`{name}`" in text.split("## Predictions")[1], name


def test_predictions_read_their_examples(text, tmp_path):
    part = text.split("## Predictions")[1]
    rows = re.findall(r"^\| `(\w+)` \|.*?`([\[{].*?)`", part, flags=re.MULTILINE)
    assert {"coco", "jsonl", "mapping"} <= {name for name, _ in rows}
    path = tmp_path / "data"
    for form, shown in rows:
        path.write_text(shown.replace(", ...", ""), encoding="utf-8")
        adapter = Predictions(path=str(path))
        adapter.prepare(TaskView([Example("42", ("a dog",))], Decoding()))
        assert next(
            iter(adapter.generate([Example("42", ("a dog",))], Decoding(), [0]))
        ), form
    path.write_text(blocks(part, "json")[0], encoding="utf-8")
    adapter = Predictions(path=str(path), system=["init_1", "magic", "sampler"])
    assert next(iter(adapter.generate([Example("42", ("a",))], Decoding(), [0]))) == (
        "a dog",
        "a dog",
        "a shoe",
    )


def test_hub_datasets_can_be_constructed(text):
    for line in blocks(text.split("### `hf`")[1], "yaml")[0].splitlines():
        params = yaml.safe_load(line)["dataset"]
        reader: Any = current().create(
            "readers",
            params["reader"],
            {k: v for k, v in params.items() if k != "reader"},
        )
        assert reader.requested.split == params["split"]


@pytest.mark.parametrize("card", ["predictions", "human", "baselines"])
def test_cards_name_every_parameter(root, card):
    from harness.registry import parameters

    shown = (root / "docs" / "adapters" / f"{card}.md").read_text(encoding="utf-8")
    baselines = ("central", "mixture", "people-mixture", "shuffled")
    for name in baselines if card == "baselines" else (card,):
        for parameter in parameters(current().load("adapters", name)):
            assert f"`{parameter}`" in shown, f"{name}: {parameter}"
