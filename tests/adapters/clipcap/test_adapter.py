"""The clipcap adapter on a small model with a small byte-level BPE."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from harness.contracts import Adapter, Decoding, Example, Prepares, Scorer, TaskView
from harness.errors import HarnessError, InputError
from harness_models.clipcap.adapter import ClipCapAdapter
from harness_models.clipcap.clip_images import ClipImages
from harness_models.clipcap.mappers import ClipCapSizes
from harness_models.clipcap.model import ClipCap
from harness_models.shared.gpt2 import Gpt2Sizes
from harness_models.shared.tokenisers.gpt2_bpe import Gpt2Bpe

TEXTS = [
    "a red ball on the floor.",
    "the dog runs.",
    "a small green pill in the corner.",
    "two people ride horses.",
]
EXAMPLES = [Example(f"e{i}", (TEXTS[i % 4], TEXTS[(i + 1) % 4])) for i in range(12)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A checkpoint with its tokenizer and the features of 12 examples."""
    from tokenizers import ByteLevelBPETokenizer

    path = tmp_path_factory.mktemp("clipcap")
    tokeniser = ByteLevelBPETokenizer()
    tokeniser.train_from_iterator(TEXTS, vocab_size=300, show_progress=False)
    tokeniser.save_model(str(path))

    torch.manual_seed(0)
    gpt2 = Gpt2Sizes(
        vocabulary=320, positions=48, width=32, layers=2, heads=4, inner=64
    )
    model = ClipCap(
        ClipCapSizes(mapper="mlp", clip=6, prefix_length=3, hidden=48, gpt2=gpt2)
    )
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(4)
    torch.save(model.state_dict(), path / "model.pt")

    generator = np.random.default_rng(0)
    np.savez(
        path / "features.npz",
        **{f"e{i}": generator.normal(size=6).astype(np.float32) for i in range(12)},
    )
    return path


def adapter(folder, **params):
    params = {
        "features": str(folder / "features.npz"),
        "config": {"n_head": 4},
        **params,
    }
    return ClipCapAdapter(checkpoint=str(folder / "model.pt"), **params)


def test_the_adapter_implements_the_contracts(folder):
    built = adapter(folder)
    assert isinstance(built, Adapter)
    assert isinstance(built, Scorer)
    assert isinstance(built, Prepares)
    assert (
        built.fingerprint()
        == adapter(folder, batch_size=2).fingerprint()
        != adapter(folder, stop="t").fingerprint()
    )


@pytest.mark.first_case_fast
@pytest.mark.parametrize(
    "decoding",
    [
        Decoding(
            "nucleus", temperature=1.0, top_k=20, top_p=0.9, candidates=4, max_length=12
        ),
        Decoding("beam", beams=4, candidates=3, max_length=12),
        Decoding("authors-beam", beams=4, candidates=2, max_length=12),
        Decoding("authors-greedy", max_length=12),
    ],
    ids=lambda d: d.strategy,
)
def test_captions_do_not_depend_on_the_batch(folder, decoding):
    seeds = list(range(50, 62))
    whole = list(adapter(folder).generate(EXAMPLES, decoding, seeds))
    assert len(whole) == 12
    assert all(
        len(g.candidates) == (decoding.candidates or 1) == len(g.log_probs)
        for g in whole
    )
    for size in (1, 7):
        assert [
            g.candidates
            for g in adapter(folder, batch_size=size).generate(
                EXAMPLES, decoding, seeds
            )
        ] == [g.candidates for g in whole]
    order = [5, 3, 11, 0, 1, 2, 4, 10, 9, 8, 7, 6]
    shuffled = list(
        adapter(folder).generate(
            [EXAMPLES[i] for i in order], decoding, [seeds[i] for i in order]
        )
    )
    assert [g.candidates for g in shuffled] == [whole[i].candidates for i in order]


