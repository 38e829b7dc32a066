"""A judge of transformers, with a tiny random model."""

from __future__ import annotations

import json
import pickle
from concurrent.futures import ThreadPoolExecutor

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
    judge = model._loaded_model
    ids = judge.tokenizer("dog cat runs")["input_ids"]
    likeliest = [{number: -0.5} for number in (*ids, 2, 0, 0)]
    texts = [{f" {word}": -0.5} for word in ("dog", "cat", "runs")]
    ended = model._reply([*ids, 2, 0, 0], {2}, 7, likeliest)
    assert ended == Reply("dog cat runs", "stop", 7, 4, texts)
    assert model._reply(ids, {2}, 7, []) == Reply("dog cat runs", "length", 7, 3)
    assert not judge.model.training


def test_the_likeliest_texts_of_a_token_are_those_of_a_forward_pass(folder):
    model = LocalModel(path=str(folder), max_tokens=3)
    plain = answers(model, "a dog runs", "cat")
    assert all(not reply.tokens for reply in plain)
    model.top_log_probs = 4
    replies = answers(model, "a dog runs", "cat")
    assert [reply.text for reply in replies] == [reply.text for reply in plain]
    assert model.signature().endswith("|top_logprobs:4")

    judge = model._loaded_model
    prompt = model._text(({"role": "user", "content": "a dog runs"},))
    ids = judge.tokenizer(prompt, add_special_tokens=False)["input_ids"]
    for chosen, texts in zip(replies[0].text.split(), replies[0].tokens):
        with torch.inference_mode():
            logits = judge.model(torch.tensor([ids])).logits[0, -1]
        expected = logits.double().log_softmax(-1)
        # words are separated by blanks
        found = [judge.tokenizer.convert_tokens_to_ids(text.strip()) for text in texts]
        assert list(texts.values()) == pytest.approx(expected[found].tolist(), abs=1e-5)
        assert sorted(found) == sorted(expected.topk(4).indices.tolist())
        assert next(iter(texts)) == f" {chosen}"
        ids.append(judge.tokenizer.convert_tokens_to_ids(chosen))
    assert replies[0].tokens


def test_judges_of_the_same_settings_are_one_model_in_memory(folder):
    first = LocalModel(path=str(folder), max_tokens=1)
    second = LocalModel(path=str(folder), max_tokens=9, device="cpu")
    other = LocalModel(path=str(folder), dtype="float64")
    assert first._loaded_model.model is second._loaded_model.model
    assert other._loaded_model.model is not first._loaded_model.model


def test_threads_load_a_judge_once_and_take_turns(folder, monkeypatch):
    loads = []
    load = LocalModel._load

    def count_load(model, dtype):
        loads.append(model)
        return load(model, dtype)

    monkeypatch.setattr(LocalModel, "_load", count_load)
    judges = [
        LocalModel(path=str(folder), max_tokens=3, dtype="float64") for _ in range(4)
    ]
    judges[0].top_log_probs = 2
    with ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(lambda judge: answers(judge, "a dog", "cat"), judges))
    assert len(loads) == 1
    assert len({reply.text for reply, _ in replies}) == 1
    assert [bool(reply.tokens) for reply, _ in replies] == [True, False, False, False]


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
    assert model._loaded_model.model.device.type == "cpu"
    on_cpu = LocalModel(path=str(folder), max_tokens=2, device="cpu")
    assert answers(on_cpu, "a dog") == expected
    assert on_cpu.signature() == model.signature()

    # an accelerator without memory stands for one
    accelerators = ["meta:0", "meta:1"]
    monkeypatch.setattr(devices, "visible_devices", lambda: accelerators)
    assert LocalModel(path=str(folder))._loaded_model.model.device.type == "meta"


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
    network = model._loaded_model.model
    monkeypatch.setattr(network, "generate", run_out)
    with pytest.raises(
        InputError, match="out of memory on cpu with 2 conversations; a smaller batch"
    ):
        answers(model, "a", "b")
    monkeypatch.setattr(type(network), "to", run_out)
    with pytest.raises(InputError, match="the judge does not fit on cpu; device: cpu"):
        answers(LocalModel(path=str(folder), dtype="float64"), "a")
