"""Protocols of ``dense`` against the numbers of the field's evaluators, per video too.

The values lie in ``golden/dense`` of the shared folder; its README has their origin.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import harness
from benchmarks.soda_differences import compare_numbers
from harness.contracts import Event, EventSet
from harness.errors import MissingExtra
from harness_metrics.dense.wordnet import installed_wordnet
from tests.support.dense_goldens import (
    TIOUS,
    load,
    results_of,
    scores_by_video,
    values_by_video,
)

pytestmark = [
    pytest.mark.large_sets("../golden/dense/densevid_results.json"),
    pytest.mark.slow,
]
PROTOCOLS = {
    "2017_5759c13": "activitynet-2017",
    "2018_deba7d7": "activitynet-2018",
    "2019_9d4045a": "activitynet-2019",
    "luoweizhou_without_spice": "activitynet-2019",
    "pdvc_evaluate2018": "activitynet-2018",
    "pdvc_evaluate2021": "activitynet-2019",
    "vidchapters_dvc_eval": "vidchapters",
}
TEXTS = {
    "METEOR": "meteor",
    "CIDEr": "cider",
    "Bleu_1": "bleu1",
    "Bleu_2": "bleu2",
    "Bleu_3": "bleu3",
    "Bleu_4": "bleu4",
    "ROUGE_L": "rouge",
    "Rouge-L": "rouge",
}
SECONDS = (1.0, 3.0, 5.0, 10.0, 30.0, 60.0)
RUNS = [
    *(f"2017_5759c13/{name}" for name in ("complete", "main")),
    *(
        f"2018_deba7d7/{name}"
        for name in ("complete", "emptylists", "main", "main_max_proposals_3")
    ),
    "2019_9d4045a/main",
    "luoweizhou_without_spice/main",
    "pdvc_evaluate2018/main",
    "pdvc_evaluate2018/main_val_1_only",
    "pdvc_evaluate2021/main",
    *(
        f"vidchapters_dvc_eval/{name}"
        for name in ("complete", "emptylists", "main", "main_val_1_only")
    ),
]


@pytest.fixture
def folder(shared):
    """The folder of the values."""
    return shared / "golden" / "dense"


@pytest.mark.parametrize("run", RUNS)
def test_densevid_eval(folder, run):
    variant, prediction = run.split("/")
    expected = load(folder / "densevid_results.json")[run]
    references = ["val_1", "val_2"]
    params = {"protocol": PROTOCOLS[variant]}
    if prediction.endswith("_val_1_only"):
        references = references[:1]
        prediction = prediction.removesuffix("_val_1_only")
    if prediction.endswith("_max_proposals_3"):
        params["max_proposals"] = 3
        prediction = prediction.removesuffix("_max_proposals_3")

    for name, values in expected["scores"].items():
        for place, value in enumerate(values):
            choice = {"tious": [TIOUS[place]]} if place < 4 else {}
            if place >= 4:
                choice = {"seconds": [SECONDS[place - 4]]}
            if name in TEXTS:
                choice["text"] = TEXTS[name]
            else:
                choice["measure"] = name.lower()
            scored = results_of(folder, prediction, references, {**params, **choice})
            (record,) = scored.run.records
            assert record.value == pytest.approx(value, abs=1e-9), (name, place)

            of_threshold = values_by_video(expected, name, place)
            if of_threshold:
                scores = scores_by_video(scored)
                for video, score in of_threshold.items():
                    assert scores[video] == pytest.approx(score, abs=1e-9), video


def test_the_command_prints_the_number_without_further_options(folder):
    command = [sys.executable, "-m", "harness", "score", "pred_main.json.gz"]
    for name in ("val_1", "val_2"):
        command += ["--references", f"{name}.json.gz"]
    command += ["-m", "dense:protocol=activitynet-2018,text=meteor"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=True
    )
    assert " 0.1199 " in done.stdout
    assert "2 examples have no predictions: 'v_dense005', 'v_dense008'" in done.stderr


@pytest.mark.parametrize("references", ["both", "val1"])
def test_paragraphs(folder, references):
    expected = load(folder / "paragraph_results.json")[references]
    files = ["val_1", "val_2"] if references == "both" else ["val_1"]
    for name, value in expected.items():
        params = {"protocol": "paragraph", "text": TEXTS[name]}
        (record,) = results_of(folder, "main", files, params).run.records
        assert record.value == pytest.approx(value, abs=1e-9), name


def test_soda_differs_from_its_program_where_the_page_says(folder):
    """SODA_d is that of the program where starts are in order; SODA_c with the
    reference as METEOR's hypothesis is, but for characters beyond ASCII.
    """
    beyond_ascii = {"v_dense004"}
    # events of one file alone are taken in its order by the program
    unordered = {"v_dense011", "v_dense030"}
    rows = {row[:3]: row for row in compare_numbers(folder)}
    assert len(rows) == 20
    for (references, variant, hypothesis), row in rows.items():
        expected = unordered if references == "multi" else set()
        if variant == "d" and references != "multi":
            assert row.different == []
            assert row.value == pytest.approx(row.stored, abs=1e-8)
        if variant == "c" and hypothesis == "reference":
            assert set(row.different) == beyond_ascii | expected
        if variant == "c" and hypothesis == "prediction":
            assert len(row.different) > 30


def corners(box):
    return tuple(float(value) for corner in box for value in corner)


@pytest.fixture
def scenes(folder):
    """References by scene, and a function that gives the predictions."""
    order: dict[str, list[str]] = {}
    for item in load(folder / "objects3d_gt.json.gz"):
        order.setdefault(item["scene_id"], []).append(item["object_id"])
    events: dict[str, list[Event]] = {}
    for item in load(folder / "objects3d_references.json.gz"):
        event = Event(
            " ".join(item["token"]), corners(item["bbox"]), label=item["object_id"]
        )
        events.setdefault(item["scene_id"], []).append(event)
    references = {
        scene: [
            EventSet(
                tuple(sorted(own, key=lambda e: order[scene].index(e.label)))
            ).to_text()
        ]
        for scene, own in events.items()
    }

    def predictions(suppressed):
        found = load(folder / "objects3d_predictions.json.gz")
        return {
            scene: [
                EventSet(
                    tuple(
                        Event(
                            item["caption"],
                            corners(item["box"]),
                            None if suppressed else item["conf"],
                            str(item["cls"]),
                        )
                        for item in own
                    )
                ).to_text()
            ]
            for scene, own in found.items()
        }

    return references, predictions


def scene_number(scenes, suppressed, **params):
    references, predictions = scenes
    (result,) = harness.score(
        predictions(suppressed), references, {"dense": params}, bootstrap=0
    ).values()
    return result.value


@pytest.mark.parametrize("tiou", [0.25, 0.5])
@pytest.mark.parametrize("suppressed", [False, True])
def test_vote2cap_and_scan2cap(folder, scenes, tiou, suppressed):
    expected = load(folder / "objects3d_vote2cap_detr.json")
    key = "no_nms_all_classes_differ" if suppressed else "nms"
    names = {"BLEU-4": "bleu4", "CiDEr": "cider", "METEOR": "meteor", "Rouge": "rouge"}
    for name, text in names.items():
        value = scene_number(
            scenes, suppressed, protocol="vote2cap", text=text, tious=[tiou]
        )
        golden = expected[f"{key}@{tiou}"]["metrics"][f"{name}@{tiou}"]
        assert value == pytest.approx(golden, abs=1e-6)

    key = "no_nms" if suppressed else "nms"
    golden = load(folder / "objects3d_scan2cap_eval_helper.json")[f"{key}@{tiou}"]
    values = {"cider": golden["CIDEr"], "meteor": golden["METEOR"]}
    values["rouge"] = golden["ROUGE-L"]
    values |= {f"bleu{k + 1}": value for k, value in enumerate(golden["BLEU-1..4"])}
    for text, expected_value in values.items():
        value = scene_number(
            scenes, suppressed, protocol="scan2cap", text=text, tious=[tiou]
        )
        assert value == pytest.approx(expected_value, abs=1e-6), text


@pytest.mark.parametrize("protocol", ["vote2cap", "scan2cap"])
def test_files_of_scenes_are_read_as_they_are(folder, protocol):
    expected = load(folder / "objects3d_vote2cap_detr.json")["nms@0.25"]["metrics"]
    params = {"protocol": protocol, "text": "cider", "tious": [0.25]}
    (result,) = harness.score(
        str(folder / "objects3d_predictions.json.gz"),
        str(folder / "objects3d_references.json.gz"),
        {"dense": params},
        bootstrap=0,
    ).values()
    assert result.value == pytest.approx(expected["CiDEr@0.25"], abs=1e-6)


def test_the_benchmark_of_scan2cap(folder, scenes):
    expected = load(folder / "objects3d_scan2cap_benchmark.json")["captioning"]
    for tiou, of_threshold in expected.items():
        for name, golden in of_threshold.items():
            values = {text: golden[text] for text in ("cider", "meteor", "rouge")}
            values |= {f"bleu{k + 1}": value for k, value in enumerate(golden["bleu"])}
            for text, expected_value in values.items():
                value = scene_number(
                    scenes,
                    True,
                    protocol="scan2cap-benchmark",
                    text=text,
                    tious=[float(tiou)],
                    measure={"f1-score": "f1"}.get(name, name),
                )
                assert value == pytest.approx(expected_value, abs=1e-6), (tiou, name)


def test_the_mean_average_precision_of_scan2cap(folder):
    expected = load(folder / "objects3d_scan2cap_benchmark.json")
    golden = expected["dense_captioning_map"]
    try:
        installed_wordnet()
    except MissingExtra as error:
        pytest.skip(str(error))
    files = [
        str(folder / f"objects3d_{name}.json.gz")
        for name in ("predictions", "references")
    ]
    params = {"protocol": "scan2cap-benchmark", "measure": "map"}
    values = {"whole": golden["mAP"]}
    values |= {tiou: np.mean([*own.values()]) for tiou, own in golden["AP"].items()}
    for tiou, value in values.items():
        choice = {} if tiou == "whole" else {"tious": [float(tiou)]}
        scored = harness.score(*files, {"dense": {**params, **choice}}, bootstrap=0)
        (result,) = scored.values()
        assert result.value == pytest.approx(value, abs=1e-9), tiou


def pixels(box):
    x, y, width, height = box
    return (
        x - (width - 1) / 2,
        y - (height - 1) / 2,
        x + (width - 1) / 2,
        y + (height - 1) / 2,
    )


def test_regions(folder):
    images = load(folder / "regions.json.gz")
    golden = load(folder / "regions_densecap.json")
    texts = [
        {
            image["image_id"]: [
                EventSet(
                    tuple(
                        Event(item["caption"], pixels(item["box"]), item.get("logprob"))
                        for item in image[side]
                    )
                ).to_text()
            ]
            for image in images
        }
        for side in ("pred", "gt")
    ]
    for measure, name in (("score", "map"), ("precision", "detmap")):
        params = {"protocol": "densecap", "measure": measure}
        (result,) = harness.score(*texts, {"dense": params}, bootstrap=0).values()
        assert result.value == pytest.approx(golden[name], abs=1e-6)
    for tiou in (0.3, 0.5, 0.7):
        params = {"protocol": "densecap", "tious": [tiou]}
        (result,) = harness.score(*texts, {"dense": params}, bootstrap=0).values()
        values = [
            golden["ap_breakdown"][f"ov{tiou:g}_score{score:g}"]
            for score in (0, 0.05, 0.1, 0.15, 0.2, 0.25)
        ]
        assert result.value == pytest.approx(np.mean(values), abs=1e-6)
