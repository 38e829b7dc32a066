"""The scorers in inspect itself, with its model of fixed answers."""

from __future__ import annotations

import subprocess
import sys

import pytest

inspect_ai = pytest.importorskip(
    "inspect_ai", reason="the package inspect-ai is not installed"
)
pytestmark = pytest.mark.slow

REFERENCES = [
    ["a dog runs on grass", "the dog is running"],
    ["a cat sits on a mat", "the cat rests"],
    ["two people talk", "people are talking"],
]
ANSWERS = ["a dog is running", "a cat on a mat", "two men"]


def test_the_numbers_are_those_of_the_harness(tmp_path):
    import caption_inspect
    from caption_inspect import bleu4, cider, meteor, rouge
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import Scorer
    from inspect_ai.solver import generate

    import harness

    samples = [
        Sample(input=f"Describe picture {k}.", target=texts)
        for k, texts in enumerate(REFERENCES)
    ]
    outputs = [ModelOutput.from_content("mockllm/model", text) for text in ANSWERS]
    for output in outputs:
        # otherwise inspect counts them with a table that it downloads
        output.usage = ModelUsage(input_tokens=1, output_tokens=1)
    scorers: list[Scorer] = [bleu4(), meteor(), rouge(), cider()]
    task = inspect_ai.Task(dataset=samples, solver=generate(), scorer=scorers)
    model = get_model("mockllm/model", custom_outputs=outputs)
    (log,) = inspect_ai.eval(
        task, model=model, log_dir=str(tmp_path), display="none", max_samples=1
    )
    assert log.status == "success", log.error
    found = {
        name: item.value
        for score in log.results.scores
        for name, item in score.metrics.items()
    }
    for name in ("bleu4", "meteor", "rouge", "cider"):
        assert found[name] == harness.score(ANSWERS, REFERENCES, name)[name].value
    assert found["rouge"] > 0.3

    # an installed package: inspect knows its scorers by name
    if "site-packages" in caption_inspect.__file__:
        command = [
            sys.executable,
            "-m",
            "inspect_ai",
            "score",
            log.location,
            "--scorer",
            "caption_inspect/caption_rouge",
        ]
        again = subprocess.run(
            [*command, "--action", "overwrite", "--overwrite"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert again.returncode == 0, again.stdout + again.stderr
        (scored,) = inspect_ai.log.read_eval_log(log.location).results.scores
        assert scored.metrics["rouge"].value == found["rouge"]
