"""Neural metrics beside their peers and the limit of a device, with random weights of
published shapes.

    python -m benchmarks.accelerator [--device cuda] [--small] [--only NAME ...]

Sections: ``bertscore`` (roberta-large's shape at layer 17, 12,000 texts; peer
bert_score), ``sentences`` (mpnet's shape, 50,000 captions; peer sentence-transformers),
``clip`` (ViT-L/14, 2,000 JPEGs; peers a plain loop of open_clip, and the CLIPScore of
torchmetrics on a small model), ``pairs`` (metrics over all pairs of two corpora of
16,384 vectors, beside numpy), ``store`` (a second run with the store of vectors). A
peer that is not installed is named. ``--small`` takes tiny models and few texts. All
ratios are of one run; at most five minutes on an accelerator.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from harness.contracts import CaptionSet
from harness.encoders.devices import first_device
from harness.encoders.precision import Precision
from harness.encoders.towers import TwoTowers
from harness.registry.torchvision_guard import guard_torchvision
from harness.run.features import FeatureCache

WORDS = 20_000
SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")


@dataclass(frozen=True)
class Sizes:
    """Shapes of the models, and numbers of texts and images."""

    width: int
    layers: int
    layer: int
    heads: int
    captions: int
    sentences: int
    images: int
    clip: str
    image_size: tuple[int, int] = (480, 640)
    pairs: int = 16_384
    """Vectors of each of two corpora."""


FULL = Sizes(1024, 24, 17, 16, 2000, 50_000, 2000, "ViT-L-14")
SMALL = Sizes(64, 3, 2, 4, 40, 300, 24, "ViT-S-32-alt", (48, 64), 600)


def write_tokenizer(folder: Path) -> None:
    """Write a tokenizer of words separated by blanks."""
    import tokenizers
    import transformers

    words = [*SPECIAL, *(f"w{k}" for k in range(WORDS))]
    model = tokenizers.models.WordLevel({w: k for k, w in enumerate(words)}, "<unk>")
    base = tokenizers.Tokenizer(model)
    base.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    base.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=base,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        unk_token="<unk>",
        model_max_length=512,
    ).save_pretrained(folder)


def write_encoder(folder: Path, kind: str, sizes: Sizes) -> Path:
    """Write a RoBERTa or an MPNet with random weights, and return its folder."""
    import transformers

    settings = {
        "vocab_size": WORDS + len(SPECIAL),
        "hidden_size": sizes.width,
        "num_hidden_layers": sizes.layers,
        "num_attention_heads": sizes.heads,
        "intermediate_size": 4 * sizes.width,
        "max_position_embeddings": 514,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
    }
    config = getattr(transformers, f"{kind}Config")(**settings)
    getattr(transformers, f"{kind}Model")(config).save_pretrained(folder)
    write_tokenizer(folder)
    return folder


def random_captions(count: int, seed: int) -> list[str]:
    """Return distinct captions of 8 to 15 words."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(8, 16, count)
    return [
        " ".join(f"w{k}" for k in rng.integers(0, WORDS, length)) for length in lengths
    ]


def best_seconds(work: Callable[[], object], device: str, runs: int = 2) -> float:
    """Return the least wall time of some runs after one that warms up."""
    import torch

    times: list[float] = []
    for _ in range(runs + 1):
        started = time.perf_counter()
        work()
        if device.startswith("cuda"):
            torch.cuda.synchronize()
        times.append(time.perf_counter() - started)
    return min(times[1:])


def show(name: str, seconds: float, beside: float | None = None) -> None:
    """Print a time, and how many times as fast as ours the first line was."""
    ratio = "" if beside is None else f"{seconds / beside:8.2f} x ours"
    print(f"  {name:<44} {seconds:9.3f} s {ratio}", flush=True)


def missing(peer: str) -> bool:
    """Print the name of a peer that is not installed, and return True for it."""
    if find_spec(peer) is not None:
        return False
    print(f"  {peer}: not installed")
    return True


def precisions_of(device: str) -> Sequence[Precision]:
    """Return the precisions that are measured on a device."""
    return ("float32",) if device == "cpu" else ("float32", "tf32", "bfloat16")


