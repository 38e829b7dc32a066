"""Forms of files of a third party, beside those of the harness."""

from __future__ import annotations

import json
import re
import sys

import pytest

import harness
from harness.cli.main import main
from harness.errors import HarnessError
from harness.files.forms import FORM_TABLE
from harness.registry.file_forms import (
    form_entries,
    form_names,
    form_of,
    plugin_forms,
    read_form,
)


@pytest.fixture
def project(root, tmp_path, monkeypatch):
    """The working directory, with the form of docs/plugins.md."""
    guide = (root / "docs" / "plugins.md").read_text(encoding="utf-8")
    section = guide.split("## Forms of files")[1].split("\n## ")[0]
    (manifest,) = re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)
    (module,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    (tmp_path / "registry.yaml").write_text(manifest)
    (tmp_path / "my_forms.py").write_text(module)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("my_forms", None)


def utterance(key, words, state="done"):
    return {
        "utt": key,
        "state": state,
        "nbest": [{"words": "a bird", "score": -9.0}, {"words": words, "score": -1.5}],
    }


def test_a_form_of_a_plugin_is_read_as_those_of_the_harness(project):
    rows = [
        utterance("1", "a dog"),
        utterance("2", "a cat"),
        utterance("3", "a", "aborted"),
    ]
    (project / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (project / "r.json").write_text(json.dumps({"1": "a dog", "2": "a cat"}))
    form = read_form(project / "a.jsonl", "candidates")
    assert form.name == "asr-lattice" and form.ids == ("id",)
    assert [(row.fields["id"], row.fields["candidates"]) for row in form.rows] == [
        ("1", "a dog"),
        ("2", "a cat"),
    ]
    assert form.left_out == {"aborted utterances": 1}
    assert harness.score("a.jsonl", "r.json", "bleu1")["bleu1"].value == pytest.approx(
        1.0
    )
    assert harness.score("r.json", "a.jsonl", "bleu1")["bleu1"].value == pytest.approx(
        1.0
    )


def test_a_form_of_a_plugin_is_listed_after_those_of_the_harness(project):
    names = [entry.name for entry in form_entries()]
    assert names == [*(form.name for form in FORM_TABLE), "asr-lattice"] == form_names()
    assert form_of(form_entries()[-1]) is plugin_forms()[0]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("LATTICE = 3", "form '.*/asr-lattice' .* is a int; expected a FormKind"),
        (
            "from harness.files.forms import FORMS\nLATTICE = FORMS['chat']",
            "has the name 'chat'; expected 'asr-lattice'",
        ),
    ],
)
def test_what_is_no_form_is_refused_by_name(project, code, message):
    (project / "my_forms.py").write_text(code)
    (project / "a.json").write_text('["a dog"]')
    with pytest.raises(HarnessError, match=message):
        read_form(project / "a.json", "candidates")


def test_forms_are_listed_and_shown(project, capsys):
    assert main(["list", "forms"]) == 0
    assert re.search(
        r"^  asr-lattice +hypotheses of our recogniser$",
        capsys.readouterr().out,
        re.MULTILINE,
    )
    assert main(["show", "forms/srt"]) == 0
    shown = capsys.readouterr().out
    assert (
        shown.startswith("srt (form of harness)\n")
        and "00:00:01,000 --> 00:00:02,000" in shown
    )
    assert main(["show", "forms/asr-latice"]) == 2
    assert (
        "there is no form called 'asr-latice'; did you mean 'asr-lattice'?"
        in capsys.readouterr().err
    )
