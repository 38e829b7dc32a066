"""Choices of the layer of encoders, measured: batches, layers, matrices, decoding.

    python -m benchmarks.encoder_choices [--captions 2000] [--images 60] [--rounds 3]
        [--pairs N] [--device auto] [--only SECTION ...]

Sections: ``batches`` (token vectors and sentence vectors of real captions with and
without groups of equal lengths, a budget of tokens, and layers behind the one that is
read; text vectors of CLIP with and without the positions behind the longest text),
``matrices`` (seconds of pairwise matrices beside those of encoding, and on an
accelerator the same products there), ``pairs`` (metrics over the least number of pairs
that an accelerator computes, beside the import of torch), ``decoding`` (images by
threads and by worker processes). They print seconds of processor time of one thread,
the least of the rounds, in which the variants take turns; ``pairs`` takes one round,
and on an accelerator wall time; ``decoding`` prints wall time.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import captions
from harness.encoders.decoded_images import count_cores
from harness.encoders.devices import first_device
from harness.encoders.pair_products import LEAST_PAIRS
from harness.encoders.precision import computing
from harness.registry.torchvision_guard import guard_torchvision
from harness_metrics.embeddings.minilm import MiniLm
from harness_metrics.kernel import geometry
from harness_metrics.neural.token_encoder import TokenEncoder
from harness_metrics.sets.corpus_neighbours import of_corpora
from harness_metrics.sets.retrieval import ranks_of

CHUNK = 32
"""Texts per batch of the libraries, by default."""
LAYER = 4
"""Layer of the six of MiniLM that is read where later ones are left out."""
Work = Callable[[], object]


def real_captions(count: int) -> list[str]:
    """Return distinct captions, in the order of their file."""
    texts = (text for group in captions.references() for text in group)
    return list(dict.fromkeys(texts))[:count]


def take_turns(
    works: dict[str, Work], rounds: int, clock: Callable[[], float]
) -> dict[str, float]:
    """Return the least seconds of each work; all take turns, and the first warms up."""
    seconds = dict.fromkeys(works, float("inf"))
    for turn in range(rounds + 1):
        for name, work in works.items():
            started = clock()
            work()
            if turn:
                seconds[name] = min(seconds[name], clock() - started)
    return seconds


def show(title: str, seconds: dict[str, float]) -> None:
    """Print seconds, and how many times the first of them."""
    print(f"\n{title}")
    first = next(iter(seconds.values()))
    for name, value in seconds.items():
        print(f"  {name:<58} {value:8.3f} s {value / first:6.2f} x", flush=True)


def in_chunks(encode: Callable[[list[str]], Any], texts: list[str]) -> None:
    """Encode texts as they come, some at a time."""
    for start in range(0, len(texts), CHUNK):
        encode(texts[start : start + CHUNK])


def time_batches(args: argparse.Namespace) -> None:
    """Print what groups of lengths, budgets and fewer layers save."""
    texts = real_captions(args.captions)
    by_characters = sorted(texts, key=len)

    def tokens(layer: int | None, batch_size: int | None) -> TokenEncoder:
        return TokenEncoder(
            lambda: MiniLm().folder,
            layer,
            "benchmark",
            batch_size=batch_size,
            device="cpu",
        )

    shipped = tokens(LAYER, None)
    by_number = tokens(LAYER, CHUNK)
    all_layers = tokens(None, None)
    all_layers.encode(texts[:1])
    all_layers.layer = LAYER
    works: dict[str, Work] = {
        "as shipped": lambda: shipped.encode(texts),
        f"{CHUNK} texts a batch, sorted by tokens": lambda: by_number.encode(texts),
        f"{CHUNK} texts a batch, sorted by characters": lambda: in_chunks(
            by_number.encode, by_characters
        ),
        f"{CHUNK} texts a batch, as they come": lambda: in_chunks(
            by_number.encode, texts
        ),
        f"all 6 layers, of which layer {LAYER} is read": lambda: all_layers.encode(
            texts
        ),
    }
    seconds = take_turns(works, args.rounds, time.process_time)
    show(f"Token vectors of {len(texts):,} captions, MiniLM, layer {LAYER}", seconds)

    embedding = MiniLm(device="cpu")
    works = {
        "as shipped: texts of one length share a batch": lambda: embedding.encode(
            texts
        ),
        f"{CHUNK} texts at a time, as they come": lambda: in_chunks(
            embedding.encode, texts
        ),
    }
    seconds = take_turns(works, args.rounds, time.process_time)
    show(f"Sentence vectors of {len(texts):,} captions, MiniLM", seconds)
    # 77 positions take long
    time_positions(texts[: max(1, len(texts) // 50)], args.rounds)


def time_positions(texts: list[str], rounds: int) -> None:
    """Print what the positions behind the longest text of a batch cost."""
    import open_clip
    import torch
    from safetensors.torch import save_file

    from harness.encoders.open_clip_towers import OpenClipTowers
    from harness.encoders.towers import encode_texts

    torch.manual_seed(0)
    network: Any = open_clip.create_model("ViT-B-32", pretrained=None)
    with tempfile.TemporaryDirectory() as folder:
        weights = Path(folder) / "w.safetensors"
        state = network.state_dict().items()
        save_file({name: value.clone().contiguous() for name, value in state}, weights)
        towers = OpenClipTowers(weights, "ViT-B-32", "cpu", "float32")

    def encode(is_plain: bool) -> None:
        towers.is_plain = is_plain
        encode_texts(towers, texts)

    works: dict[str, Work] = {
        "as shipped: up to the longest text of a batch": partial(encode, True),
        "all 77 positions": partial(encode, False),
    }
    seconds = take_turns(works, rounds, time.process_time)
    show(f"Text vectors of {len(texts):,} captions, CLIP ViT-B/32", seconds)


def time_matrices(args: argparse.Namespace) -> None:
    """Print the seconds of pairwise matrices beside those of encoding."""
    import torch

    device = first_device(args.device, "benchmark")
    texts = real_captions(args.captions)
    embedding = MiniLm(device=device)
    vectors = embedding.encode(texts)
    for size in (10, 100):
        examples = len(vectors) // size
        if not examples:
            continue
        sets = vectors[: examples * size].reshape(examples, size, -1)
        works: dict[str, Work] = {
            "encoding": lambda count=examples * size: embedding.encode(texts[:count]),
            "cosines of all pairs": partial(geometry.cosines, sets),
            "Gram matrices and distances": lambda sets=sets: geometry.squared_distances(
                geometry.gram(sets)
            ),
        }
        if device != "cpu":

            def on_device(sets: np.ndarray = sets) -> np.ndarray:
                with computing("float32"):
                    moved = torch.from_numpy(sets).to(device).double()
                    return (moved @ moved.transpose(1, 2)).cpu().numpy()

            works[f"the products on {device}, moved there and back"] = on_device
        clock = time.process_time if device == "cpu" else time.perf_counter
        seconds = take_turns(works, args.rounds, clock)
        show(f"{examples:,} examples of {size} texts, MiniLM on {device}", seconds)

    half = len(vectors) // 2
    first, second = vectors[:half], vectors[half:]
    works = {
        "encoding": lambda: embedding.encode(texts),
        "coverage of two corpora": lambda: of_corpora(first, second, 5, "coverage"),
        "of it the products": lambda: vectors @ second.T,
    }
    seconds = take_turns(works, args.rounds, time.process_time)
    show(f"{half:,} and {len(second):,} texts as two corpora, MiniLM", seconds)


def time_pairs(args: argparse.Namespace) -> None:
    """Print what numpy takes for the least matrix that an accelerator computes, beside
    the import of torch, and on an accelerator what it takes there.
    """
    device = first_device(args.device, "benchmark")
    rng = np.random.default_rng(0)
    size = math.isqrt(args.pairs)
    vectors = rng.standard_normal((2 * size, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    queries, targets = vectors[:size], vectors[size:]
    own = np.arange(size)
    # as many distances: from the centres of the balls to all points
    centres = math.isqrt(args.pairs // 2)
    first, second = vectors[:centres], vectors[-centres:]
    works: dict[str, Work] = {
        "import of torch, in a process of its own": import_torch,
        "ranks of retrieval, numpy": lambda: ranks_of(queries, targets, own),
        "precision, numpy": lambda: of_corpora(first, second, 5, "precision"),
        "coverage, numpy": lambda: of_corpora(first, second, 5, "coverage"),
    }
    if device != "cpu":
        works |= {
            f"ranks of retrieval, {device}": lambda: ranks_of(
                queries, targets, own, device
            ),
            f"precision, {device}": lambda: of_corpora(
                first, second, 5, "precision", device
            ),
            f"coverage, {device}": lambda: of_corpora(
                first, second, 5, "coverage", device
            ),
        }
    clock = time_with_children if device == "cpu" else time.perf_counter
    seconds = take_turns(works, 1, clock)
    show(f"{args.pairs:,} pairs of vectors of 384 numbers", seconds)


def time_with_children() -> float:
    """Return the seconds of processor time of this process and of ended children."""
    return sum(os.times()[:4])


def import_torch() -> None:
    """Import torch in a process of its own."""
    subprocess.run([sys.executable, "-c", "import torch"], check=True)


_resize: Callable[[Any], np.ndarray]
"""Transform of a worker process."""


def start_worker() -> None:
    """Make the transform of open_clip's ViT-B/32."""
    global _resize
    import torch

    torch.set_num_threads(1)
    guard_torchvision()
    import open_clip

    transform: Any = open_clip.image_transform(224, is_train=False)

    def resize(image: Any) -> np.ndarray:
        for step in transform.transforms[:-2]:
            image = step(image)
        return np.asarray(image)

    _resize = resize


