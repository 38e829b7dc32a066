"""The likeliest tokens of the steps of a generation, beside passes of the model."""

from __future__ import annotations

import pytest

transformers = pytest.importorskip("transformers")
import torch  # noqa: E402

from harness_metrics.judges.likeliest_tokens import LikeliestTokens  # noqa: E402
from tests.support import tiny_models  # noqa: E402


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("likeliest")
    torch.manual_seed(0)
    tiny_models.BUILDERS["gpt2"](folder)
    return transformers.AutoModelForCausalLM.from_pretrained(folder).eval()


def generate(model, prompts, count, **settings):
    """Return the tokens of answers, and the steps of each one."""
    likeliest = LikeliestTokens(count)
    with likeliest.watch(model), torch.inference_mode():
        sequences = model.generate(
            torch.tensor(prompts),
            attention_mask=torch.ones(len(prompts), len(prompts[0])),
            do_sample=False,
            max_new_tokens=4,
            pad_token_id=0,
            logits_processor=transformers.LogitsProcessorList([likeliest]),
            **settings,
        )
    answers = sequences[:, len(prompts[0]) :].tolist()
    return answers, [likeliest.of_row(row) for row in range(len(prompts))]


@pytest.mark.parametrize("penalty", [1.0, 50.0])
def test_they_are_those_of_the_model_whatever_the_decoder_penalises(model, penalty):
    prompts = [[5, 6, 7], [8, 9, 10]]
    answers, steps = generate(model, prompts, 3, repetition_penalty=penalty)
    are_likeliest = []
    for prompt, answer, of_row in zip(prompts, answers, steps):
        for k, token in enumerate(answer):
            with torch.inference_mode():
                logits = model(torch.tensor([[*prompt, *answer[:k]]])).logits[0, -1]
            log_probs = logits.log_softmax(-1)
            assert next(iter(of_row[k])) == token
            top = log_probs.topk(3).indices.tolist()
            assert list(of_row[k]) == list(dict.fromkeys([token, *top]))
            expected = log_probs[list(of_row[k])].tolist()
            assert list(of_row[k].values()) == pytest.approx(expected, abs=1e-5)
            are_likeliest.append(token == top[0])
    assert all(are_likeliest) == (penalty == 1.0)


def test_nothing_is_left_in_the_model(model):
    generate(model, [[5, 6]], 2)
    assert not model._forward_hooks


def test_of_few_words_all_are_shown(model):
    _, ((first, *_),) = generate(model, [[5, 6]], 10_000)
    assert len(first) == model.config.vocab_size
    assert sum(map(torch.exp, map(torch.tensor, first.values()))) == pytest.approx(1)
