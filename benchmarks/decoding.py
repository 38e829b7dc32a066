"""Decoding speed of CLIPCap and VLP; ratios are measured in one run.

    python -m benchmarks.decoding [--device cuda] [--small] [--images 1 4 16] [--repeats
    3] [--threads 1]

1. CLIPCap with a GPT-2: ten candidates of an image against one candidate (one prefix,
   one batch), and against ten separate calls, for one or several images per batch.
2. VLP: references scored in one pass against three step-by-step loops: without a cache;
   as in the authors' code (every reference has its own context; hidden states are
   cached, keys and values are projected again in each step), with one reference per
   image or all of them; and with the decoder of the harness (keys and values cached,
   one context per image). The goal refers to the first loop.

Weights are random, as speed does not depend on them; sizes are the published ones
without --small.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch.nn import functional as F

from harness.contracts import Decoding
from harness_models.clipcap.mappers import ClipCapSizes
from harness_models.clipcap.model import ClipCap, ClipCapStep
from harness_models.shared.decoding.decode import decode
from harness_models.shared.decoding.types import DecodingBatch
from harness_models.shared.gpt2 import Gpt2Sizes
from harness_models.vlp.bert import Layer
from harness_models.vlp.model import Vlp, VlpStep
from harness_models.vlp.sizes import BertSizes, VlpSizes

LENGTH = 20


def alternately(
    works: Sequence[Callable[[], object]],
    device: torch.device,
    repeats: int,
    warm: bool = True,
) -> list[float]:
    """Return the seconds of each work, the fastest of ``repeats``; the works take
    turns, so that other load affects all.
    """
    best = [float("inf")] * len(works)
    for turn in range(repeats + warm):
        for i, work in enumerate(works):
            start = time.perf_counter()
            work()
            if device.type == "cuda":
                torch.cuda.synchronize()
            if turn or not warm:
                best[i] = min(best[i], time.perf_counter() - start)
    return best


def clipcap(args: argparse.Namespace, device: torch.device) -> None:
    """Print the table of CLIPCap."""
    torch.manual_seed(0)
    if args.small:
        gpt2 = Gpt2Sizes(
            vocabulary=5000, positions=128, width=256, layers=4, heads=4, inner=1024
        )
    else:
        gpt2 = Gpt2Sizes(
            vocabulary=50257, positions=1024, width=768, layers=12, heads=12, inner=3072
        )
    sizes = ClipCapSizes(
        mapper="mlp", clip=512, prefix_length=10, hidden=5 * gpt2.width, gpt2=gpt2
    )
    model = ClipCap(sizes).eval().to(device)
    print(f"CLIPCap, {LENGTH} tokens each")
    for images in args.images:
        clipcap_images(model, images, args, device)


def clipcap_images(
    model: ClipCap, images: int, args: argparse.Namespace, device: torch.device
) -> None:
    """Print the lines of CLIPCap for one number of images per batch."""
    vectors = torch.randn(images, 512, device=device)

    def draw(candidates: int, calls: int = 1) -> Callable[[], object]:
        decoding = Decoding(
            "nucleus", top_k=20, top_p=0.9, candidates=candidates, max_length=LENGTH
        )

        def work() -> None:
            for call in range(calls):
                with torch.inference_mode():
                    state = {"prefix": model.prefix_embeddings(vectors)}
                seeds = [1000 * call + i for i in range(images)]
                batch = DecodingBatch(
                    state=state, seeds=seeds, stop=(), max_length=LENGTH
                )
                decode(ClipCapStep(model), decoding, batch)

        return work

    one, ten = alternately([draw(1), draw(10)], device, args.repeats)
    (apart,) = alternately([draw(1, calls=10)], device, 1)
    tokens = images * LENGTH
    goal = "   (goal: at most 2.5)" if images == 1 else ""
    print(
        f"  {images:3d} image{'s' if images > 1 else ' '}  1 candidate     "
        f"{one:8.3f} s   {tokens / one:9.0f} tokens/s"
    )
    print(
        f"              10 candidates   {ten:8.3f} s   {10 * tokens / ten:9.0f} "
        f"tokens/s   {ten / one:5.2f} x one candidate{goal}"
    )
    print(
        f"              10 calls of 1   {apart:8.3f} s   {10 * tokens / apart:9.0f} "
        f"tokens/s   {apart / ten:5.2f} x ten together"
    )


@dataclass(frozen=True)
class Forced:
    """References of some images, and several ways to score them;
    each returns logits (R, T, V).
    """

    model: Vlp
    regions: torch.Tensor
    geometry: torch.Tensor
    owner: torch.Tensor
    words: torch.Tensor

    @torch.inference_mode()
    def one_pass(self) -> torch.Tensor:
        """All slots of all references in one pass."""
        return self.model.score_slots(
            self.words, self.model.context(self.regions, self.geometry).take(self.owner)
        )

    @torch.inference_mode()
    def cached_loop(self) -> torch.Tensor:
        """All references in one batch, one word per step, keys and values cached,
        one context per image.
        """
        state = self.model.context(self.regions, self.geometry).take(self.owner)
        last = None
        out = []
        step = VlpStep(self.model)
        for t in range(self.words.shape[1]):
            logits, state = step(last, state)
            out.append(logits)
            last = self.words[:, t]
        return torch.stack(out, dim=1)

    def authors_loop(self) -> torch.Tensor:
        """All references in one batch, as the authors' code steps."""
        return self._authors(torch.arange(len(self.words), device=self.words.device))

    def authors_loader_loop(self) -> torch.Tensor:
        """One reference of every image per batch, as in the authors' loader."""
        each = len(self.words) // len(self.regions)
        parts = [
            self._authors(
                torch.arange(k, len(self.words), each, device=self.words.device)
            )
            for k in range(each)
        ]
        return torch.stack(parts, dim=1).flatten(0, 1)

    @torch.inference_mode()
    def _authors(self, rows: torch.Tensor) -> torch.Tensor:
        """Return the logits of some references, (R,) indices.

        Every reference has its own context; a step takes the last word and a [MASK],
        attends to the cached hidden states of all layers and projects their keys and
        values again.
        """
        model = self.model
        words = self.words[rows]

        x = model.embed_context(
            self.regions[self.owner[rows]], self.geometry[self.owner[rows]]
        )
        length = x.shape[1]
        mask = torch.full(
            (len(words), 1), model.sizes.special_ids["[MASK]"], device=x.device
        )
        x = torch.cat(
            [
                x,
                model.embed_text(
                    mask, torch.arange(length, length + 1, device=x.device)
                ),
            ],
            dim=1,
        )

        history = [x[:, :0]] * model.sizes.bert.layers
        out = []

        for t in range(words.shape[1]):
            for index, layer in enumerate(
                cast("list[Layer]", list(model.bert.encoder.layer))
            ):
                everything = torch.cat([history[index], x], dim=1)
                sees = torch.ones(
                    x.shape[1], everything.shape[1], dtype=torch.bool, device=x.device
                )
                sees[:-1, -1] = False
                query = layer.queries(x)
                mixed = F.scaled_dot_product_attention(
                    query, *layer.keys_values(everything), attn_mask=sees
                )
                history[index], x = everything[:, :-1], layer(x, mixed)

            out.append(model.cls(x[:, -1]))
            places = torch.arange(length + t, length + t + 2, device=x.device)
            x = model.embed_text(torch.cat([words[:, t : t + 1], mask], dim=1), places)
        return torch.stack(out, dim=1)

    @torch.inference_mode()
    def plain_loop(self) -> torch.Tensor:
        """One reference and one mask at a time; every slot is computed again."""
        rows = []
        for e, tokens in zip(self.owner.tolist(), self.words):
            out = []
            for t in range(len(tokens)):
                context = self.model.context(
                    self.regions[e : e + 1], self.geometry[e : e + 1]
                )
                out.append(
                    self.model.score_slots(tokens[None, : t + 1], context)[0, -1]
                )
            rows.append(torch.stack(out))
        return torch.stack(rows)


