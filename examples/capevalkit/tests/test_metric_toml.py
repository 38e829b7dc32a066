"""Files ``metric.toml`` of capevalkit, and those that are none."""

from __future__ import annotations

import re

import pytest
from caption_capevalkit.metric_toml import (
    SCORES,
    WITHOUT_IMAGES,
    WITHOUT_REFERENCES,
    MetricFile,
    MetricFileError,
)


def test_a_metric_of_a_checkout_is_scored_by_its_capevalkit(metric_file):
    checkout = metric_file.parent.parent.parent
    assert MetricFile(metric_file).command() == [
        *("uv", "run", "--project", str(checkout)),
        *("capevalkit", "score", "--metric", "mine"),
    ]
    assert MetricFile(metric_file).needs() is None


@pytest.mark.parametrize("project", [None, '[project]\nname = "mine"\n', "[tool]\n"])
def test_elsewhere_it_is_scored_by_the_capevalkit_on_path(metric_file, project):
    file = metric_file.parent.parent.parent / "pyproject.toml"
    file.unlink()
    if project is not None:
        file.write_text(project)
    command = MetricFile(metric_file).command()
    assert command == ["capevalkit", "score", "--metric", "mine"]


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("polos", ["candidate", "references", "image"]),
        ("expert", ["candidate", "image"]),
        ("jaspice", ["candidate", "references"]),
    ],
)
def test_what_a_metric_of_capevalkit_needs_is_known(metric_file, name, needs):
    text = metric_file.read_text()
    metric_file.write_text(text.replace('name = "mine"', f'name = "{name}"'))
    assert MetricFile(metric_file).needs() == needs
    assert {*WITHOUT_IMAGES, *WITHOUT_REFERENCES} < {*SCORES}


FAULTS = [
    (r"(?s).*", "name = ", "no TOML: "),
    (r"(?s).*", "", r"no table \[metric\]; expected a metric.toml"),
    ('"mine"', '""', "metric.name is ''; expected a text"),
    ("module = .*", "", "metric.module is None"),
    (r"\[repository\]", "[repo]", r"no table \[repository\]"),
    (r"\[repository\]", "enabled = false\n[repository]", "enabled is false"),
    (r"command = .*", 'command = "score.py"', "command is 'score.py'"),
    (r"command = .*", "command = []", r"command is \[\]; expected a"),
]
"""Pattern in the file, what stands in its place, and the message."""


@pytest.mark.parametrize(("pattern", "text", "message"), FAULTS)
def test_a_file_of_another_form_is_one_line(metric_file, pattern, text, message):
    metric_file.write_text(re.sub(pattern, text, metric_file.read_text(), count=1))
    with pytest.raises(MetricFileError, match=message) as caught:
        MetricFile(metric_file)
    assert str(caught.value).startswith(f"{metric_file}: ")
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(MetricFileError, match="metric.toml: No such file"):
        MetricFile(tmp_path / "metric.toml")
