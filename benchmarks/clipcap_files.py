"""CLIPCap as published, from public files to a report, with files of the published
names and shapes made here: greedy captions beside GPT-2's own ``generate``.

    python -m benchmarks.clipcap_files [--folder FOLDER] [--images 10] [--small]

Writes into a folder what docs/studies/clipcap.md reads: ``coco_weights.pt`` (the MLP
mapper and GPT-2 with the buffers of old versions), ``gpt2/`` (vocab.json, merges.txt),
``ViT-B-32.pt`` (an archive as OpenAI's), ``clip/`` (a folder as of the hub), JPEGs and
``captions.json``. Weights are random, so that captions say nothing. Runs the spec of
the page by each form of CLIP, and compares the tokens with those of
``transformers.GPT2LMHeadModel.generate`` from the same prefix; exit status 1 where one
differs. ``--small`` has two layers in place of twelve.
"""

from __future__ import annotations

import argparse
import itertools
import json
import string
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from harness import api
from harness.registry import current

PREFIX = 10
CLIP_WIDTH = 512
TOKENS = 50_257
LONGEST = 67
"""Most tokens of a caption, as in the authors' code."""
MODEL = "ViT-B-32-quickgelu"
FORMS = ("ViT-B-32.pt", "clip/open_clip_pytorch_model.bin", "clip")
"""Weights of CLIP: OpenAI's archive, the file of a folder of the hub, the folder."""


def write_tokenizer(folder: Path) -> None:
    """Write a byte-level BPE of GPT-2's size: bytes, merges of letters, end of text."""
    from tokenizers.pre_tokenizers import ByteLevel

    folder.mkdir(exist_ok=True)
    vocabulary = dict.fromkeys(sorted(ByteLevel.alphabet()))
    merges: list[str] = []
    pairs: list[str] = []
    letters = string.ascii_lowercase
    for first, second in itertools.product(["Ġ", *letters], letters):
        merges.append(f"{first} {second}")
        pairs.append(first + second)
    vocabulary |= dict.fromkeys(pairs)
    for pair, other in itertools.product(pairs, [*pairs, *letters]):
        if len(vocabulary) == TOKENS - 1:
            break
        if pair + other not in vocabulary and not other.startswith("Ġ"):
            merges.append(f"{pair} {other}")
            vocabulary[pair + other] = None
    tokens = [*vocabulary, "<|endoftext|>"]
    numbers = {token: k for k, token in enumerate(tokens)}
    (folder / "vocab.json").write_text(json.dumps(numbers), encoding="utf-8")
    text = "\n".join(["#version: 0.2", *merges])
    (folder / "merges.txt").write_text(text + "\n", encoding="utf-8")


def make_gpt2(layers: int) -> Any:
    """Return GPT-2 with random weights."""
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(GPT2Config(vocab_size=TOKENS, n_layer=layers)).eval()


def write_checkpoint(path: Path, gpt2: Any) -> Any:
    """Write ``coco_weights.pt`` and return its mapper."""
    import torch
    from torch import nn

    width = gpt2.config.n_embd
    hidden = width * PREFIX // 2
    mapper = nn.Sequential(
        nn.Linear(CLIP_WIDTH, hidden), nn.Tanh(), nn.Linear(hidden, width * PREFIX)
    )
    # untrained prefixes would be lost beside word vectors
    for parameter in mapper.parameters():
        if parameter.ndim > 1:
            nn.init.normal_(parameter, std=0.5)
    weights = {f"gpt.{name}": value for name, value in gpt2.state_dict().items()}
    positions = gpt2.config.n_positions
    for layer in range(gpt2.config.n_layer):
        name = f"gpt.transformer.h.{layer}.attn"
        mask = torch.ones(positions, positions, dtype=torch.uint8).tril()
        weights[f"{name}.bias"] = mask[None, None]
        weights[f"{name}.masked_bias"] = torch.tensor(-1e4)
    for name, value in mapper.state_dict().items():
        weights[f"clip_project.model.{name}"] = value
    torch.save(weights, path)
    return mapper


def write_clip(folder: Path) -> None:
    """Write CLIP's weights as OpenAI's archive and as a folder of the hub."""
    import open_clip
    import torch

    from tests.support.torchscript_archives import write_archive

    model = open_clip.create_model(MODEL)
    weights = model.state_dict()
    write_archive(weights, folder / "ViT-B-32.pt", quick_gelu=True)
    hub = folder / "clip"
    hub.mkdir(exist_ok=True)
    torch.save(weights, hub / "open_clip_pytorch_model.bin")
    config = {"model_cfg": open_clip.get_model_config(MODEL), "preprocess_cfg": {}}
    (hub / "open_clip_config.json").write_text(json.dumps(config), encoding="utf-8")


