"""PTB tokeniser against Stanford's Java program: golden captions,
then every distinct text of the data folder.

    python -m benchmarks.sections.ptb_parity

Tokens before and after the removal of punctuation must be equal for all texts.
"""

from __future__ import annotations

import sys

from benchmarks import captions
from benchmarks.timing import timed
from caption_kernels_reference.ptb import tokeniser as ptb
from harness_metrics.tokenisers import java_ptb


def report() -> bool:
    """Print the table; return True when no token differs."""
    print("\nPTB tokens: differences from the jar")
    print(f"  {'':<34} {'texts':>9} {'raw tokens':>11} {'tokens':>11}")
    golden = captions.read_json_lines(captions.GOLDEN / "coco/ptb_golden.jsonl.gz")
    texts = [item["caption"] for item in golden]
    raw = [item["tokens_raw"] for item in golden]
    good = _line("golden", texts, raw, [item["tokenized"] for item in golden])
    seen: set[str] = set()
    for name, texts in _data_sets().items():
        new = [text for text in dict.fromkeys(texts) if text not in seen]
        seen.update(new)
        if new:
            good &= _line(name, new, java_ptb.tokens_raw(new), java_ptb.tokenize(new))
    print(
        f"  {len(seen):,} distinct real texts: "
        f"{'no token differs' if good else 'DIFFERENT'}"
    )
    _speed(sorted(seen))
    return good


def _line(
    name: str, texts: list[str], raw: list[list[str]], tokenized: list[str]
) -> bool:
    ours_raw = ptb.tokens_raw(texts)
    ours = ptb.tokenize(texts)
    different_raw = [i for i in range(len(texts)) if ours_raw[i] != raw[i]]
    different = [i for i in range(len(texts)) if ours[i] != tokenized[i]]
    print(
        f"  {name:<34} {len(texts):>9,} {len(different_raw):>11,} "
        f"{len(different):>11,}",
        flush=True,
    )
    for i in sorted({*different_raw, *different})[:10]:
        print(f"    {texts[i]!r}\n      harness {ours_raw[i]}\n      jar     {raw[i]}")
    return not different_raw and not different


def _speed(texts: list[str]) -> None:
    ptb.forget()
    ours, _ = timed(lambda: ptb.tokenize(texts))
    jar, _ = timed(lambda: java_ptb.tokenize(texts))
    print(f"  {len(texts) / ours:,.0f} texts/s with an empty cache, one thread")
    print(f"  {len(texts) / jar:,.0f} texts/s of the jar, its start included")


def _data_sets() -> dict[str, list[str]]:
    """Return all texts of the data folder by data set."""
    sets: dict[str, list[str]] = {}
    for path in sorted(captions.data_folder().glob("*/*.gz")):
        texts = sets.setdefault(path.parent.name, [])
        for record in captions.records_of(path):
            texts.extend(captions.strings(record))
    return sets


if __name__ == "__main__":
    sys.exit(0 if report() else 1)
