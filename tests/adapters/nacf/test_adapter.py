"""The nacf adapter on the golden checkpoints with artificial words and features."""

from __future__ import annotations

import json
import pickle
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from harness.contracts import Adapter, Decoding, Example, Scorer, TaskView
from harness.errors import HarnessError, InputError
from harness_models.nacf.adapter import NacfAdapter
from harness_models.nacf.iterative_refinement import NacfRefiner, Refinement

WORDS = [
    "<pad>",
    "<unk>",
    "<bos>",
    "<eos>",
    "<mask>",
    "<vis>",
    *(f"w{i}" for i in range(41)),
]
EXAMPLES = [
    Example(f"video{i}", ("w1 w2 w3 w4.", "w5 w6 w7 w8 w9"), meta={"category": i % 4})
    for i in range(7)
]


@pytest.fixture(scope="module")
def build(golden, tmp_path_factory):
    folder = tmp_path_factory.mktemp("nacf")
    (folder / "words.json").write_text(json.dumps(WORDS))
    generator = np.random.default_rng(0)
    for name in "mi":
        arrays = {
            f"video{i}": generator.normal(size=(3 + 4 * i, 20)).astype(np.float32)
            for i in range(7)
        }
        np.savez(folder / f"{name}.npz", **arrays)

    for method in ("ARB", "NAB", "NACF"):
        # golden logits reach 360, where float32 rounding decides between words; smaller
        # ones allow tests of invariance
        tensors = load_file(golden / f"{method}.state_dict.safetensors")
        tensors["tgt_word_prj.weight"] /= 60
        save_file(tensors, str(folder / f"{method}.state_dict.safetensors"))
    shutil.copy(golden / "config.json", folder)

    def make(method, **params):
        golden = folder
        settings = {
            "checkpoint": str(golden / f"{method}.state_dict.safetensors"),
            "words": str(folder / "words.json"),
            "frames": 5,
            "features": {name: str(folder / f"{name}.npz") for name in "mi"},
        }
        if params.pop("taught", False):
            settings["teacher"] = str(golden / "ARB.state_dict.safetensors")
        return NacfAdapter(**{**settings, **params})

    make.folder = folder
    return make


@pytest.mark.parametrize(
    "method, decoding",
    [
        ("ARB", Decoding("sample", candidates=3)),
        ("ARB", Decoding("authors-beam", beams=3, candidates=2)),
        ("NACF", Decoding("refine", candidates=2, options={"templates": True})),
        (
            "NACF",
            Decoding(
                "sample",
                candidates=3,
                options={"templates": True, "order": "ef", "more": 1},
            ),
        ),
        (
            "NAB",
            Decoding(
                "sample",
                temperature=0.7,
                top_k=5,
                candidates=3,
                options={"length_temperature": 2.0},
            ),
        ),
        ("NAB", Decoding("refine", options={"order": "l2r"})),
    ],
    ids=str,
)
def test_captions_do_not_depend_on_the_batch(build, method, decoding):
    taught = {"taught": True} if method != "ARB" else {}
    adapter = build(method, **taught)
    assert isinstance(adapter, Adapter)
    whole = [g.candidates for g in adapter.generate(EXAMPLES, decoding, range(7))]
    assert all(len(c) == (decoding.candidates or 1) for c in whole)
    assert [
        g.candidates
        for g in build(method, batch_size=1, **taught).generate(
            EXAMPLES, decoding, range(7)
        )
    ] == whole
    order = [4, 2, 6, 0, 1, 5, 3]
    shuffled = build(method, batch_size=3, **taught).generate(
        [EXAMPLES[i] for i in order], decoding, order
    )
    assert [g.candidates for g in shuffled] == [whole[i] for i in order]


def test_sampled_candidates_are_nested_and_differ(build):
    sets = [
        [
            g.candidates
            for g in build("NAB").generate(
                EXAMPLES, Decoding("sample", temperature=3.0, candidates=n), range(7)
            )
        ]
        for n in (1, 4)
    ]
    assert all(more[:1] == one for one, more in zip(*sets))
    assert any(len(set(more)) > 1 for more in sets[1])


