"""A small project of its own: a registry.yaml with a reader,
models and metrics that need nothing installed.
"""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

import harness
from harness.cli.main import main
from tests.support.browser import browse, violations

__all__ = ["browse", "violations"]

RECORDS = [
    {
        "id": str(i),
        "caption": "x" * (1 + (i * k) % 7),
        "human_score": k + i % 2,
        "references": ["xx", "y"],
    }
    for i in range(1, 8)
    for k in (1, 2, 3)
]

CODE = '''

import os
import signal

import numpy as np
from harness.contracts import Example, Failure, Generation, MeanMetric
from harness.contracts import MetricSpec, TextDistance


class Words:
    """Six examples with two references each."""

    def __init__(self, *, count=6):
        self.count = count

    def fingerprint(self):
        return f"words-{self.count}"

    def __iter__(self):
        for i in range(self.count):
            yield Example(f"e{i}", (f"a dog number {i}", f"the dog {i} runs"))


class Echo:
    """Repeats the first reference; ``fail`` names examples it cannot do; ``log``
    counts its calls.
    """

    def __init__(self, *, n=2, fail=(), log=None, die_at=None):
        self.n, self.fail, self.log, self.die_at = n, tuple(fail), log, die_at

    def fingerprint(self):
        return f"echo-{self.n}-{self.fail}"

    def generate(self, examples, decoding, seeds):
        for example, seed in zip(examples, seeds):
            if self.log:
                with open(self.log, "a") as file:
                    file.write(f"{example.id} {seed}\\n")
            if example.id == self.die_at and not os.path.exists("survive"):
                os.kill(os.getpid(), signal.SIGKILL)
            if example.id in self.fail:
                yield Failure("could not read it")
            else:
                size = decoding.candidates or self.n
                yield Generation(
                    tuple(example.references[k % 2] + " x" * k for k in range(size))
                )


class Length(MeanMetric):
    """Mean number of words of the candidates; undefined where ``undefined`` is among
    the ids.
    """

    def __init__(
        self,
        *,
        scale: float = 1.0,
        undefined: tuple[str, ...] = (),
        level: str = "item",
    ):
        self.scale, self.undefined = scale, tuple(undefined)
        self.spec = MetricSpec("length", level=level, higher_is_better=True)

    def signature(self):
        return f"length|scale:{self.scale:g}"

    def scores(self, batch, features, state):
        words = features.per_text(
            "words", batch.candidate_ids, lambda texts: [len(t.split()) for t in texts]
        )
        scores = self.scale * np.asarray(words, dtype=float).reshape(
            len(batch), batch.n
        ).mean(axis=1)
        scores[[i for i, name in enumerate(batch.ids) if name in self.undefined]] = (
            np.nan
        )
        return scores

    def null(self, batch, features, state, labels):
        words = np.asarray(
            features.per_text(
                "words", batch.text_ids, lambda texts: [len(t.split()) for t in texts]
            ),
            float,
        )
        return words.reshape(len(batch), -1) @ labels.T / labels.sum(axis=1)


class Chars(TextDistance):
    """Difference of lengths."""

    name = "chars"

    def pairwise(self, texts):
        lengths = np.array([len(t) for t in texts], dtype=float)
        return np.abs(lengths[:, None] - lengths)


class Broken:
    import nothing_of_this_name
'''

REGISTRY = """
api: 1
provider: mine
readers: {words: {import: "mine_parts:Words", summary: six examples}}
adapters: {echo: {import: "mine_parts:Echo", summary: repeats}}
metrics: {length: {import: "mine_parts:Length", summary: words,
                   level: item, higher_is_better: true}}
distances: {chars: {import: "mine_parts:Chars", summary: lengths}}
"""

SPEC = """
task: words
dataset: {reader: words}
models:
  - echo: {}
metrics:
  - length
bootstrap: {samples: 50}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory with ``registry.yaml``, its code and ``spec.yaml``; the
    current directory during the test.
    """
    (tmp_path / "mine_parts.py").write_text(
        textwrap.dedent(CODE).replace(
            "class Broken:\n    import nothing_of_this_name\n", ""
        )
    )
    (tmp_path / "registry.yaml").write_text(REGISTRY)
    (tmp_path / "spec.yaml").write_text(SPEC.lstrip())
    monkeypatch.chdir(tmp_path)
    from harness.registry import in_use as registry

    registry._load.cache_clear()
    monkeypatch.setattr(registry, "_extra_files", [])
    import sys

    sys.modules.pop("mine_parts", None)
    yield tmp_path
    for name in [
        name
        for name, module in sys.modules.items()
        if (getattr(module, "__file__", None) or "").startswith(f"{tmp_path}/")
    ]:
        del sys.modules[name]
    registry._load.cache_clear()


CAPTIONS_SPEC = {
    "task": "sample",
    "dataset": {
        "reader": "coco",
        "path": str(
            Path(__file__).parents[2]
            / "tasks"
            / "harness_tasks"
            / "sample"
            / "captions.json"
        ),
    },
    "references": 5,
    "limit": 16,
    "models": [
        {"human": {"label": "people", "held_out": 5}},
        {"central": {"label": "central", "distance": "bleu", "n": 5, "held_out": True}},
        {"shuffled": {"label": "other <b>scene</b>", "n": 5}},
    ],
    "metrics": [
        *({name: {"tokenizer": "none"}} for name in ("bleu1", "rouge", "mbleu")),
        {"trm": {"distance": "bleu"}},
    ],
    "significance": {"method": "exact"},
    "bootstrap": {"samples": 50},
}


@pytest.fixture(scope="session")
def captions_run(tmp_path_factory):
    """A finished run with every kind of number: intervals, p-values, scores per
    example, opposite directions.
    """
    return harness.evaluate(
        CAPTIONS_SPEC, output=tmp_path_factory.mktemp("runs") / "sample"
    )


@pytest.fixture
def artefacts(tmp_path: Path) -> Path:
    """The folder of screenshots: ``HARNESS_ARTEFACTS``, else a temporary one."""
    folder = Path(os.environ.get("HARNESS_ARTEFACTS") or tmp_path / "artefacts")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def judged_runs(tmp_path, monkeypatch, capsys):
    """Two finished runs of judgments below ``out``, and the printed text of each."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "j.jsonl").write_text("".join(json.dumps(r) + "\n" for r in RECORDS))
    for name in ("one", "two"):
        (tmp_path / f"{name}.yaml").write_text(
            f"task: judgments/{name}\njudgments: {{form: captions, path: j.jsonl}}\n"
            "statistics: [kendall_c, pearson, accuracy]\n"
            "metrics: [{bleu1: {tokenizer: none}}, {self-bleu: {n: 2, tokenizer: "
            "none}}, {rouge: {tokenizer: none}}]\n"
            "published: {reference: A paper, values: {bleu1: 12.5, spice: 40}}\n"
        )
    (tmp_path / "all.yaml").write_text("include: [one.yaml, two.yaml]\n")
    assert main(["run", "all.yaml", "--output", "out"]) == 0
    return capsys.readouterr().out
