"""Report page of a large run: time to build it, size, first paint,
search and sort in headless Chromium.

    python -m benchmarks.report [--examples 5000] [--models 12] [--candidates 10] [--run
    DIR] [--keep DIR]

The run has ``--models`` systems whose captions are real sampled captions (or those of
the shipped sample) with a share of their words replaced, so that they compress no
better than captions of different models, and item and set metrics with scores per
example. ``--run`` uses a finished run in place of it; ``--keep`` keeps run and page.
*build* is the time of ``harness report`` as a process, with the comparisons of all
pairs of systems (first) and with them stored (again). Times in the browser are the
median of several repetitions: *first paint* from the start of the navigation,
*keystroke* from the input event of one more character of a search to the next frame,
*sort* from the change of the sort key to the next frame.

Goals: build 12 CPU s, page 18 MB, first paint 0.3 s, keystroke 50 ms, sort 200 ms. Exit
status 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import harness
from benchmarks.captions import (
    find_data_folder,
    references,
    sampled_candidates,
    shipped_sets,
)

GOALS = {
    "build, CPU s": 12.0,
    "page, MB": 18.0,
    "first paint, s": 0.3,
    "keystroke, ms": 50.0,
    "sort, ms": 200.0,
}
WORDS = ("dog", "red bus", "street", "man riding", "table")
"""Searches that are typed, character by character."""
REPLACED = 0.15
"""Share of the words that are replaced by other words of the captions."""
TYPE = """async ([selector, text]) => {
  const field = document.querySelector(selector), times = [];
  for (let k = 1; k <= text.length; k++) {
    field.value = text.slice(0, k);
    const start = performance.now();
    field.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
    times.push(performance.now() - start);
  }
  return times;
}"""
SORT = """async ([selector, value]) => {
  const field = document.querySelector(selector), start = performance.now();
  field.value = value;
  field.dispatchEvent(new Event("change", { bubbles: true }));
  const browser = field.closest("[data-browser]");
  const frame = () =>
    new Promise(done => requestAnimationFrame(() => setTimeout(done)));
  await frame();
  while (!browser.querySelector(".row .number")) await frame();
  return performance.now() - start;
}"""


def write_captions(folder: Path, models: int, examples: int, candidates: int) -> None:
    """Write references and the captions of all models as JSON Lines."""
    if find_data_folder() is not None:
        texts = references()
        pool = sampled_candidates()
    else:
        sets = shipped_sets()
        texts = [list(item.references) for item in sets]
        pool = [list(item.candidates) for item in sets]
    draw = random.Random(0)
    words = [
        word for captions in pool for caption in captions for word in caption.split()
    ]
    with (folder / "references.jsonl").open("w", encoding="utf-8") as file:
        for k in range(examples):
            file.write(
                json.dumps(
                    {"id": f"image-{k:06d}", "references": texts[k % len(texts)]}
                )
                + "\n"
            )
    for model in range(models):
        with (folder / f"model_{model:02d}.jsonl").open("w", encoding="utf-8") as file:
            for k in range(examples):
                captions = pool[k % len(pool)]
                rows = [
                    _altered(captions[j % len(captions)], words, draw)
                    for j in range(candidates)
                ]
                file.write(
                    json.dumps({"id": f"image-{k:06d}", "candidates": rows}) + "\n"
                )


def _altered(caption: str, words: Sequence[str], draw: random.Random) -> str:
    """Return a caption with a share of its words replaced."""
    return " ".join(
        draw.choice(words) if draw.random() < REPLACED else word
        for word in caption.split()
    )


def score(folder: Path, models: int) -> Path:
    """Score the captions and return the run directory."""
    spec: dict[str, Any] = {
        "task": "report-benchmark",
        "dataset": {"reader": "jsonl", "path": str(folder / "references.jsonl")},
        "models": [
            {
                "predictions": {
                    "label": f"model {k:02d}",
                    "path": str(folder / f"model_{k:02d}.jsonl"),
                }
            }
            for k in range(models)
        ],
        "metrics": [
            "bleu1",
            "bleu4",
            "rouge",
            "cider",
            {"trm": {"distance": "cider"}},
            "distinct",
            "pairwise-bleu",
            "vocabulary",
        ],
        "bootstrap": {"samples": 200},
    }
    harness.evaluate(spec, output=folder / "run")
    return folder / "run"


def build(run: Path, page: Path) -> tuple[float, float]:
    """Write the page in a process of its own; return wall and CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    command = [
        str(Path(sys.executable).with_name("harness")),
        "report",
        str(run),
        "-o",
        str(page),
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def browse(page: Path, chromium: str) -> dict[str, float]:
    """Return first paint in seconds, and the medians of keystrokes and sorts in
    milliseconds.
    """
    from playwright.sync_api import sync_playwright

    paints: list[float] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )

        for _ in range(3):
            view = browser.new_page(viewport={"width": 1400, "height": 900})
            view.goto(page.resolve().as_uri())
            view.wait_for_function(
                "performance.getEntriesByName('first-contentful-paint').length > 0"
            )
            paint = "performance.getEntriesByName('first-contentful-paint')[0]"
            paints.append(view.evaluate(f"{paint}.startTime"))

        view = browser.new_page(viewport={"width": 1400, "height": 900})
        view.goto(page.resolve().as_uri() + "#examples")
        start = time.perf_counter()
        view.wait_for_selector("[data-browser][data-ready]", timeout=120_000)
        ready = time.perf_counter() - start
        view.wait_for_timeout(3000)

        keys = [
            x
            for word in WORDS
            for x in view.evaluate(TYPE, [".browser input[type=search]", word])
        ]
        view.evaluate(TYPE, [".browser input[type=search]", " "])
        options = view.eval_on_selector_all(
            ".sorting select option[value^='score']", "all => all.map(x => x.value)"
        )

        sorts = [view.evaluate(SORT, [".sorting select", value]) for value in options]
        memory = view.evaluate(
            "performance.memory ? performance.memory.usedJSHeapSize / 1e6 : NaN"
        )
        browser.close()

    print(
        f"search ready {ready:.2f} s after opening; script memory {memory:.0f} MB; "
        f"slowest keystroke {max(keys):.0f} ms, "
        f"sort {max(sorts):.0f} ms"
    )
    return {
        "first paint, s": statistics.median(paints) / 1000,
        "keystroke, ms": statistics.median(keys),
        "sort, ms": statistics.median(sorts),
    }


