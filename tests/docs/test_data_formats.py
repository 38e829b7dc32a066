"""The examples of docs/data-formats.md are read by what they document."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from harness.adapters.predictions.adapter import Predictions
from harness.contracts import Decoding, Example, TaskView
from harness.registry import current


@pytest.fixture(scope="module")
def text(root):
    return (root / "docs" / "data-formats.md").read_text(encoding="utf-8")


def blocks(part: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", part, flags=re.DOTALL)


@pytest.mark.parametrize("reader", ["coco", "karpathy", "msrvtt", "vdtk", "jsonl", "multiple-choice"])
def test_readers_read_their_examples(text, reader, tmp_path):
    part = text.split(f"### `{reader}`")[1].split("\n### ")[0]
    found = blocks(part, "json")
    assert found
    for block in found:
        path = tmp_path / "data"
        path.write_text(block, encoding="utf-8")
        assert list(current().create("readers", reader, {"path": str(path)}))


def test_predictions_read_their_examples(text, tmp_path):
    part = text.split("## Predictions")[1]
    rows = re.findall(r"^\| `(\w+)` \|.*?`([\[{].*?)`", part, flags=re.MULTILINE)
    assert {"coco", "jsonl", "mapping"} <= {name for name, _ in rows}
    path = tmp_path / "data"
    for form, shown in rows:
        path.write_text(shown.replace(", ...", ""), encoding="utf-8")
        adapter = Predictions(path=str(path))
        adapter.prepare(TaskView([Example("42", ("a dog",))], Decoding()))
        assert next(iter(adapter.generate([Example("42", ("a dog",))], Decoding(), [0]))), form
    path.write_text(blocks(part, "json")[0], encoding="utf-8")
    adapter = Predictions(path=str(path), system=["init_1", "magic", "sampler"])
    assert next(iter(adapter.generate([Example("42", ("a",))], Decoding(), [0]))) == ("a dog", "a dog", "a shoe")


def test_hub_datasets_can_be_constructed(text):
    for line in blocks(text.split("### `hf`")[1], "yaml")[0].splitlines():
        params = yaml.safe_load(line)["dataset"]
        reader: Any = current().create("readers", params["reader"], {k: v for k, v in params.items() if k != "reader"})
        assert reader.requested.split == params["split"]


@pytest.mark.parametrize("card", ["predictions", "human", "baselines"])
def test_cards_name_every_parameter(root, card):
    from harness.registry import parameters

    shown = (root / "docs" / "adapters" / f"{card}.md").read_text(encoding="utf-8")
    for name in ("central", "mixture", "shuffled") if card == "baselines" else (card,):
        for parameter in parameters(current().load("adapters", name)):
            assert f"`{parameter}`" in shown, f"{name}: {parameter}"