def test_reference_scores_equal_one_forced_pass(folder):
    built = adapter(folder)
    bpe = Gpt2Bpe(folder)
    scored = list(built.score_references(EXAMPLES))
    for example, scores in zip(EXAMPLES, scored):
        vector = torch.from_numpy(built.features.row(example))[None]
        for text, score in zip(example.references, scores):
            ids = torch.tensor([bpe.encode(text)])
            with torch.inference_mode():
                expected = (
                    built.model.caption_logits(ids, vector)
                    .log_softmax(-1)
                    .gather(-1, ids[..., None])
                )
            np.testing.assert_allclose(score.log_probs, expected[0, :, 0], atol=1e-5)
            assert "".join(score.tokens) == text
            assert score.likelihood == "exact"


def test_generated_log_probs_equal_reference_scores(folder):
    built = adapter(folder)
    decoding = Decoding("sample", candidates=1, max_length=8)
    for example, generation in zip(
        EXAMPLES, built.generate(EXAMPLES, decoding, range(12))
    ):
        assert generation.stop_reasons[0] in ("stop", "length")
        assert 1 <= generation.lengths[0] <= 8
        assert generation.log_probs[0] < 0
        assert example.id.startswith("e")


def test_invalid_input_is_refused(folder, tmp_path):
    with pytest.raises(HarnessError, match="either features"):
        adapter(folder, features=None)
    with pytest.raises(InputError, match="no features for 1 of 13 examples: nobody"):
        adapter(folder).prepare(
            TaskView([*EXAMPLES, Example("nobody", ("a",))], Decoding())
        )
    with pytest.raises(HarnessError, match="max_length 60 does not fit; 45 positions"):
        adapter(folder).prepare(TaskView(EXAMPLES, Decoding(max_length=60)))
    with pytest.raises(InputError, match=r"vocab\.json: no such tokenizer file"):
        adapter(folder, tokenizer=str(tmp_path))
    np.savez(tmp_path / "wide.npz", **{f"e{i}": np.zeros(7) for i in range(12)})
    with pytest.raises(InputError, match="'e0' has 7 numbers, the checkpoint takes 6"):
        list(
            adapter(folder, features=str(tmp_path / "wide.npz")).generate(
                EXAMPLES, Decoding(), range(12)
            )
        )
    with pytest.raises(HarnessError, match="stop must be one token"):
        adapter(folder, stop="xyz qq")
    with pytest.raises(HarnessError, match="batch_size is a positive number or auto"):
        adapter(folder, batch_size=0)


@pytest.mark.slow
def test_images_through_open_clip(folder, tmp_path):
    from harness.registry.torchvision_guard import guard_torchvision

    guard_torchvision()
    open_clip = pytest.importorskip("open_clip")
    from PIL import Image

    torch.manual_seed(0)
    name = "ViT-S-32-alt"
    torch.save(open_clip.create_model(name).state_dict(), tmp_path / "clip.pt")
    Image.fromarray(
        np.random.default_rng(0).integers(0, 255, (40, 30, 3), dtype=np.uint8)
    ).save(tmp_path / "a.png")
    (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0\x00\x10JFIF\x00 no image")

    images = ClipImages(model=name, weights=tmp_path / "clip.pt", images=tmp_path)
    whole, broken, missing = images.encode(
        [Example(i, ("r",), i) for i in ("a.png", "broken.jpg", "gone.png")]
    )

    assert whole.ndim == 1
    assert bool(torch.isfinite(whole).all())
    assert "broken.jpg: the image does not decode" in broken.reason
    assert "gone.png: no such image" in missing.reason

    with pytest.raises(
        InputError, match="open_clip has no model 'ViT-B-33'; did you mean 'ViT-B-32'"
    ):
        ClipImages(model="ViT-B-33", weights=tmp_path / "clip.pt")
    with pytest.raises(InputError, match="no such file or folder of CLIP weights"):
        ClipImages(model=name, weights=tmp_path / "none.pt")
