"""Verbs that read a finished run whose metrics are of a plugin that is not installed
where they run.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

import harness
from harness.cli.main import main
from harness.errors import HarnessError, InputError
from harness.run.finished import Run
from harness.run.stored_metrics import StoredMetric, read_metric

PLUGIN = """
import numpy as np
from harness.contracts import CorpusMetric, MeanMetric, MetricSpec
from harness.contracts import SumMetric, TextDistance


class Overlap(MeanMetric):
    spec = MetricSpec("overlap", True, bounds=(0, 1))

    def scores(self, batch, features, state):
        shares = []
        for item in batch.sets:
            words = set(item.references[0].split())
            shares.append(len(set(item.candidates[0].split()) & words) / len(words))
        return np.array(shares)


class Ratio(SumMetric):
    spec = MetricSpec("ratio", False, needs=frozenset())

    def addends(self, batch, features, state):
        words = [item.candidates[0].split() for item in batch.sets]
        return np.array([[len(set(row)), len(row)] for row in words], dtype=float)

    def of_sums(self, sums):
        return sums[..., 0] / sums[..., 1]


class WordCount(CorpusMetric):
    spec = MetricSpec(
        "word-count", True, level="corpus", needs=frozenset(), resampled=False
    )

    def collect(self, batch, features, state):
        return [list(item.candidates) for item in batch.sets]

    def number(self, objects):
        texts = [text for item in objects for text in item]
        return float(len({word for text in texts for word in text.split()}))


class Unlike(TextDistance):
    name = "unlike"

    def pairwise(self, texts):
        sets = [set(text.split()) for text in texts]
        return np.array([[1 - len(a & b) / len(a | b) for b in sets] for a in sets])
"""
MANIFEST = """api: 1
provider: acme
metrics:
  overlap:
    import: "parts:Overlap"
    summary: "Words of the first reference"
    display: "Overlap of words"
  ratio: {import: "parts:Ratio", summary: "Distinct words"}
  word-count: {import: "parts:WordCount", summary: "Words of all captions"}
distances:
  unlike: {import: "parts:Unlike", summary: "Words that differ"}
"""
SPEC = """task: mine
dataset: {reader: jsonl, path: refs.jsonl}
models:
  - predictions: {label: long, path: long.jsonl}
  - predictions: {label: short, path: short.jsonl}
metrics: [rouge, overlap, ratio, word-count, {trm: {distance: unlike}}]
"""
REFERENCES = [
    "a dog runs over the grass",
    "two cats sit on a mat",
    "people ride their bikes",
    "a red bus turns left",
    "a plate of warm food",
    "the boy kicks a ball",
    "one bird sings in a tree",
    "a man reads the paper",
]
VERBS = {
    "report": ["report", "{run}", "--output", "page.html"],
    "tables": ["report", "{run}", "--output", "p.html", "--tables", "tables"],
    "compared": ["report", "{run}", "--output", "page.html", "--compare"],
    "push": ["push", "{run}", "--to", "card"],
    "compare": ["compare", "{run}"],
    "correlate": ["correlate", "{run}", "--x", "overlap", "--y", "rouge"],
    **{
        form: ["export", "{run}", "--format", form, "--output", "out"]
        for form in ("lm-eval", "coco", "baseline", "every-eval-ever")
    },
}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """The folder of the plugin with a finished run ``run``."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "parts.py").write_text(PLUGIN)
    (folder / "registry.yaml").write_text(MANIFEST)
    (folder / "spec.yaml").write_text(SPEC)
    texts = {
        "refs": [{"references": [text, f"{text} now"]} for text in REFERENCES],
        "long": [{"candidates": [text.replace("the", "a")]} for text in REFERENCES],
        "short": [
            {"candidates": [" ".join(text.split()[: 2 + k % 2])]}
            for k, text in enumerate(REFERENCES)
        ],
    }
    for name, rows in texts.items():
        (folder / f"{name}.jsonl").write_text(
            "".join(
                json.dumps({"id": str(k), **row}) + "\n" for k, row in enumerate(rows)
            )
        )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        harness.evaluate("spec.yaml", output=folder / "run")
    return folder


@pytest.fixture
def run_folder(home, tmp_path, monkeypatch):
    """A copy of the run; the working directory does not have the plugin."""
    shutil.copytree(home / "run", tmp_path / "run")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return tmp_path / "run"


