"""The vlp adapter on the golden checkpoint with an artificial vocabulary."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from harness.contracts import Adapter, Decoding, Example, Scorer, TaskView
from harness.errors import HarnessError, InputError
from harness_models.vlp.adapter import VlpAdapter
from harness_models.vlp.model import VlpStep

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "a",
    "dog",
    "##s",
    "runs",
    ".",
    *(f"w{i}" for i in range(43)),
]
EXAMPLES = [
    Example(f"img{i}", ("a dogs runs .", "a dog", "w1 w2 w3 w4")) for i in range(6)
]


@pytest.fixture(scope="module")
def folder(golden, tmp_path_factory):
    path = tmp_path_factory.mktemp("vlp")
    (path / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    with np.load(golden / "vlp" / "region_features.npz") as values:
        arrays = {}
        for i in range(6):
            for kind in ("feat", "cls", "bbox"):
                a, b = (
                    values[f"{name}.{kind}"]
                    for name in (
                        "COCO_val2014_000000100000",
                        "COCO_val2014_000000200001",
                    )
                )
                arrays[f"img{i}.{kind}"] = a + (b - a) * i / 5
        np.savez(path / "regions.npz", **arrays)
    return path


@pytest.fixture(scope="module")
def adapter(folder, golden):
    def build(**params):
        settings = {
            "vocabulary": str(folder),
            "features": str(folder / "regions.npz"),
            "config": {"num_attention_heads": 3},
        }
        return VlpAdapter(
            checkpoint=str(golden / "vlp" / "state_dict.npz"), **{**settings, **params}
        )

    return build


@pytest.mark.slow
def test_captions_do_not_depend_on_the_batch(adapter):
    assert isinstance(adapter(), Adapter)
    for decoding in (
        Decoding("sample", candidates=3, max_length=6),
        Decoding("beam", beams=3, candidates=2, max_length=6),
        Decoding("authors-beam", beams=3, candidates=2, max_length=6),
        Decoding("authors-greedy"),
    ):
        whole = [g.candidates for g in adapter().generate(EXAMPLES, decoding, range(6))]
        assert [
            g.candidates
            for g in adapter(batch_size=1).generate(EXAMPLES, decoding, range(6))
        ] == whole
        assert all(len(c) == (decoding.candidates or 1) for c in whole)


def test_references_are_scored_in_one_pass_as_step_by_step(adapter):
    result = adapter()
    assert isinstance(result, Scorer)
    scored = list(result.score_references(EXAMPLES))
    step = VlpStep(result.model)
    for example, scores in zip(EXAMPLES, scored):
        with torch.inference_mode():
            start = result.prefix(result.inputs([example]), [example]).state
        for text, score in zip(example.references, scores):
            ids = result.reference_tokens(text)
            assert ids[-1] == 3
            state = start
            last = None
            expected = []
            with torch.inference_mode():
                for token in ids:
                    logits, state = step(last, state)
                    expected.append(float(logits.log_softmax(-1)[0, token]))
                    last = torch.tensor([token])
            np.testing.assert_allclose(score.log_probs, expected, atol=1e-5)
            assert score.tokens[-1] == "[SEP]"


def test_text_joins_pieces_and_ends_at_padding(adapter):
    result = adapter()
    assert result.to_text([5, 6, 7, 8, 9]) == "a dogs runs ."
    assert result.to_text([5, 0, 6]) == "a"
    assert result.to_text([]) == ""


def test_invalid_input_is_refused(adapter, folder, tmp_path):
    with pytest.raises(
        InputError, match="no region features 'img9' for example 'img9'"
    ):
        list(adapter().generate([Example("img9", ("a",))], Decoding(), [0]))
    with pytest.raises(HarnessError, match="max_length 90 does not fit; 58 positions"):
        adapter().prepare(TaskView(EXAMPLES, Decoding(max_length=90)))
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS[:40]) + "\n")
    with pytest.raises(InputError, match="40 words, the checkpoint has 53"):
        adapter(vocabulary=str(tmp_path))
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS[3:]) + "\n")
    with pytest.raises(
        InputError, match=r"no \[PAD\], \[UNK\], \[CLS\] in this vocabulary"
    ):
        adapter(vocabulary=str(tmp_path))
    with pytest.raises(
        InputError,
        match="a reference of example 'img0' has 61 tokens; 1 to 58 can be scored",
    ):
        list(adapter().score_references([Example("img0", ("a " * 60,))]))
