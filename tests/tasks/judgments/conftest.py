"""A data folder with small judgment sets in the forms of the field,
one for every shipped task.
"""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

SCENES = {
    "cat": [
        "A grey cat sleeps on a radiator.",
        "A cat lies asleep above a heater.",
        "The cat found a warm place.",
        "A sleeping cat on a white radiator.",
        "Grey cat dozing indoors.",
    ],
    "children": [
        "Two children build a dam of stones.",
        "Kids pile up stones in shallow water.",
        "A boy and a girl play in a stream.",
        "Children in rubber boots move rocks.",
        "Two kids are damming a little brook.",
    ],
    "bus": [
        "A red bus waits at a stop.",
        "The bus stands beside the pavement.",
        "A city bus with open doors.",
        "People get on a red bus.",
        "A bus at a bus stop in the rain.",
    ],
    "dog": [
        "A brown dog runs on the beach.",
        "The dog races along the sea.",
        "A dog plays in the sand.",
        "A wet dog near the waves.",
        "Brown dog running by the water.",
    ],
}
GOOD = {
    "cat": "a cat sleeps on a radiator",
    "children": "children build a dam of stones",
    "bus": "a red bus at a stop",
    "dog": "a dog runs on the beach",
}
POOR = {
    "cat": "a cat on a bed",
    "children": "two children ride horses",
    "bus": "a truck at a stop",
    "dog": "a dog sleeps",
}
BAD = {
    "cat": "a train station",
    "children": "a bowl of soup",
    "bus": "a cat sleeps",
    "dog": "a plate of food",
}
VOTES = {"good": (4, 3, 4), "poor": (2, 2, 3), "bad": (1, 1, 1)}


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
            {
                "caption": GOOD[name],
                "human_score": 4 - k % 2,
                "is_own_reference": False,
            },
            {
                "caption": POOR[name],
                "human_score": 2 + k % 2,
                "is_own_reference": False,
            },
            {"caption": BAD[name], "human_score": 1, "is_own_reference": False},
        ]

        if human:
            text = references[0].lower().replace(".", " .")
            candidates.append(
                {"caption": text, "human_score": 5, "is_own_reference": True}
            )
        rows.append(
            {
                "image_id": k,
                "file_name": f"{name}.jpg",
                "references": references,
                "candidates": candidates,
            }
        )
    return rows


def fifty(folder: Path) -> None:
    references = []
    pairs = []
    for k, (name, texts) in enumerate(SCENES.items()):
        image = f"img_{k}.jpg"
        references.append(
            {
                "image_id": image,
                "references": [
                    f"{text[:-1]} {n}." for n in range(10) for text in texts
                ],
            }
        )

        own = references[-1]["references"]
        shared = {"image_id": image}
        pairs += [
            {
                **shared,
                "caption_a": own[3],
                "caption_b": own[8],
                "category_code": 1,
                "source_a": 6,
                "source_b": 6,
                "votes": [1, 1, -1],
            },
            {
                **shared,
                "caption_a": own[5],
                "caption_b": BAD[name],
                "category_code": 2,
                "source_a": 6,
                "source_b": 7,
                "votes": [1, 1, 1],
            },
            {
                **shared,
                "caption_a": BAD[name],
                "caption_b": own[7],
                "category_code": 3,
                "source_a": 2,
                "source_b": 6,
                "votes": [-1, -1, 1],
            },
            {
                **shared,
                "caption_a": GOOD[name],
                "caption_b": POOR[name],
                "category_code": 4,
                "source_a": 1,
                "source_b": 3,
                "votes": [1, -1] if k == 0 else [1, 1],
            },
        ]

    write(folder / "references.jsonl.gz", references)
    write(folder / "pairs.jsonl.gz", pairs)


def fense() -> list[dict]:
    rows = []
    for k, (name, references) in enumerate(SCENES.items()):
        row = {
            "HC": [
                references[0],
                references[1],
                "ground_t_1",
                "ground_t_2",
                [1, 1, -1, 1] if k else [1, -1, 1, -1],
            ],
            "HI": [references[2], BAD[name], "ground_t_3", "idx5", [1, 1, 1, 1]],
            "MM_1": [GOOD[name], POOR[name], "attn", "rl", [1, 1, 0, 1]],
            "MM_2": [BAD[name], GOOD[name], "fc", "attn", 0, [-1, -1, -1, -1]],
            "audio_id": name,
            "references": references,
        }

        if k:
            row["HM"] = [references[4], POOR[name], "ground_t_4", "rl", [1, 1, 1, -1]]
        else:
            row["HM"] = None
        rows.append(row)
    return rows