def main() -> int:
    """Print the figures; return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--examples", type=int, default=5000)
    parser.add_argument("--models", type=int, default=12)
    parser.add_argument("--candidates", type=int, default=10)
    parser.add_argument(
        "--run", type=Path, help="a finished run in place of the synthetic one"
    )
    parser.add_argument("--keep", type=Path, help="folder for captions, run and page")
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        run = args.run
        if run is None:
            start = time.perf_counter()
            write_captions(folder, args.models, args.examples, args.candidates)
            run = score(folder, args.models)
            print(
                f"captions and scores of {args.examples} x {args.models} x "
                f"{args.candidates}: {time.perf_counter() - start:.0f} s"
            )
            (run / "comparisons.json").unlink(missing_ok=True)

        page = folder / "report.html"
        first = build(run, page)
        again = build(run, page)
        figures = {"build, CPU s": first[1], "page, MB": page.stat().st_size / 1e6}
        print(
            f"build: first {first[0]:.1f} s ({first[1]:.1f} CPU s), "
            f"again {again[0]:.1f} s ({again[1]:.1f} CPU s)"
        )

        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        if chromium is None:
            print("no Chromium on PATH: the page is not timed")
        else:
            figures |= browse(page, chromium)

    for name, value in figures.items():
        print(
            f"{name:16} {value:8.2f}   goal "
            f"{GOALS[name]:g}{'' if value <= GOALS[name] else '   MISSED'}"
        )
    return int(any(value > GOALS[name] for name, value in figures.items()))


if __name__ == "__main__":
    sys.exit(main())
