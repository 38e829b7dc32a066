"""The evaluations of ``drop_in``: each calls a peer's own entry on generated captions,
and returns its numbers. Modules that compute no number are replaced where they are not
installed.
"""

from __future__ import annotations

import contextlib
import csv
import importlib
import importlib.util
import json
import pickle
import random
import runpy
import sys
import types
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Numbers = dict[str, float]
JARS = (
    "meteor/meteor-1.5.jar",
    "meteor/data/paraphrase-en.gz",
    "tokenizer/stanford-corenlp-3.4.1.jar",
)
"""What Java runs of the toolkit."""


@dataclass(frozen=True)
class Captions:
    """Generated captions of N images."""

    candidates: list[str]
    """One of each image."""
    references: list[list[str]]
    """Five of each image."""


PHRASES = (
    ("A man", "The man", "A young man", "Someone", "A guy's friend", "Two men"),
    ("is riding", "rides", "riding", "sits on", "has been riding", "doesn't ride"),
    ("a horse", "the brown horse", "a bike", "his motorcycle", "an old bicycle"),
    ("on the beach", "along a road", "near the water", "at 10 a.m.", "in New York"),
    (".", "!", "", " (outdoors).", ", while others watch.", ' "again".'),
)
"""Parts of a caption, with what tokenisers treat differently."""


def generate_captions(images: int, seed: int) -> Captions:
    """Return captions that share n-grams, words with one stem and synonyms."""
    draw = random.Random(seed)

    def caption(scene: list[int]) -> str:
        # A describer keeps most parts of the scene, and says some in another way.
        kept = [
            words[at % len(words)] if draw.random() < 0.6 else draw.choice(words)
            for words, at in zip(PHRASES, scene)
        ]
        return f"{' '.join(kept[:-1])}{kept[-1]}"

    scenes = [[draw.randrange(60) for _ in PHRASES] for _ in range(images)]
    return Captions(
        [caption(scene) for scene in scenes],
        [[caption(scene) for _ in range(5)] for scene in scenes],
    )


def find_toolkit() -> str:
    """Return the folder of the installed pycocoevalcap, which has the jars."""
    spec = importlib.util.find_spec("pycocoevalcap")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("the jars come from pycocoevalcap: pip install pycocoevalcap")
    return list(spec.submodule_search_locations)[-1]


class Ignored:
    """Takes any call and any attribute, and does nothing."""

    def __getattr__(self, name: str) -> Ignored:
        return self

    def __call__(self, *arguments: object, **options: object) -> Ignored:
        return self


STAND_INS: set[str] = set()
"""Packages that are not installed."""


def stand_in(name: str, **attributes: object) -> None:
    """Replace a module that is not installed."""
    package = name.partition(".")[0]
    if package not in sys.modules and importlib.util.find_spec(package) is None:
        STAND_INS.add(package)
    if package in STAND_INS:
        replace_module(name, __path__=[], **attributes)


def replace_module(name: str, **attributes: object) -> None:
    """Put a module of these attributes in the place of any other."""
    module = types.ModuleType(name)
    vars(module).update(attributes)
    sys.modules[name] = module


def open_package(name: str, folder: Path) -> None:
    """Make a package of a folder whose own ``__init__`` is not run: it imports all of
    the peer.
    """
    replace_module(name, __path__=[str(folder)])


class LeftOut:
    """In the place of SPICE, which needs 400 MB of models."""

    def compute_score(self, gts: dict[Any, Any], res: object) -> tuple[float, list]:
        """Return NaN for all images."""
        return float("nan"), [float("nan")] * len(gts)

    def method(self) -> str:
        """Return the name that is printed."""
        return "SPICE (left out)"


def without_spice() -> None:
    """Leave SPICE out of COCOEvalCap, of the toolkit and of caption-kernels."""
    for name in ("pycocoevalcap.eval", "caption_kernels.coco.toolkit"):
        vars(importlib.import_module(name))["Spice"] = LeftOut


def coco_files(captions: Captions) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return annotations and results in COCO's form; images count from 1."""
    annotations = [
        {"image_id": image, "id": image * 10 + number, "caption": text}
        for image, texts in enumerate(captions.references, 1)
        for number, text in enumerate(texts)
    ]
    images = [{"id": image} for image in range(1, len(captions.references) + 1)]
    results = [
        {"image_id": image, "caption": text}
        for image, text in enumerate(captions.candidates, 1)
    ]
    return {"images": images, "annotations": annotations}, results


def run_example(copy: Path, captions: Captions) -> Numbers:
    """Run the example script of pycocoevalcap on files of its names."""
    without_spice()
    folder = copy / "pycocoevalcap" / "example"
    annotations, results = coco_files(captions)
    (folder / "captions_val2014.json").write_text(json.dumps(annotations))
    (folder / "captions_val2014_fakecap_results.json").write_text(json.dumps(results))
    with contextlib.chdir(folder):
        names = runpy.run_path("coco_eval_example.py")
    scores = names["coco_eval"].eval
    return {name: float(scores[name]) for name in scores if name != "SPICE"}


