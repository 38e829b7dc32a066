"""Decoding speed, ratios taken in the same run.

1. CLIPCap over a GPT-2: ten candidates of an image against one (one prefix, one batch), and against ten separate calls.
2. VLP: references scored in one pass against the step-by-step loop.

    .venv/bin/python benchmarks/decoding.py [--device cuda] [--small] [--images 4]

Weights are random (speed does not depend on them); sizes are the published ones unless --small.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import torch

from harness.adapters.clipcap.model import ClipCap, ClipCapSizes, ClipCapStep
from harness.adapters.decoding import DecodingBatch, decode
from harness.adapters.decoding_types import select_rows
from harness.adapters.gpt2 import Gpt2Sizes
from harness.adapters.vlp.bert import BertSizes
from harness.adapters.vlp.model import Vlp, VlpSizes, VlpStep
from harness.contracts import Decoding

LENGTH = 20


def seconds(work: Callable[[], object], device: torch.device, repeats: int) -> float:
    """The best of ``repeats`` after one to warm up: noise only ever adds."""
    best = float("inf")
    for turn in range(repeats + 1):
        start = time.perf_counter()
        work()
        if device.type == "cuda":
            torch.cuda.synchronize()
        if turn:
            best = min(best, time.perf_counter() - start)
    return best


def clipcap(args: argparse.Namespace, device: torch.device) -> None:
    torch.manual_seed(0)
    if args.small:
        gpt2 = Gpt2Sizes(vocabulary=5000, positions=128, width=256, layers=4, heads=4, inner=1024)
    else:
        gpt2 = Gpt2Sizes(vocabulary=50257, positions=1024, width=768, layers=12, heads=12, inner=3072)
    sizes = ClipCapSizes(mapper="mlp", clip=512, prefix_length=10, hidden=5 * gpt2.width, gpt2=gpt2)
    model = ClipCap(sizes).eval().to(device)
    step = ClipCapStep(model)
    vectors = torch.randn(args.images, 512, device=device)

    def draw(candidates: int, calls: int = 1) -> Callable[[], object]:
        decoding = Decoding("nucleus", top_k=20, top_p=0.9, candidates=candidates, max_length=LENGTH)

        def work() -> None:
            for call in range(calls):
                with torch.inference_mode():
                    state = {"prefix": model.prefix_embeddings(vectors)}
                seeds = [1000 * call + i for i in range(args.images)]
                decode(step, decoding, DecodingBatch(state=state, seeds=seeds, stop=(), max_length=LENGTH))

        return work

    one, ten = seconds(draw(1), device, args.repeats), seconds(draw(10), device, args.repeats)
    apart = seconds(draw(1, calls=10), device, 1)
    tokens = args.images * LENGTH
    print(f"CLIPCap, {args.images} images, {LENGTH} tokens each")
    print(f"  1 candidate          {one:8.3f} s   {tokens / one:9.0f} tokens/s")
    print(
        f"  10 candidates        {ten:8.3f} s   {10 * tokens / ten:9.0f} tokens/s   {ten / one:5.2f} x one candidate (goal: at most 2.5)"
    )
    print(
        f"  10 calls of 1        {apart:8.3f} s   {10 * tokens / apart:9.0f} tokens/s   {apart / ten:5.2f} x ten together"
    )


def vlp(args: argparse.Namespace, device: torch.device) -> None:
    torch.manual_seed(0)
    if args.small:
        bert = BertSizes(vocabulary=5000, width=192, layers=4, heads=3, inner=768, positions=512, segments=6)
    else:
        bert = BertSizes(vocabulary=28996, width=768, layers=12, heads=12, inner=3072, positions=512, segments=6)
    model = Vlp(VlpSizes(bert=bert)).eval().to(device)
    regions, where = (
        torch.randn(args.images, 100, 2048, device=device),
        torch.randn(args.images, 100, 1607, device=device),
    )
    words = torch.randint(200, 5000, (args.images * 5, 12), device=device)
    owner = torch.arange(args.images, device=device).repeat_interleave(5)

    @torch.inference_mode()
    def one_pass() -> torch.Tensor:
        return model.score_slots(words, select_rows(model.context(regions, where), owner))

    @torch.inference_mode()
    def cached_loop() -> torch.Tensor:
        state, last, out = select_rows(model.context(regions, where), owner), None, []
        step = VlpStep(model)
        for t in range(words.shape[1]):
            logits, state = step(last, state)
            out.append(logits)
            last = words[:, t]
        return torch.stack(out, dim=1)

    @torch.inference_mode()
    def plain_loop() -> torch.Tensor:
        """One reference at a time, one mask at a time, every slot anew: what a model without a cache does."""
        rows = []
        for e, tokens in zip(owner.tolist(), words):
            out = []
            for t in range(len(tokens)):
                context = model.context(regions[e : e + 1], where[e : e + 1])
                out.append(model.score_slots(tokens[None, : t + 1], context)[0, -1])
            rows.append(torch.stack(out))
        return torch.stack(rows)

    fast = one_pass()
    difference = max(float((fast - other()).abs().max()) for other in (cached_loop, plain_loop))
    quick, slow = seconds(one_pass, device, args.repeats), seconds(cached_loop, device, 1)
    slowest = seconds(plain_loop, device, 1)
    print(
        f"VLP, {len(words)} references of {words.shape[1]} pieces, {args.images} images (largest difference of logits {difference:.1e})"
    )
    print(f"  one pass             {quick:8.3f} s")
    print(f"  loop, cached, batch  {slow:8.3f} s   {slow / quick:5.2f} x one pass")
    print(f"  loop, plain          {slowest:8.3f} s   {slowest / quick:5.2f} x one pass (goal: at least 8)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--images", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument(
        "--threads", type=int, default=1, help="of the CPU; more than there are free cores makes all times worse"
    )
    args = parser.parse_args()
    device = torch.device(args.device)
    torch.set_num_threads(args.threads)
    print(f"torch {torch.__version__}, {device}, {torch.get_num_threads()} threads")
    clipcap(args, device)
    vlp(args, device)


if __name__ == "__main__":
    main()