def time_bertscore(folder: Path, device: str, sizes: Sizes) -> None:
    """Print BERTScore, bert_score, and one pass over all texts."""
    from harness_metrics.neural.bertscore import BertScore

    write_encoder(folder, "Roberta", sizes)
    candidates = random_captions(sizes.captions, 0)
    references = np.array(random_captions(5 * sizes.captions, 1)).reshape(-1, 5)
    print(f"\nBERTScore, {6 * sizes.captions:,} texts, layer {sizes.layer}")
    sets = [
        CaptionSet(str(k), (text,), tuple(row))
        for k, (text, row) in enumerate(zip(candidates, references.tolist()))
    ]
    for precision in precisions_of(device):
        metric = BertScore(
            path=str(folder), layer=sizes.layer, device=device, dtype=precision
        )

        def score(metric: BertScore = metric) -> None:
            features = FeatureCache()
            for start in range(0, len(sets), 256):
                batch = features.batch(sets[start : start + 256])
                metric.scores(batch, features, None)

        ours = best_seconds(score, device)
        show(f"harness, {precision}", ours)
        show(
            f"one pass over the distinct texts, {precision}",
            best_seconds(one_pass(folder, device, sizes, precision), device),
            ours,
        )
        if precision == "float32" and not missing("bert_score"):
            time_bert_score(folder, device, sizes, candidates, references, ours)


def one_pass(
    folder: Path, device: str, sizes: Sizes, precision: Precision
) -> Callable[[], None]:
    """Return the work of all distinct texts once through the model, by length."""
    import torch
    import transformers

    from harness.encoders.precision import computing, weight_dtype

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    model.encoder.layer = model.encoder.layer[: sizes.layer]
    model = model.to(device=device, dtype=weight_dtype(precision))
    texts = {
        *random_captions(sizes.captions, 0),
        *random_captions(5 * sizes.captions, 1),
    }
    by_length = sorted(texts, key=lambda text: text.count(" "))
    size = 64 if device == "cpu" else 512

    def run() -> None:
        with computing(precision), torch.inference_mode():
            for start in range(0, len(by_length), size):
                batch = tokenizer(
                    by_length[start : start + size], padding=True, return_tensors="pt"
                )
                model(**batch.to(device))

    return run


def time_bert_score(
    folder: Path,
    device: str,
    sizes: Sizes,
    candidates: list[str],
    references: np.ndarray,
    ours: float,
) -> None:
    """Print the library bert_score on the same texts."""
    import bert_score

    def run() -> None:
        with contextlib.redirect_stderr(io.StringIO()):
            bert_score.score(
                candidates,
                references.tolist(),
                model_type=str(folder),
                num_layers=sizes.layer,
                device=device,
                batch_size=256,
            )

    show("bert_score, batch 256, float32", best_seconds(run, device, 1), ours)


def time_sentences(folder: Path, device: str, sizes: Sizes) -> None:
    """Print sentence vectors, and the encode of sentence-transformers."""
    from harness_metrics.embeddings.minilm import SentenceModel

    width = 768 if sizes is FULL else sizes.width
    shape = Sizes(**{**vars(sizes), "width": width, "layers": 12, "heads": 12})
    if sizes is not FULL:
        shape = sizes
    write_encoder(folder, "MPNet", shape)
    write_sentence_modules(folder, width)
    texts = random_captions(sizes.sentences, 2)
    print(f"\nSentence vectors, {len(texts):,} captions, mpnet")
    for precision in precisions_of(device):
        embedding = SentenceModel(model=str(folder), device=device, dtype=precision)
        ours = best_seconds(lambda: embedding.encode(texts), device, 1)  # noqa: B023
        show(f"harness, {precision}", ours)
        if precision != "float32" or missing("sentence_transformers"):
            continue

        import sentence_transformers

        library = sentence_transformers.SentenceTransformer(str(folder), device=device)
        for size in (32, 128, 512):
            seconds = best_seconds(
                lambda: library.encode(texts, batch_size=size),  # noqa: B023
                device,
                1,
            )
            show(f"sentence-transformers, batch {size}, float32", seconds, ours)


def write_sentence_modules(folder: Path, width: int) -> None:
    """Write the files of a sentence-transformers model with mean pooling."""
    place = "sentence_transformers.models"
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": f"{place}.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{place}.Pooling"},
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir()
    pooling = {"word_embedding_dimension": width, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))


