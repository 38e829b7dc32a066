"""Our O2NA on a toy set: three steps, control, sampling, invariance, mistakes."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from toy_videos import COLOURS, SHAPES, toy_recipe, toy_videos

from harness.adapters.nacf.model import Nacf
from harness.adapters.o2na.adapter import O2naAdapter
from harness.adapters.o2na.model import O2na
from harness.adapters.o2na.three_step_decoding import focus, least_length, read_objects
from harness.adapters.o2na.training import O2naRecipe, O2naTrainer, train
from harness.adapters.shared.weights.checkpoints import load_checkpoint, looks_like, save_checkpoint
from harness.contracts import Adapter, Decoding, Example, Scorer, TaskView
from harness.errors import HarnessError, InputError


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("toy")
    return folder, toy_videos(folder)


@pytest.fixture(scope="module")
def trained(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("o2na")
    train(O2naRecipe(**toy_recipe(data[0])), folder)
    return folder


@pytest.fixture(scope="module")
def adapter(trained):
    return O2naAdapter(checkpoint=str(trained))


def write(adapter, examples, decoding):
    return [g.candidates for g in adapter.generate(examples, decoding, range(len(examples)))]


# --------------------------------------------------------------------------- learning
def test_objects_are_found_and_named(data, adapter):
    assert isinstance(adapter, Adapter)
    assert isinstance(adapter, Scorer)
    assert set(adapter.objects) == set(SHAPES)
    made = write(adapter, data[1], Decoding("refine"))
    assert np.mean([texts[0] in example.references for texts, example in zip(made, data[1])]) > 0.9
    both = write(adapter, data[1], Decoding("refine", candidates=2))
    assert all(texts[:1] == one for texts, one in zip(both, made))


def test_drawn_captions_are_of_both_lengths(data, adapter):
    made = write(adapter, data[1], Decoding("sample", temperature=0.5, candidates=10))
    right = np.mean([text in example.references for texts, example in zip(made, data[1]) for text in texts])
    assert right > 0.8
    lengths = Counter(len(text.split()) for texts in made for text in texts)
    assert lengths[3] + lengths[5] > 0.95 * 600
    assert abs(lengths[3] / 600 - 0.5) < 0.15
    one = write(
        adapter, data[1], Decoding("sample", temperature=0.5, candidates=10, options={"length_temperature": 1e-5})
    )
    assert all(len({len(text.split()) for text in texts}) == 1 for texts in one)


def test_draws_follow_the_temperature(data, adapter):
    def different(temperature):
        return len(
            {
                text
                for texts in write(adapter, data[1][:12], Decoding("sample", temperature, candidates=20))
                for text in texts
            }
        )

    assert different(0.2) <= different(1.0) < different(3.0)
    few, many = (write(adapter, data[1][:12], Decoding("sample", candidates=n)) for n in (2, 5))
    assert all(more[:2] == two for two, more in zip(few, many))


def test_lengths_are_drawn_with_their_probabilities(data, adapter):
    example = data[1][0]
    decoding = Decoding(
        "sample", temperature=4.0, candidates=2000, options={"iterations": 0, "length_temperature": 3.0}
    )
    texts = next(iter(adapter.generate([example], decoding, [5]))).candidates
    with torch.inference_mode():
        encoded = adapter.encoded(adapter.model, adapter.inputs([example]), [example])
        expected = (encoded.lengths[0] / 3.0).softmax(0).numpy()
    expected = np.array([0, 0, 0, expected[:4].sum(), *expected[4:]])  # 3 is the shortest of the training set
    expected = np.array([*expected[:6], expected[6:].sum()])  # and 6 the longest
    counts = Counter(len(text.split()) for text in texts)
    observed = np.array([counts[n] for n in range(len(expected))])
    keep = expected > 0
    chi = ((observed[keep] - 2000 * expected[keep]) ** 2 / (2000 * expected[keep])).sum()
    assert chi < 2 * keep.sum() + 15


def test_captions_are_no_longer_than_asked(data, adapter):
    for limit, longest in ((2, 2), (5, 5), (40, 6)):
        decoding = Decoding(
            "sample", temperature=3.0, candidates=10, max_length=limit, options={"length_temperature": 50.0}
        )
        made = [len(text.split()) for texts in write(adapter, data[1][:9], decoding) for text in texts]
        assert max(made) == longest
    with pytest.raises(InputError, match="3 objects for captions of at most 2 words"):
        adapter.prepare(TaskView(data[1], Decoding("sample", max_length=2, options={"objects": list(SHAPES)})))


# --------------------------------------------------------------------------- control
@pytest.mark.parametrize("decoding", [
    Decoding("refine", candidates=3), Decoding("refine", options={"keep_objects": False}),
    Decoding("sample", temperature=2.0, candidates=6), Decoding("sample", candidates=3, options={"iterations": 0}),
])  # fmt: skip
def test_given_objects_are_in_every_caption(data, adapter, decoding):
    for given in (["pill"], ["ball", "pill"], ["block", "ball", "pill"]):
        told = replace(decoding, options={**decoding.options, "objects": given})
        for texts in write(adapter, data[1][:9], told):
            assert all(set(given) <= set(text.split()) for text in texts), (given, texts)


def test_given_places_are_kept_and_examples_may_differ(data, adapter):
    decoding = Decoding("sample", temperature=1.5, candidates=4, options={"objects": ["ball"]})
    mixed = [
        data[1][0],
        replace(data[1][1], meta={"objects": {"pill": 2, "block": None}}),
        replace(data[1][2], meta={"objects": []}),
    ]
    one, two, three = write(adapter, mixed, decoding)
    assert all("ball" in text.split() for text in one)
    assert all(text.split()[1] == "pill" and "block" in text.split() for text in two)
    assert len(three) == 4
    far = replace(decoding, options={"objects": {"pill": 6}})
    assert all(text.split()[5] == "pill" for texts in write(adapter, data[1][:5], far) for text in texts)


def test_another_object_keeps_the_colour_of_the_video(data, adapter):
    asked = Decoding("refine", options={"objects": ["pill"]})
    made = write(adapter, data[1], asked)
    told = [COLOURS[i % 4] in texts[0].split() for i, texts in enumerate(made)]
    assert np.mean(told) > 0.8


def test_predicted_objects_may_change_unless_kept(adapter, data):
    with torch.inference_mode():
        encoded = adapter.encoded(adapter.model, adapter.inputs(data[1][:4]), data[1][:4])
        how = adapter._how(Decoding("refine"))
        placed = focus(
            adapter.model, encoded, torch.tensor([3, 5, 3, 5]), how, [None, None, {0: 4}, {0: None, 1: 0}], None
        )
    assert (placed.tokens != 0).sum(1).tolist() == [1, 1, 1, 2]
    assert placed.given.sum(1).tolist() == [0, 0, 1, 2]
    assert placed.tokens[3, 0] == adapter.model.object_predictor.words[1]
    assert bool((placed.certain <= 1).all())


# --------------------------------------------------------------------------- invariance
@pytest.mark.parametrize("decoding", [
    Decoding("refine", candidates=2), Decoding("sample", candidates=3),
    Decoding("nucleus", temperature=1.3, top_p=0.9, candidates=2, options={"objects": ["pill"], "keep_objects": False}),
], ids=str)  # fmt: skip
def test_captions_do_not_depend_on_the_batch(data, trained, decoding):
    examples = data[1]
    whole = write(O2naAdapter(checkpoint=str(trained), batch_size=64), examples, decoding)
    for size in (1, 7):
        assert write(O2naAdapter(checkpoint=str(trained), batch_size=size), examples, decoding) == whole
    adapter = O2naAdapter(checkpoint=str(trained), batch_size=11)
    order = np.random.default_rng(3).permutation(60).tolist()
    made = adapter.generate([examples[i] for i in order], decoding, order)
    assert [g.candidates for g in made] == [whole[i] for i in order]
    shards = [[g.candidates for g in adapter.generate(examples[k::3], decoding, range(60)[k::3])] for k in range(3)]
    assert [shards[i % 3][i // 3] for i in range(60)] == whole


def test_a_resumed_run_equals_an_uninterrupted_one(data, tmp_path):
    recipe = O2naRecipe(**toy_recipe(data[0], epochs=2))
    train(recipe, tmp_path / "once")
    train(replace(recipe, epochs=1), tmp_path / "twice")
    train(recipe, tmp_path / "twice", resume=True)
    one, two = (load_checkpoint(tmp_path / name).tensors for name in ("once", "twice"))
    assert all(torch.equal(one[key], two[key]) for key in one)


def test_likelihoods_are_pseudo(data, adapter):
    scores = [s for per in adapter.score_references(data[1]) for s in per]
    assert {s.likelihood for s in scores} == {"pseudo"}
    assert scores[0].tokens == ("a", "red", "ball", "<length>")
    assert np.mean([s.log_probs[-1] for s in scores]) == pytest.approx(-math.log(2), abs=0.15)
    assert np.mean([s.log_probs[1] for s in scores[::2]]) > -0.7  # the colour


# --------------------------------------------------------------------------- mistakes
def test_objects_that_mean_nothing_are_refused(data, adapter):
    def ask(objects, message):
        with pytest.raises(InputError, match=message):
            adapter.prepare(TaskView(data[1], Decoding("refine", options={"objects": objects})))

    ask(["pil"], "options.objects: 'pil' is no object word of this model; did you mean 'pill'\\?; it knows")
    ask("pill", "objects is a list of words, or a mapping of words to places; found 'pill'")
    ask({"pill": 0}, "the place of 'pill' is a number from 1 to 6; found 0")
    ask({"pill": 9}, "the place of 'pill' is a number from 1 to 6; found 9")
    ask({"pill": 2, "ball": 2}, "two objects are given the same place")
    with pytest.raises(InputError, match="example 'v3': 'dog' is no object word"):
        adapter.prepare(TaskView([replace(data[1][3], meta={"objects": ["dog"]})], Decoding("refine")))
    with pytest.raises(InputError, match="3 objects for captions of at most 2 words"):
        read_objects(list(SHAPES), SHAPES, 2, "here")
    assert least_length({0: None, 1: 4}, 1, 9) == 5
    assert least_length(None, 3, 9) == 3


def test_settings_that_mean_nothing_are_refused(data, adapter):
    for decoding, message in (
        (Decoding("beam"), "decodes by refine, sample, nucleus; found 'beam'"),
        (Decoding("refine", options={"object": ["pill"]}), "unknown option 'object'; did you mean 'objects'"),
        (Decoding("refine", candidates=9), "6 lengths give 6 candidates, 9 asked for"),
        (Decoding("refine", options={"iterations": -1}), "iterations must be at least 0, found -1"),
        (Decoding("refine", options={"threshold": 2}), "threshold is a probability, found 2"),
        (Decoding("sample", options={"length_temperature": -1}), "length_temperature must be a number above 0"),
    ):
        with pytest.raises(HarnessError, match=message):
            adapter.prepare(TaskView(data[1], decoding))
    with pytest.raises(InputError, match="no features for 1 of 1 examples: x"):
        adapter.prepare(TaskView([Example("x", ("a",))], Decoding("refine")))


def test_recipes_that_mean_nothing_are_refused(data, tmp_path):
    folder, _ = data
    for number, (params, message) in enumerate((
        ({"objects": ["pil"]}, "o2na: objects: no caption has the word 'pil'; did you mean 'pill'"),
        ({"objects": ["pill", "pill"]}, "o2na: objects: expected different words"),
        ({"objects": str(folder / "none.json")}, "none.json: no such list of object words"),
        ({"least_objects": 1000}, "o2na: no object words were found"),
    )):  # fmt: skip
        with pytest.raises(HarnessError, match=message):
            train(O2naRecipe(**toy_recipe(folder, **params)), tmp_path / str(number))
    with pytest.raises(HarnessError, match="hide_objects is a share"):
        O2naRecipe(**toy_recipe(folder, hide_objects=1))


def test_object_words_come_from_a_file_too(data, tmp_path):
    (tmp_path / "objects.json").write_text(json.dumps(["pill", "ball"]))
    recipe = O2naRecipe(**toy_recipe(data[0], objects=str(tmp_path / "objects.json"), epochs=1))
    trainer = O2naTrainer(recipe, tmp_path / "run", False)
    assert [trainer.words.words[i] for i in trainer.model.object_predictor.words] == ["pill", "ball"]


# --------------------------------------------------------------------------- checkpoints of elsewhere
def test_checkpoints_of_elsewhere_are_compared_and_not_loaded(trained, shared, tmp_path):
    loaded = load_checkpoint(trained)
    assert looks_like(loaded.tensors) == "it looks like O2NA (of this harness)"
    foreign = {key: value for key, value in loaded.tensors.items() if not key.startswith("object_predictor.")}
    foreign["decoder.embedding.position_embeddings.weight"] = torch.ones(7, 5)
    foreign["concept.net.0.weight"] = torch.ones(3, 24)
    save_checkpoint(foreign, loaded.settings, tmp_path / "foreign")
    with pytest.raises(InputError) as told:
        O2na.from_checkpoint(tmp_path / "foreign")
    text = str(told.value)
    assert "does not fit O2NA" in text and "\n" not in text
    assert "12 missing: object_predictor.words (1), object_predictor.detect.0.weight (32, 32)" in text
    assert "1 unexpected: concept.net.0.weight (3, 24)" in text
    assert "1 of another shape: decoder.embedding.position_embeddings.weight (7, 5), expected (7, 32)" in text
    with pytest.raises(InputError, match="it looks like NACF"):
        O2na.from_checkpoint(shared / "golden" / "nacf" / "NACF.state_dict.safetensors", {"num_attention_heads": 4})
    with pytest.raises(InputError, match="it looks like O2NA .of this harness.*unexpected: object_predictor"):
        Nacf.from_checkpoint(trained)
