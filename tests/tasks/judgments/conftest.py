"""A data folder with small judgment sets in the forms of the field, one for every shipped task."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

SCENES = {
    "cat": ["A grey cat sleeps on a radiator.", "A cat lies asleep above a heater.", "The cat found a warm place.",
            "A sleeping cat on a white radiator.", "Grey cat dozing indoors."],
    "children": ["Two children build a dam of stones.", "Kids pile up stones in shallow water.", "A boy and a girl play in a stream.",
                 "Children in rubber boots move rocks.", "Two kids are damming a little brook."],
    "bus": ["A red bus waits at a stop.", "The bus stands beside the pavement.", "A city bus with open doors.",
            "People get on a red bus.", "A bus at a bus stop in the rain."],
    "dog": ["A brown dog runs on the beach.", "The dog races along the sea.", "A dog plays in the sand.",
            "A wet dog near the waves.", "Brown dog running by the water."],
}  # fmt: skip
GOOD = {
    "cat": "a cat sleeps on a radiator", "children": "children build a dam of stones", "bus": "a red bus at a stop",
    "dog": "a dog runs on the beach",
}  # fmt: skip
POOR = {"cat": "a cat on a bed", "children": "two children ride horses", "bus": "a truck at a stop", "dog": "a dog sleeps"}
BAD = {"cat": "a train station", "children": "a bowl of soup", "bus": "a cat sleeps", "dog": "a plate of food"}


def write(path: Path, records: list[dict]) -> Path:
    """Write records as gzipped JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)
    return path


def graded(human: bool = True) -> list[dict]:
    rows = []
    for k, (name, references) in enumerate(SCENES.items()):
        candidates = [
            {"caption": GOOD[name], "human_score": 4 - k % 2, "is_own_reference": False},
            {"caption": POOR[name], "human_score": 2 + k % 2, "is_own_reference": False},
            {"caption": BAD[name], "human_score": 1, "is_own_reference": False},
        ]
        if human:
            text = references[0].lower().replace(".", " .")
            candidates.append({"caption": text, "human_score": 5, "is_own_reference": True})
        rows.append({"image_id": k, "file_name": f"{name}.jpg", "references": references, "candidates": candidates})
    return rows


def fifty(folder: Path) -> None:
    references, pairs = [], []
    for k, (name, texts) in enumerate(SCENES.items()):
        image = f"img_{k}.jpg"
        references.append({"image_id": image, "references": [f"{text[:-1]} {n}." for n in range(10) for text in texts]})
        own = references[-1]["references"]
        shared = {"image_id": image}
        pairs += [
            {**shared, "caption_a": own[3], "caption_b": own[8], "category_code": 1, "source_a": 6, "source_b": 6,
             "votes": [1, 1, -1]},
            {**shared, "caption_a": own[5], "caption_b": BAD[name], "category_code": 2, "source_a": 6, "source_b": 7,
             "votes": [1, 1, 1]},
            {**shared, "caption_a": BAD[name], "caption_b": own[7], "category_code": 3, "source_a": 2, "source_b": 6,
             "votes": [-1, -1, 1]},
            {**shared, "caption_a": GOOD[name], "caption_b": POOR[name], "category_code": 4, "source_a": 1, "source_b": 3,
             "votes": [1, -1] if k == 0 else [1, 1]},
        ]  # fmt: skip
    write(folder / "references.jsonl.gz", references)
    write(folder / "pairs.jsonl.gz", pairs)


def fense() -> list[dict]:
    rows = []
    for k, (name, references) in enumerate(SCENES.items()):
        row = {
            "HC": [references[0], references[1], "ground_t_1", "ground_t_2", [1, 1, -1, 1] if k else [1, -1, 1, -1]],
            "HI": [references[2], BAD[name], "ground_t_3", "idx5", [1, 1, 1, 1]],
            "MM_1": [GOOD[name], POOR[name], "attn", "rl", [1, 1, 0, 1]],
            "MM_2": [BAD[name], GOOD[name], "fc", "attn", 0, [-1, -1, -1, -1]],
            "audio_id": name, "references": references,
        }  # fmt: skip
        if k:
            row["HM"] = [references[4], POOR[name], "ground_t_4", "rl", [1, 1, 1, -1]]
        else:
            row["HM"] = None
        rows.append(row)
    return rows


def fill(data: Path) -> Path:
    """Write all sets below ``data`` and return it."""
    scenes = list(SCENES.items())
    for folder in ("composite_coco", "composite_flickr8k", "composite_flickr30k"):
        rows = graded()
        for row in rows:  # images of three sets do not share ids
            row["image_id"] = f"{folder}{row['image_id']}"
        write(data / folder / "judgments.jsonl.gz", rows)
    write(data / "capeval1k/judgments.jsonl.gz", graded(human=False))
    for folder in ("pascal50s", "abstract50s"):
        fifty(data / folder)
    write(
        data / "flickr8k_expert/judgments.jsonl.gz",
        [
            {"file_name": f"{name}.jpg", "caption": caption, "human_mean": mean, "references": references}
            for name, references in scenes
            for caption, mean in ((GOOD[name], 3.667), (POOR[name], 2.0), (BAD[name], 1.333))
        ],
    )
    write(
        data / "thumb_mscoco/judgments.jsonl.gz",
        [
            {
                "image_id": k, "file_name": f"{name}.jpg", "references": references[:4],
                "systems": {
                    "small": {"caption": BAD[name], "P": 1.0, "R": 1.0, "human_score": 1.0},
                    "large": {"caption": POOR[name], "P": 3.0, "R": 2.0 + k % 2, "human_score": 2.5 + k % 2 / 2},
                    "Human": {"caption": GOOD[name], "P": 5.0, "R": 4.0, "human_score": 4.5},
                },
            }
            for k, (name, references) in enumerate(scenes)
        ],
    )  # fmt: skip
    write(
        data / "nocaps_val_foil/pairs.jsonl.gz",
        [
            {
                "image_path": f"{name}.jpg", "references": references, "baseline": GOOD[name],
                "foil": GOOD[name].rpartition(" ")[0] + " piano", "replacement": ["x", "piano"],
                "domain": "in-domain" if k % 2 else "out-domain",
            }
            for k, (name, references) in enumerate(scenes)
        ],
    )  # fmt: skip
    write(
        data / "aloha_hat/judgments.jsonl.gz",
        [
            {
                "sample_id": f"{name}-{label}", "caption": caption, "contains_hallucination": label, "image_path": "x.jpg",
                "grounding": [[word, label] for word in caption.split()], "references": references,
            }
            for name, references in scenes
            for caption, label in ((GOOD[name], False), (BAD[name], True))
        ],
    )  # fmt: skip
    for folder in ("fense_audiocaps", "fense_clotho"):
        write(data / folder / "judgments.jsonl.gz", fense())
    return data


@pytest.fixture
def judged(tmp_path, monkeypatch) -> Path:
    """The data folder, also as HARNESS_DATA."""
    monkeypatch.setenv("HARNESS_DATA", str(fill(tmp_path / "data")))
    return tmp_path / "data"