def write_images(folder: Path, sizes: Sizes) -> list[str]:
    """Write JPEGs with smooth content, and return their names."""
    from PIL import Image

    rng = np.random.default_rng(3)
    names: list[str] = []
    for k in range(sizes.images):
        small = Image.fromarray(rng.integers(0, 255, (12, 16, 3), dtype=np.uint8))
        height, width = sizes.image_size
        small.resize((width, height)).save(folder / f"{k}.jpg", quality=90)
        names.append(str(folder / f"{k}.jpg"))
    return names


def time_clip(folder: Path, device: str, sizes: Sizes) -> None:
    """Print CLIPScore, a plain loop, and decoding and encoding alone."""
    import open_clip
    import torch
    from safetensors.torch import save_file

    from harness.encoders.decoded_images import decode_ahead
    from harness.encoders.precision import computing
    from harness_metrics.neural.clipscore import ClipScore, open_picture

    torch.manual_seed(0)
    network: Any = open_clip.create_model(sizes.clip, pretrained=None)
    state = {k: v.clone().contiguous() for k, v in network.state_dict().items()}
    weights = folder / "clip.safetensors"
    save_file(state, weights)
    names = write_images(folder, sizes)
    texts = [f"a dog number {k} on the grass beside a cat" for k in range(len(names))]
    print(f"\nCLIPScore, {sizes.clip}, {len(names):,} JPEGs")

    sets = [
        CaptionSet(str(k), (text,), (), media=name)
        for k, (text, name) in enumerate(zip(texts, names))
    ]
    times: dict[str, float] = {}
    pixels: list[np.ndarray] = []
    for precision in precisions_of(device):
        metric = ClipScore(
            weights=str(weights), model=sizes.clip, device=device, dtype=precision
        )

        def score(metric: ClipScore = metric) -> None:
            features = FeatureCache()
            metric.scores(features.batch(sets), features, None)

        times[precision] = best_seconds(score, device, 1)
        show(f"harness, {precision}", times[precision])
        towers = metric.clip.towers

        def decode(towers: TwoTowers = towers) -> list[np.ndarray]:
            return list(decode_ahead(names, lambda n: towers.pixels(open_picture(n))))

        if not pixels:
            pixels = decode()
            show("decoding alone, all cores", best_seconds(decode, device, 1))

        def encode(
            towers: TwoTowers = towers,
            precision: Precision = precision,
            pixels: list[np.ndarray] = pixels,
        ) -> None:
            with computing(precision):
                for start in range(0, len(pixels), 64):
                    towers.encode_pixels(np.stack(pixels[start : start + 64]))

        show(f"encoding alone, {precision}", best_seconds(encode, device, 1))

    network = network.to(device).eval()
    transform: Any = open_clip.image_transform(224, is_train=False)
    tokenizer: Any = open_clip.get_tokenizer(sizes.clip)

    def plain() -> None:
        with torch.inference_mode():
            for start in range(0, len(names), 64):
                images = [transform(open_picture(n)) for n in names[start : start + 64]]
                network.encode_image(torch.stack(images).to(device), normalize=True)
                tokens = tokenizer(texts[start : start + 64]).to(device)
                network.encode_text(tokens, normalize=True)

    seconds = best_seconds(plain, device, 1)
    show("plain loop of open_clip, float32", seconds, times["float32"])
    time_torchmetrics(folder, device, names, texts, times["float32"])


def time_torchmetrics(
    folder: Path, device: str, names: list[str], texts: list[str], ours: float
) -> None:
    """Print the CLIPScore of torchmetrics over a tiny model: what it spends beside the
    model.
    """
    if missing("torchmetrics"):
        return
    import torch
    import transformers
    from torchmetrics.multimodal.clip_score import CLIPScore

    from harness_metrics.neural.clipscore import open_picture
    from tests.support import tiny_towers

    model = tiny_towers.write(folder / "tiny")

    def load() -> tuple[object, object]:
        network: Any = transformers.CLIPModel.from_pretrained(model)
        # torchmetrics reads the tensors that these returned before transformers 5
        for name in ("get_image_features", "get_text_features"):
            setattr(network, name, _returning_tensors(getattr(network, name)))
        return network, transformers.CLIPProcessor.from_pretrained(model)

    peer = CLIPScore(model_name_or_path=load).to(device)

    def run() -> None:
        for start in range(0, len(names), 64):
            images = [
                torch.from_numpy(np.array(open_picture(n))).permute(2, 0, 1)
                for n in names[start : start + 64]
            ]
            short = ["a dog on grass" for _ in texts[start : start + 64]]
            peer.update([image.to(device) for image in images], short)

    show("torchmetrics, a model of two layers", best_seconds(run, device, 1), ours)


