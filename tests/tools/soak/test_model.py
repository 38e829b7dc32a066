"""The states that commands may make of a run directory."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tools.soak.model import EMPTY, Outcome, State, Verb, after_interruption, outcomes

SMALL = State("done", "small")
LARGE = State("done", "large")
RESCORED = State("done", "small", 0, ("chrf",))
PARTS = (State("part", "large/1"), State("part", "large/2"))


def ends(verb: Verb, state: State, data: int = 0) -> set[State | None]:
    """Return the states after success, and None for a refusal."""
    return {
        end.state if end.succeeds else None
        for end in outcomes(verb, state, data, PARTS)
    }


@pytest.mark.parametrize(
    ("verb", "state", "after"),
    [
        (Verb("run", "small"), EMPTY, SMALL),
        (Verb("run", "small"), SMALL, SMALL),
        (Verb("run", "small"), LARGE, None),
        (Verb("run", "small"), RESCORED, None),
        (Verb("run", "small"), State("unfinished", "small"), SMALL),
        (Verb("run", "small"), replace(LARGE, waits="small 0"), SMALL),
        (Verb("extend", "large"), SMALL, LARGE),
        (Verb("extend", "large"), EMPTY, None),
        (Verb("fresh", "large"), RESCORED, LARGE),
        (Verb("rescore", "chrf"), SMALL, RESCORED),
        (Verb("rescore", "chrf"), RESCORED, RESCORED),
        (Verb("rescore", "chrf"), State("unfinished", "small"), None),
        (Verb("merge"), EMPTY, LARGE),
        (Verb("merge"), SMALL, None),
        (Verb("shard", "1"), EMPTY, PARTS[0]),
        (Verb("report"), SMALL, SMALL),
        (Verb("report"), EMPTY, None),
        (Verb("compare"), State("done", "served"), None),
        (Verb("score"), EMPTY, EMPTY),
    ],
)
def test_an_undisturbed_command_has_one_end(verb, state, after):
    assert ends(verb, state) == {after}


def test_other_data_is_another_run():
    assert ends(Verb("run", "small"), SMALL, data=1) == {None}
    assert ends(Verb("extend", "small"), SMALL, data=1) == {State("done", "small", 1)}
    assert ends(Verb("merge"), EMPTY, data=1) == {None}
    assert ends(Verb("rescore", "chrf"), SMALL, data=1) == {
        None,
        State("done", "small", 1, ("chrf",)),
    }


def test_a_part_that_is_missing_is_refused():
    assert outcomes(Verb("merge"), EMPTY, 0, (PARTS[0], EMPTY)) == {
        Outcome(False, EMPTY)
    }


def test_an_interrupted_command_keeps_old_results_until_the_new_ones_are_there():
    for verb, after in (
        (Verb("fresh", "large"), LARGE),
        (Verb("extend", "large"), LARGE),
    ):
        assert after_interruption(verb, [SMALL], 0, PARTS) == {
            SMALL,
            replace(SMALL, waits="large 0"),
            after,
        }
    assert after_interruption(Verb("rescore", "chrf"), [SMALL], 0, PARTS) == {
        SMALL,
        RESCORED,
    }
    assert after_interruption(Verb("run", "small"), [EMPTY], 0, PARTS) == {
        EMPTY,
        State("unfinished", "small"),
        SMALL,
    }
    assert after_interruption(Verb("run", "small"), [LARGE], 0, PARTS) == {LARGE}
