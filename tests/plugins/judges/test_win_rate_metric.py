"""The win rate against references."""

from __future__ import annotations

import base64
import io
import json

import numpy as np
import pytest
from PIL import Image

import harness
from harness.contracts import CaptionSet
from harness.errors import InputError
from harness.run.features import FeatureCache
from harness.testing import check_metric
from harness_metrics.judges.judge import Judge
from harness_metrics.judges.win_rate_metric import WinRate

SETS = [CaptionSet("1", ("a big dog", "dog"), ("a dog", "the dog runs fast"))]
BATTLES = (
    ("red", "long", "short", "long"),
    ("red", "short", "human", "human"),
    ("green", "long", "human", "equal"),
    ("green", "human", "long", "human"),
    ("blue", "short", "long", "long"),
    ("blue", "short", "human", "human"),
)
"""Image, two systems, winner."""
WORDS = {"long": "and a fence", "short": "", "human": "beside an old tree"}


def stats(metric: WinRate) -> np.ndarray:
    features = FeatureCache([item.references for item in SETS])
    return metric.stats(features.batch(SETS), features, None)


def test_the_contract_holds(overlap):
    outcomes = check_metric(WinRate(judge=Judge(overlap)))
    assert {o.check: o.reason for o in outcomes if o.failed} == {}


def test_each_candidate_meets_the_first_references(overlap):
    # one win, one defeat against "a dog"
    assert stats(WinRate(judge=overlap))[0, 0] == 0.5
    assert stats(WinRate(judge=overlap, opponents=5))[0, 0] == 0.25


def test_the_bias_of_position_is_in_the_details(scripted):
    metric = WinRate(judge=scripted(lambda talk: '{"better": "A"}'))
    details = metric.details(stats(metric))
    assert details["first place"] == 1.0 and details["contradictions"] == 1.0
    assert details["answers"]["valid"] == 4  # type: ignore[index]


@pytest.mark.parametrize(
    ("unanswered", "value"), [("undefined", np.nan), ("lowest", 0.0)]
)
def test_refusals_have_no_points(scripted, unanswered, value: float):
    model = scripted(lambda talk: "I'm sorry, I cannot compare them.")
    score = harness.metric("win-rate", judge=model, unanswered=unanswered)(
        [["a"]], [["b"]]
    ).per_example
    np.testing.assert_array_equal(score, [value])


@pytest.fixture
def caparena(tmp_path, monkeypatch):
    """CapArena's layout: battles of three systems about three images of one colour
    each.
    """
    image = pytest.importorskip("PIL.Image")
    (tmp_path / "caparena/images").mkdir(parents=True)
    for k, colour in enumerate(("red", "green", "blue")):
        image.new("RGB", (8, 8), tuple(255 * (k == c) for c in range(3))).save(
            tmp_path / f"caparena/images/{colour}.png"
        )
    battles = [
        {
            "img": f"{colour}.png",
            "source1": first,
            "source2": second,
            "winner": winner,
            "caption1": f"a {colour} barn {WORDS[first]}",
            "caption2": f"a {colour} barn {WORDS[second]}",
        }
        for colour, first, second, winner in BATTLES
    ]
    (tmp_path / "caparena/caparena_annots_eval.json").write_text(json.dumps(battles))
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path))
    return tmp_path


def answer(body):
    """Prefer the caption with more words; where they have as many,
    the one in the first place.

    Image and captions have one colour.
    """
    image, text = body["messages"][0]["content"]
    pixel = np.array(
        Image.open(
            io.BytesIO(base64.b64decode(image["image_url"]["url"].partition(",")[2]))
        ).convert("RGB")
    ).mean(axis=(0, 1))
    first, second = (
        json.loads(text["text"].split(f"Caption {name}:\n")[1].splitlines()[0])
        for name in "AB"
    )
    colour = ("red", "green", "blue")[int(pixel.argmax())]
    assert (
        f"a {colour} barn" in first
        and f"a {colour} barn" in second
        and "Reference" not in text["text"]
    )
    better = "B" if len(second.split()) > len(first.split()) else "A"
    usage = {"prompt_tokens": 100, "completion_tokens": 3}
    return {
        "choices": [
            {
                "message": {"content": json.dumps({"better": better})},
                "finish_reason": "stop",
            }
        ],
        "usage": usage,
    }


def test_a_judge_of_both_captions_in_caparena(server, caparena, tmp_path):
    server.answer = answer
    judge = {
        "base_url": server.url,
        "model": "m",
        "first_wait": 0.01,
        "image": True,
        "images": str(caparena / "caparena/images"),
    }
    metrics = ["caption-length", {"win-rate": {"judge": judge, "rival": True}}]
    run = harness.evaluate(
        "judgments/caparena", metrics=metrics, output=str(tmp_path / "out")
    )

    records = {(r.metric, r.statistic): r for r in run.records}
    judged = records["win-rate", "accuracy"]
    # the tie of people does not count
    assert (judged.value, judged.n, judged.skipped) == (1.0, 5, 0)
    # six battles in both orders
    assert (judged.details["requests"], judged.details["contradictions"]) == (12, 0.0)
    assert records["win-rate", "spearman_system"].value == pytest.approx(
        records["caption-length", "spearman_system"].value
    )

    # two battles are of the same two captions, and no question is asked twice
    assert len(server.requests) == 10
    assert {r["model"] for r in server.requests} == {"m"}

    captions = [texts[0] for texts in run.samples.lists("candidates")]
    points = dict(zip(captions, run.samples.systems[0].scores("win-rate")))
    assert points["a red barn and a fence"] == 1.0
    assert points["a red barn "] == 0.0


def test_a_judge_that_answers_by_place_ties_every_pair(server, caparena):
    server.answer = lambda body: {
        "choices": [{"message": {"content": '{"better": "A"}'}}]
    }
    judge = {"base_url": server.url, "model": "m", "first_wait": 0.01}
    (record, *_) = harness.evaluate(
        "judgments/caparena", metrics=[{"win-rate": {"judge": judge, "rival": True}}]
    ).records
    assert (record.value, record.details["ties"], record.details["contradictions"]) == (
        0.5,
        1.0,
        1.0,
    )


def test_a_rival_is_in_judged_pairs_alone(scripted, tmp_path):
    data = tmp_path / "j.jsonl"
    data.write_text(
        "".join(
            json.dumps({"id": k, "caption": f"a {k}", "score": k, "references": ["b"]})
            + "\\n"
            for k in range(4)
        )
    )
    content = {
        "task": "t",
        "judgments": {"form": "captions", "path": str(data)},
        "statistics": ["pearson"],
    }
    metrics = [{"win-rate": {"judge": scripted(lambda talk: ""), "rival": True}}]
    with pytest.raises(
        InputError, match="win-rate with rival: true needs judged pairs"
    ):
        harness.evaluate({**content, "metrics": metrics})
