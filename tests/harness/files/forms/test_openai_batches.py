"""Outputs of batches of OpenAI."""

from __future__ import annotations

import json

from harness.files.forms import read_form
from tests.support.form_content import captions


def test_several_answers_to_a_request_are_one_set(tmp_path):
    body = {
        "choices": [
            {"message": {"content": "a dog"}},
            {"message": {"content": "the dog"}},
        ]
    }
    (tmp_path / "f").write_text(
        json.dumps({"custom_id": "1", "response": {"body": body}})
    )
    assert captions(read_form(tmp_path / "f", "candidates")) == {
        "1": ["a dog", "the dog"]
    }
