"""The ``transformers`` adapter with tiny models: parity with ``generate`` of
transformers, batching, prompts, failures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from harness.contracts import (
    Adapter,
    Decoding,
    Event,
    EventSet,
    Example,
    Failure,
    Generation,
    Scorer,
)
from harness.errors import HarnessError, InputError, MissingExtra
from harness.registry.torchvision_guard import guard_torchvision

guard_torchvision()
transformers = pytest.importorskip("transformers")

from harness_models.shared.decoding.memory_meter import (  # noqa: E402
    AcceleratorMemory,
)
from harness_models.transformers import adapter as adapter_module  # noqa: E402
from harness_models.transformers.adapter import Transformers  # noqa: E402
from tests.support import tiny_models  # noqa: E402
from tests.support.counted_memory import CountedMemory  # noqa: E402

IMAGES = ("ved", "blip", "git", "llava", "qwen2_vl", "blip2", "blip2_t5")
NAMES = ("gpt2", "t5", *IMAGES)
TEXTS = [
    "the dog runs",
    "a cat",
    "the red ball on the mat",
    "a dog sits",
    "the cat runs on the mat",
]
EXAMPLES = [
    Example(f"e{i}", ("a dog runs", "the cat"), media=f"{i}.png", source=TEXTS[i])
    for i in range(5)
]
GREEDY = Decoding()


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    base = tmp_path_factory.mktemp("models")
    for name in NAMES:
        tiny_models.BUILDERS[name](base / name)
    tiny_models.pictures(base)
    return base


def generations(adapter, examples, decoding, seeds) -> list[Generation]:
    """Return the results of an adapter; fail for anything but generations."""
    results = list(adapter.generate(examples, decoding, seeds))
    assert all(isinstance(item, Generation) for item in results), results
    return results


def captions(
    adapter, decoding=GREEDY, examples=EXAMPLES, seeds: Sequence[int] = range(5)
):
    """Return the candidates of every example."""
    return [
        generation.candidates
        for generation in generations(adapter, examples, decoding, seeds)
    ]


def build(folders, name, **params):
    more: dict[str, Any] = {"images": str(folders)} if name in IMAGES else {}
    if name in ("git", "llava", "qwen2_vl", "blip2", "blip2_t5"):
        more["prompt"] = "a dog"
    if name == "gpt2":
        more["chat"] = False
    settings: Any = {**more, **params}
    return Transformers(model=str(folders / name), max_length=8, **settings)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_greedy_and_beam_equal_generate(folders, name):
    adapter = build(folders, name)
    assert isinstance(adapter, Adapter)
    model = adapter.loaded.model
    beam = Decoding(
        "beam",
        beams=3,
        candidates=3,
        length_penalty=1.0,
        options={"early_stopping": "heuristic"},
    )

    for decoding, theirs in [
        (Decoding("greedy"), {}),
        (beam, {"num_beams": 3, "num_return_sequences": 3, "length_penalty": 1.0}),
    ]:
        for example, generation in zip(
            EXAMPLES, generations(adapter, EXAMPLES, decoding, range(5))
        ):
            inputs = adapter.builder.build(example)
            if name == "blip":
                inputs = {"pixel_values": inputs["pixel_values"]}
            out = model.generate(**inputs, max_new_tokens=8, do_sample=False, **theirs)
            prompt = (
                0
                if name in ("t5", "ved", "blip", "blip2_t5")
                else inputs["input_ids"].shape[1]
            )
            expected = [adapter.to_text(row[prompt:].tolist()) for row in out]
            assert list(generation.candidates) == expected


@pytest.mark.first_case_fast
@pytest.mark.parametrize("name", NAMES)
def test_captions_do_not_depend_on_the_batch(folders, name):
    decoding = Decoding("nucleus", temperature=1.2, top_p=0.95, top_k=10, candidates=3)
    whole = captions(build(folders, name), decoding)
    assert len({c for cs in whole for c in cs}) > 3
    assert captions(build(folders, name, batch_size=1), decoding) == whole
    order = [3, 1, 4, 0, 2]
    shuffled = captions(
        build(folders, name, batch_size=2),
        decoding,
        [EXAMPLES[i] for i in order],
        order,
    )
    assert shuffled == [whole[i] for i in order]


@pytest.mark.first_case_fast
@pytest.mark.parametrize("name", NAMES)
def test_reference_scores_equal_a_loop_over_steps(folders, name):
    adapter = build(folders, name)
    assert isinstance(adapter, Scorer)
    scored = list(adapter.score_references(EXAMPLES))
    for example, scores in zip(EXAMPLES, scored):
        for text, score in zip(example.references, scores):
            ids = adapter.reference_tokens(text)
            with torch.inference_mode():
                logits, state = adapter.step(
                    None, adapter.prefix(adapter.inputs([example]), [example]).state
                )
                expected = []
                for token in ids:
                    expected.append(float(logits.log_softmax(-1)[0, token]))
                    logits, state = adapter.step(torch.tensor([token]), state)
            np.testing.assert_allclose(score.log_probs, expected, atol=1e-5)
            assert score.tokens[-1] == "</s>"


@pytest.mark.parametrize("name", ["gpt2", "t5"])
def test_contrastive_search_does_not_depend_on_the_batch(folders, name):
    adapter = build(folders, name)
    search = Decoding("contrastive", options={"alpha": 0.8}, max_length=8)
    together = captions(adapter, search)
    assert captions(adapter, search, EXAMPLES[:1], [0]) == together[:1]
    greedy = captions(adapter, Decoding("greedy", max_length=8))
    assert (
        captions(adapter, Decoding("contrastive", options={"alpha": 0}, max_length=8))
        == greedy
    )


def test_chat_templates_are_used(folders):
    adapter = build(folders, "gpt2", chat=None, system="the dog")
    assert adapter.chat
    assert (
        adapter.builder.text(EXAMPLES[1])
        == "system says : the dog user says : a cat says :"
    )
    assert len(list(adapter.generate(EXAMPLES, Decoding(), range(5)))) == 5
    assert adapter.fingerprint() != build(folders, "gpt2").fingerprint()


def test_the_message_names_the_missing_key_of_a_prompt(folders):
    adapter = build(folders, "gpt2", prompt="{source} {tone}")
    assert (
        adapter.builder.text(Example("x", ("a",), source="a cat", meta={"tone": "red"}))
        == "a cat red"
    )
    with pytest.raises(
        InputError, match="has .{tone}.; the fields of example .e0. are"
    ):
        list(adapter.generate(EXAMPLES, Decoding(), range(5)))
    with pytest.raises(InputError, match="the fields of example 'n' are"):
        list(build(folders, "t5").generate([Example("n", ("a",))], Decoding(), [0]))


def test_images_that_do_not_decode_are_failures(folders):
    examples = [
        EXAMPLES[0],
        Example("b", ("a",), media="broken.png"),
        Example("g", ("a",), media="gone.png"),
        EXAMPLES[1],
    ]
    results = list(build(folders, "ved").generate(examples, Decoding(), range(4)))
    broken, missing = results[1:3]
    assert (
        isinstance(broken, Failure)
        and "broken.png: is no image, video or sound by its content" in broken.reason
    )
    assert isinstance(missing, Failure) and "gone.png: no such image" in missing.reason
    last = results[3]
    assert isinstance(last, Generation)
    assert (
        last.candidates
        == captions(build(folders, "ved"), examples=[EXAMPLES[1]], seeds=[3])[0]
    )


def test_folders_without_a_complete_model_are_refused(folders, tmp_path):
    with pytest.raises(InputError, match=r"no config\.json"):
        Transformers(model=str(tmp_path))
    with pytest.raises(HarnessError, match="kind is auto or one of"):
        build(folders, "gpt2", kind="audio")
    import shutil

    from safetensors.torch import load_file, save_file

    shutil.copytree(folders / "gpt2", tmp_path / "cut")
    tensors = load_file(tmp_path / "cut" / "model.safetensors")
    del tensors["transformer.h.0.ln_1.weight"]
    save_file(
        {**tensors, "more": torch.ones(2)},
        tmp_path / "cut" / "model.safetensors",
        metadata={"format": "pt"},
    )

    with pytest.raises(
        InputError,
        match=r"1 missing: transformer\.h\.0\.ln_1\.weight; 1 unexpected: more",
    ):
        Transformers(model=str(tmp_path / "cut"))

    (tmp_path / "cut" / "model.safetensors").write_bytes(b"\x10\x00")
    with pytest.raises(InputError):
        Transformers(model=str(tmp_path / "cut"))


def test_images_and_system_messages_go_through_the_template(folders):
    adapter = build(folders, "llava", system="the cat")
    assert adapter.chat
    assert (
        adapter.builder.text(EXAMPLES[0])
        == "system says : the cat user says : <image> a dog says :"
    )
    inputs = adapter.builder.build(EXAMPLES[0])
    assert int((inputs["input_ids"] == 4).sum()) == 4  # one per patch


def test_a_prompt_without_the_image_token_is_refused(folders, tmp_path):
    tiny_models.llava(tmp_path / "bare", chat=False)
    adapter = Transformers(
        model=str(tmp_path / "bare"), images=str(folders), prompt="a dog", max_length=4
    )
    with pytest.raises(
        InputError,
        match="reads the image at '<image>', which the prompt 'a dog' does not contain",
    ):
        list(adapter.generate(EXAMPLES[:1], Decoding(), [0]))
    adapter = Transformers(
        model=str(tmp_path / "bare"),
        images=str(folders),
        prompt="<image> a dog",
        max_length=4,
    )
    assert len(captions(adapter, examples=EXAMPLES[:1], seeds=[0])[0]) == 1


def test_the_start_token_of_the_template_is_not_repeated(folders):
    adapter = build(folders, "llava")
    from tokenizers import processors

    adapter.tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 1)]
    )
    assert int((adapter.builder.build(EXAMPLES[0])["input_ids"] == 1).sum()) == 1
    adapter.loaded.processor.chat_template = "<s> " + tiny_models.PARTS.replace(
        "IMAGE", "<image>"
    )
    assert int((adapter.builder.build(EXAMPLES[0])["input_ids"] == 1).sum()) == 1


def test_images_of_several_sizes_are_in_separate_batches(folders, tmp_path):
    from PIL import Image

    for i in range(6):
        pixels = np.random.default_rng(i).integers(
            0, 255, (16 + 16 * (i % 2), 24, 3), dtype=np.uint8
        )
        Image.fromarray(pixels).save(tmp_path / f"{i}.png")
    examples = [
        Example(f"e{i}", ("a dog runs", "the cat"), media=f"{i}.png") for i in range(6)
    ]

    adapter = build(folders, "qwen2_vl", images=str(tmp_path))
    assert len(adapter.groups(adapter.inputs(examples))) == 2
    decoding = Decoding("sample", candidates=3)
    whole = captions(adapter, decoding, examples, range(6))
    alone = [captions(adapter, decoding, [e], [i])[0] for i, e in enumerate(examples)]
    assert whole == alone

    together = [
        s.log_probs for scores in adapter.score_references(examples) for s in scores
    ]
    apart = [
        s.log_probs for e in examples for s in next(iter(adapter.score_references([e])))
    ]

    for one, other in zip(together, apart):
        np.testing.assert_allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_sampled_captions_have_the_log_probabilities_of_a_forced_pass(folders, name):
    adapter = build(folders, name)
    decoding = Decoding(
        "nucleus", temperature=1.5, top_p=0.9, candidates=3, max_length=6
    )
    for seed, example in enumerate(EXAMPLES[:2]):
        with torch.inference_mode():
            inputs = adapter.inputs([example])
            for h in adapter.decode(inputs, [(example, seed)], decoding)[0]:
                prefix = adapter.prefix(inputs, [example])
                logits = adapter.forced_logits(
                    prefix, torch.tensor([0]), torch.from_numpy(h.tokens)[None]
                )[0]
                forced = logits.log_softmax(-1)[range(len(h.tokens)), h.tokens]
                np.testing.assert_allclose(h.log_probs, forced.numpy(), atol=1e-5)


@pytest.mark.parametrize("name", ["gpt2", "ved", "llava", "blip2"])
def test_half_precision_is_close_to_single_precision(folders, name):
    whole = [
        s.log_probs
        for scores in build(folders, name).score_references(EXAMPLES[:2])
        for s in scores
    ]
    adapter = build(folders, name, dtype="bfloat16")
    assert adapter.loaded.model.dtype == torch.bfloat16
    assert adapter.fingerprint() != build(folders, name).fingerprint()
    half = [
        s.log_probs for scores in adapter.score_references(EXAMPLES[:2]) for s in scores
    ]
    for one, other in zip(whole, half):
        np.testing.assert_allclose(one, other, atol=0.3)
    assert (
        len(
            list(adapter.generate(EXAMPLES, Decoding("sample", candidates=2), range(5)))
        )
        == 5
    )


def test_device_maps(folders, monkeypatch):
    expected = captions(build(folders, "llava"))
    on_device = build(folders, "llava", device_map="cpu")
    assert captions(on_device) == expected
    import importlib.util

    if importlib.util.find_spec("accelerate") is None:
        with pytest.raises(
            MissingExtra, match="device_map 'auto' needs the package 'accelerate'"
        ):
            build(folders, "llava", device_map="auto")
        return
    for layout in ("auto", {"": "cpu"}):
        spread = build(folders, "llava", device_map=layout)
        assert captions(spread) == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt2", "llava", "blip2_t5"])
def test_batches_halve_when_memory_runs_out(folders, name, monkeypatch):
    decoding = Decoding("sample", candidates=2)
    adapter = build(folders, name)
    whole = captions(adapter, decoding)
    scores = [s.log_probs for item in adapter.score_references(EXAMPLES) for s in item]

    monkeypatch.setattr(adapter, "_batches", None)
    monkeypatch.setattr("harness_models.shared.decoding.batches.AUTO_START", 4)
    sizes = []
    prefix = adapter.prefix

    def small(inputs, examples):
        sizes.append(len(inputs))
        if len(inputs) > 1:
            raise torch.OutOfMemoryError(
                "CUDA out of memory. Tried to allocate 20.00 GiB"
            )
        return prefix(inputs, examples)

    # one call per batch
    monkeypatch.setattr(adapter, "groups", lambda inputs: [list(range(len(inputs)))])
    monkeypatch.setattr(adapter, "prefix", small)

    assert captions(adapter, decoding) == whole
    assert sizes == [4, 2, 1, 1, 1, 1, 1]
    assert adapter.timings()["batch_size"] == 1
    for one, other in zip(
        scores,
        (s.log_probs for item in adapter.score_references(EXAMPLES) for s in item),
    ):
        np.testing.assert_allclose(one, other, atol=1e-5)
    assert set(sizes[7:]) == {1}, "the size is remembered"
    monkeypatch.setattr(adapter, "batch_size", 3)
    assert captions(adapter, decoding) == whole
    assert sizes[-6:] == [3, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("name", ["gpt2", "qwen2_vl"])
def test_replicas_give_the_captions_of_one_model(folders, name):
    decoding = Decoding("sample", temperature=1.2, candidates=3)
    several = [
        Example(f"e{i}", ("a dog runs",), media=f"{i % 5}.png", source=TEXTS[i % 5])
        for i in range(12)
    ]
    one = build(folders, name)
    adapter = build(folders, name, device=["cpu", "cpu", "cpu"], batch_size=2)
    assert captions(adapter, decoding, several, range(12)) == captions(
        one, decoding, several, range(12)
    )
    expected = [scores[0].log_probs for scores in one.score_references(several)]
    for scores, other in zip(adapter.score_references(several), expected):
        np.testing.assert_allclose(scores[0].log_probs, other, atol=1e-5)
    timings = adapter.timings()
    assert (
        timings["captions"] == 36
        and timings["tokens"] == one.timings()["tokens"]
        and timings["batch_size"] == 2
    )
    assert timings["devices"] == ["cpu"] * 3 and timings["tokens_per_second"] > 0
    assert adapter.fingerprint() == one.fingerprint()


@pytest.mark.slow
def test_a_replica_that_runs_out_of_memory_halves_its_batches(folders, monkeypatch):
    decoding = Decoding("sample", candidates=2)
    several = [
        Example(f"e{i}", ("a dog runs",), source=TEXTS[i % 5]) for i in range(16)
    ]
    adapter = build(folders, "gpt2", device=["cpu", "cpu"], batch_size=8)
    first = adapter._replicas[0]
    prefix = first.prefix

    def small(inputs, examples):
        if len(inputs) > 1:
            raise torch.OutOfMemoryError(
                "CUDA out of memory. Tried to allocate 20.00 GiB"
            )
        return prefix(inputs, examples)

    monkeypatch.setattr(first, "prefix", small)
    monkeypatch.setattr(first, "groups", lambda inputs: [list(range(len(inputs)))])
    assert captions(adapter, decoding, several, range(16)) == captions(
        build(folders, "gpt2"), decoding, several, range(16)
    )
    assert adapter._replicas[1].batches.current == 8


def test_the_default_device_and_number_format_are_those_of_the_machine(folders):
    adapter = build(folders, "gpt2")
    if not torch.cuda.is_available():
        assert (adapter.devices, adapter.dtype) == (["cpu"], "float32")
    assert (
        adapter.fingerprint()
        == build(folders, "gpt2", device="cpu", dtype=adapter.dtype).fingerprint()
    )
    assert (
        adapter.describe()["model"] == str(folders / "gpt2")
        and "commit" not in adapter.describe()
    )
    with pytest.raises(HarnessError, match="dtype is one of"):
        build(folders, "gpt2", dtype="half")


def test_auto_batches_grow_with_the_memory_of_the_accelerator(folders, monkeypatch):
    examples = [
        Example(f"e{i}", ("a",), source=TEXTS[i % len(TEXTS)]) for i in range(400)
    ]
    expected = captions(build(folders, "gpt2"), GREEDY, examples, range(400))

    device = CountedMemory(total=200_000, weights=20_000)
    monkeypatch.setattr(
        adapter_module,
        "memory_meter",
        lambda devices: AcceleratorMemory(dict.fromkeys(devices, device)),
    )
    adapter = build(folders, "gpt2")
    sizes: list[int] = []
    inputs = adapter.inputs

    def counted(batch):
        sizes.append(len(batch))
        device.compute(1000 * len(batch))
        return inputs(batch)

    monkeypatch.setattr(adapter, "inputs", counted)
    assert captions(adapter, GREEDY, examples, range(400)) == expected
    # 0.8 * 180,000 / 1,000
    assert sizes == [64, 144, 144, 48]
    assert adapter.timings()["batch_size"] == 144

    fixed = build(folders, "gpt2", batch_size=7)
    assert captions(fixed, GREEDY, examples[:30], range(30)) == expected[:30]
    assert fixed.timings()["batch_size"] == 7


def test_only_accelerators_with_one_copy_of_the_model_are_watched(folders, monkeypatch):
    assert build(folders, "gpt2").memory_meter() is None
    asked: list[list[str]] = []
    monkeypatch.setattr(adapter_module, "memory_meter", asked.append)
    build(folders, "gpt2").memory_meter()
    assert asked == [["cpu"]]
    build(folders, "gpt2", device=["cpu", "cpu"]).memory_meter()
    assert len(asked) == 1


def test_the_length_of_a_prompt_is_its_number_of_tokens(folders):
    adapter = build(folders, "llava", prompt="{source}")
    # the template adds "user says :", the image and "says :"
    assert adapter.prompt_length(EXAMPLES[1]) == 3 + 1 + len(TEXTS[1].split()) + 2


@pytest.mark.parametrize("devices", [["cpu"], ["cpu", "cpu"]])
def test_answers_are_sets_of_events_or_failures_that_keep_them(
    folders, monkeypatch, devices
):
    model = build(folders, "gpt2", device=devices, events="sets")
    texts = build(folders, "gpt2")
    plain = captions(texts)
    assert model.fingerprint() != texts.fingerprint()
    for result, (text,) in zip(model.generate(EXAMPLES, GREEDY, range(5)), plain):
        assert isinstance(result, Failure) and repr(text) in result.reason

    monkeypatch.setattr(
        adapter_module.Transformers, "to_text", lambda self, ids: "0 - 4 s: a dog"
    )
    sets = captions(model)
    expected = EventSet((Event("a dog", (0.0, 4.0)),)).to_text()
    assert sets == [(expected,)] * 5


def test_events_of_transformers_are_sets(folders):
    with pytest.raises(HarnessError, match="events is sets, or left out"):
        build(folders, "gpt2", events="paragraph")
