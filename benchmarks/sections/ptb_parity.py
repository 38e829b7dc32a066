"""The PTB tokeniser against Stanford's Java program: golden captions, then every distinct real text of the shared data.

    python benchmarks/sections/ptb_parity.py

Tokens before and after the punctuation list must be equal, for all of them.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import coco_data

from harness.plugins.tokenisers import java_ptb
from harness.plugins.tokenisers.ptb import tokeniser as ptb


def report(shared: Path) -> bool:
    """Print the table; True when no token differs."""
    print("\nPTB tokens: differences from the jar")
    print(f"  {'':<34} {'texts':>9} {'raw tokens':>11} {'after list':>11}")
    golden = coco_data.read(shared / "golden/coco/ptb_golden.jsonl.gz")
    captions = [item["caption"] for item in golden]
    raw = [item["tokens_raw"] for item in golden]
    good = _line("golden", captions, raw, [item["tokenized"] for item in golden])
    seen: set[str] = set()
    for name, texts in _data_sets(shared).items():
        new = [text for text in dict.fromkeys(texts) if text not in seen]
        seen.update(new)
        if new:
            good &= _line(name, new, java_ptb.tokens_raw(new), java_ptb.tokenize(new))
    print(f"  {len(seen):,} distinct real texts: {'no token differs' if good else 'DIFFERENT'}")
    _speed(sorted(seen))
    return good


def _line(name: str, texts: list[str], raw: list[list[str]], tokenized: list[str]) -> bool:
    ours_raw, ours = ptb.tokens_raw(texts), ptb.tokenize(texts)
    different_raw = [i for i in range(len(texts)) if ours_raw[i] != raw[i]]
    different = [i for i in range(len(texts)) if ours[i] != tokenized[i]]
    print(f"  {name:<34} {len(texts):>9,} {len(different_raw):>11,} {len(different):>11,}", flush=True)
    for i in sorted({*different_raw, *different})[:10]:
        print(f"    {texts[i]!r}\n      ours {ours_raw[i]}\n      jar  {raw[i]}")
    return not different_raw and not different


def _speed(texts: list[str]) -> None:
    ptb.forget()
    start = time.perf_counter()
    ptb.tokenize(texts)
    ours = time.perf_counter() - start
    start = time.perf_counter()
    java_ptb.tokenize(texts)
    theirs = time.perf_counter() - start
    print(
        f"  {len(texts) / ours:,.0f} texts/s from an empty cache, one thread; the jar {len(texts) / theirs:,.0f}, its start counted"
    )


def _data_sets(shared: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in sorted(shared.glob("data/*/*.gz")):
        texts = found.setdefault(path.parent.name, [])
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
            for line in lines:
                texts.extend(
                    coco_data.strings(json.loads(line) if path.name.endswith(".jsonl.gz") else line.rstrip("\n"))
                )
    return found


if __name__ == "__main__":
    sys.exit(0 if report(coco_data.shared_folder()) else 1)
