"""The transformers adapter on tiny models built here, against transformers' own generate."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from harness.adapters.torchvision_guard import guard_torchvision
from harness.contracts import Adapter, Decoding, Example, Failure, Scorer
from harness.errors import HarnessError, InputError

guard_torchvision()
transformers = pytest.importorskip("transformers")

from harness.adapters.transformers.adapter import Transformers  # noqa: E402

WORDS = [
    "<pad>",
    "<s>",
    "</s>",
    "<unk>",
    "<image>",
    "a",
    "dog",
    "cat",
    "runs",
    "sits",
    "on",
    "the",
    "mat",
    "red",
    "ball",
    "says",
    ":",
]
CHAT = "{% for m in messages %}{{ m['role'] }} says : {{ m['content'] }} {% endfor %}{% if add_generation_prompt %}says :{% endif %}"


def tokenizer(chat=None):
    from tokenizers import Tokenizer, models, pre_tokenizers

    base = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>"))
    base.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made = transformers.PreTrainedTokenizerFast(
        tokenizer_object=base, pad_token="<pad>", bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )
    made.chat_template = chat
    return made


def loud(model, scale=6.0):
    torch.manual_seed(1)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim > 1 and "norm" not in name.lower():
                weight.normal_(std=0.02 * scale)
    return model.eval()


IDS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    base = tmp_path_factory.mktemp("models")
    small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    gpt2 = transformers.GPT2Config(vocab_size=len(WORDS), n_positions=64, n_embd=32, n_layer=2, n_head=4, **IDS)
    loud(transformers.GPT2LMHeadModel(gpt2)).save_pretrained(base / "gpt2")
    tokenizer(CHAT).save_pretrained(base / "gpt2")
    t5 = transformers.T5Config(
        vocab_size=len(WORDS), d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, decoder_start_token_id=0, **IDS
    )
    loud(transformers.T5ForConditionalGeneration(t5), 15).save_pretrained(base / "t5")
    tokenizer().save_pretrained(base / "t5")
    vit = transformers.ViTConfig(image_size=16, patch_size=8, **small)
    decoder = transformers.GPT2Config(
        vocab_size=len(WORDS),
        n_positions=64,
        n_embd=32,
        n_layer=2,
        n_head=4,
        is_decoder=True,
        add_cross_attention=True,
        **IDS,
    )
    both = transformers.VisionEncoderDecoderConfig.from_encoder_decoder_configs(vit, decoder)
    both.decoder_start_token_id, both.pad_token_id, both.eos_token_id = 1, 0, 2
    loud(transformers.VisionEncoderDecoderModel(both), 10).save_pretrained(base / "ved")
    images = transformers.ViTImageProcessor(size={"height": 16, "width": 16})
    images.save_pretrained(base / "ved")
    tokenizer().save_pretrained(base / "ved")
    blip = transformers.BlipConfig(
        text_config={**small, "vocab_size": len(WORDS), "sep_token_id": 2, "encoder_hidden_size": 32, "is_decoder": True,
                     "max_position_embeddings": 64, **IDS},
        vision_config={**small, "image_size": 16, "patch_size": 8},
    )  # fmt: skip
    loud(transformers.BlipForConditionalGeneration(blip), 10).save_pretrained(base / "blip")
    transformers.BlipProcessor(
        transformers.BlipImageProcessor(size={"height": 16, "width": 16}), tokenizer()
    ).save_pretrained(base / "blip")
    git = transformers.GitConfig(
        vocab_size=len(WORDS),
        vision_config={**small, "image_size": 16, "patch_size": 8},
        max_position_embeddings=64,
        **small,
        **IDS,
    )
    loud(transformers.GitForCausalLM(git), 10).save_pretrained(base / "git")
    transformers.GitProcessor(
        transformers.CLIPImageProcessor(size={"shortest_edge": 16}, crop_size={"height": 16, "width": 16}), tokenizer()
    ).save_pretrained(base / "git")
    from PIL import Image

    for i in range(5):
        pixels = np.random.default_rng(i).integers(0, 255, (20, 24, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(base / f"{i}.png")
    (base / "broken.png").write_bytes(b"no image")
    return base


TEXTS = ["the dog runs", "a cat", "the red ball on the mat", "a dog sits", "the cat runs on the mat"]
EXAMPLES = [Example(f"e{i}", ("a dog runs", "the cat"), media=f"{i}.png", source=TEXTS[i]) for i in range(5)]


def build(folders, name, **params):
    more = {"images": str(folders)} if name in ("ved", "blip", "git") else {}
    if name == "git":
        more["prompt"] = "a dog"
    if name == "gpt2":
        more["chat"] = False
    return Transformers(model=str(folders / name), max_length=8, **{**more, **params})


NAMES = ("gpt2", "t5", "ved", "blip", "git")


@pytest.mark.parametrize("name", NAMES)
def test_greedy_and_beam_equal_generate(folders, name):
    adapter = build(folders, name)
    assert isinstance(adapter, Adapter)
    model = adapter.loaded.model
    beam = Decoding("beam", beams=3, candidates=3, length_penalty=1.0, options={"early_stopping": "heuristic"})
    for decoding, theirs in [
        (Decoding("greedy"), {}),
        (beam, {"num_beams": 3, "num_return_sequences": 3, "length_penalty": 1.0}),
    ]:
        made = list(adapter.generate(EXAMPLES, decoding, range(5)))
        for example, generation in zip(EXAMPLES, made):
            inputs = adapter._input(example)
            if name == "blip":
                inputs = {"pixel_values": inputs["pixel_values"]}
            out = model.generate(**inputs, max_new_tokens=8, do_sample=False, **theirs)
            prompt = 0 if name in ("t5", "ved", "blip") else inputs["input_ids"].shape[1]
            expected = [adapter.to_text(row[prompt:].tolist()) for row in out]
            assert list(generation.candidates) == expected


@pytest.mark.parametrize("name", NAMES)
def test_captions_do_not_depend_on_the_batch(folders, name):
    decoding = Decoding("nucleus", temperature=1.2, top_p=0.95, top_k=10, candidates=3)
    whole = [g.candidates for g in build(folders, name).generate(EXAMPLES, decoding, range(5))]
    assert len({c for cs in whole for c in cs}) > 3
    assert [g.candidates for g in build(folders, name, batch_size=1).generate(EXAMPLES, decoding, range(5))] == whole
    order = [3, 1, 4, 0, 2]
    shuffled = build(folders, name, batch_size=2).generate([EXAMPLES[i] for i in order], decoding, order)
    assert [g.candidates for g in shuffled] == [whole[i] for i in order]


@pytest.mark.parametrize("name", NAMES)
def test_references_are_scored_as_step_by_step(folders, name):
    adapter = build(folders, name)
    assert isinstance(adapter, Scorer)
    scored = list(adapter.score_references(EXAMPLES))
    for example, scores in zip(EXAMPLES, scored):
        for text, score in zip(example.references, scores):
            ids = adapter.reference_tokens(text)
            with torch.inference_mode():
                logits, state = adapter.step(None, adapter.prefix(adapter.inputs([example]), [example]).state)
                expected = []
                for token in ids:
                    expected.append(float(logits.log_softmax(-1)[0, token]))
                    logits, state = adapter.step(torch.tensor([token]), state)
            np.testing.assert_allclose(score.log_probs, expected, atol=1e-5)
            assert score.tokens[-1] == "</s>"


def test_chat_templates_are_used(folders):
    adapter = build(folders, "gpt2", chat=None, system="the dog")
    assert adapter.chat
    assert adapter._text(EXAMPLES[1]) == "system says : the dog user says : a cat says :"
    assert len(list(adapter.generate(EXAMPLES, Decoding(), range(5)))) == 5
    assert adapter.fingerprint() != build(folders, "gpt2").fingerprint()


def test_prompts_name_what_is_missing(folders):
    adapter = build(folders, "gpt2", prompt="{source} {tone}")
    assert adapter._text(Example("x", ("a",), source="a cat", meta={"tone": "red"})) == "a cat red"
    with pytest.raises(InputError, match="asks for 'tone', which example 'e0' does not have"):
        list(adapter.generate(EXAMPLES, Decoding(), range(5)))
    with pytest.raises(InputError, match="example 'n' has no source text"):
        list(build(folders, "t5").generate([Example("n", ("a",))], Decoding(), [0]))


def test_images_that_do_not_decode_are_failures(folders):
    examples = [
        EXAMPLES[0],
        Example("b", ("a",), media="broken.png"),
        Example("g", ("a",), media="gone.png"),
        EXAMPLES[1],
    ]
    made = list(build(folders, "ved").generate(examples, Decoding(), range(4)))
    assert isinstance(made[1], Failure)
    assert "broken.png: the image does not decode" in made[1].reason
    assert "gone.png: no such image" in made[2].reason
    assert made[3].candidates == next(iter(build(folders, "ved").generate([EXAMPLES[1]], Decoding(), [3]))).candidates


def test_folders_without_a_whole_model_are_refused(folders, tmp_path):
    with pytest.raises(InputError, match=r"no config\.json"):
        Transformers(model=str(tmp_path))
    with pytest.raises(HarnessError, match="kind is auto or one of"):
        build(folders, "gpt2", kind="audio")
    import shutil

    from safetensors.torch import load_file, save_file

    shutil.copytree(folders / "gpt2", tmp_path / "cut")
    tensors = load_file(tmp_path / "cut" / "model.safetensors")
    del tensors["transformer.h.0.ln_1.weight"]
    save_file({**tensors, "more": torch.ones(2)}, tmp_path / "cut" / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"1 missing: transformer\.h\.0\.ln_1\.weight; 1 unexpected: more"):
        Transformers(model=str(tmp_path / "cut"))
    (tmp_path / "cut" / "model.safetensors").write_bytes(b"\x10\x00")
    with pytest.raises(InputError):
        Transformers(model=str(tmp_path / "cut"))