def vlp(args: argparse.Namespace, device: torch.device) -> None:
    """Print the table of VLP."""
    torch.manual_seed(0)
    if args.small:
        bert = BertSizes(
            vocabulary=5000,
            width=192,
            layers=4,
            heads=3,
            inner=768,
            positions=512,
            segments=6,
        )
    else:
        bert = BertSizes(
            vocabulary=28996,
            width=768,
            layers=12,
            heads=12,
            inner=3072,
            positions=512,
            segments=6,
        )

    images = 4
    forced = Forced(
        model=Vlp(VlpSizes(bert=bert)).eval().to(device),
        regions=torch.randn(images, 100, 2048, device=device),
        geometry=torch.randn(images, 100, 1607, device=device),
        owner=torch.arange(images, device=device).repeat_interleave(5),
        words=torch.randint(200, 5000, (images * 5, 12), device=device),
    )

    words = forced.words
    fast = forced.one_pass()
    loops = [
        forced.cached_loop,
        forced.authors_loop,
        forced.authors_loader_loop,
        forced.plain_loop,
    ]

    difference = max(float((fast - loop()).abs().max()) for loop in loops)
    quick, cached, authors, loader = alternately(
        [forced.one_pass, *loops[:3]], device, args.repeats
    )
    (plain,) = alternately([forced.plain_loop], device, 1, warm=False)

    print(
        f"VLP, {len(words)} references of {words.shape[1]} pieces, "
        f"{images} images (largest difference of logits {difference:.1e})"
    )

    for name, seconds, goal in (
        ("one pass", quick, ""),
        ("loop: step by step, without a cache", plain, " (goal: at least 8)"),
        ("loop: authors' code, a reference per image", loader, ""),
        ("loop: authors' code, all references", authors, ""),
        ("loop: decoder of the harness, cached", cached, ""),
    ):
        ratio = (
            f"   {seconds / quick:6.2f} x one pass{goal}" if seconds != quick else ""
        )
        print(
            f"  {name:42s} {seconds:8.3f} s   {words.numel() / seconds:9.0f} "
            f"tokens/s{ratio}"
        )


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cpu", help="cpu (default) or cuda")
    parser.add_argument(
        "--small",
        action="store_true",
        help="small models instead of the published sizes",
    )
    parser.add_argument(
        "--images",
        type=int,
        nargs="+",
        default=[1, 4, 16],
        help="numbers of images per batch (CLIPCap)",
    )
    parser.add_argument(
        "--repeats", type=int, default=3, help="repeats of each measurement (default 3)"
    )
    parser.add_argument(
        "--threads",
        type=int,
        default=1,
        help="CPU threads (default 1); at most the number of free cores",
    )
    args = parser.parse_args()
    device = torch.device(args.device)
    torch.set_num_threads(args.threads)
    print(f"torch {torch.__version__}, {device}, {torch.get_num_threads()} threads")
    clipcap(args, device)
    vlp(args, device)


if __name__ == "__main__":
    main()
