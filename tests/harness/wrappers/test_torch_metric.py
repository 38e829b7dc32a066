"""Every metric as one of torchmetrics: merged states equal one pass; processes,
copies, state dicts.
"""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

import harness
from harness.errors import HarnessError
from harness.registry.torchvision_guard import guard_torchvision
from harness.testing.sample_captions import caption_sets
from harness.wrappers import as_torchmetric
from tests.support.metric_cases import CANNOT_RUN, SLOW, case, names

torch = pytest.importorskip("torch")
guard_torchvision()
torchmetrics = pytest.importorskip("torchmetrics")
METRICS = [
    pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else [])
    for name in names()
]
SETS = caption_sets()
CANDIDATES = [s.candidates for s in SETS]
REFERENCES = [s.references for s in SETS]
PROCESS = """
import json, os, sys
import torch.distributed as dist
import harness
from harness.wrappers import as_torchmetric
from harness.testing.sample_captions import caption_sets

rank = int(sys.argv[1])
store = f"file://{sys.argv[2]}"
dist.init_process_group("gloo", init_method=store, rank=rank, world_size=2)
sets = caption_sets()[:5] if rank == 0 else caption_sets()[5:]
out = {}
for name in ("cider", "vocabulary"):
    metric = as_torchmetric(name)
    if rank == 0 or name == "cider":
        metric.update([s.candidates for s in sets], [s.references for s in sets])
    out[name] = float(metric.compute())
    out[f"{name} again"] = float(metric.compute())
print("RESULT" + json.dumps(out))
dist.destroy_process_group()
"""


def numbers(value) -> list[float]:
    return (
        [float(item) for item in value.values()]
        if isinstance(value, dict)
        else [float(value)]
    )


@pytest.mark.parametrize("name", METRICS)
def test_merged_states_equal_one_pass(name):
    if name in CANNOT_RUN:
        pytest.skip(f"{name} needs {CANNOT_RUN[name]}")
    item = case(name)

    def metric(*parts):
        created = as_torchmetric(name, **item.parameters)
        for part in parts:
            arguments, fields = item.part(*part)
            created.update(*arguments, **fields)
        return created

    whole = metric((0, 6))
    batches = metric((0, 1), (1, 4), (4, 6))
    assert isinstance(whole, torchmetrics.Metric)
    merged = metric((0, 2))
    merged.merge_state(metric((2, 5)))
    merged.merge_state(metric((5, 6)))
    expected = numbers(whole.compute())
    assert np.array_equal(expected, numbers(batches.compute()), equal_nan=True)
    assert np.array_equal(expected, numbers(merged.compute()), equal_nan=True)
    assert whole.higher_is_better is whole.wrapped.plan.metric.spec.higher_is_better


def test_every_metric_that_cannot_run_exists():
    assert set(CANNOT_RUN) | SLOW <= set(names())


def test_the_number_is_that_of_the_python_api():
    metric = as_torchmetric("cider")
    metric.update(CANDIDATES, REFERENCES)
    expected = harness.metric("cider")(CANDIDATES, REFERENCES)
    assert (
        float(metric.compute()) == expected.value
        and metric.compute().dtype == torch.float64
    )
    assert np.array_equal(metric.result().per_example, expected.per_example)


def test_forward_gives_the_batch_and_keeps_all():
    metric = as_torchmetric("bleu1")
    bleu = harness.metric("bleu1")
    for start in (0, 3):
        batch = float(
            metric(CANDIDATES[start : start + 3], REFERENCES[start : start + 3])
        )
        assert (
            batch
            == bleu(CANDIDATES[start : start + 3], REFERENCES[start : start + 3]).value
        )
    assert float(metric.compute()) == bleu(CANDIDATES, REFERENCES).value
    metric.reset()
    with pytest.raises(HarnessError, match="no examples: call update before compute"):
        metric.compute()


def test_copies_pickles_and_state_dicts():
    metric = as_torchmetric("trm", distance="rouge")
    metric.update(CANDIDATES[:3], REFERENCES[:3])
    others = [metric.clone(), copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))]
    metric.persistent(True)
    loaded = as_torchmetric("trm", distance="rouge")
    loaded.persistent(True)
    loaded.load_state_dict(metric.state_dict())
    for other in (*others, loaded):
        other.update(CANDIDATES[3:], REFERENCES[3:])
    metric.update(CANDIDATES[3:], REFERENCES[3:])
    assert (
        {float(other.compute()) for other in others}
        == {float(loaded.compute())}
        == {float(metric.compute())}
    )
    assert repr(metric) == "CaptionMetric(trm(rouge))"


def test_a_collection_of_metrics():
    collection = torchmetrics.MetricCollection(
        {name: as_torchmetric(name) for name in ("cider", "bleu1")}
    )
    collection.update(CANDIDATES, REFERENCES)
    expected = harness.score(CANDIDATES, REFERENCES, ["cider", "bleu1"])
    assert {name: float(value) for name, value in collection.compute().items()} == {
        n: r.value for n, r in expected.items()
    }


@pytest.mark.parametrize("empty", [0, 1, None])
def test_the_gathered_state_of_processes(empty):
    """Two processes by a stand-in for the gathering function;
    one of them may have no examples.
    """
    parts = (
        [(0, 4), (4, 6)]
        if empty is None
        else [(0, 0), (0, 6)]
        if empty == 0
        else [(0, 6), (0, 0)]
    )
    ranks = [
        as_torchmetric("cider", sync={"distributed_available_fn": lambda: True})
        for _ in parts
    ]
    for rank, (start, stop) in zip(ranks, parts):
        rank.update(CANDIDATES[start:stop], REFERENCES[start:stop])

    def gather(tensor, group=None):
        name = "bytes" if tensor.dtype == torch.uint8 else "lengths"
        assert tensor.dtype in (torch.uint8, torch.int64)
        states = [getattr(rank, name) for rank in ranks]
        return [
            torch.cat(list(state)) if len(state) else torch.zeros(0, dtype=tensor.dtype)
            for state in states
        ]

    reader = ranks[1 if empty == 0 else 0]
    reader.dist_sync_fn = gather
    assert (
        float(reader.compute()) == harness.metric("cider")(CANDIDATES, REFERENCES).value
    )
    assert len(reader.lengths) == 1  # the state of the process itself is back


@pytest.mark.slow
def test_two_processes_of_torch_distributed(tmp_path):
    commands = [
        [sys.executable, "-c", PROCESS, str(rank), str(tmp_path / "meet")]
        for rank in (0, 1)
    ]
    processes = [
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for command in commands
    ]
    outputs = [process.communicate(timeout=110) for process in processes]
    results = [json.loads(out.split("RESULT")[1]) for out, _ in outputs]
    assert results[0] == results[1]
    cider = harness.metric("cider")(CANDIDATES, REFERENCES).value
    vocabulary = harness.metric("vocabulary")(CANDIDATES[:5], REFERENCES[:5]).value
    assert results[0] == {
        "cider": cider,
        "cider again": cider,
        "vocabulary": vocabulary,
        "vocabulary again": vocabulary,
    }
