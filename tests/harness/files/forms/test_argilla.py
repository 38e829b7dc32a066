"""Records of Argilla."""

from __future__ import annotations

import json

from harness.files.forms import read_form
from tests.support.form_content import captions


def test_discarded_responses_are_counted(tmp_path):
    responses = [
        {"value": "bad", "status": "discarded"},
        {"value": "a dog", "status": "submitted"},
    ]
    (tmp_path / "f").write_text(
        json.dumps(
            [
                {
                    "id": "1",
                    "fields": {},
                    "responses": {"c": responses},
                    "suggestions": {"c": {"value": "it"}},
                }
            ]
        )
    )
    form = read_form(tmp_path / "f", "references")
    assert captions(form, "references") == {"1": "a dog"} and form.left_out == {
        "discarded responses": 1
    }
    assert captions(read_form(tmp_path / "f", "candidates")) == {"1": "it"}
