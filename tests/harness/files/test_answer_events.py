"""Answers of models as sets of events."""

from __future__ import annotations

import pytest

from harness.contracts import Event, EventSet, Example, Failure, Generation
from harness.errors import InputError
from harness.files.answer_events import AnswerEvents, example_duration
from harness.files.generated.timed_texts import TimeScale

ANSWER = "0 - 4.5 seconds, a man runs. 4 - 9 seconds, he falls."
EVENTS = (Event("a man runs.", (0.0, 4.5)), Event("he falls.", (4.0, 9.0)))
BARE = "From 00 to 25, a man runs. From 25 to 50, he falls."


def test_answers_are_sets_with_the_duration_of_the_references():
    references = (
        EventSet((Event("a", (0.0, 1.0)),)).to_text(),
        EventSet((), 90.0).to_text(),
    )
    example = Example("v", references)
    result = AnswerEvents().finish(Generation((ANSWER, "[]")), example)
    assert isinstance(result, Generation)
    assert [EventSet.from_text(text) for text in result.candidates] == [
        EventSet(EVENTS, 90.0),
        EventSet((), 90.0),
    ]


def test_a_set_stays_and_the_other_fields_too():
    text = EventSet(EVENTS).to_text()
    given = Generation((text,), log_probs=(-1.0,), lengths=(3,))
    assert AnswerEvents().finish(given, Example("v", ())) == given


def test_an_answer_that_cannot_be_read_is_a_failure_that_keeps_it():
    result = AnswerEvents().finish(
        Generation((ANSWER, "I am sorry, but I\ncannot")), Example("v", ())
    )
    assert isinstance(result, Failure)
    assert "from answer 2: it holds no times" in result.reason
    assert "found 'I am sorry, but I\\ncannot'" in result.reason
    failure = Failure("no reply")
    assert AnswerEvents().finish(failure, Example("v", ())) is failure


@pytest.mark.parametrize(
    ("scale", "times"),
    [
        (TimeScale("seconds"), [(0.0, 25.0), (25.0, 50.0)]),
        (TimeScale("hundredths"), [(0.0, 50.0), (50.0, 100.0)]),
        (TimeScale("frames", 2.0), [(0.0, 12.5), (12.5, 25.0)]),
    ],
)
def test_times_without_a_unit_have_the_given_one(scale, times):
    found = EventSet.from_text(AnswerEvents(scale).to_set(BARE, 200.0))
    assert [event.place for event in found.events] == times
    assert [event.text for event in found.events] == ["a man runs.", "he falls."]


def test_two_units_are_refused_with_both_written_out():
    with pytest.raises(InputError) as raised:
        AnswerEvents().to_set(BARE, 200.0)
    assert "0 s to 25 s, or 0 s to 50 s of 200 s" in str(raised.value)
    assert "time_unit: seconds, hundredths or frames" in str(raised.value)


def test_hundredths_of_an_unknown_duration_are_a_failure():
    result = AnswerEvents(TimeScale("hundredths")).to_sets([BARE], None)
    assert isinstance(result, Failure)
    assert "expected 'duration' (seconds)" in result.reason


def test_parameters():
    assert AnswerEvents.of_parameters(None, None, None) is None
    assert AnswerEvents.of_parameters("paragraph", None, None) is None
    reading = AnswerEvents.of_parameters("sets", "frames", 25.0)
    assert reading is not None
    assert reading.settings() == {"events": "sets", "time_unit": "frames", "fps": 25.0}
    with pytest.raises(InputError, match="time_unit .* expected events: sets beside"):
        AnswerEvents.of_parameters(None, "seconds", None)
    with pytest.raises(InputError, match="fps .* expected events: sets beside it"):
        AnswerEvents.of_parameters(None, None, 25.0)


def test_the_duration_of_an_example_is_its_metadata_s_first():
    reference = EventSet(EVENTS, 90.0).to_text()
    assert example_duration(Example("v", (reference,), meta={"duration": 60})) == 60.0
    assert example_duration(Example("v", (reference,))) == 90.0
    assert example_duration(Example("v", ("a caption",))) is None
