"""The plan of a run: decoding grids, labels, places of mistakes."""

from __future__ import annotations

import pytest

from harness import api
from harness.contracts import Decoding
from harness.errors import InputError
from harness.run.plan import decoding_grid
from harness.rundir.records import changed_fields
from harness.spec.models import DecodingSpec


def plan(**values):
    (item,) = api.plans("spec.yaml", **values)
    return item


def test_decodings_are_the_product_of_the_lists():
    grid = decoding_grid(DecodingSpec(temperature=[0.5, 1.0], candidates=[1, 3], options={"alpha": 1}))
    assert [(d.temperature, d.candidates) for d in grid] == [(0.5, 1), (0.5, 3), (1.0, 1), (1.0, 3)]
    assert all(d.options == {"alpha": 1} for d in grid)


def test_a_decoding_is_described_by_what_differs_from_the_defaults():
    decoding = Decoding(strategy="nucleus", top_p=0.9, options={"alpha": 1})
    assert changed_fields(decoding) == {"strategy": "nucleus", "top_p": 0.9, "options": {"alpha": 1}}
    assert changed_fields(Decoding()) == {}


def test_decodings_that_differ_in_candidates_share_the_generation_of_the_largest(project):
    item = plan(decoding={"temperature": [0.5, 1.0], "candidates": [1, 2]})
    assert [len(decodings) for decodings in item.generations.values()] == [2, 2]
    assert [(decoding.temperature, decoding.candidates) for decoding in item.generations] == [(0.5, 2), (1.0, 2)]


def test_models_get_unique_labels_and_label_is_no_parameter(project):
    item = plan(models=["echo", {"echo": {"n": 3}}, {"echo": {"label": "mine", "n": 1}}])
    assert [(model.label, model.name, model.params) for model in item.models] == [
        ("echo", "echo", {}), ("echo #2", "echo", {"n": 3}), ("mine", "echo", {"n": 1}),
    ]  # fmt: skip


def test_reference_counts_are_distinct(project):
    assert plan(references=[1, 2, 1]).reference_counts == (1, 2)
    assert plan().reference_counts == (None,)


def test_metrics_are_split_by_level(project):
    item = plan()
    assert [metric.label for metric in item.caption_metrics] == ["length"]
    assert item.token_metrics == ()


SPEC = """task: t
dataset: {reader: words, count: 3}
models:
  - echo: {n: 2}
metrics:
  - length
  - length:
      scale: 2.0
      WORD: 1
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("WORD: 1", "scal: 1", "spec.yaml:7: metric 'length' has no parameter 'scal'; did you mean 'scale'?"),
        ("{n: 2}", "{m: 2}", "spec.yaml:4: adapter 'echo' has no parameter 'm'; did you mean 'n'?|adapter 'echo' has no"),
        ("reader: words", "reader: wrds", "spec.yaml:2: unknown reader 'wrds'; did you mean 'words'?"),
        ("- length\n", "- lenth\n", "spec.yaml:6: unknown metric 'lenth'; did you mean 'length'?"),
        ("- echo: {n: 2}", "- 3", "spec.yaml:4: models.0: expected a name or one name"),
    ],
)
def test_a_mistake_has_its_line(project, old, new, message):
    (project / "spec.yaml").write_text(SPEC.replace(old, new).replace("      WORD: 1\n", ""))
    with pytest.raises(InputError, match=message.replace("?", r"\?")):
        plan()


def test_an_error_of_a_constructor_has_the_line_of_its_component(project):
    code = (project / "mine_parts.py").read_text()
    check = "if scale < 0: raise ValueError('scale is below 0')\n        self.scale, self.undefined ="
    code = code.replace("self.scale, self.undefined =", check)
    (project / "mine_parts.py").write_text(code)
    (project / "spec.yaml").write_text(SPEC.replace("2.0", "-1.0").replace("      WORD: 1\n", ""))
    with pytest.raises(InputError, match=r"^spec\.yaml:7: metrics\.1: scale is below 0$"):
        plan()


def test_a_secret_in_a_label_is_redacted(project, monkeypatch):
    monkeypatch.setenv("TOKEN_OF_TEST", "sk-0123456789abcdef")
    written = (project / "spec.yaml").read_text().replace("  - echo: {}", '  - echo: {label: "m ${secret:TOKEN_OF_TEST}"}')
    (project / "spec.yaml").write_text(written)
    run = api.evaluate("spec.yaml", allow_secrets=["TOKEN_OF_TEST"])
    assert [record.model for record in run.records] == ["m ${secret:TOKEN_OF_TEST}"]
    assert "0123456789" not in str(run.samples.to_dict())
