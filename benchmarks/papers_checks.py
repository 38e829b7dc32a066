"""Comparisons with the papers that need no run of a study: computed from the printed
data, the grammar and exact distributions.

Each function returns (paper, id of the item) -> difference as text, in the form of the
benchmark ``papers``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import yaml

import harness
from harness_metrics.pregen.functions import evaluate
from harness_tasks.a3ds import scene
from harness_tasks.a3ds.grammar import captions

Differences = dict[tuple[str, str], str]
BEST = "mean_max_normcount_prefix0"
PERPLEXITY = "geomean_join_pplx_none"
DISTINCT_HUES = 12_500
"""A scene whose floor, wall and object differ in hue,
so that a last word names one feature only.
"""
POST = ("METEOR", "CIDEr", "SPICE", "WMD")


def all_checks(published: Path, data: Path | None) -> Differences:
    """Return the differences of all items that can be computed here.

    Parameters
    ----------
    published
        Folder of the published numbers.
    data
        Folder of the data sets, for the table of 540 rows of Tanti et al.; None leaves
        those items out.
    """
    out = {**worked_example(_items(published, "tanti2018")), **grammar()}
    table = None if data is None else data / "pregen/data.txt.gz"
    if table is not None and table.is_file():
        out |= table_of_rows(_items(published, "tanti2018"), table)
    return out


def _items(published: Path, paper: str) -> dict[str, Any]:
    data = yaml.safe_load((published / f"{paper}.yaml").read_text(encoding="utf-8"))
    return {item["id"]: item for item in data["items"]}


def worked_example_score(items: dict[str, Any]) -> float:
    """Return the score of the worked example of Tanti et al. from its printed
    probabilities.
    """
    images: dict[int, list[Any]] = {}
    for row in items["figure1"]["rows"]:
        tokens = [
            (p, 0 if best else 1)
            for p, best in zip(row["probabilities"], row["max_in_vocab"])
        ]
        images.setdefault(row["image"], []).append(tokens)
    return float(evaluate(list(images.values()), [BEST])[0])


def worked_example(items: dict[str, Any]) -> Differences:
    """Return the difference of the worked example of Tanti et al."""
    ours = worked_example_score(items)
    theirs = float(items["figure1"]["dataset_score"]["tier4_mean"])
    return {
        (
            "tanti2018",
            "figure1",
        ): f"{abs(ours - theirs):.5f} ({ours:.6f} against {theirs})"
    }


def published_table(items: dict[str, Any], table: Path) -> dict[str, float]:
    """Return what the published table of 540 rows of Tanti et al. gives: R2 of the two
    functions of Figures 2 and 4, the lowest R2 of the best functions of each metric,
    the largest p of them, and the number of names of the lists that differ.
    """
    study = harness.correlate(table, x="pregen", y=",".join(POST))
    best = {post: study.best(post, 5) for post in POST}

    def coefficient(x: str, y: str, name: str = "r2") -> float:
        return float(study.record(x, y)[name])  # type: ignore[arg-type]

    expected = {
        post: [
            r["pregen"]
            for r in items["text-4"]["rows"]
            if r["post_gen"] in (post, "all four")
        ]
        for post in POST
    }
    return {
        "r2_of_perplexity": coefficient(PERPLEXITY, "CIDEr"),
        "r2_of_best": coefficient(BEST, "CIDEr"),
        "lowest_r2_of_four": min(
            coefficient(x, post) for post in POST for x in best[post][:4]
        ),
        "lowest_r2_of_five": min(
            coefficient(x, post) for post in POST for x in best[post]
        ),
        "largest_p": max(
            coefficient(x, post, "p") for post in POST for x in best[post]
        ),
        "names_that_differ": sum(
            a != b for post in POST for a, b in zip(best[post], expected[post])
        ),
    }


def table_of_rows(items: dict[str, Any], table: Path) -> Differences:
    """Return the differences of the coefficients of Tanti et al.,
    from their published table of 540 rows.
    """
    found = published_table(items, table)

    def against(value: float, published: float) -> str:
        return f"{abs(value - published):.3f} (R2 {value:.3f} against {published})"

    four = found["lowest_r2_of_four"]
    five = found["lowest_r2_of_five"]
    return {
        ("tanti2018", "figure2"): against(found["r2_of_perplexity"], 0.76),
        (
            "tanti2018",
            "figure3",
        ): f"0 (lowest R2 of the four best {four:.3f}, of the five best {five:.3f})"
        if four >= 0.9 and five > 0.8
        else f"the bounds do not hold: {four:.3f}, {five:.3f}",
        ("tanti2018", "figure4"): against(found["r2_of_best"], 0.94),
        ("tanti2018", "text-4"): f"{found['names_that_differ']} of 20 names",
        (
            "tanti2018",
            "text-4-significance",
        ): f"{max(0.0, found['largest_p'] - 0.001):.3g} "
        f"(largest p {found['largest_p']:.1g})",
    }


def grammar() -> Differences:
    """Return the differences of the counts of A3DS: images, captions, and the last
    words of exhaustive captions.
    """
    kinds = {kind: captions(DISTINCT_HUES, kind) for kind in ("exhaustive", "short")}
    named = scene.phrases(DISTINCT_HUES)
    last = np.mean(
        [
            text.endswith((named["scale"], named["object_hue"]))
            for text in kinds["exhaustive"]
        ]
    )
    millions = {
        kind: scene.N_SCENES * len(texts) / 1e6 for kind, texts in kinds.items()
    }
    assert len({named[name] for name in ("floor_hue", "wall_hue", "object_hue")}) == 3
    return {
        (
            "a3ds2023",
            "text-2.1",
        ): f"{abs(scene.N_SCENES - 480_000)} images ({millions['exhaustive']:g} "
        "million exhaustive captions, "
        f"{millions['short']:g} million short ones)",
        (
            "a3ds2023",
            "text-limitations",
        ): f"{abs(100 * last - 40):g} per cent ({100 * last:g} against 40)",
    }
