"""The o2na adapter on artificial videos: captions, requested objects, sampling,
independence of the batch, invalid input.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

from harness.contracts import Adapter, Decoding, Example, Scorer, TaskView
from harness.errors import HarnessError, InputError
from harness_models.o2na.adapter import O2naAdapter
from harness_models.o2na.training import O2naRecipe, train
from tests.support.toy_videos import COLOURS, SHAPES, toy_recipe, toy_videos


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
    return [
        g.candidates for g in adapter.generate(examples, decoding, range(len(examples)))
    ]


@pytest.mark.slow
def test_captions_name_the_objects(data, adapter):
    assert isinstance(adapter, Adapter)
    assert isinstance(adapter, Scorer)
    assert set(adapter.objects) == set(SHAPES)
    generated = write(adapter, data[1], Decoding("refine"))
    assert (
        np.mean(
            [
                texts[0] in example.references
                for texts, example in zip(generated, data[1])
            ]
        )
        > 0.9
    )
    both = write(adapter, data[1], Decoding("refine", candidates=2))
    assert all(texts[:1] == one for texts, one in zip(both, generated))


@pytest.mark.slow
def test_sampled_captions_have_both_lengths(data, adapter):
    generated = write(
        adapter, data[1], Decoding("sample", temperature=0.5, candidates=10)
    )
    right = np.mean(
        [
            text in example.references
            for texts, example in zip(generated, data[1])
            for text in texts
        ]
    )
    assert right > 0.8

    lengths = Counter(len(text.split()) for texts in generated for text in texts)
    assert lengths[3] + lengths[5] > 0.95 * 600
    assert abs(lengths[3] / 600 - 0.5) < 0.15

    one = write(
        adapter,
        data[1],
        Decoding(
            "sample",
            temperature=0.5,
            candidates=10,
            options={"length_temperature": 1e-5},
        ),
    )
    assert all(len({len(text.split()) for text in texts}) == 1 for texts in one)


@pytest.mark.slow
def test_higher_temperatures_give_more_different_captions(data, adapter):
    def different(temperature):
        return len(
            {
                text
                for texts in write(
                    adapter,
                    data[1][:12],
                    Decoding("sample", temperature, candidates=20),
                )
                for text in texts
            }
        )

    assert different(0.2) <= different(1.0) < different(3.0)
    few, many = (
        write(adapter, data[1][:12], Decoding("sample", candidates=n)) for n in (2, 5)
    )
    assert all(more[:2] == two for two, more in zip(few, many))


def test_lengths_are_sampled_with_their_probabilities(data, adapter):
    example = data[1][0]
    decoding = Decoding(
        "sample",
        temperature=4.0,
        candidates=2000,
        options={"iterations": 0, "length_temperature": 3.0},
    )

    texts = next(iter(adapter.generate([example], decoding, [5]))).candidates
    with torch.inference_mode():
        encoded = adapter.encode_videos(
            adapter.model, adapter.inputs([example]), [example]
        )
        expected = (encoded.lengths[0] / 3.0).softmax(0).numpy()

    # 3 is the shortest of the training set
    expected = np.array([0, 0, 0, expected[:4].sum(), *expected[4:]])
    expected = np.array([*expected[:6], expected[6:].sum()])  # and 6 the longest
    counts = Counter(len(text.split()) for text in texts)
    observed = np.array([counts[n] for n in range(len(expected))])
    keep = expected > 0

    chi = (
        (observed[keep] - 2000 * expected[keep]) ** 2 / (2000 * expected[keep])
    ).sum()
    assert chi < 2 * keep.sum() + 15


def test_captions_are_not_longer_than_max_length(data, adapter):
    for limit, longest in ((2, 2), (5, 5), (40, 6)):
        decoding = Decoding(
            "sample",
            temperature=3.0,
            candidates=10,
            max_length=limit,
            options={"length_temperature": 50.0},
        )
        generated = [
            len(text.split())
            for texts in write(adapter, data[1][:9], decoding)
            for text in texts
        ]
        assert max(generated) == longest
    with pytest.raises(InputError, match="3 objects for captions of at most 2 words"):
        adapter.prepare(
            TaskView(
                data[1],
                Decoding("sample", max_length=2, options={"objects": list(SHAPES)}),
            )
        )


@pytest.mark.parametrize(
    "decoding",
    [
        Decoding("refine", candidates=3),
        Decoding("refine", options={"keep_objects": False}),
        Decoding("sample", temperature=2.0, candidates=6),
        Decoding("sample", candidates=3, options={"iterations": 0}),
    ],
)
def test_requested_objects_are_in_every_caption(data, adapter, decoding):
    for objects in (["pill"], ["ball", "pill"], ["block", "ball", "pill"]):
        requested = replace(decoding, options={**decoding.options, "objects": objects})
        for texts in write(adapter, data[1][:9], requested):
            assert all(set(objects) <= set(text.split()) for text in texts), (
                objects,
                texts,
            )


def test_requested_places_hold_and_can_differ_between_examples(data, adapter):
    decoding = Decoding(
        "sample", temperature=1.5, candidates=4, options={"objects": ["ball"]}
    )
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
    assert all(
        text.split()[5] == "pill"
        for texts in write(adapter, data[1][:5], far)
        for text in texts
    )


def test_a_requested_object_has_the_colour_of_the_video(data, adapter):
    requested = Decoding("refine", options={"objects": ["pill"]})
    generated = write(adapter, data[1], requested)
    requested = [
        COLOURS[i % 4] in texts[0].split() for i, texts in enumerate(generated)
    ]
    assert np.mean(requested) > 0.8


@pytest.mark.first_case_fast
@pytest.mark.parametrize(
    "decoding",
    [
        Decoding("refine", candidates=2),
        Decoding("sample", candidates=3),
        Decoding(
            "nucleus",
            temperature=1.3,
            top_p=0.9,
            candidates=2,
            options={"objects": ["pill"], "keep_objects": False},
        ),
    ],
    ids=str,
)
def test_captions_do_not_depend_on_the_batch(data, trained, decoding):
    examples = data[1]
    whole = write(
        O2naAdapter(checkpoint=str(trained), batch_size=64), examples, decoding
    )

    for size in (1, 7):
        assert (
            write(
                O2naAdapter(checkpoint=str(trained), batch_size=size),
                examples,
                decoding,
            )
            == whole
        )

    adapter = O2naAdapter(checkpoint=str(trained), batch_size=11)
    order = np.random.default_rng(3).permutation(60).tolist()
    generated = adapter.generate([examples[i] for i in order], decoding, order)
    assert [g.candidates for g in generated] == [whole[i] for i in order]

    shards = [
        [
            g.candidates
            for g in adapter.generate(examples[k::3], decoding, range(60)[k::3])
        ]
        for k in range(3)
    ]
    assert [shards[i % 3][i // 3] for i in range(60)] == whole


def test_reference_scores_are_pseudo_log_likelihoods(data, adapter):
    scores = [s for per in adapter.score_references(data[1]) for s in per]
    assert {s.likelihood for s in scores} == {"pseudo"}
    assert scores[0].tokens == ("a", "red", "ball", "<length>")
    assert np.mean([s.log_probs[-1] for s in scores]) == pytest.approx(
        -math.log(2), abs=0.15
    )
    assert np.mean([s.log_probs[1] for s in scores[::2]]) > -0.7  # the colour


def test_invalid_objects_are_refused(data, adapter):
    def ask(objects, message):
        with pytest.raises(InputError, match=message):
            adapter.prepare(
                TaskView(data[1], Decoding("refine", options={"objects": objects}))
            )

    ask(
        ["pil"],
        "options.objects: 'pil' is no object word of this model; "
        "did you mean 'pill'\\?; it knows",
    )
    ask(
        "pill",
        "objects is a list of words, or a mapping of words to places; found 'pill'",
    )
    ask({"pill": 0}, "the place of 'pill' is a number from 1 to 6; found 0")
    ask({"pill": 9}, "the place of 'pill' is a number from 1 to 6; found 9")
    ask({"pill": 2, "ball": 2}, "two objects have the same place")
    with pytest.raises(InputError, match="example 'v3': 'dog' is no object word"):
        adapter.prepare(
            TaskView(
                [replace(data[1][3], meta={"objects": ["dog"]})], Decoding("refine")
            )
        )


def test_invalid_settings_are_refused(data, adapter):
    for decoding, message in (
        (Decoding("beam"), "decodes by refine, sample, nucleus; found 'beam'"),
        (
            Decoding("refine", options={"object": ["pill"]}),
            "unknown option 'object'; did you mean 'objects'",
        ),
        (
            Decoding("refine", candidates=9),
            "6 lengths give at most 6 candidates; requested 9",
        ),
        (
            Decoding("refine", options={"iterations": -1}),
            "iterations must be at least 0, found -1",
        ),
        (
            Decoding("refine", options={"threshold": 2}),
            "threshold is a probability, found 2",
        ),
        (
            Decoding("sample", options={"length_temperature": -1}),
            "length_temperature must be a number above 0",
        ),
    ):
        with pytest.raises(HarnessError, match=message):
            adapter.prepare(TaskView(data[1], decoding))
    with pytest.raises(InputError, match="no features for 1 of 1 examples: x"):
        adapter.prepare(TaskView([Example("x", ("a",))], Decoding("refine")))
