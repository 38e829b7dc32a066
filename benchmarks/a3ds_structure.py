"""What the structure of the authors' captions of A3DS says about the published
baseline: scenes by group, the eighth scale, dark green, errors per image.

    python -m benchmarks.a3ds_structure [--pairs 100] [--output FOLDER]

The 1,000 captions of the authors' speaker (a3ds/speaker_predictions_unpaired) have no
targets, but captions with one floor, wall, object hue and shape are taken as captions
of one scene. Every interval resamples these scenes. Then simulated speakers of the
grammar: with ``unk`` in place of the scale *middle-sized* and *dark green* in place of
*green*, and with errors of orientation and scale that are drawn for each caption, or
for each image with a part for each caption. Rates are chosen by the published number of
false features (:data:`FALSE`) alone; the share of orientations on which two captions of
one scene disagree then tells the speakers apart. Writes
docs/studies/results/a3ds-structure.json.
"""

from __future__ import annotations

import argparse
import itertools
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.a3ds_speaker import (
    FALSE,
    ORIENTATION,
    PREDICTIONS,
    PUBLISHED,
    authors_games,
    groups_of,
    misread_scene,
)
from benchmarks.captions import data_folder, read_json_lines
from benchmarks.papers_results import write_results
from benchmarks.papers_rule import RESULTS
from harness_metrics.pragmatic.parser import read
from harness_metrics.pragmatic.scores import evaluate
from harness_tasks.a3ds import grammar, scene, testsets

MIDDLE = "middle-sized"
GREEN = "green"
SCALES = ("tiny", "small", "medium", "unk", "big", "large", "huge", "giant")
_SCALE = re.compile(rf"\b(?:{'|'.join(SCALES)})\b(?! blue)")
DRAWS = 2000
RATES = tuple(round(0.05 * k, 2) for k in range(6, 16))
"""Grid of the share of images, or of captions, with a wrong orientation; a wrong scale
has a third of it, as in the blurs of ``a3ds_speaker`` that fit.
"""
SCALE_SHARE = 1 / 3
Table = dict[str, Any]


@dataclass(frozen=True)
class Speaker:
    """A simulated speaker of the grammar."""

    name: str
    per_image: float = 0.0
    """Share of the images whose orientation is misread, in all of their captions."""
    per_caption: float = 0.0
    """Share of the captions whose orientation is misread, each for itself."""
    vocabulary: bool = True
    """``unk`` for middle-sized and dark green for green."""


