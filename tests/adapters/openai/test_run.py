"""A whole run: images of a data set column, a server, usage, a damaged image,
processes that score.
"""

from __future__ import annotations

import io
import os
from typing import Any

import pytest

import harness
from harness.errors import HarnessError
from tests.support.chat_server import captions

datasets = pytest.importorskip("datasets")
Image = pytest.importorskip("PIL.Image")
pytest.importorskip("httpx2")


def png(number: int) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (8, 8), (number, 0, 0)).save(file, "PNG")
    return file.getvalue()


@pytest.fixture
def spec(server, tmp_path) -> dict[str, Any]:
    cells = [
        {"bytes": png(k) if k != 2 else png(k)[:30], "path": f"{k}.png"}
        for k in range(6)
    ]
    data = datasets.Dataset.from_dict(
        {"id": list(range(6)), "captions": [["a dog", "one dog"]] * 6, "image": cells}
    )
    data.cast_column("image", datasets.Image()).save_to_disk(str(tmp_path / "saved"))

    model = {
        "base_url": server.url,
        "model": "m",
        "prompt": "say {id}",
        "prices": {"input": 1.0, "output": 2.0},
    }

    return {
        "task": "served",
        "dataset": {
            "reader": "hf",
            "path": str(tmp_path / "saved"),
            "split": "train[:5]",
        },
        "models": [{"openai": model}],
        "decoding": {"strategy": "sample", "candidates": 2},
        "metrics": ["bleu1"],
    }


def test_images_of_a_column_reach_the_server(spec, server, tmp_path):
    server.answer = lambda body: {
        **captions(body, body["n"]),
        "usage": {"prompt_tokens": 100, "completion_tokens": 4},
    }

    run = harness.evaluate(spec, output=tmp_path / "run")
    assert len(server.requests) == 4
    urls = {
        request["messages"][-1]["content"][0]["image_url"]["url"]
        for request in server.requests
    }
    assert len(urls) == 4 and all(
        url.startswith("data:image/png;base64,") for url in urls
    )

    assert (
        list(run.failed) == ["m/2"]
        and "row 3, image 2.png: the image does not decode" in run.failed["m/2"]
    )
    assert run.to_dataset()["example"][:] == ["0", "1", "3", "4"]
    assert run.provenance.data["source"] == {
        "path": spec["dataset"]["path"],
        "split": "train[:5]",
    }

    harness.evaluate(spec, output=tmp_path / "run")
    assert len(server.requests) == 4  # answers that are there are not asked for again


@pytest.mark.slow
def test_answers_of_other_runs_are_not_asked_for_again(
    spec, server, tmp_path, monkeypatch
):
    monkeypatch.setenv("HARNESS_ANSWERS", "servers")
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    first = harness.evaluate(spec, output=tmp_path / "first")
    assert len(server.requests) == 4 and len(first.failed) == 1
    second = harness.evaluate(spec, output=tmp_path / "second")
    assert len(server.requests) == 4, (
        "the image that does not decode never reaches the server"
    )
    assert second.samples.to_dict() == first.samples.to_dict()
    larger = {**spec, "dataset": {**spec["dataset"], "split": "train[:6]"}}
    harness.evaluate(larger, output=tmp_path / "larger")
    assert len(server.requests) == 5, "the example that was added"
    harness.evaluate(spec, output=tmp_path / "third", seed=1)
    assert len(server.requests) == 9, "another seed"
    monkeypatch.setenv("HARNESS_ANSWERS", "none")
    harness.evaluate(spec, output=tmp_path / "fourth")
    assert len(server.requests) == 13


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refusal_ends_the_run_and_leaves_nothing(spec, server, tmp_path, status):
    server.script = [(status, {}, '{"error": {"message": "no."}}')] * 10
    with pytest.raises(HarnessError, match=rf"/v1: HTTP {status}: no; ") as caught:
        harness.evaluate(spec, output=tmp_path / "run")
    assert len(server.requests) == 1 and "\n" not in str(caught.value)
    assert not os.path.exists(tmp_path / "run") or not os.path.exists(
        tmp_path / "run" / "results.json"
    )
