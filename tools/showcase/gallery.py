"""Build the gallery: report pages of real captions with an index,
a folder of files for any web space.

    python -m tools.showcase.gallery [--output gallery] [--limit N]

Captions and judgments are those below HARNESS_SHARED where they are there; else the
repository has the captions of the twelve systems, the study takes the shipped sample,
and the league, which needs the judgments of people, is left out. Runs are kept in
runs/gallery: a second build writes the pages alone.
"""

from __future__ import annotations

import argparse
import html
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

import yaml

import harness
from tools.score_page import __main__ as score_page
from tools.showcase.captions import COCO, SYSTEMS, data_folder
from tools.showcase.screen import ROOT, photograph, run

RUNS = ROOT / "runs" / "gallery"
STUDY = "studies/central"
TEXTS = {
    "captioners": (
        "Twelve captioners of COCO",
        "Four architectures, three runs each, on the Karpathy test split: "
        "values with intervals, letters for systems that do not differ, "
        "and all captions beside the references, to search, sort, filter and edit.",
    ),
    "league": (
        "Which metric agrees with people?",
        "Metrics against the judgments of people on every set that is at hand: "
        "agreement with intervals, clusters of metrics that tests do "
        "not tell apart, and the published values beside ours.",
    ),
    "metrics": (
        "Which metric for which question?",
        "The league by question (single captions, sets, hallucination, "
        "long captions): clusters, tests, speed and the cost of judges, and "
        "what to use when.",
    ),
    "study": (
        "The captioner that repeats itself",
        "A study of Chan et al. (2022): metrics that average over references rank a "
        "captioner that says the most central caption above "
        "people; TRM does not.",
    ),
    "score": (
        "Score files in this browser",
        "Drop references and candidates: the numbers of harness score with intervals "
        "and paired tests, the examples, and the score of a "
        "candidate while it is edited. Nothing leaves the browser.",
    ),
}
"""Name of a page -> its title and a sentence on it."""


@dataclass(frozen=True)
class Exhibit:
    """A page of the gallery."""

    name: str
    title: str
    text: str
    task: str
    """A shipped task, or a spec in :data:`RUNS`; empty for the page that scores."""
    data: str
    """``HARNESS_DATA`` of the run; empty for none."""
    options: Sequence[str] = ()


def exhibits(data: Path, limit: int | None) -> list[Exhibit]:
    """Return the pages that can be built from a folder of data."""
    shared = not data.is_relative_to(ROOT)
    count = [] if limit is None else ["--limit", str(limit)]
    judged = any(
        (data / name).is_dir()
        for name in ("flickr8k_expert", "composite_flickr8k", "thumb_mscoco")
    )

    shown = [
        Exhibit("captioners", *TEXTS["captioners"], "captioners.yaml", str(data), count)
    ]

    if judged:
        shown.append(
            Exhibit(
                "league",
                *TEXTS["league"],
                "judgments/all",
                str(data),
                ["--limit", str(limit or 500)],
            )
        )
    return [
        *shown,
        Exhibit(
            "study",
            *TEXTS["study"],
            STUDY,
            str(data) if shared else "",
            ["--limit", str(limit or 300)],
        ),
    ]


def captioners(data: Path) -> dict[str, object]:
    """Return the spec of the run of the twelve systems."""
    file = str(data / COCO / "candidates_where_image.jsonl.gz")
    return {
        "task": "captioners",
        "description": "Captions of mtanti/where-image2: "
        "four places of the image in a language model, three runs each.",
        "dataset": {
            "reader": "jsonl",
            "path": str(data / COCO / "references.jsonl.gz"),
        },
        "models": [
            {"predictions": {"label": system, "path": file, "system": system}}
            for system in SYSTEMS
        ],
        "metrics": ["bleu", "meteor", "rouge", "cider"],
    }


def build(output: Path, limit: int | None) -> list[Exhibit]:
    """Run what is missing, write the pages, their pictures and the index,
    and return the pages.
    """
    data = data_folder()
    output.mkdir(parents=True, exist_ok=True)
    RUNS.mkdir(parents=True, exist_ok=True)
    (RUNS / "captioners.yaml").write_text(
        yaml.safe_dump(captioners(data), sort_keys=False), encoding="utf-8"
    )

    shown = exhibits(data, limit)
    if score_page.MODULE.is_file():  # by `make wasm`
        shown.append(Exhibit("score", *TEXTS["score"], task="", data=""))
        score_page.build(output / "score.html")

    for item in (item for item in shown if item.task):
        folder = f"{item.name}-{limit}" if limit else item.name
        run(["run", item.task, "--output", folder, *item.options], RUNS, item.data)
        editable = (
            ["--editable"]
            if item.name == "captioners" and score_page.EDITING.is_dir()
            else []
        )
        run(
            [
                "report",
                folder,
                "--output",
                str(output / f"{item.name}.html"),
                "--title",
                item.title,
                *editable,
            ],
            RUNS,
            item.data,
        )
    if any(item.name == "league" for item in shown):
        league = RUNS / (f"league-{limit}" if limit else "league")
        harness.report(league, output=output / "metrics.html", gallery=True)
        shown.append(
            Exhibit(
                "metrics",
                *TEXTS["metrics"],
                "judgments/all",
                str(data),
                ["--limit", str(limit or 500)],
            )
        )
    for dark in (False, True):
        pictures = {
            output / f"{item.name}.html": output / f"{item.name}{'-dark' * dark}.png"
            for item in shown
        }
        photograph(pictures, height=900, scale=2 / 3, dark=dark)

    (output / "index.html").write_text(
        index(shown, {item.name: output / f"{item.name}.html" for item in shown}),
        encoding="utf-8",
    )
    if not any(item.name == "league" for item in shown):
        print(f"no league: {data} has no judgments of people")
    return shown


def index(shown: Sequence[Exhibit], files: Mapping[str, Path]) -> str:
    """Return the page that leads to the others."""
    card = Template(Path(__file__).with_name("card.html").read_text(encoding="utf-8"))
    cards = "".join(
        card.substitute(
            name=item.name,
            title=html.escape(item.title),
            text=html.escape(item.text),
            command=html.escape(
                " ".join(["harness run", item.task, *item.options])
                if item.task
                else "make wasm"
            ),
            size=f"{files[item.name].stat().st_size / 1e6:.1f} MB",
        )
        for item in shown
    )
    return Template(
        Path(__file__).with_name("gallery.html").read_text(encoding="utf-8")
    ).substitute(cards=cards)


def main(argv: Sequence[str] | None = None) -> int:
    """Build the gallery."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--output", type=Path, default=ROOT / "gallery", help="folder of the gallery"
    )
    parser.add_argument(
        "--limit",
        type=int,
        help="examples of each run (default: all, 500 items of a judgment set, "
        "300 of the study)",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="run again what has been run"
    )
    args = parser.parse_args(argv)
    if args.fresh:
        shutil.rmtree(RUNS, ignore_errors=True)
    build(args.output.resolve(), args.limit)
    size = sum(file.stat().st_size for file in args.output.iterdir()) / 1e6
    print(f"{os.path.relpath(args.output / 'index.html')}: {size:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