def indented(path: Path, value: object) -> None:
    """Write indented JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=4))


def votes_by_image(ratings: dict) -> dict:
    """Return an object by image, with a judgment per vote,
    as the code of CLIPScore writes it.
    """
    return {
        f"{name}.jpg": {
            "image_id": f"{name}.jpg",
            "image_path": f"Flicker8k_Dataset/{name}.jpg",
            "ground_truth": references,
            "human_judgement": [
                {
                    "image_id": f"{name}.jpg",
                    "image_path": f"Flicker8k_Dataset/{name}.jpg",
                    "caption": captions[name],
                    "rating": rating,
                }
                for captions, kind in ((GOOD, "good"), (POOR, "poor"), (BAD, "bad"))
                for rating in ratings[kind]
            ],
        }
        for name, references in SCENES.items()
    }


def fill_field_files(data: Path) -> None:
    """Write the sets in the files that the field hands on: objects by image, tables,
    lists, one error per line.
    """
    indented(
        data / "flickr8k/crowdflower_flickr8k.json",
        votes_by_image({"good": [1.0], "poor": [0.333333], "bad": [0.0]}),
    )

    (data / "polaris").mkdir(parents=True)
    with (data / "polaris/polaris_test.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["", "mt", "refs", "score", "imgid"])
        for k, (name, references) in enumerate(SCENES.items()):
            for captions, score in ((GOOD, 0.9), (POOR, 0.5), (BAD, 0.1)):
                writer.writerow([k, captions[name], repr(references), score, k])

    annotations = [
        {
            "id": 10 + k,
            "image_id": k,
            "caption": text,
            "foil": foil,
            "foil_word": "x" if foil else "ORIG",
            "foil_id": n,
        }
        for k, (_, references) in enumerate(SCENES.items())
        for n, (text, foil) in enumerate(
            (
                (references[0], False),
                (references[0].rpartition(" ")[0] + " piano.", True),
            )
        )
    ]
    indented(
        data / "foil/foilv1.0_test_2017.json",
        {"info": {}, "images": [{"id": 0}], "annotations": annotations},
    )

    coco = [
        {"image_id": k, "id": 5 * k + n, "caption": text}
        for k, texts in enumerate(SCENES.values())
        for n, text in enumerate(texts)
    ]
    indented(
        data / "foil/captions_val2014.json",
        {"info": {}, "images": [{"id": 0}], "annotations": coco},
    )


def fill_long_captions(data: Path) -> None:
    """Write the sets of long captions and of videos."""
    folder = data / "LongCap-Arena/test"
    folder.mkdir(parents=True)
    grades = ((GOOD, 0.9), (POOR, 0.5), (BAD, 0.125))
    for name in [
        f"{aspect}_dci_{split}.csv"
        for aspect in ("desc", "rel", "flu")
        for split in ("val", "test")
    ]:
        with (folder / name).open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["imgid", "cand", "score", "refs"])
            writer.writerows(
                [
                    f"sa_{scene}.jpg",
                    captions[scene],
                    score,
                    repr([" ".join(references)]),
                ]
                for scene, references in SCENES.items()
                for captions, score in grades
            )

    names = ("GT_Caption_GPT4O", "GT_Caption_GPT4V", "GT_Caption_Gemini15Pro")
    images = [
        {
            "source": "COCO",
            "image": f"{scene}.jpg",
            "binary": b"\xff\xd8",
            **dict(zip(names, references)),
            "CogVLM": GOOD[scene],
            "ShareCaptioner": POOR[scene],
            "LLaVA_v15": BAD[scene],
            "GPT4_Eval": json.dumps(
                {"CogVLM": 4.5, "ShareCaptioner": 2, "LLaVA_v15": 1}
            ),
        }
        for scene, references in SCENES.items()
    ]

    (data / "DetailCaps-4870").mkdir()
    pq.write_table(
        pa.Table.from_pylist([*images, {**images[0], "GPT4_Eval": None}]),
        data / "DetailCaps-4870/DetailCaps-4870.parquet",
    )

    lines = [
        {
            "video_id": scene,
            "candidate": captions[scene],
            "references": references,
            "human_scores": [4 * score + k for k in range(3)],
        }
        for scene, references in SCENES.items()
        for captions, score in grades
    ]

    aspects = ("coherence", "consistency", "fluency", "relevance")
    summaries = [
        {
            "id": scene,
            "model_id": f"M{k}",
            "decoded": captions[scene],
            "references": references,
            "expert_annotations": [
                dict.fromkeys(aspects, 5 - k - n % 2) for n in range(3)
            ],
        }
        for scene, references in SCENES.items()
        for k, (captions, _) in enumerate(grades)
    ]

    (data / "summeval").mkdir()
    (data / "summeval/model_annotations.aligned.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in summaries)
    )
    (data / "tanti_where_image").mkdir()
    architectures = {"init": GOOD, "pre": POOR, "par": POOR, "merge": BAD}
    images = [
        {
            "image_id": scene,
            "references": references,
            "systems": {
                system: {
                    "caption": captions[scene],
                    "accuracy": [int((n + k) % 5 < yes - k % 2) for n in range(5)],
                    "fluency": [int((n + yes + k) % 3 > 0) for n in range(5)],
                }
                for (system, captions), yes in zip(
                    [
                        ("human", dict.fromkeys([scene], references[0].lower())),
                        *architectures.items(),
                    ],
                    (5, 5, 3, 3, 1),
                )
            },
            "judges": [f"judge_{n}" for n in range(5)],
        }
        for k, (scene, references) in enumerate(SCENES.items())
    ]
    with gzip.open(
        data / "tanti_where_image/judgments.jsonl.gz", "wt", encoding="utf-8"
    ) as file:
        file.writelines(json.dumps(line) + "\n" for line in images)
    (data / "vatex_eval").mkdir()
    (data / "vatex_eval/judgments.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines)
    )

    pairs = [
        {
            "image": f"VOC/{scene}.jpg",
            "captions": [GOOD[scene], BAD[scene]][:: 1 - 2 * (k % 2)],
            "label": k % 2,
            "references": references,
        }
        for k, (scene, references) in enumerate(SCENES.items())
    ]
    (data / "pascal50s/pascal_50s.json").write_text(
        json.dumps(dict.fromkeys(("HI", "HC", "HM", "MM"), pairs))
    )


def fill_test_set(folder: Path) -> None:
    """Write a test set in the folders of mt-metrics-eval."""
    systems = {
        "Good": GOOD,
        "Poor": POOR,
        "Bad": BAD,
        "refA": {scene: texts[0] for scene, texts in SCENES.items()},
    }
    systems = {**systems, "refB": systems["refA"], "M2M100_1.2B-B4": BAD}
    files = {
        "sources/en-de.txt": [f"Quelle {k}" for k in range(len(SCENES))],
        "documents/en-de.docs": [f"news\tdoc{k // 2}" for k in range(len(SCENES))],
        "references/en-de.refA.txt": list(systems["refA"].values()),
        "human-scores/en-de.mqm.sys.score": [
            f"{name}\t{-k}" for k, name in enumerate(systems)
        ]
        + ["other\tNone"],
        "human-scores/en-de.mqm.seg.score": [
            f"{name}\t{'None' if name == 'Poor' and k == 0 else -k - n}"
            for n, name in enumerate(systems)
            for k in range(len(SCENES))
        ],
        "metric-scores/en-de/COMET-22-refA.seg.score": [
            f"{name}\t{1 - n / 10}" for n, name in enumerate(systems) for _ in SCENES
        ],
    }

    files |= {
        f"system-outputs/en-de/{name}.txt": list(outputs.values())
        for name, outputs in systems.items()
    }

    for name, lines in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("\n".join(lines) + "\n")


def fill_reference_free(data: Path) -> None:
    """Write the sets without references."""
    battles = [
        {
            "img": f"{name}.jpg",
            "source1": "large",
            "source2": "human",
            "caption1": GOOD[name],
            "caption2": BAD[name],
            "winner": winner,
            "cluster": 1,
        }
        for name, winner in zip(SCENES, ("large", "human", "equal", "bad"))
    ]
    indented(data / "caparena/caparena_annots_eval.json", battles)

    answers = [
        {
            "id": k,
            "prompt": "p",
            "chosen": GOOD[name],
            "rejected": BAD[name],
            "chosen_model": "a",
            "rejected_model": "b",
            "subset": "chat",
        }
        for k, name in enumerate(SCENES)
    ]

    (data / "reward-bench").mkdir()
    pq.write_table(
        pa.Table.from_pylist(answers), data / "reward-bench/filtered.parquet"
    )

    duels = [
        {
            "input": f"Describe {name}.",
            "output_1": GOOD[name],
            "output_2": BAD[name] + " and more",
            "label": 1 + k % 2,
        }
        for k, name in enumerate(SCENES)
    ]

    for folder in (
        "Natural",
        "Adversarial/GPTInst",
        "Adversarial/GPTOut",
        "Adversarial/Manual",
        "Adversarial/Neighbor",
    ):
        indented(data / "LLMBar/Dataset/LLMBar" / folder / "dataset.json", duels)

    columns = (
        "tifa_mplug-large",
        "tifa_blip2-flant5xl",
        "tifa_git-large",
        "tifa_ofa-large",
        "tifa_vilt",
        "clipscore_vitb32",
        "spice",
        "meteor",
        "rouge",
        "bleu",
    )
    images = {
        f"{name}_{system}": {
            "text_id": name,
            "image_path": f"{name}_{system}.jpg",
            "text": GOOD[name],
            "human_scores": [score, score + 1],
            "human_avg": score + 0.5,
            **{column: score / 5 + k / (10 + n) for n, column in enumerate(columns)},
        }
        for k, name in enumerate(SCENES)
        for system, score in (("dalle", 4), ("vq", 1 + k % 2))
    }
    indented(data / "tifa/human_annotations/human_annotations_with_scores.json", images)

    table = data / "wmt-mqm-human-evaluation/ted/ende/mqm_ted_ende.tsv"
    table.parent.mkdir(parents=True)
    lines = [
        "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\tcomment"
    ]
    for k, name in enumerate(SCENES, 1):
        head = f"talk.1\t{k}\t{k}"
        good = GOOD[name]
        bad = BAD[name]
        lines.append(f"right\t{head}\trater1\tQuelle {k}\t{good}\tNo-error\tNo-error\t")
        lines.append(
            f"wrong\t{head}\trater1\tQuelle "
            f"{k}\t<v>{bad}</v>\tAccuracy/Mistranslation\tMajor\t"
        )
        lines.append(
            f"wrong\t{head}\trater1\tQuelle "
            f"{k}\t{bad[:3]}<v>{bad[3:]}</v>\tFluency/Punctuation\tMinor\t"
        )
        lines.append(
            f'wrong\t{head}\trater2\tQuelle {k}\t{bad}\tFluency/Grammar\tMinor\t"'
        )

    table.write_text("\n".join(lines) + "\n")


def fill(data: Path) -> Path:
    """Write all sets below ``data`` and return it."""
    fill_field_files(data)
    fill_reference_free(data)
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
            {
                "file_name": f"{name}.jpg",
                "caption": caption,
                "human_mean": mean,
                "references": references,
            }
            for name, references in scenes
            for caption, mean in (
                (GOOD[name], 3.667),
                (POOR[name], 2.0),
                (BAD[name], 1.333),
            )
        ],
    )

    write(
        data / "thumb_mscoco/judgments.jsonl.gz",
        [
            {
                "image_id": k,
                "file_name": f"{name}.jpg",
                "references": references[:4],
                "systems": {
                    "small": {
                        "caption": BAD[name],
                        "P": 1.0,
                        "R": 1.0,
                        "human_score": 1.0,
                    },
                    "large": {
                        "caption": POOR[name],
                        "P": 3.0,
                        "R": 2.0 + k % 2,
                        "human_score": 2.5 + k % 2 / 2,
                    },
                    "Human": {
                        "caption": GOOD[name],
                        "P": 5.0,
                        "R": 4.0,
                        "human_score": 4.5,
                    },
                },
            }
            for k, (name, references) in enumerate(scenes)
        ],
    )

    write(
        data / "nocaps_val_foil/pairs.jsonl.gz",
        [
            {
                "image_path": f"{name}.jpg",
                "references": references,
                "baseline": GOOD[name],
                "foil": GOOD[name].rpartition(" ")[0] + " piano",
                "replacement": ["x", "piano"],
                "domain": "in-domain" if k % 2 else "out-domain",
            }
            for k, (name, references) in enumerate(scenes)
        ],
    )

    write(
        data / "aloha_hat/judgments.jsonl.gz",
        [
            {
                "sample_id": f"{name}-{label}",
                "caption": caption,
                "contains_hallucination": label,
                "image_path": "x.jpg",
                "grounding": [[word, label] for word in caption.split()],
                "references": references,
            }
            for name, references in scenes
            for caption, label in ((GOOD[name], False), (BAD[name], True))
        ],
    )

    for folder in ("fense_audiocaps", "fense_clotho"):
        write(data / folder / "judgments.jsonl.gz", fense())
    fill_long_captions(data)
    fill_test_set(data / "mt-metrics-eval-v2/wmt22")
    return data


@pytest.fixture
def judged(tmp_path, monkeypatch) -> Path:
    """The data folder, also as HARNESS_DATA."""
    monkeypatch.setenv("HARNESS_DATA", str(fill(tmp_path / "data")))
    return tmp_path / "data"