def test_means_of_scores_are_compared_and_other_numbers_say_what_is_missing(
    run_folder, home, monkeypatch
):
    rows = {row.metric: row for row in harness.compare(run_folder)}
    assert list(rows) == ["rouge", "overlap", "ratio", "word-count", "trm(unlike)"]
    monkeypatch.chdir(home)
    here = {row.metric: row for row in harness.compare(run_folder)}
    for name in ("overlap", "trm(unlike)"):
        assert rows[name].difference == here[name].difference
        assert (rows[name].p_value, rows[name].higher_is_better, rows[name].better) == (
            here[name].p_value,
            here[name].higher_is_better,
            here[name].better,
        )
        assert (
            "by the stored scores" in rows[name].note
            and "by the stored scores" not in here[name].note
        )
    assert "the plugin 'acme' is not installed here" in rows["overlap"].note
    assert (
        "unknown distance 'unlike'" in rows["trm(unlike)"].note
        and "did you mean" not in rows["trm(unlike)"].note
    )
    for name in ("ratio", "word-count"):
        row = rows[name]
        assert (
            row.better == "not tested" and row.difference is None and row.p_holm is None
        )
        assert (row.a, row.b) == tuple(
            record.value
            for record in Run.open(run_folder).records
            if record.metric == name
        )
        assert (
            row.note
            == "not the mean of its scores, and the plugin 'acme' is not installed here"
        )
    assert here["ratio"].p_value is not None, (
        "rows that were made without the component are not kept"
    )


def test_rows_that_were_computed_with_the_plugin_are_read_without_it(
    run_folder, home, monkeypatch
):
    monkeypatch.chdir(home)
    expected = harness.compare(run_folder)
    monkeypatch.chdir(run_folder.parent / "elsewhere")
    assert harness.compare(run_folder) == expected


def test_sequences_of_stored_scores(run_folder):
    rows = {row.metric: row for row in harness.compare(run_folder, anytime=True)}
    assert rows["overlap"].anytime is not None and rows["ratio"].anytime is None


def test_the_gate_reads_stored_scores(run_folder, capsys):
    arguments = [
        "gate",
        f"{run_folder}::long",
        "--baseline",
        f"{run_folder}::short",
        "--max-drop",
        "0.1",
    ]
    assert main([*arguments, "-m", "overlap"]) in (0, 1, 4)
    assert "by the stored scores: the plugin 'acme' is not installed here" in " ".join(
        capsys.readouterr().out.split()
    )
    assert main([*arguments, "-m", "ratio"]) == 2
    assert (
        "'ratio' is not the mean of its scores, and the plugin 'acme' is not "
        "installed here" in capsys.readouterr().err
    )


def test_texts_are_not_scored_without_the_plugin(run_folder, capsys):
    before = (run_folder / "results.json").read_bytes()
    for arguments in (
        ["rescore", str(run_folder), "-m", "bleu"],
        ["power", str(run_folder)],
    ):
        assert main(arguments) == 2
        error = capsys.readouterr().err
        assert (
            "has the metric 'overlap', and the plugin 'acme' is not installed here: "
            "texts cannot be scored without it" in error
        )
    assert (run_folder / "results.json").read_bytes() == before


def test_a_metric_in_the_place_of_one_that_is_not_installed(run_folder):
    metric = read_metric(Run.open(run_folder), "trm(unlike)")
    assert (
        isinstance(metric, StoredMetric)
        and metric.spec.higher_is_better is False
        and metric.spec.level == "set"
    )
    with pytest.raises(
        HarnessError,
        match=r"'trm\(unlike\)' cannot score texts: unknown distance 'unlike'",
    ):
        metric.scores(None, None, None)
    with pytest.raises(
        InputError, match="has no metric 'overlop'; did you mean 'overlap'"
    ):
        read_metric(Run.open(run_folder), "overlop")
    np.testing.assert_allclose(metric.reduce(np.array([[1.0], [3.0]])), 2.0)


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_that_reads_a_run_works_without_the_plugin(run_folder, verb):
    arguments = [text.format(run=run_folder) for text in VERBS[verb]]
    result = subprocess.run(
        [sys.executable, "-m", "harness", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    written = {
        "report": "page.html",
        "tables": "tables/results.md",
        "push": "card/README.md",
    }.get(verb)
    if written:
        text = (run_folder.parent / "elsewhere" / written).read_text(encoding="utf-8")
        record = next(
            record
            for record in Run.open(run_folder).records
            if record.metric == "ratio"
        )
        assert "overlap" in text and f"{record.value:.4f}" in text
