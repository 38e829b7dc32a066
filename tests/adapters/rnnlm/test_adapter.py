"""The rnnlm adapter: training on first use, sampling, invalid parameters."""

from __future__ import annotations

import numpy as np
import pytest

from harness.contracts import Decoding, Example
from harness.errors import HarnessError, InputError
from harness_models.rnnlm.adapter import RnnLanguageModel
from harness_models.rnnlm.model import load
from harness_models.rnnlm.training import RnnLmRecipe, train

LINES = [
    f"a {animal} {verb} ."
    for animal in ("dog", "cat", "bird")
    for verb in ("runs", "sits", "sleeps")
] * 12
EXAMPLES = [Example(str(i), ("x",)) for i in range(30)]
SMALL = {"epochs": 12, "size": 16, "learning_rate": 0.02, "batch_size": 8}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "lines.txt"
    path.write_text("\n".join(LINES))
    return str(path)


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


def test_models_are_trained_on_first_use_and_stored(corpus):
    adapter = RnnLanguageModel(train={"corpus": {"path": corpus}, **SMALL})
    texts = [
        g.candidates[0]
        for g in adapter.generate(EXAMPLES, Decoding("sample"), range(30))
    ]
    assert set(" ".join(texts).split()) <= {
        "a",
        "dog",
        "cat",
        "bird",
        "runs",
        "sits",
        "sleeps",
    }
    assert np.mean([text + " ." in LINES for text in texts]) > 0.8

    again = RnnLanguageModel(train={"corpus": {"path": corpus}, **SMALL})
    assert again.fingerprint() == adapter.fingerprint()
    assert [
        g.candidates[0]
        for g in again.generate(EXAMPLES[7:9], Decoding("sample"), [7, 8])
    ] == texts[7:9]

    other = RnnLanguageModel(train={"corpus": {"path": corpus}, **SMALL, "seed": 1})
    assert other.fingerprint() != adapter.fingerprint()


def test_low_temperatures_are_less_diverse(corpus):
    adapter = RnnLanguageModel(train={"corpus": {"path": corpus}, **SMALL})

    def distinct(temperature):
        decoding = Decoding("sample", temperature=temperature)
        return len(
            {g.candidates[0] for g in adapter.generate(EXAMPLES, decoding, range(30))}
        )

    assert distinct(0.05) < distinct(1.0)


def test_checkpoints_are_loaded_again(tmp_path):
    result = train(LINES, RnnLmRecipe(**{**SMALL, "epochs": 1}))
    result.model.save(tmp_path / "lm", result.settings)
    model = load(tmp_path / "lm")
    assert model.words == result.model.words
    adapter = RnnLanguageModel(checkpoint=str(tmp_path / "lm"))
    assert (
        len(
            next(
                iter(adapter.generate(EXAMPLES[:1], Decoding("greedy"), [0]))
            ).candidates
        )
        == 1
    )
    (tmp_path / "lm" / "config.json").write_text("{}")
    with pytest.raises(InputError, match="hold no list of words"):
        load(tmp_path / "lm")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "either checkpoint"),
        ({"train": {"epochs": 3}}, "train.corpus is None"),
        (
            {"train": {"corpus": {"path": "CORPUS"}, "epoch": 3}},
            "did you mean 'epochs'",
        ),
        ({"train": {"corpus": {"path": "CORPUS"}, "epochs": 0}}, "epochs is 0"),
        (
            {"train": {"corpus": {"path": "CORPUS"}, "held_out": 1.5}},
            "expected a number of at least 0 and below 1",
        ),
    ],
)
def test_invalid_parameters_are_refused(params, message, corpus):
    if params and "corpus" in params["train"]:
        params["train"]["corpus"]["path"] = corpus
    with pytest.raises(HarnessError, match=message):
        RnnLanguageModel(**params)