def test_reference_scores_are_exact_for_arb_and_pseudo_for_nacf(build):
    exact = next(iter(build("ARB").score_references(EXAMPLES)))
    assert isinstance(build("ARB"), Scorer)
    assert exact[0].likelihood == "exact"
    assert exact[0].tokens == ("w1", "w2", "w3", "w4", "<eos>")
    adapter = build("NACF")
    pseudo = list(adapter.score_references(EXAMPLES))
    assert {s.likelihood for scores in pseudo for s in scores} == {"pseudo"}
    assert pseudo[0][0].tokens[-1] == "<length>"
    with torch.inference_mode():
        encoded = adapter.encode_videos(
            adapter.model, adapter.inputs(EXAMPLES[:1]), EXAMPLES[:1]
        )
        ids = adapter.words.encode("w1 w2 w3 w4.")
        rows = torch.tensor([[4 if j == 2 else w for j, w in enumerate(ids)]])
        expected = adapter.model.logits(rows, encoded).log_softmax(-1)[0, 2, ids[2]]
        assert pseudo[0][0].log_probs[2] == pytest.approx(float(expected), abs=1e-4)
        assert pseudo[0][0].log_probs[-1] == pytest.approx(
            float(encoded.lengths[0, 4]), abs=1e-5
        )


def test_fixed_words_stay_in_their_slots(build):
    adapter = build("NAB")
    with torch.inference_mode():
        encoded = adapter.encode_videos(
            adapter.model, adapter.inputs(EXAMPLES[:1]), EXAMPLES[:1]
        )
        words = torch.tensor([[0, 20, 0, 0, 30, 0]])
        for order in ("mp", "l2r", "ef"):
            slots = NacfRefiner(
                adapter.model, encoded, Refinement(order=order, more=2)
            ).fill(torch.tensor([6]), words)
            assert slots.tokens[0, [1, 4]].tolist() == [20, 30]


def test_the_corpus_file_gives_words_and_categories(build):
    corpus = {
        "info": {
            "itow": dict(enumerate(WORDS)),
            "itoc": {f"video{i}": i % 4 for i in range(7)},
        },
        "captions": {},
    }
    (build.folder / "info_corpus.pkl").write_bytes(pickle.dumps(corpus))
    adapter = build("ARB", words=str(build.folder / "info_corpus.pkl"))
    bare = [Example(e.id, e.references) for e in EXAMPLES]
    plain = [
        g.candidates for g in build("ARB").generate(EXAMPLES, Decoding(), range(7))
    ]
    assert [g.candidates for g in adapter.generate(bare, Decoding(), range(7))] == plain


@pytest.mark.parametrize("category", [None, 4, -1, "x"])
def test_categories_out_of_range_are_refused(build, category):
    adapter = build("NAB")
    assert adapter.category(Example("v", ("a",), meta={"category": "1"})) == 1
    with pytest.raises(InputError, match="example 'v' has no category from 0 to 3"):
        adapter.category(Example("v", ("a",), meta={"category": category}))


def test_invalid_input_is_refused(build):
    with pytest.raises(
        InputError, match="example 'video0' has no category from 0 to 3"
    ):
        list(build("ARB").generate([Example("video0", ("a",))], Decoding(), [0]))
    with pytest.raises(InputError, match="no features for 1 of 1 examples: video9"):
        build("ARB").prepare(TaskView([Example("video9", ("a",))], Decoding()))
    with pytest.raises(
        HarnessError, match="NAB decodes by refine, sample, nucleus; found 'beam'"
    ):
        build("NAB").prepare(TaskView(EXAMPLES, Decoding("beam")))
    with pytest.raises(HarnessError, match="only NACF models"):
        build("NAB").prepare(
            TaskView(EXAMPLES, Decoding("refine", options={"templates": True}))
        )
    with pytest.raises(
        HarnessError, match="unknown option 'lenghts'; did you mean 'lengths'"
    ):
        build("NAB").prepare(
            TaskView(EXAMPLES, Decoding("refine", options={"lenghts": 3}))
        )
    with pytest.raises(HarnessError, match="a teacher is an ARB model"):
        build("ARB", taught=True)
    (build.folder / "few.json").write_text(json.dumps(WORDS[:20]))
    with pytest.raises(InputError, match="20 words, the checkpoint has 47"):
        build("ARB", words=str(build.folder / "few.json"))
