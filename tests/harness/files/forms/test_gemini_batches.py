"""Outputs of batches of Gemini."""

from __future__ import annotations

import pytest

from harness.files.forms.gemini_batches import GEMINI
from tests.support.form_content import captions, gemini, lines, sample_of


def request(*addresses, name="fileData", uri="fileUri"):
    return {"contents": [{"parts": [{name: {uri: item}} for item in addresses]}]}


def test_failed_requests_of_both_services_are_counted(tmp_path):
    sample = sample_of(
        tmp_path,
        lines(
            {"key": "1", "response": gemini("a dog")},
            {"key": "2", "error": {"code": 8}},
            {"key": "3", "response": gemini("a cat"), "status": ""},
        ),
    )
    assert GEMINI.recognise(sample)
    form = GEMINI.read(sample)
    assert captions(form) == {"1": "a dog", "2": None, "3": "a cat"}
    assert form.left_out == {"failed requests": 1}


@pytest.mark.parametrize(
    ("sent", "ids"),
    [
        (request("gs://b/1.jpg"), ["gs://b/1.jpg"]),
        (request("gs://b/1.jpg", name="file_data", uri="file_uri"), ["gs://b/1.jpg"]),
        (request("gs://b/1.jpg", "gs://b/2.jpg"), [None]),
    ],
)
def test_the_only_file_of_a_request_is_its_id(tmp_path, sent, ids):
    form = GEMINI.read(
        sample_of(tmp_path, lines({"request": sent, "response": gemini("a dog")}))
    )
    assert [row.fields.get("id") for row in form.rows] == ids
    assert form.numbered == (ids == [None])


def test_an_answer_of_another_service_is_none(tmp_path):
    record = {"custom_id": "1", "response": gemini("a dog")}
    assert not GEMINI.recognise(sample_of(tmp_path, lines(record)))
