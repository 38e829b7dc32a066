"""The specs of the pages on model servers: parameters exist, and the vLLM page's spec
runs against a server of the tests.
"""

from __future__ import annotations

import json
import re

import pytest
import yaml

import harness
from harness.registry import current, parameters
from tests.support.chat_server import server

pytest.importorskip("httpx2")
__all__ = ["server"]


def specs(root, page):
    text = (root / "docs" / "adapters" / page).read_text(encoding="utf-8")
    return [
        yaml.safe_load(block)
        for block in re.findall(r"```yaml\n(.*?)```", text, flags=re.DOTALL)
    ]


def test_the_card_names_every_parameter(root):
    text = (root / "docs" / "adapters" / "openai.md").read_text(encoding="utf-8")
    for parameter in parameters(current().load("adapters", "openai")):
        assert re.search(rf"\b{parameter}\b", text), parameter


def test_the_models_of_the_card_can_be_created(root, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    blocks = specs(root, "openai.md")
    assert len(blocks) == 2
    for block in blocks:
        for model in block["models"]:
            assert current().create("adapters", "openai", model["openai"])


def test_the_spec_of_the_vllm_page_runs(root, server, tmp_path):
    image = pytest.importorskip("PIL.Image")
    (spec,) = specs(root, "vllm.md")
    (tmp_path / "val2014").mkdir()
    (tmp_path / "annotations").mkdir()
    images = [{"id": i, "file_name": f"{i}.jpg"} for i in range(3)]
    captions = [{"id": i, "image_id": i % 3, "caption": f"text {i}"} for i in range(6)]
    for entry in images:
        image.new("RGB", (8, 8)).save(tmp_path / "val2014" / entry["file_name"])
    annotations = tmp_path / spec["dataset"]["path"]
    annotations.write_text(json.dumps({"images": images, "annotations": captions}))
    spec["models"][0]["openai"]["base_url"] = server.url
    spec["metrics"] = ["cider"]
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump(spec))
    run = harness.evaluate(str(tmp_path / "spec.yaml"))
    assert len(run.samples) == 3 and not run.failed
    assert {len(row) for row in run.samples.lists("candidates")} == {10}
    assert {request["model"] for request in server.requests} == {
        "Qwen/Qwen2.5-VL-3B-Instruct"
    }
