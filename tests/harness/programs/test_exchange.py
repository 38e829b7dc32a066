"""Programs that keep to the protocol, and those that do not: one line each, and no
process left.
"""

from __future__ import annotations

import signal

import numpy as np
import pytest

from harness.errors import HarnessError
from harness.programs.values import read_vectors
from tests.support.processes import running
from tests.support.program_clients import TEXTS, client_of, scores


@pytest.mark.parametrize("fault", ["", "late", "flood", "leaves-child"])
@pytest.mark.parametrize("batch", [1, 2, 512])
def test_a_program_that_answers_early_or_late_is_read(fault, batch):
    client = client_of(fault, batch=batch)
    assert scores(client).tolist() == [len(text) / 100 for text in TEXTS]
    assert scores(client, []).size == 0
    client.close()
    assert not running("faulty_program.py")


@pytest.mark.parametrize("replicas", [1, 3])
def test_many_items_over_several_processes_keep_their_order(replicas):
    texts = ["x" * (number % 97) for number in range(5000)]
    client = client_of("late", batch=100, replicas=replicas)
    assert scores(client, texts).tolist() == [len(text) / 100 for text in texts]
    client.close()


FAULTS = {
    "dies-at-start": "ended before its greeting (exit code 1: ValueError: no model)",
    "prints-first": "the program printed 'Loading weights ...' before its greeting",
    "prints-after-greeting": "the program printed 'Loading weights ...' among its",
    "other-protocol": "first line has protocol 7; expected 1",
    "print": "printed 'warning: deprecated' among its answers, which is no JSON object",
    "twice": "the program answered the id 1 twice",
    "unknown-id": "the program answered the id 1000000000, which was not asked",
    "text-id": "the program answered the id '1', which was not asked",
    "nan": 'answers {"value": NaN} for text 1; expected a finite number, or null',
    "huge": 'answers {"value": 1000',
    "text": 'answers {"value": "0.5"} for text 1; expected a number or null',
    "list": 'answers {"value": [0.5]} for text 1; expected a number or null',
    "no-value": "answers {} for text 1; expected a number or null",
    "out-of-bounds": 'answers {"value": 7} for text 1; expected a number from 0 to 1, '
    "the declared bounds",
    "dies-at-bad": "the program ended twice at text 2 (ended by SIGKILL",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_line_and_leaves_no_process(fault):
    client = client_of(fault)
    with pytest.raises(HarnessError) as caught:
        scores(client, bounds=(0.0, 1.0))
    assert FAULTS[fault] in str(caught.value)
    assert str(caught.value).startswith("metric 'faulty': ")
    assert "\n" not in str(caught.value)
    assert not running("faulty_program.py")


def test_too_few_answers_name_the_item():
    with pytest.raises(HarnessError, match="ended twice at text .* .exit code 0"):
        scores(client_of("too-few"))


@pytest.mark.parametrize(
    ("fault", "limits", "text"),
    [
        ("silent", {"start_seconds": 0.5}, "no greeting within 0.5 s"),
        (
            "stops",
            {"start_seconds": 1},
            "has not answered 4 of 5 requests within 1 s (limits: start_seconds), the "
            "first for text 1",
        ),
    ],
)
def test_a_program_that_takes_too_long_is_ended(fault, limits, text):
    with pytest.raises(HarnessError) as caught:
        scores(client_of(fault, **limits))
    assert text in str(caught.value)
    assert not running("faulty_program.py")


@pytest.mark.slow
def test_a_program_that_closes_its_input_is_ended():
    texts = ["x" * 100_000] * 50
    with pytest.raises(HarnessError, match="and has closed its input"):
        scores(client_of("closes-input"), texts)
    assert not running("faulty_program.py")


@pytest.mark.parametrize("fault", ["dies-once", "cut-off"])
def test_a_program_that_dies_once_is_asked_again(fault, tmp_path):
    client = client_of(f"{fault}:{tmp_path / 'mark'}")
    assert scores(client).tolist() == [len(text) / 100 for text in TEXTS]
    client.close()


def test_an_error_of_an_item_is_no_score(caplog):
    values = scores(client_of("error"))
    assert np.isnan(values).tolist() == [False, False, True, False, False]
    assert "errors for 1 item, which have no score, such as text 2: cannot read" in (
        caplog.text
    )


def test_vectors_of_another_length_name_the_text():
    client = client_of("other-length", "embedding")

    def read(answers, name_of):
        return read_vectors(answers, name_of, label="embedding 'faulty'")

    with pytest.raises(HarnessError, match="1 numbers for text 1, and 2 for text 0"):
        client.values([{"text": text} for text in TEXTS], "text {}".format, read)


@pytest.mark.slow
@pytest.mark.parametrize("replicas", [1, 3])
def test_a_program_that_ignores_the_end_is_killed(replicas):
    client = client_of("ignores-end", replicas=replicas)
    scores(client)
    client.close()
    assert not running("faulty_program.py")


def test_an_interrupt_ends_the_program():
    client = client_of("stops")
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 1.0)
    with pytest.raises(KeyboardInterrupt):
        scores(client)
    assert not running("faulty_program.py")