LMMS_TASKS = {
    "coco_cap": "coco",
    "flickr30k": "flickr",
    "nocaps": "nocaps",
    "textcaps": "textcaps",
}
"""Folder of a task of lmms-eval -> prefix of its functions."""


def run_lmms_eval(copy: Path, captions: Captions) -> Numbers:
    """Call each aggregation function of four caption tasks."""
    stand_in("loguru", logger=Ignored())
    stand_in("requests")
    open_package("lmms_eval", copy / "lmms_eval")
    open_package("lmms_eval.tasks", copy / "lmms_eval" / "tasks")
    rows = [
        {"image_id": image, "id": image, "pred": text, "answer": references}
        for image, (text, references) in enumerate(
            zip(captions.candidates, captions.references), 1
        )
    ]
    numbers: Numbers = {}
    options = types.SimpleNamespace(output_path=str(copy))
    for task, prefix in LMMS_TASKS.items():
        functions = importlib.import_module(f"lmms_eval.tasks.{task}.utils")
        for metric in ("bleu1", "bleu2", "bleu3", "bleu4", "meteor", "rougel", "cider"):
            score = getattr(functions, f"{prefix}_{metric}")(rows, options)
            numbers[f"{prefix}_{metric}"] = float(score)
    return numbers


def run_vlmevalkit(copy: Path, captions: Captions) -> Numbers:
    """Evaluate a file of predictions by the class of the data set COCO_VAL."""
    open_package("vlmeval", copy / "vlmeval")
    open_package("vlmeval.dataset", copy / "vlmeval" / "dataset")
    replace_module("vlmeval.dataset.image_base", ImageBaseDataset=object)
    replace_module(
        "vlmeval.smp",
        __path__=[],
        load=lambda path: importlib.import_module("pandas").read_csv(path, sep="\t"),
        dump=lambda scores, path: Path(path).write_text(json.dumps(scores)),
    )
    replace_module(
        "vlmeval.smp.file",
        get_intermediate_file_path=lambda path, suffix, ending: (
            f"{Path(path).with_suffix('')}{suffix}.{ending}"
        ),
    )
    file = copy / "predictions.tsv"
    with file.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream, delimiter="\t")
        rows.writerow(["index", "prediction", "answer"])
        pairs = zip(captions.candidates, captions.references)
        rows.writerows([k, text, str(texts)] for k, (text, texts) in enumerate(pairs))
    module = importlib.import_module("vlmeval.dataset.image_caption")
    scores = module.ImageCaptionDataset.evaluate(str(file))
    bleu = {f"Bleu_{n}": value for n, value in enumerate(scores.pop("Bleu"), 1)}
    return {name: float(value) for name, value in (bleu | scores).items()}


def run_aac_metrics(copy: Path, captions: Captions) -> Numbers:
    """Run the command line of aac-metrics on a CSV file, all metrics but SPICE."""
    for name in ("msclap", "msclap.CLAPWrapper", "sentence_transformers"):
        stand_in(name, CLAP=Ignored, CLAPWrapper=Ignored, SentenceTransformer=Ignored)
    for jar in JARS:
        name = jar.replace("tokenizer", "stanford_nlp")
        link = copy / "cache" / "aac-metrics" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(Path(find_toolkit()) / jar)

    file = copy / "captions.csv"
    with file.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["caption_predicted", *(f"caption_{n}" for n in range(1, 6))])
        pairs = zip(captions.candidates, captions.references)
        rows.writerows([text, *texts] for text, texts in pairs)

    module = importlib.import_module("aac_metrics.functional.evaluate")
    orders = tuple(f"bleu_{n}" for n in range(1, 5))
    module.METRICS_SETS["no_spice"] = (*orders, "meteor", "rouge_l", "cider_d")
    program = importlib.import_module("aac_metrics.eval")
    scores = copy / "scores.yaml"
    options = {
        "--input": file,
        "--metrics": "no_spice",
        "--cache_path": copy / "cache",
        "--tmp_path": copy,
        "--java_path": "java",
        "--corpus_out": scores,
        "--verbose": 0,
    }
    sys.argv = ["aac-metrics-eval"]
    for option, value in options.items():
        sys.argv += [option, str(value)]
    program._main_eval()
    pairs = (line.split(":") for line in scores.read_text().splitlines())
    return {name: float(value) for name, value in pairs}


def rows_as_text(row: Sequence[int]) -> str:
    """Return token ids as words, to the first 0 inclusive, as the peer writes them."""
    ids = list(row)
    return " ".join(map(str, ids[: ids.index(0) + 1]))


