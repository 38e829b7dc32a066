"""Components of programs: their requests and their shapes."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

from harness.contracts import CaptionSet, Decoding, Example, Failure
from harness.errors import InputError
from harness.programs.components import ProgramAdapter, ProgramMetric
from harness.programs.declaration import MetricDeclaration
from harness.programs.program import Program
from harness.run.features import FeatureCache
from harness.run.score import score_sets
from tests.support.program_clients import FAULTY


def metric(*needs, fault="", **options):
    program = Program("metric 'x'", (sys.executable, str(FAULTY), fault), Path.cwd())
    declared = MetricDeclaration(True, None, needs)
    return ProgramMetric(program, "x", {}, stored=False, declared=declared, **options)


def test_a_score_is_the_mean_of_the_candidates():
    component = metric("candidate")
    sets = [CaptionSet("1", ("aa", "bbbb"), ("r",)), CaptionSet("2", ("c",), ())]
    (scored,) = score_sets([component], sets)
    np.testing.assert_allclose(scored.stats[:, 0], [0.03, 0.01])
    batch = FeatureCache().batch(sets[:1])
    scores = component.candidate_scores(batch, FeatureCache(), None)
    np.testing.assert_allclose(scores, [[0.02, 0.04]])
    component.client.close()


def test_a_candidate_with_an_error_leaves_the_example_without_a_score():
    component = metric("candidate", fault="error")
    (scored,) = score_sets([component], [CaptionSet("1", ("a", "bad"), ("r",))])
    assert np.isnan(scored.stats[0, 0])
    component.client.close()


def test_requests_have_what_the_metric_needs(tmp_path):
    (tmp_path / "1.jpg").write_bytes(b"\xff\xd8\xff\xe0")
    item = CaptionSet("1", ("a", "b"), ("r",), media="1.jpg", source="s")
    component = metric("candidates", "image", "source", media=str(tmp_path))
    assert component.spec.level == "set"
    assert component.spec.needs == {"images"}
    assert component.requests([item]) == [
        {"candidates": ("a", "b"), "image": str(tmp_path / "1.jpg"), "source": "s"}
    ]
    with pytest.raises(InputError, match="needs images, and the example '2' has none"):
        component.requests([CaptionSet("2", ("a",), ("r",))])
    with pytest.raises(InputError, match="no file of the example '3'; set the param"):
        component.requests([CaptionSet("3", ("a",), ("r",), media="no.jpg")])


def test_a_component_is_sent_to_another_process_without_its_program():
    component = metric("candidate")
    sets = [CaptionSet("1", ("aa",), ("r",))]
    (first,) = score_sets([component], sets)
    again = pickle.loads(pickle.dumps(component))
    assert not again.client.children()
    (second,) = score_sets([again], sets)
    assert first.stats.tolist() == second.stats.tolist()
    for item in (component, again):
        item.client.close()


def test_an_item_with_an_error_is_a_failed_example(tmp_path):
    source = tmp_path / "adapter.py"
    source.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    m = json.loads(line)\n"
        "    if 'protocol' in m: a = {'protocol': 1, 'name': 'a', 'version': '1'}\n"
        "    elif m.get('example') == '2': a = {'id': m['id'], 'error': 'no image'}\n"
        "    elif 'id' in m: a = {'id': m['id'], 'value': [m['source']] * m['n']}\n"
        "    elif 'end' in m: break\n"
        "    else: continue\n"
        "    print(json.dumps(a), flush=True)\n"
    )
    program = Program("adapter 'x'", (sys.executable, str(source)), tmp_path)
    adapter = ProgramAdapter(program, "x", {})
    examples = [Example(str(k), ("r",), source=f"text {k}") for k in (1, 2, 3)]
    first, second, third = adapter.generate(examples, Decoding(candidates=2), [7, 8, 9])
    assert first.candidates == ("text 1", "text 1")
    assert second == Failure("no image")
    assert third.candidates == ("text 3", "text 3")
    adapter.client.close()
