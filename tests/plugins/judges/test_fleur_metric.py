"""FLEUR and other judges that see the image: the server decodes what it is sent; grades
from the probabilities of digits.
"""

from __future__ import annotations

import base64
import io
import json
import math

import numpy as np
import pytest
from PIL import Image

import harness
from harness.cli.main import main
from harness.contracts import CaptionSet
from harness.errors import HarnessError, InputError
from harness.run.features import FeatureCache
from harness_metrics.judges.answers import verdict_of_text
from harness_metrics.judges.fleur_metric import Fleur, RefFleur, smooth_grade
from harness_metrics.judges.judge import Judge, resolve_judge
from harness_metrics.judges.replies import Reply
from harness_metrics.judges.rubric_metric import Rubric
from harness_metrics.judges.tournament import arena
from harness_metrics.judges.win_rate_metric import WinRate

pytest.importorskip("httpx2")
COLOURS = {"red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255)}


@pytest.fixture
def images(tmp_path):
    """A folder with an image of each colour, one of them in CMYK."""
    folder = tmp_path / "images"
    folder.mkdir()
    for name, colour in COLOURS.items():
        Image.new("RGB", (40, 20), colour).convert(
            "CMYK" if name == "blue" else "RGB"
        ).save(folder / f"{name}.jpg", quality=95)
    return str(folder)


def seen(body) -> tuple[str, tuple[int, int], str]:
    """Return the colour and the size of the image of a request, decoded,
    and the text.
    """
    image, text = body["messages"][0]["content"]
    assert (image["type"], text["type"]) == ("image_url", "text")
    head, _, content = image["image_url"]["url"].partition(",")
    assert head in ("data:image/jpeg;base64", "data:image/png;base64")
    picture = Image.open(io.BytesIO(base64.b64decode(content)))
    pixel = np.array(picture.convert("RGB")).mean(axis=(0, 1))
    return (
        min(COLOURS, key=lambda name: np.abs(pixel - COLOURS[name]).sum()),
        picture.size,
        text["text"],
    )


def reply(text: str, tokens=None):
    usage = {"prompt_tokens": 100, "completion_tokens": 3}
    log_probs = {
        "content": [
            {
                "token": next(iter(t)),
                "logprob": next(iter(t.values())),
                "top_logprobs": _top(t),
            }
            for t in tokens or ()
        ]
    }
    return {
        "choices": [
            {
                "message": {"content": text},
                "finish_reason": "stop",
                "logprobs": log_probs,
            }
        ],
        "usage": usage,
    }


def _top(token):
    return [{"token": text, "logprob": value} for text, value in token.items()]


def judge(server, images, **more):
    return {
        "base_url": server.url,
        "model": "m",
        "first_wait": 0.01,
        "image": True,
        "images": images,
        **more,
    }


def digit(**shares):
    return {name.strip("_"): math.log(share) for name, share in shares.items()}


def stats_of(metric, examples):
    """Return the statistics of examples: captions, references, image."""
    features = FeatureCache([references for _, references, _ in examples])
    sets = [
        CaptionSet(str(k), tuple(texts), tuple(references), media=media)
        for k, (texts, references, media) in enumerate(examples)
    ]
    return metric.stats(features.batch(sets), features, None)


def test_the_image_is_sent_with_the_text(server, images):
    server.answer = lambda body: reply(
        json.dumps({"correctness": 5 if seen(body)[0] in seen(body)[2] else 1})
    )
    metric = Rubric(
        judge=judge(server, images), criteria={"correctness": "true"}, references=False
    )
    texts = [["a red image"], ["a red image"], ["a blue image"]]
    stats = stats_of(
        metric,
        [(caption, ["r"], f"{name}.jpg") for caption, name in zip(texts, COLOURS)],
    )

    assert metric.per_example(stats).tolist() == [1.0, 0.0, 1.0]
    assert metric.spec.needs == {"images"}
    assert len(server.requests) == 3  # the same caption of two images is two requests
    assert "You cannot see" not in seen(server.requests[0])[2]
    assert "cannot see" not in metric.prompt
    details = metric.details(stats)
    assert details["requests"] == 3 and details["tokens"] == {"input": 300, "output": 9}


def test_large_images_are_reduced_and_the_cache_knows_the_content(
    server, images, tmp_path
):
    server.answer = lambda body: reply("x")
    small = resolve_judge(judge(server, images, max_side=10), "rubric")
    small.ask(["p"], verdict_of_text, ["red.jpg"])
    assert (
        seen(server.requests[0])[1] == (10, 5)
        and "max_side:10" in small.signature()
        and small.signature().endswith("|image]")
    )
    copy = tmp_path / "copy.jpg"
    copy.write_bytes((tmp_path / "images" / "red.jpg").read_bytes())
    same = resolve_judge(judge(server, None, max_side=10), "rubric")
    same.ask(["p"], verdict_of_text, [str(copy)])
    assert len(server.requests) == 1
    Image.new("RGB", (40, 20), COLOURS["green"]).save(copy)
    same.ask(["p", "p"], verdict_of_text, [str(copy), str(copy)])
    assert len(server.requests) == 2 and seen(server.requests[1])[0] == "green"


def test_images_that_are_not_there(server, images, tmp_path):
    sees = resolve_judge(judge(server, images), "rubric")
    with pytest.raises(
        InputError,
        match=r"no image to read \(No such file or directory\); judge: \{images: "
        r"FOLDER\}",
    ):
        sees.ask(["p"], verdict_of_text, ["grey.jpg"])
    with pytest.raises(InputError, match="image: true, and an example has no image"):
        sees.ask(["p"], verdict_of_text, [None])
    (tmp_path / "images" / "text.jpg").write_text("no image")
    with pytest.raises(InputError, match="does not decode"):
        sees.ask(["p"], verdict_of_text, ["text.jpg"])
    assert not server.requests


def test_judges_that_cannot_see(server):
    with pytest.raises(HarnessError, match="clair: compares texts"):
        harness.metric("clair", judge=judge(server, None))
    with pytest.raises(HarnessError, match="fleur: the judge sees the image"):
        Fleur(judge={"base_url": server.url, "model": "m"})


def test_pairs_are_judged_before_the_image_in_both_orders(server, images):
    def answer(body):
        colour, _, text = seen(body)
        first = text.split("Caption A:\n")[1].splitlines()[0]
        return reply(json.dumps({"better": "A" if colour in first else "B"}))

    server.answer = answer
    names = list(COLOURS)
    systems = {
        "right": [f"it is {name}" for name in names],
        "wrong": ["it is grey"] * 3,
    }
    ranking = arena(
        resolve_judge(judge(server, images), "arena"),
        systems,
        media=[f"{name}.jpg" for name in names],
    )
    assert [(row.system, row.points) for row in ranking.standings] == [
        ("right", 1.0),
        ("wrong", 0.0),
    ]
    assert (
        len(server.requests) == 6
        and ranking.contradictions == 0.0
        and ranking.first_place == 0.5
    )
    assert (
        "Captions by people" not in seen(server.requests[0])[2]
        and "image above" in seen(server.requests[0])[2]
    )
    metric = WinRate(judge=judge(server, images))
    stats = stats_of(
        metric,
        [
            (["it is red"], ["it is dark"], "red.jpg"),
            (["it is grey"], ["it is green"], "green.jpg"),
        ],
    )
    assert metric.per_example(stats).tolist() == [1.0, 0.0]


class AlwaysA:
    def signature(self):
        return "A"

    def complete(self, conversations, store):
        for index, _ in enumerate(conversations):
            store(index, Reply('{"better": "A"}', "stop", 10, 5))


def test_a_judge_that_always_says_a_has_no_interval():
    systems = {name: [f"{name} {k}" for k in range(30)] for name in "xyz"}
    ranking = arena(Judge(AlwaysA(), cache=False), systems)
    assert ranking.contradictions == ranking.first_place == 1.0
    assert {(row.rank, row.ranks, row.interval) for row in ranking.standings} == {
        (1, (1, 3), None)
    }
    texts = [[f"a {k}"] for k in range(30)]
    (result,) = harness.score(
        texts, [[f"r {k}"] for k in range(30)], metrics=[WinRate(judge=AlwaysA())]
    ).values()
    assert (
        result.value == 0.5
        and result.ci95 is None
        and "every resample" in result.interval_note
    )
    assert result.details["first place"] == result.details["contradictions"] == 1.0


@pytest.mark.parametrize(
    "tokens, expected",
    [
        (
            [digit(_0=0.9, _1=0.1), {".": 0.0}, digit(_8=0.5, _9=0.3, _7=0.2)],
            0.1 * (0.5 * 8 + 0.3 * 9 + 0.2 * 7),
        ),
        (
            [{" 0": 0.0}, {".": 0.0}, digit(_8=0.6, _7=0.4), digit(_5=0.7, _0=0.3)],
            0.1 * (0.6 * 8 + 0.4 * 7) + 0.01 * 0.7 * 5,
        ),
        (
            [{"0": 0.0}, {".": 0.0}, digit(_85=0.7, _9=0.2, _754=0.1)],
            0.7 * 0.85 + 0.2 * 0.9 + 0.1 * 0.75,
        ),
        ([{"0": 0.0}, {".": 0.0}, digit(_8=1.0), digit(_5=1.0), digit(_9=1.0)], 0.85),
        ([digit(_1=0.8, _0=0.2), {".": 0.0}, {"0": 0.0}], 0.9 * 0.2 + 0.8),
        ([{"Score": 0.0}, {": ": 0.0}, {"0": 0.0}, {".": 0.0}, {"4": 0.0}], 0.4),
        ([{"7": 0.0}], None),
        ([{"good": 0.0}], None),
        ([{"0.8": 0.0}], None),
        ([], None),
    ],
)
def test_grades_are_expectations_of_digits(tokens, expected):
    assert smooth_grade(tokens) == (
        expected if expected is None else pytest.approx(expected, abs=1e-12)
    )


def test_fleur_asks_for_probabilities_and_leaves_out_what_has_none(server, images):
    def answer(body):
        if "no probabilities" in seen(body)[2]:
            return reply("0.9")
        if "refuse" in seen(body)[2]:
            return reply("I'm sorry, I can't rate this.", [{"I": 0.0}])
        good = seen(body)[0] in seen(body)[2]
        return reply(
            "0.8",
            [
                {"0": 0.0},
                {".": 0.0},
                digit(_8=0.5, _9=0.5) if good else digit(_8=0.5, _1=0.5),
            ],
        )

    server.answer = answer
    texts = (["red", "green"], ["no probabilities", "refuse"], ["blue", "refuse"])
    examples = [
        (captions, ["r"], f"{name}.jpg")
        for captions, name in zip(texts, ("red", "red", "blue"))
    ]
    settings = {"judge": judge(server, images, prices={"input": 1.0, "output": 2.0})}
    metric = Fleur(**settings)
    stats = stats_of(metric, examples)
    assert metric.per_example(stats).tolist() == pytest.approx(
        [0.65, math.nan, 0.85], nan_ok=True
    )
    assert (server.requests[0]["logprobs"], server.requests[0]["top_logprobs"]) == (
        True,
        20,
    )
    details = metric.details(stats)
    assert details["answers"]["invalid"] == 1 and details["answers"]["refused"] == 2
    assert len(server.requests) == details["requests"] == 6 and details[
        "cost"
    ] == pytest.approx(636e-6)
    lowest = Fleur(**settings, unanswered="lowest", references=True)
    assert lowest.per_example(stats_of(lowest, examples)).tolist() == pytest.approx(
        [0.65, 0.0, 0.425]
    )
    assert "people" in seen(server.requests[-1])[2]


def test_ref_fleur_is_fleur_with_references(server, images):
    def answer(body):
        text = seen(body)[2]
        good = "a person's words" in text
        return reply(
            "0.8", [{"0": 0.0}, {".": 0.0}, digit(_8=0.5, _9=0.5 if good else 0.1)]
        )

    server.answer = answer
    settings = {"judge": judge(server, images)}
    examples = [(["red", "green"], ["a person's words", "more"], "red.jpg")]
    metric = RefFleur(**settings)
    same = Fleur(**settings, references=True)
    stats = stats_of(metric, examples)
    assert metric.per_example(stats).tolist() == pytest.approx([0.85])
    assert stats.tolist() == stats_of(same, examples).tolist()
    assert metric.spec.needs == {"images", "references"}
    assert metric.signature() == f"ref-{same.signature()}"


def test_ref_fleur_names_itself(server, images):
    with pytest.raises(HarnessError, match="ref-fleur: the judge sees the image"):
        RefFleur(judge={"base_url": server.url, "model": "m"})
    with pytest.raises(HarnessError, match=r"ref-fleur: prompt has no \{context\}"):
        RefFleur(judge=judge(server, images), prompt="Grade {candidate}")


def test_usage_is_in_the_records_and_on_the_screen(server, images, tmp_path, capsys):
    server.answer = lambda body: reply(
        "0.8",
        [
            {"0": 0.0},
            {".": 0.0},
            digit(_8=0.5, _9=0.5 - 0.1 * ("green" in seen(body)[2])),
        ],
    )
    rows = [
        {
            "item": str(k),
            "media": f"{name}.jpg",
            "caption": f"{text} {k}",
            "score": k % 3 + (text == "red"),
        }
        for k, name in enumerate(COLOURS)
        for text in ("red", "green")
    ]
    (tmp_path / "j.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    (tmp_path / "spec.yaml").write_text(
        f"""task: judged
judgments: {{form: captions, path: j.jsonl, columns: {{score: score}}}}
statistics: [kendall_b]
metrics:
  - fleur:
      judge:
        {{base_url: "{server.url}", model: m, image: true, images: {images},
          prices: {{input: 10}}}}
"""
    )
    line = ["run", str(tmp_path / "spec.yaml"), "--output", str(tmp_path / "out")]
    assert main(line) == 0

    (record,) = json.loads((tmp_path / "out" / "results.json").read_text())["results"]
    assert record["details"]["requests"] == 6
    assert record["details"]["cost"] == pytest.approx(6e-3)
    screen = " ".join(capsys.readouterr().out.split())
    usage = "6 valid, 6 requests, 600 input tokens, 18 output tokens, cost 0.006"
    assert usage in screen
