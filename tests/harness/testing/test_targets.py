"""Targets of a check, and components that cannot be checked: one line each."""

from __future__ import annotations

import importlib
import sys

import pytest

from harness.cli.main import main
from harness.contracts import Decoding
from harness.errors import HarnessError, MissingExtra, UnknownName
from harness.registry import Component
from harness.testing import check_metric, sample_captions
from harness.testing.metric_subject import MetricSubject, TokenScoreSubject
from harness.testing.targets import (
    checks_of,
    create_component,
    kind_of,
    subject_of,
    targets,
)

PARTS = '''
"""Components that cannot be checked."""

from harness.contracts import MeanMetric, MetricSpec


class NoSpec(MeanMetric):
    """A metric without a specification."""

    def scores(self, batch, features, state):
        return [0.0] * len(batch)


class WrongSpec(NoSpec):
    """A metric whose specification is a mapping."""

    spec = {"name": "wrong"}


class RaisingConstructor(NoSpec):
    """A metric whose constructor raises."""

    spec = MetricSpec("raising", None)

    def __init__(self, *, folder: str = "none"):
        raise FileNotFoundError(f"no folder\\n{folder}")


class NeedsFolder(NoSpec):
    """A metric with a required parameter."""

    spec = MetricSpec("folder", None)

    def __init__(self, *, folder: str):
        self.folder = folder


class NoFit:
    """A metric without fit."""

    spec = MetricSpec("no-fit", None)

    def signature(self):
        return "no-fit"

    stats = per_example = reduce = signature


class Nothing:
    """No component."""
'''
MANIFEST = """
provider: mine
metrics:
  no-spec: {import: "broken_parts:NoSpec", summary: "no specification"}
  wrong-spec: {import: "broken_parts:WrongSpec", summary: "a mapping"}
  raising: {import: "broken_parts:RaisingConstructor", summary: "raises at once"}
  needs-folder: {import: "broken_parts:NeedsFolder", summary: "a required parameter"}
"""
LINES = [
    (
        "no-spec",
        "metric 'mine/no-spec' (NoSpec) has no 'spec'; "
        "docs/plugins.md lists its members",
    ),
    (
        "broken_parts:NoSpec",
        "metric 'broken_parts:NoSpec' (NoSpec) has no 'spec'; "
        "docs/plugins.md lists its members",
    ),
    (
        "wrong-spec",
        "metric 'mine/wrong-spec': spec is {'name': 'wrong'}; expected a MetricSpec",
    ),
    (
        "broken_parts:WrongSpec",
        "metric 'broken_parts:WrongSpec': spec is {'name': 'wrong'}; "
        "expected a MetricSpec",
    ),
    (
        "raising",
        "metric 'mine/raising' cannot be constructed: FileNotFoundError: "
        "no folder none",
    ),
    (
        "broken_parts:RaisingConstructor",
        "RaisingConstructor cannot be constructed: FileNotFoundError: no folder none",
    ),
    (
        "needs-folder",
        "metric 'mine/needs-folder' needs the parameter 'folder': give an instance, "
        "or --set folder=...",
    ),
    (
        "broken_parts:NeedsFolder",
        "NeedsFolder needs the parameter 'folder': give an instance, "
        "or --set folder=...",
    ),
    (
        "broken_parts:NoFit",
        "metric 'broken_parts:NoFit' (NoFit) has no 'fit'; "
        "docs/plugins.md lists its members",
    ),
    ("broken_syntax:Metric", "broken_syntax cannot be imported: SyntaxError: "),
    (
        "needs_package:Metric",
        "needs_package needs the package 'no_such_package', which is not installed",
    ),
    (
        "broken_parts:Nothing",
        "broken_parts:Nothing: its kind is not clear from its methods; "
        "give --kind KIND (adapters, ",
    ),
]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with a manifest and a module of broken components."""
    (tmp_path / "broken_parts.py").write_text(PARTS)
    (tmp_path / "broken_syntax.py").write_text("def broken(:\n")
    (tmp_path / "needs_package.py").write_text("import no_such_package\n")
    (tmp_path / "registry.yaml").write_text(MANIFEST)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in ("broken_parts", "broken_syntax", "needs_package"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(("target", "line"), LINES)
def test_a_component_that_cannot_be_checked_is_one_line(target, line, project, capsys):
    assert main(["check", target]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert line in captured.err


def test_the_python_api_raises_the_same_line(project):
    broken_parts = importlib.import_module("broken_parts")
    with pytest.raises(HarnessError, match=r"metric 'NoSpec' \(NoSpec\) has no 'spec'"):
        check_metric(broken_parts.NoSpec())
    with pytest.raises(
        HarnessError,
        match="RaisingConstructor cannot be constructed: FileNotFoundError",
    ) as raised:
        check_metric(broken_parts.RaisingConstructor)
    assert isinstance(raised.value.__cause__, FileNotFoundError)


def test_a_parameter_may_be_set(project):
    (target,) = targets("broken_parts:NeedsFolder", params={"folder": "here"})
    assert target.component.parameters == {"folder": "here"}
    assert subject_of(target.kind, target.component).parameters == {"folder": "here"}


def test_names_of_several_kinds():
    assert [(t.kind, t.label) for t in targets("bleu")] == [
        ("metrics", "harness/bleu"),
        ("distances", "harness/bleu"),
    ]
    assert [t.kind for t in targets("distances/bleu")] == ["distances"]
    assert [t.kind for t in targets("bleu", "distance")] == ["distances"]
    assert [t.kind for t in targets("coco")] == ["tasks", "readers"]
    (target,) = targets("trm", "metrics", {"distance": "bleu"})
    assert target.component == {"harness/trm": {"distance": "bleu"}}
    assert target.entry is not None


def test_the_nearest_folder_of_a_plugin_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "zebra-words").mkdir()
    with pytest.raises(UnknownName, match="did you mean 'zebra-words'?"):
        targets("zebra-word")


def test_unknown_names():
    with pytest.raises(
        UnknownName, match="there is nothing called 'metoer'; did you mean 'meteor'?"
    ):
        targets("metoer")
    with pytest.raises(UnknownName, match="there is no module 'no_module'"):
        targets("no_module:Metric")
    with pytest.raises(
        UnknownName, match="unknown kind 'metrcs'; did you mean 'metrics'?"
    ):
        targets("bleu", "metrcs")
    with pytest.raises(HarnessError, match=r"none.yaml: no such task file"):
        targets("none.yaml")
    with pytest.raises(UnknownName, match="unknown kind 'x'"):
        checks_of("x")


def test_a_missing_package_is_a_missing_extra(project):
    with pytest.raises(MissingExtra):
        targets("needs_package:Metric")


def test_subjects_of_metrics_by_level(overlap):
    assert isinstance(subject_of("metrics", overlap()), MetricSubject)
    subject = subject_of("metrics", "pregen")
    assert isinstance(subject, TokenScoreSubject)
    assert subject.entry is not None


def test_subjects_take_the_given_inputs():
    sets = sample_captions.caption_sets(2, 2)
    assert subject_of("distances", "bleu", sets=sets).sets == sets
    assert subject_of("metrics", "bleu", sets=sets).sets == sets
    examples = sample_captions.examples(count=4)
    decoding = Decoding(candidates=2)
    subject = subject_of("adapters", "shuffled", examples=examples, decoding=decoding)
    assert (subject.examples, subject.decoding) == (examples, decoding)


def test_components_from_names_classes_and_instances(overlap):
    assert create_component("metrics", {"bleu": {"n": 2}}).parameters == {"n": 2}
    assert (
        create_component("metrics", type(overlap()), {"power": 2.0}).instance.power
        == 2.0
    )
    metric = overlap()
    assert create_component("metrics", metric) == Component(metric)
    assert create_component(
        "metrics", Component(metric, {"power": 1.0})
    ).parameters == {"power": 1.0}
    with pytest.raises(
        UnknownName, match="Overlap has no parameter 'powr'; did you mean 'power'?"
    ):
        create_component("metrics", type(metric), {"powr": 2.0})


@pytest.mark.parametrize(
    ("methods", "kind"),
    [
        (("stats",), "metrics"),
        (("evaluate_scores",), "metrics"),
        (("matrices",), "distances"),
        (("encode",), "embeddings"),
        (("generate",), "adapters"),
        (("__iter__", "fingerprint"), "readers"),
        (("__iter__",), None),
    ],
)
def test_the_kind_follows_from_the_methods(methods, kind):
    assert kind_of(type("Part", (), dict.fromkeys(methods))) == kind
