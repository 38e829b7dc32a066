"""The tvt adapter on a trained model."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.contracts import Adapter, Decoding, Example, Scorer, TaskView
from harness.errors import HarnessError, InputError
from harness_models.tvt.adapter import TvtAdapter
from harness_models.tvt.training import TvtRecipe, train

SMALL = {
    "width": 32,
    "heads": 4,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "inner": 64,
    "dropout": 0.1,
}


def test_captions_depend_on_both_views(data, trained):
    _, captions = data
    examples = [Example(name, tuple(texts)) for name, texts in captions.items()]
    adapter = TvtAdapter(checkpoint=str(trained))
    assert isinstance(adapter, Adapter)
    assert isinstance(adapter, Scorer)
    captions_of = [
        g.candidates[0]
        for g in adapter.generate(examples, Decoding("beam", beams=3), range(60))
    ]
    assert (
        np.mean(
            [text in example.references for text, example in zip(captions_of, examples)]
        )
        > 0.95
    )
    scores = [
        float(s.log_probs.sum())
        for per in adapter.score_references(examples)
        for s in per
    ]
    assert np.mean(scores) > -math.log(4)


def test_captions_do_not_depend_on_the_batch(data, trained):
    _, captions = data
    examples = [
        Example(name, tuple(texts)) for name, texts in list(captions.items())[:20]
    ]
    decoding = Decoding("nucleus", temperature=1.5, top_p=0.95, candidates=3)
    whole = [
        g.candidates
        for g in TvtAdapter(checkpoint=str(trained)).generate(
            examples, decoding, range(20)
        )
    ]
    for size in (1, 7):
        parts = TvtAdapter(checkpoint=str(trained), batch_size=size).generate(
            examples, decoding, range(20)
        )
        assert [g.candidates for g in parts] == whole


def test_scenes_are_read_as_in_training(tmp_path):
    """A folder trained on scenes describes scenes that are named by their id or by the
    reader.
    """
    recipe = TvtRecipe(
        features={"scenes": {"frames": 2}},
        scenes=3,
        captions_each=1,
        epochs=1,
        model=SMALL,
    )
    adapter = TvtAdapter(checkpoint=str(train(recipe, tmp_path / "run").parent))
    examples = [
        Example("77", ("a ball",)),
        Example("one/shape/00000", ("a ball",), meta={"target_id": 77}),
    ]
    adapter.prepare(TaskView(examples, Decoding()))
    one, two = (
        g.candidates for g in adapter.generate(examples, Decoding("greedy"), [1, 2])
    )
    assert one == two
    with pytest.raises(InputError, match="example 'video7' is not a scene"):
        adapter.prepare(TaskView([Example("video7", ("a",))], Decoding()))
    assert TvtRecipe(scenes=3).source == {"scenes": {}}
    with pytest.raises(HarnessError, match="unknown sizes layers"):
        TvtRecipe(scenes=3, model={"layers": 2})


def test_features_that_do_not_fit_are_refused(data, trained):
    folder, _ = data
    with pytest.raises(InputError, match="the checkpoint takes the views"):
        TvtAdapter(checkpoint=str(trained), features={"look": str(folder / "look.npz")})
    with pytest.raises(InputError, match="no features for 1 of 2 examples: v99"):
        TvtAdapter(checkpoint=str(trained)).prepare(
            TaskView([Example("v1", ("a",)), Example("v99", ("a",))], Decoding())
        )
