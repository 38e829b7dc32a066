"""Files ``metric.toml`` of capevalkit, and those that are none."""

from __future__ import annotations

import pytest
from caption_capevalkit.metric_toml import (
    SCORES,
    WITHOUT_IMAGES,
    WITHOUT_REFERENCES,
    MetricFile,
    MetricFileError,
)

FILE = """
[metric]
name = "mine"
python = ">=3.10"
module = "capevalkit.metrics.mine"

[repository]
dir = "metrics/upstreams/mine"

[runner]
command = ["python", "score.py"]
"""


@pytest.fixture
def file(tmp_path):
    """The file of a metric in a checkout of capevalkit."""
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "capevalkit"\n')
    path = tmp_path / "metrics" / "mine" / "metric.toml"
    path.parent.mkdir(parents=True)
    path.write_text(FILE)
    return path


def test_a_metric_of_a_checkout_is_scored_by_its_capevalkit(file, tmp_path):
    assert MetricFile(file).command() == [
        *("uv", "run", "--project", str(tmp_path)),
        *("capevalkit", "score", "--metric", "mine"),
    ]
    assert MetricFile(file).needs() is None


@pytest.mark.parametrize("project", [None, '[project]\nname = "mine"\n', "[tool]\n"])
def test_elsewhere_it_is_scored_by_the_capevalkit_on_path(file, tmp_path, project):
    (tmp_path / "pyproject.toml").unlink()
    if project is not None:
        (tmp_path / "pyproject.toml").write_text(project)
    command = MetricFile(file).command()
    assert command == ["capevalkit", "score", "--metric", "mine"]


def test_what_a_metric_of_capevalkit_needs_is_known(file):
    file.write_text(FILE.replace('name = "mine"', 'name = "polos"'))
    assert MetricFile(file).needs() == ["candidate", "references", "image"]
    file.write_text(FILE.replace('name = "mine"', 'name = "expert"'))
    assert MetricFile(file).needs() == ["candidate", "image"]
    file.write_text(FILE.replace('name = "mine"', 'name = "jaspice"'))
    assert MetricFile(file).needs() == ["candidate", "references"]
    assert {*WITHOUT_IMAGES, *WITHOUT_REFERENCES} < {*SCORES}


FAULTS = {
    "name = ": "no TOML: ",
    "": r"no table \[metric\]; expected a metric.toml",
    FILE.replace('"mine"', '""'): "metric.name is ''; expected a text",
    FILE.replace('module = "capevalkit.metrics.mine"', ""): "metric.module is None",
    FILE.replace("[repository]", "[repo]"): r"no table \[repository\]",
    FILE.replace('["python", "score.py"]', '"score.py"'): "command is 'score.py'",
    FILE.replace('["python", "score.py"]', "[]"): r"command is \[\]; expected a",
    FILE.replace("[repository]", "enabled = false\n[repository]"): "enabled is false",
}


@pytest.mark.parametrize("content", FAULTS)
def test_a_file_of_another_form_is_one_line(file, content):
    file.write_text(content)
    with pytest.raises(MetricFileError, match=FAULTS[content]) as caught:
        MetricFile(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(MetricFileError, match="metric.toml: No such file"):
        MetricFile(tmp_path / "metric.toml")
