"""The recurrent language model: training, checkpoints, cache, sampling."""

import numpy as np
import pytest
import torch

from harness.adapters.rnnlm.adapter import RnnLanguageModel
from harness.adapters.rnnlm.model import RnnLm, load
from harness.adapters.rnnlm.training import Recipe, perplexity, train
from harness.contracts import Decoding, Example
from harness.errors import HarnessError, InputError

LINES = [f"a {animal} {verb} ." for animal in ("dog", "cat", "bird") for verb in ("runs", "sits", "sleeps")] * 12
EXAMPLES = [Example(str(i), ("x",)) for i in range(30)]
SMALL = {"epochs": 12, "size": 16, "learning_rate": 0.02, "batch_size": 8}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "lines.txt"
    path.write_text("\n".join(LINES))
    return str(path)


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


def test_training_learns_the_sentences_and_repeats_itself():
    rows = []
    first = train(LINES, Recipe(**SMALL), rows.append)
    assert rows[-1]["loss"] < rows[0]["loss"]
    assert first.settings["vocabulary"] == 7
    assert 1 < rows[-1]["perplexity"] < 2.6  # nine sentences of three words and an end: at best 9 ** (1 / 4) = 1.73
    second = train(LINES, Recipe(**SMALL))
    for a, b in zip(first.model.parameters(), second.model.parameters()):
        assert torch.equal(a, b)


def test_perplexity_of_a_uniform_model():
    model = RnnLm(["a", "b"], 4)
    for weight in model.parameters():
        torch.nn.init.zeros_(weight)
    assert perplexity(model, [[2, 3], [3]]) == pytest.approx(4.0, abs=1e-3)  # two words, start and stop
    assert perplexity(model, []) is None


def test_rare_words_go_with_their_sentences():
    made = train([*LINES, "one aardvark"], Recipe(**{**SMALL, "epochs": 1}, min_count=2))
    assert "aardvark" not in made.model.words and "one" not in made.model.words
    with pytest.raises(InputError, match="0 of 2 lines are left to train on"):
        train(["one", "two"], Recipe(min_count=2))


def test_trained_on_first_use_and_kept(corpus):
    adapter = RnnLanguageModel(train={"corpus": {"path": corpus}, **SMALL})
    texts = [g.candidates[0] for g in adapter.generate(EXAMPLES, Decoding("sample"), range(30))]
    assert set(" ".join(texts).split()) <= {"a", "dog", "cat", "bird", "runs", "sits", "sleeps"}
    assert np.mean([text + " ." in LINES for text in texts]) > 0.8
    again = RnnLanguageModel(train={"corpus": {"path": corpus}, **SMALL})
    assert again.fingerprint() == adapter.fingerprint()
    assert [g.candidates[0] for g in again.generate(EXAMPLES[7:9], Decoding("sample"), [7, 8])] == texts[7:9]
    other = RnnLanguageModel(train={"corpus": {"path": corpus}, **SMALL, "seed": 1})
    assert other.fingerprint() != adapter.fingerprint()


def test_low_temperatures_are_less_diverse(corpus):
    adapter = RnnLanguageModel(train={"corpus": {"path": corpus}, **SMALL})

    def distinct(temperature):
        decoding = Decoding("sample", temperature=temperature)
        return len({g.candidates[0] for g in adapter.generate(EXAMPLES, decoding, range(30))})

    assert distinct(0.05) < distinct(1.0)


def test_checkpoints(tmp_path):
    made = train(LINES, Recipe(**{**SMALL, "epochs": 1}))
    made.model.save(tmp_path / "lm", made.settings)
    model = load(tmp_path / "lm")
    assert model.words == made.model.words
    adapter = RnnLanguageModel(checkpoint=str(tmp_path / "lm"))
    assert len(next(iter(adapter.generate(EXAMPLES[:1], Decoding("greedy"), [0]))).candidates) == 1
    (tmp_path / "lm" / "config.json").write_text("{}")
    with pytest.raises(InputError, match="hold no list of words"):
        load(tmp_path / "lm")


def test_command_line(corpus, tmp_path, capsys):
    import argparse

    from harness.adapters.rnnlm import train_cli

    parser = argparse.ArgumentParser()
    train_cli.add_arguments(parser)
    args = parser.parse_args(["--corpus", corpus, "--output", str(tmp_path / "lm"), "--epochs", "1", "--size", "8"])
    assert train_cli.run(args) == 0
    assert "held-out perplexity" in capsys.readouterr().out
    with pytest.raises(HarnessError, match="holds a model already"):
        train_cli.run(args)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "either checkpoint"),
        ({"train": {"epochs": 3}}, "train.corpus is None"),
        ({"train": {"corpus": {"path": "CORPUS"}, "epoch": 3}}, "did you mean 'epochs'"),
        ({"train": {"corpus": {"path": "CORPUS"}, "epochs": 0}}, "epochs is 0"),
        ({"train": {"corpus": {"path": "CORPUS"}, "held_out": 1.5}}, "a share below 1"),
    ],
)
def test_mistakes(params, message, corpus):
    if params and "corpus" in params["train"]:
        params["train"]["corpus"]["path"] = corpus
    with pytest.raises(HarnessError, match=message):
        RnnLanguageModel(**params)
