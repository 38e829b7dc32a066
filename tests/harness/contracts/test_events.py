"""Events and the text of their sets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.contracts import Event, EventSet, is_event_set
from harness.errors import InputError

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
EVENTS = st.builds(
    Event,
    st.text(st.characters(exclude_categories=["Cs"])),
    st.one_of(
        st.tuples(NUMBERS, NUMBERS),
        st.tuples(*[NUMBERS] * 4),
        st.lists(NUMBERS, min_size=24, max_size=24).map(tuple),
    ),
    st.none() | NUMBERS,
    st.text(st.characters(exclude_categories=["Cs"])),
)
SETS = st.builds(
    EventSet, st.lists(EVENTS).map(tuple), st.none() | NUMBERS, st.booleans()
)


@given(SETS)
def test_a_set_is_the_same_after_a_text(events):
    assert EventSet.from_text(events.to_text()) == events
    assert is_event_set(events.to_text())


def test_the_geometry_is_that_of_the_coordinates():
    places = (0.0,) * 2, (0.0,) * 4, (0.0,) * 24
    assert [Event("", place).geometry for place in places] == ["time", "box", "box3d"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a dog", "'a dog' without a time or box"),
        (EventSet(()).to_text()[:-1], "is cut off or changed"),
    ],
)
def test_another_text_is_refused(text, message):
    with pytest.raises(InputError, match=message):
        EventSet.from_text(text)
