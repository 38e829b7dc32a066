"""A judge of transformers, with a tiny random model."""

from __future__ import annotations

import json
import pickle

import pytest

pytest.importorskip("transformers")

from harness.registry.torchvision_guard import guard_torchvision

guard_torchvision()
import torch  # noqa: E402

from harness.encoders import devices  # noqa: E402
from harness.errors import HarnessError, InputError  # noqa: E402
from harness_metrics.judges.local import LocalModel  # noqa: E402
from harness_metrics.judges.replies import Reply  # noqa: E402
from tests.support import tiny_models  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("judge")
    tiny_models.gpt2(path)
    return path


def answers(model: LocalModel, *texts: str) -> list[Reply]:
    out: dict[int, Reply] = {}
    model.complete(
        [({"role": "user", "content": text},) for text in texts], out.__setitem__
    )
    return [out[k] for k in range(len(texts))]


def test_answers_are_those_of_one_at_a_time(folder):
    texts = ["a dog runs on the mat", "cat", "the red ball says a cat"]
    together = answers(LocalModel(path=str(folder), max_tokens=6, batch_size=2), *texts)
    alone = [
        answers(LocalModel(path=str(folder), max_tokens=6), text)[0] for text in texts
    ]
    assert together == alone
    assert all(
        reply.finish in ("stop", "length") and reply.completion_tokens <= 6
        for reply in together
    )
    assert together[0].prompt_tokens > together[1].prompt_tokens > 0


def test_an_answer_at_the_limit_is_cut_off(folder):
    replies = answers(
        LocalModel(path=str(folder), max_tokens=1), "a dog", "the mat", "red ball"
    )
    assert all((reply.finish == "length") == bool(reply.text) for reply in replies)


def test_the_end_token_stops_an_answer(folder):
    model = LocalModel(path=str(folder))
    _, network = model._loaded_model
    ids = model._loaded_model[0]("dog cat runs")["input_ids"]
    assert model._reply([*ids, 2, 0, 0], {2}, 7) == Reply("dog cat runs", "stop", 7, 4)
    assert model._reply(ids, {2}, 7) == Reply("dog cat runs", "length", 7, 3)
    assert not network.training


def test_the_signature_is_that_of_weights_and_settings(folder, tmp_path):
    one = LocalModel(path=str(folder))
    assert one.signature() == LocalModel(path=str(folder), batch_size=1).signature()
    assert one.signature() != LocalModel(path=str(folder), max_tokens=9).signature()
    assert pickle.loads(pickle.dumps(one)).signature() == one.signature()


def test_folders_without_a_model(folder, tmp_path):
    with pytest.raises(InputError, match="has no config.json"):
        LocalModel(path=str(tmp_path))
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "none such"}))
    with pytest.raises(InputError, match="the judge cannot be loaded"):
        answers(LocalModel(path=str(tmp_path)), "a")
    with pytest.raises(HarnessError, match="dtype is 'flat'"):
        answers(LocalModel(path=str(folder), dtype="flat"), "a")


def test_the_default_device_is_the_first_accelerator_else_the_cpu(folder, monkeypatch):
    model = LocalModel(path=str(folder), max_tokens=2)
    assert model.device == "auto"
    expected = answers(model, "a dog")
    assert model._loaded_model[1].device.type == "cpu"
    on_cpu = LocalModel(path=str(folder), max_tokens=2, device="cpu")
    assert answers(on_cpu, "a dog") == expected
    assert on_cpu.signature() == model.signature()

    # an accelerator without memory stands for one
    accelerators = ["meta:0", "meta:1"]
    monkeypatch.setattr(devices, "visible_devices", lambda: accelerators)
    _, network = LocalModel(path=str(folder))._loaded_model
    assert network.device.type == "meta"


def test_a_device_that_is_not_there_is_one_line(folder, monkeypatch):
    monkeypatch.setattr(devices, "visible_devices", lambda: ["cpu"])
    with pytest.raises(HarnessError, match="^judge: no device 'cuda:0'; this machine"):
        answers(LocalModel(path=str(folder), device="cuda:0"), "a")
    with pytest.raises(HarnessError, match="^judge: device is auto, cpu, or a device"):
        answers(LocalModel(path=str(folder), device="gpu"), "a")


def test_a_device_without_memory_is_one_line(folder, monkeypatch):
    def run_out(*arguments, **settings):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9 GiB")

    model = LocalModel(path=str(folder))
    _, network = model._loaded_model
    monkeypatch.setattr(network, "generate", run_out)
    with pytest.raises(
        InputError, match="out of memory on cpu with 2 conversations; a smaller batch"
    ):
        answers(model, "a", "b")
    monkeypatch.setattr(type(network), "to", run_out)
    with pytest.raises(InputError, match="the judge does not fit on cpu; device: cpu"):
        answers(LocalModel(path=str(folder), device="cpu"), "a")
