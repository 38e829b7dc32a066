"""Every metric as a module of evaluate: batches equal one call,
alternatives of inputs, several processes.
"""

from __future__ import annotations

import math
import threading

import pytest

import harness
from harness.errors import HarnessError
from harness.registry.torchvision_guard import guard_torchvision
from harness.testing.sample_captions import caption_sets
from harness.wrappers import as_evaluate, as_torchmetric
from tests.support.metric_cases import CANNOT_RUN, SLOW, case, names

METRICS = [
    pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else [])
    for name in names()
]
SETS = caption_sets()
CANDIDATES = [list(s.candidates) for s in SETS]
REFERENCES = [list(s.references) for s in SETS]


@pytest.fixture(scope="module", autouse=True)
def evaluate():
    """The library, which takes seconds to import: not while tests are collected."""
    guard_torchvision()
    return pytest.importorskip("evaluate")


def module(name, tmp_path, **params):
    return as_evaluate(name, module={"cache_dir": str(tmp_path)}, **params)


@pytest.mark.parametrize("name", METRICS)
def test_every_metric(name, tmp_path, evaluate):
    if name in CANNOT_RUN:
        pytest.skip(f"{name} needs {CANNOT_RUN[name]}")
    item = case(name)
    metric = module(name, tmp_path, **item.parameters)
    assert isinstance(metric, evaluate.Metric)
    if not item.sets:
        entries = [
            [
                {
                    "log_probs": s.log_probs.tolist(),
                    "ranks": s.ranks.tolist(),
                    "tokens": list(s.tokens),
                }
                for s in row
            ]
            for row in item.scores
        ]
        metric.add_batch(predictions=entries[:2])
        metric.add_batch(predictions=entries[2:])
        values = metric.compute()
        expected = metric.compute(predictions=entries)
    else:
        (candidates, references), fields = item.part(0, 6)
        candidates = [list(c) for c in candidates]
        references = [list(r) for r in references]
        metric.add(prediction=candidates[0], reference=references[0])
        metric.add_batch(predictions=candidates[1:], references=references[1:])
        values = metric.compute(**fields)
        torch_metric = pytest.importorskip("torchmetrics") and as_torchmetric(
            name, **item.parameters
        )
        torch_metric.update(candidates, references, **fields)
        expected = {metric.name: float(torch_metric.compute())}
    assert list(values) == list(expected)
    assert all(
        values[k] == expected[k] or (math.isnan(values[k]) and math.isnan(expected[k]))
        for k in values
    )


@pytest.mark.parametrize("single_prediction", [True, False])
@pytest.mark.parametrize("single_reference", [True, False])
def test_texts_and_lists_of_texts(tmp_path, single_prediction, single_reference):
    predictions = [row[0] if single_prediction else row for row in CANDIDATES]
    references = [row[0] if single_reference else row for row in REFERENCES]
    values = module("bleu1", tmp_path).compute(
        predictions=predictions, references=references
    )
    expected = harness.metric("bleu1")(
        [row[:1] if single_prediction else row for row in CANDIDATES],
        [row[:1] if single_reference else row for row in REFERENCES],
    )
    assert values == {"bleu1": expected.value}


def test_a_combination_of_modules(tmp_path, evaluate):
    combined = evaluate.combine(
        [module("cider", tmp_path / "a"), module("bleu1", tmp_path / "b")]
    )
    values = combined.compute(predictions=CANDIDATES, references=REFERENCES)
    expected = harness.score(CANDIDATES, REFERENCES, ["cider", "bleu1"])
    assert values == {name: result.value for name, result in expected.items()}


def test_processes_write_files_that_the_first_reads(tmp_path):
    results = {}

    def process(rank, start, stop):
        arguments = {
            "cache_dir": str(tmp_path),
            "num_process": 2,
            "process_id": rank,
            "experiment_id": "x",
        }
        metric = as_evaluate("cider", module=arguments)
        metric.add_batch(
            predictions=CANDIDATES[start:stop], references=REFERENCES[start:stop]
        )
        results[rank] = metric.compute()

    threads = [
        threading.Thread(target=process, args=part) for part in ((0, 0, 4), (1, 4, 6))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert results == {
        0: {"cider": harness.metric("cider")(CANDIDATES, REFERENCES).value},
        1: None,
    }


def test_the_description_and_mistakes(tmp_path):
    metric = module("trm", tmp_path, distance="rouge")
    assert metric.name == "trm(rouge)" and "Signature: trm" in metric.description
    with pytest.raises(HarnessError, match="did you mean 'cider'"):
        module("cidr", tmp_path)
    with pytest.raises(HarnessError, match="the list is empty"):
        metric.compute(predictions=[[]], references=[["a"]])
