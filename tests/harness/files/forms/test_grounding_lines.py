"""Lines of temporal grounding."""

from __future__ import annotations

import pytest

import harness
from harness.contracts import EventSet
from harness.errors import InputError
from harness.files.forms import read_form
from harness.registry import current

LINES = "A 0.0 6.9##a person sits.\nB 20.8 30##he plays.\nA 7 9.5##he  stands. \n\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "charades_sta_test.txt"
    path.write_text(LINES, encoding="utf-8")
    return path


def test_the_sentences_of_a_video_are_its_events(file):
    params = {"path": str(file), "events": "sets"}
    examples = list(current().create("readers", "auto", params))
    assert [example.id for example in examples] == ["A", "B"]
    events = EventSet.from_text(examples[0].references[0]).events
    assert [(event.text, event.place) for event in events] == [
        ("a person sits.", (0.0, 6.9)),
        ("he  stands.", (7.0, 9.5)),
    ]


def test_the_protocol_of_grounding_reads_them(file):
    (result,) = harness.score(
        str(file), str(file), {"dense": {"protocol": "grounding"}}
    ).values()
    assert result.value == pytest.approx(1.0)


def test_another_line_is_named(file):
    file.write_text("A 0.0 6.9##a person sits.\n" * 60 + "A 7 he stands\n")
    with pytest.raises(InputError, match=":61: found 'A 7 he stands'; expected VIDEO"):
        list(read_form(file, "references").rows)


def test_sentences_without_events_are_refused(file):
    with pytest.raises(InputError, match="2 texts with times"):
        list(current().create("readers", "auto", {"path": str(file)}))