def write_frequencies(references: list[list[str]]) -> None:
    """Write document frequencies as the peer's pickle and as a table, in ``data``."""
    counts: Counter[tuple[str, ...]] = Counter()
    for texts in references:
        grams: set[tuple[str, ...]] = set()
        for words in map(str.split, texts):
            for n in range(1, 5):
                grams.update(tuple(words[k : k + n]) for k in range(len(words) - n + 1))
        counts.update(grams)

    folder = Path("data")
    folder.mkdir(exist_ok=True)
    pickled = {
        "document_frequency": defaultdict(float, counts),
        "ref_len": len(references),
    }
    (folder / "generated.p").write_bytes(pickle.dumps(pickled))
    header = {"format": "harness-df", "version": 1, "tokenizer": "none"}
    table = {
        **header,
        "documents": len(references),
        "df": {" ".join(gram): count for gram, count in counts.items()},
    }
    (folder / "generated.json").write_text(json.dumps(table))


def run_self_critical(copy: Path, captions: Captions) -> Numbers:
    """Compute the rewards of one batch of token ids, five samples of each image."""
    import numpy as np
    import torch

    module = importlib.import_module("captioning.utils.rewards")
    texts = [text for row in captions.references for text in row]
    words = sorted({word for text in texts for word in text.split()})
    number = {word: k for k, word in enumerate(words, 1)}

    def rows(captions: Sequence[str]) -> np.ndarray:
        """Return token ids (captions, 20), 0 after the last word."""
        array = np.zeros((len(captions), 20), dtype=np.int64)
        for row, text in zip(array, captions):
            ids = [number.get(word, len(words) + 1) for word in text.split()]
            row[: len(ids)] = ids
        return array

    samples = [
        text
        for k in range(len(captions.candidates))
        for text in captions.references[k - 1]
    ]
    write_frequencies(
        [[rows_as_text(row) for row in rows(row)] for row in captions.references]
    )
    module.init_scorer("generated")
    rewards = module.get_self_critical_reward(
        torch.from_numpy(rows(captions.candidates)),
        [rows(row) for row in captions.references],
        torch.from_numpy(rows(samples)),
        types.SimpleNamespace(cider_reward_weight=1, bleu_reward_weight=0.5),
    )[:, 0]
    return {
        "mean reward": float(rewards.mean()),
        "lowest reward": float(rewards.min()),
        "highest reward": float(rewards.max()),
        "rewards by place": float(rewards @ np.arange(1, len(rewards) + 1)),
    }


def run_capevalkit(copy: Path, captions: Captions) -> Numbers:
    """Run the command of the toolkit's metrics on two files of JSON Lines."""
    module = importlib.import_module("capevalkit.metrics.pycocoevalcap_metrics")
    files = {
        "predictions": [{"caption": text} for text in captions.candidates],
        "references": [{"references": texts} for texts in captions.references],
    }
    arguments = ["--metrics", "bleu,meteor,rouge,cider", "--output", "scores.json"]
    for name, rows in files.items():
        lines = (
            json.dumps({"id": f"{number:06}", **row}) for number, row in enumerate(rows)
        )
        Path(f"{name}.jsonl").write_text("\n".join(lines))
        arguments += [f"--{name}", f"{name}.jsonl"]
    module.main(arguments)

    numbers: Numbers = {}
    for name, scores in json.loads(Path("scores.json").read_text()).items():
        numbers[name] = scores["score"]
        numbers[f"{name}, images"] = sum(
            value * k for k, value in enumerate(scores["per_item"].values(), 1)
        )
    return numbers


def run_densevid(copy: Path, captions: Captions) -> Numbers:
    """Evaluate events of videos of four images each by densevid_eval3."""
    truth: dict[str, dict[str, list[Any]]] = {}
    results: dict[str, list[dict[str, Any]]] = {}
    for k, (text, texts) in enumerate(zip(captions.candidates, captions.references)):
        video, event = f"v_{k // 4}", k % 4
        known = truth.setdefault(video, {"timestamps": [], "sentences": []})
        known["timestamps"].append([10.0 * event, 10.0 * event + 9])
        known["sentences"].append(texts[0])
        shift = (k % 5) * 1.5  # overlaps of all sizes, some below each threshold
        times = [10.0 * event + shift, 10.0 * event + 9 + shift]
        results.setdefault(video, []).append({"sentence": text, "timestamp": times})
    Path("truth.json").write_text(json.dumps(truth))
    submission = {"version": "1", "external_data": {}, "results": results}
    Path("submission.json").write_text(json.dumps(submission))

    module = importlib.import_module("densevid_eval3.evaluate2018")
    scores = module.main(
        types.SimpleNamespace(
            references=["truth.json"],
            submission="submission.json",
            tious=[0.3, 0.5, 0.7, 0.9],
            max_proposals_per_video=1000,
            verbose=True,
            no_lang_eval=False,
        )
    )
    return {
        f"{name} at tIoU {threshold}": float(value)
        for name, values in scores.items()
        for threshold, value in zip((0.3, 0.5, 0.7, 0.9), values)
    }