def cluster_interval(
    values: np.ndarray, groups: np.ndarray, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the 95 % interval of a mean of captions; scenes are resampled with all of
    their captions.
    """
    sums = np.bincount(groups, values)
    counts = np.bincount(groups)
    drawn = rng.integers(0, len(counts), (DRAWS, len(counts)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def scale_of(text: str) -> str:
    """Return the word of the scale of a caption, empty for none.

    *Medium blue* is a hue.

    >>> scale_of("A unk pill in front of a medium blue wall"), scale_of("A pill")
    ('unk', '')
    """
    found = _SCALE.search(text.lower())
    return found[0] if found else ""


def disagreement(texts: Sequence[str], groups: np.ndarray) -> dict[str, float]:
    """Return the share of the pairs of captions of one scene that name different
    orientations, and different scales, where both name one; and the share of the former
    for pairs of any two captions.
    """
    masks = read(texts).masks
    orientations = masks[:, ORIENTATION]
    scales = np.array([SCALES.index(s) if (s := scale_of(t)) else -1 for t in texts])
    differ: list[bool] = []
    scale_differ: list[bool] = []
    one_step: list[bool] = []
    for group in np.unique(groups):
        for i, j in itertools.combinations(np.flatnonzero(groups == group), 2):
            differ.append(not orientations[i] & orientations[j])
            if scales[i] >= 0 and scales[j] >= 0:
                step = abs(int(scales[i] - scales[j]))
                scale_differ.append(step > 0)
                one_step += [step == 1] if step else []
    shuffled = np.random.default_rng(0).permutation(len(texts))
    others = orientations & orientations[shuffled]
    return {
        "orientation": float(np.mean(differ)),
        "scale": float(np.mean(scale_differ)),
        "scale_one_step": float(np.mean(one_step)) if one_step else 0.0,
        "random_orientation": float((others == 0).mean()),
    }


def speak(target: int, image: int, speaker: Speaker, rng: np.random.Generator) -> str:
    """Return a caption of a scene that was read as ``image`` by a speaker."""
    read_as = misread_scene(
        image, rng, speaker.per_caption, speaker.per_caption * SCALE_SHARE
    )
    texts = grammar.captions(read_as)
    text = texts[int(rng.integers(len(texts)))]
    if speaker.vocabulary:
        text = text.replace(MIDDLE, "unk")
        words = text.split()
        text = " ".join(
            f"dark {GREEN}" if word == GREEN and before != "light" else word
            for before, word in zip(["", *words], words)
        )
    return text


def see(target: int, speaker: Speaker, rng: np.random.Generator) -> int:
    """Return the scene as which a speaker reads an image."""
    return misread_scene(
        target, rng, speaker.per_image, speaker.per_image * SCALE_SHARE
    )


def table_1(speaker: Speaker, pairs: int, seed: int = 0) -> dict[str, list[float]]:
    """Return Table 1 of a speaker by the authors' script: name -> one, two, three
    shared features, each the mean of its sets.
    """
    rng = np.random.default_rng(seed)
    by_group: dict[str, list[dict[str, float]]] = {g: [] for g in testsets.GROUPS}
    for name in testsets.SETS:
        rows = [
            {
                "prediction": speak(t, see(t, speaker, rng), speaker, rng),
                "target_id": t,
                "distractor_id": d,
            }
            for t, d in testsets.pairs(name, pairs, seed=1).tolist()
        ]
        columns = evaluate(rows, "authors-script").columns
        values = {
            key: float(np.nanmean(np.asarray(columns[key], float)))
            for key in (*PUBLISHED, "num_false")
            if key != "optimal"
        }
        values["optimal"] = float(
            (np.asarray(columns["num_discriminative"]) == 1).mean()
        )
        by_group[name.split("/")[0]].append(values)
    return {
        key: [float(np.mean([v[key] for v in by_group[g]])) for g in testsets.GROUPS]
        for key in (*PUBLISHED, "num_false")
    }


def agreement_of(
    speaker: Speaker, sizes: Sequence[int], seed: int = 0
) -> dict[str, float]:
    """Return the disagreement of a speaker on as many scenes with as many captions each
    as the authors' captions have.
    """
    rng = np.random.default_rng(seed)
    texts: list[str] = []
    for size in sizes:
        target = int(rng.integers(scene.N_SCENES))
        image = see(target, speaker, rng)
        texts += [speak(target, image, speaker, rng) for _ in range(size)]
    return disagreement(texts, np.repeat(np.arange(len(sizes)), sizes))


def nearest_rate(make: Callable[[float], Speaker], pairs: int) -> Speaker:
    """Return the speaker whose false features are nearest to the published number."""

    def distance(speaker: Speaker) -> float:
        return abs(float(np.mean(table_1(speaker, pairs)["num_false"])) - FALSE)

    return min(map(make, RATES), key=distance)


def jitter_for(disagreement_of_pairs: float) -> float:
    """Return the share of captions with an error of their own with which two captions
    of a scene differ in a given share of pairs: 1 - (1 - r)^2 at least.
    """
    return 1 - (1 - disagreement_of_pairs) ** 0.5


def authors_table(texts: Sequence[str], rows: Sequence[dict[str, Any]]) -> Table:
    """Return what the authors' captions have, with intervals over scenes."""
    rng = np.random.default_rng(0)
    groups = groups_of(texts)
    games = authors_games(rows)
    scored = [
        {"prediction": text, **{k: game[k] for k in ("target_id", "distractor_id")}}
        for text, game in zip(texts, games)
    ]
    columns = evaluate(scored, "authors-script").columns
    false = np.asarray(columns["num_false"], float)
    dark = np.array(["dark green" in text.lower() for text in texts])
    quantities = {
        "share with unk": np.array(["unk" in t.lower().split() for t in texts], float),
        "share with dark green": dark.astype(float),
        "mentioned features by the script": np.asarray(
            columns["num_mentioned_features"], float
        ),
        "false words of a faultless reading": false,
    }
    lines = [
        [
            name,
            f"{values.mean():.3f}",
            "{:.3f} to {:.3f}".format(*cluster_interval(values, groups, rng)),
        ]
        for name, values in quantities.items()
    ]
    lines += [
        ["false words of captions with dark green", f"{false[dark].mean():.3f}", ""],
        ["false words of the others", f"{false[~dark].mean():.3f}", ""],
        ["scenes", str(groups.max() + 1), ""],
    ]
    found = disagreement(texts, groups)
    lines += [
        [
            "pairs of one scene with different orientations",
            f"{found['orientation']:.3f}",
            "",
        ],
        ["pairs of any two captions", f"{found['random_orientation']:.3f}", ""],
        ["pairs of one scene with different scales", f"{found['scale']:.3f}", ""],
        ["of these, one step apart", f"{found['scale_one_step']:.3f}", ""],
    ]
    return {
        "headers": [
            "1,000 captions of the authors' speaker",
            "value",
            "95 % interval over scenes",
        ],
        "rows": lines,
    }


def scales_table(texts: Sequence[str]) -> Table:
    """Return the number of captions with each scale."""
    counts = Counter(map(scale_of, texts))
    return {
        "headers": ["scale", *SCALES, "none"],
        "rows": [["captions", *(str(counts[name]) for name in (*SCALES, ""))]],
    }


def speakers_table(
    speakers: Sequence[Speaker],
    sizes: Sequence[int],
    pairs: int,
    authors: dict[str, float],
) -> Table:
    """Return Table 1 and the disagreement within scenes of simulated speakers, beside
    the published baseline and the authors' captions.
    """
    scores = [table_1(speaker, pairs) for speaker in speakers]
    agreement = [agreement_of(speaker, sizes) for speaker in speakers]
    lines: list[list[str]] = []
    for key in ("num_false", *PUBLISHED):
        for k, group in enumerate(testsets.GROUPS):
            published = PUBLISHED[key][k] if key in PUBLISHED else FALSE
            name = key.removeprefix("num_").replace("_", " ")
            lines.append(
                [
                    f"{name}, {group}",
                    f"{published:.3f}",
                    *(f"{found[key][k]:.3f}" for found in scores),
                ]
            )
    for key, name in (("orientation", "orientations"), ("scale", "scales")):
        lines.append(
            [
                f"pairs of one scene with different {name}",
                f"{authors[key]:.3f}",
                *(f"{found[key]:.3f}" for found in agreement),
            ]
        )
    heads = [
        "rules of the script",
        "published B; authors' captions",
        *(s.name for s in speakers),
    ]
    return {"headers": heads, "rows": lines}


def main() -> None:
    """Measure and write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--pairs", type=int, default=100, help="pairs of each of the thirteen sets"
    )
    parser.add_argument(
        "--output", type=Path, default=RESULTS, help="folder of the file"
    )
    options = parser.parse_args()

    rows = read_json_lines(data_folder() / PREDICTIONS)
    texts = [row["prediction"] for row in rows]
    groups = groups_of(texts)
    sizes = np.bincount(groups).tolist()
    found = disagreement(texts, groups)
    own = jitter_for(found["orientation"])

    per_caption = nearest_rate(lambda r: Speaker("", per_caption=r), options.pairs)
    per_image = nearest_rate(
        lambda r: Speaker("", per_image=r, per_caption=own), options.pairs
    )
    speakers = [
        Speaker("faultless", vocabulary=False),
        Speaker("unk and dark green alone"),
        Speaker(
            f"errors per caption, {per_caption.per_caption:g}",
            per_caption=per_caption.per_caption,
        ),
        Speaker(
            f"errors per image, {per_image.per_image:g}, and per caption, {own:.3f}",
            per_image=per_image.per_image,
            per_caption=own,
        ),
        Speaker(f"errors per caption alone, {own:.3f}", per_caption=own),
    ]
    tables = {
        "a3ds-structure": authors_table(texts, rows),
        "a3ds-scales": scales_table(texts),
        "a3ds-speakers": speakers_table(speakers, sizes, options.pairs, found),
    }
    command = "python -m benchmarks.a3ds_structure" + (
        f" --pairs {options.pairs}" if options.pairs != 100 else ""
    )
    write_results(
        options.output / "a3ds-structure.json", {"command": command, "tables": tables}
    )


if __name__ == "__main__":
    main()