def decode(name: str) -> np.ndarray:
    """Return the resized pixels of a file."""
    from harness_metrics.neural.clipscore import open_picture

    return _resize(open_picture(name))


def time_decoding(args: argparse.Namespace) -> None:
    """Print the wall time of decoding by threads and by processes."""
    from PIL import Image

    start_worker()
    workers = count_cores()
    rng = np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as folder:
        names: list[str] = []
        for k in range(args.images):
            small = Image.fromarray(rng.integers(0, 255, (12, 16, 3), dtype=np.uint8))
            names.append(f"{folder}/{k}.jpg")
            small.resize((640, 480)).save(names[-1], quality=90)

        context = multiprocessing.get_context("spawn")
        with (
            ThreadPoolExecutor(workers) as threads,
            ProcessPoolExecutor(workers, context, start_worker) as processes,
        ):
            works: dict[str, Work] = {
                "one thread": lambda: [decode(name) for name in names],
                f"{workers} threads": lambda: list(threads.map(decode, names)),
                f"{workers} processes": lambda: list(processes.map(decode, names)),
            }
            seconds = take_turns(works, args.rounds, time.perf_counter)
    show(f"{len(names):,} JPEGs of 640 x 480, resized to 224", seconds)
    start = start_seconds()
    print(f"  start of a process, in seconds of processor time {start:18.3f} s")


def start_seconds() -> float:
    """Return the processor time of a worker process before its first image."""
    program = "from benchmarks.encoder_choices import start_worker; start_worker()"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", program], cwd=captions.ROOT, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


SECTIONS: dict[str, Callable[[argparse.Namespace], None]] = {
    "batches": time_batches,
    "matrices": time_matrices,
    "pairs": time_pairs,
    "decoding": time_decoding,
}


def main() -> int:
    """Print the sections."""
    # before torch is loaded: processor time of one thread
    os.environ["OMP_NUM_THREADS"] = "1"
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--captions", type=int, default=2000)
    parser.add_argument("--images", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=LEAST_PAIRS)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--only", nargs="+", choices=list(SECTIONS), default=[])
    args = parser.parse_args()
    guard_torchvision()
    import torch
    import transformers

    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    print(f"torch {torch.__version__}, {count_cores()} cores", flush=True)
    for section in args.only or SECTIONS:
        SECTIONS[section](args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
