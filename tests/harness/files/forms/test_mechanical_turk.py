"""Results of Mechanical Turk."""

from __future__ import annotations

from harness.files.forms import read_form
from tests.support.form_content import captions


def test_rejected_assignments_are_counted(tmp_path):
    (tmp_path / "f").write_text(
        "HITId,AssignmentStatus,Input.image_id,Answer.caption1,Answer.caption2\n"
        "H,Rejected,1,bad,bad\nH,Approved,1,a dog,the dog"
    )
    form = read_form(tmp_path / "f", "references")
    assert captions(form, "references") == {
        "1": ["a dog", "the dog"]
    } and form.left_out == {"rejected assignments": 1}