def write_images(folder: Path, count: int) -> None:
    """Write JPEGs with their captions in COCO's form."""
    from PIL import Image

    images = folder / "val2014"
    images.mkdir(exist_ok=True)
    rng = np.random.default_rng(0)
    entries: list[dict[str, Any]] = []
    captions: list[dict[str, Any]] = []
    for k in range(count):
        name = f"COCO_val2014_{k:012d}.jpg"
        pixels = rng.integers(0, 255, (6, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).resize((320, 240)).save(images / name)
        entries.append({"id": k, "file_name": name})
        captions += [
            {"image_id": k, "id": 5 * k + n, "caption": f"a picture number {n} of {k}"}
            for n in range(5)
        ]
    content = {"images": entries, "annotations": captions}
    (folder / "captions.json").write_text(json.dumps(content), encoding="utf-8")


def spec_of(folder: Path, weights: str) -> dict[str, Any]:
    """Return the spec of the page, with the files of a folder."""
    clip = {"weights": str(folder / weights)}
    # A folder of the hub names its architecture.
    if not (folder / weights).is_dir():
        clip["model"] = MODEL
    model = {
        "label": "CLIPCap",
        "checkpoint": str(folder / "coco_weights.pt"),
        "tokenizer": str(folder / "gpt2"),
        "clip": clip,
        "images": str(folder / "val2014"),
    }
    return {
        "task": "clipcap-as-published",
        "dataset": {"reader": "coco", "path": str(folder / "captions.json")},
        "models": [{"clipcap": model}],
        "decoding": {"strategy": "greedy", "max_length": LONGEST},
        "metrics": ["bleu4", "meteor", "rouge", "cider"],
        "bootstrap": {"samples": 0},
    }


def captions_of(spec: dict[str, Any]) -> dict[str, str]:
    """Return id -> caption of a run of the spec."""
    run = api.evaluate(spec)
    return {
        each.id: each.candidates[0] for each in run.samples.systems[0].caption_sets()
    }


def generated(
    folder: Path, spec: dict[str, Any], gpt2: Any, mapper: Any
) -> dict[str, str]:
    """Return id -> caption by GPT-2's own ``generate`` from the prefix of an image."""
    import torch

    from harness.contracts import Example

    (model,) = spec["models"]
    parameters = {k: v for k, v in model["clipcap"].items() if k != "label"}
    adapter = current().create("adapters", "clipcap", parameters)
    images = json.loads((folder / "captions.json").read_text(encoding="utf-8"))[
        "images"
    ]
    examples = [Example(str(i["id"]), ("r",), i["file_name"]) for i in images]
    vectors = adapter.inputs(examples)
    out: dict[str, str] = {}
    with torch.inference_mode():
        for example, vector in zip(examples, vectors):
            prefix = mapper(vector.float()).view(1, PREFIX, -1)
            tokens = gpt2.generate(
                inputs_embeds=prefix,
                attention_mask=torch.ones(1, PREFIX, dtype=torch.long),
                do_sample=False,
                max_new_tokens=LONGEST,
                eos_token_id=adapter.words.encode(".")[0],
                pad_token_id=0,
            )[0].tolist()
            out[example.id] = adapter.words.decode(tokens).strip()
    return out


def main() -> int:
    """Write the files, run each form of CLIP, and return 1 where a caption differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, help="default: a temporary one")
    parser.add_argument("--images", type=int, default=10)
    parser.add_argument("--small", action="store_true", help="two layers of GPT-2")
    options = parser.parse_args()

    import torch

    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as name:
        folder = options.folder or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        gpt2 = make_gpt2(2 if options.small else 12)
        mapper = write_checkpoint(folder / "coco_weights.pt", gpt2)
        write_tokenizer(folder / "gpt2")
        write_clip(folder)
        write_images(folder, options.images)

        differing = 0
        for weights in FORMS:
            spec = spec_of(folder, weights)
            ours = captions_of(spec)
            theirs = generated(folder, spec, gpt2, mapper)
            wrong = [key for key, text in theirs.items() if ours[key] != text]
            differing += len(wrong)
            count = len(theirs)
            print(
                f"{weights}: {count - len(wrong)} of {count} greedy captions are those "
                f"of GPT-2's generate; {len(set(theirs.values()))} different ones"
            )
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