def _returning_tensors(features: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose answer is a tensor."""

    def run(*inputs: object, **named: object) -> Any:
        answer = features(*inputs, **named)
        return getattr(answer, "pooler_output", answer)

    return run


def time_pairs(folder: Path, device: str, sizes: Sizes) -> None:
    """Print metrics over all pairs of two corpora in numpy, and in blocks on the device
    (on the CPU by torch, as no metric does there).
    """
    from harness_metrics.sets.corpus_neighbours import of_corpora
    from harness_metrics.sets.group_blocks import Sample
    from harness_metrics.sets.neighbour_groups import without_groups
    from harness_metrics.sets.retrieval import ranks_of

    rng = np.random.default_rng(5)
    count = sizes.pairs
    vectors = rng.standard_normal((2 * count, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    first, second = vectors[:count], vectors[count:]
    own = np.arange(count)
    groups = own % 20
    samples = (Sample(first, groups), Sample(second, groups))
    works: dict[str, Callable[[str | None], Any]] = {
        "retrieval": lambda place: ranks_of(first, second, own, place),
        "coverage": lambda place: of_corpora(first, second, 5, "coverage", place),
        "precision": lambda place: of_corpora(first, second, 5, "precision", place),
        "interval of coverage": lambda place: without_groups(
            *samples, 5, "coverage", 20, place
        ),
        "interval of precision": lambda place: without_groups(
            *samples, 5, "precision", 20, place
        ),
    }
    print(f"\nAll pairs of {count:,} and {count:,} vectors of 384 numbers")
    target = "cpu:0" if device == "cpu" else device
    work = next(iter(works.values()))
    work(target)  # warms up
    for name, work in works.items():
        started = time.perf_counter()
        on_device = work(target)
        ours = time.perf_counter() - started
        show(f"{name}, {target}", ours)
        started = time.perf_counter()
        in_numpy = work(None)
        show(f"{name}, numpy", time.perf_counter() - started, ours)
        deviation = float(np.abs(np.asarray(on_device) - in_numpy).max())
        print(f"  {'largest difference':<44} {deviation:9.1e}", flush=True)


def time_store(folder: Path, device: str, sizes: Sizes) -> None:
    """Print a first and a second run with the store of vectors."""
    from harness_metrics.embeddings.minilm import SentenceModel

    write_encoder(folder, "MPNet", sizes)
    write_sentence_modules(folder, sizes.width)
    texts = random_captions(min(5000, sizes.sentences), 4)
    print(f"\nStore of vectors, {len(texts):,} captions")
    before = os.environ.get("HARNESS_VECTORS")
    os.environ["HARNESS_VECTORS"] = str(folder / "store")
    try:
        for name in ("first run", "second run"):
            started = time.perf_counter()
            SentenceModel(model=str(folder), device=device).encode(texts)
            show(name, time.perf_counter() - started)
    finally:
        os.environ.pop("HARNESS_VECTORS")
        if before is not None:
            os.environ["HARNESS_VECTORS"] = before


SECTIONS: dict[str, Callable[[Path, str, Sizes], None]] = {
    "bertscore": time_bertscore,
    "sentences": time_sentences,
    "clip": time_clip,
    "pairs": time_pairs,
    "store": time_store,
}


def main() -> int:
    """Print the sections."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--only", nargs="+", choices=list(SECTIONS), default=[])
    args = parser.parse_args()
    guard_torchvision()
    import torch
    import transformers

    transformers.logging.set_verbosity_error()
    device = first_device(args.device, "benchmark")
    name = torch.cuda.get_device_name(device) if device.startswith("cuda") else device
    cores = os.cpu_count()
    print(f"device: {name}, torch {torch.__version__}, {cores} cores", flush=True)
    for section in args.only or SECTIONS:
        with tempfile.TemporaryDirectory() as folder:
            SECTIONS[section](Path(folder), device, SMALL if args.small else FULL)
    return 0


if __name__ == "__main__":
    sys.exit(main())
