"""Files of text that may be read in two ways."""

from __future__ import annotations

import pytest

from harness.errors import InputError
from harness.files.forms import read_form
from harness.files.forms.line_doubts import (
    check_header,
    check_pairs,
    check_plain_lines,
)
from harness.files.streams import PartPath
from tests.support.form_content import sample_of

TEXTS = ["a dog runs", "a cat sleeps", "two men talk", "a red bus"]


def joined(starts, mark, texts=TEXTS):
    return "".join(f"{start}{mark}{text}\n" for start, text in zip(starts, texts))


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (joined([1, 2, 3, 4], ". "), "running numbers"),
        (joined([0, 1, 2, 3], ") "), "running numbers"),
        (joined([1, 2, 3, 4], " "), "running numbers"),
        (joined(["[1]", "[2]", "[3]", "[4]"], " "), "running numbers"),
        (joined([391895, 60623, 483108, 384213], ","), "ids"),
        (joined([391895, 60623, 483108, 384213], " | "), "ids"),
        (joined(["b/1.jpg", "b/2.jpg", "7.png", "9.jpg"], ": "), "ids"),
        (joined(["1.jpg#0", "1.jpg#1", "7.jpg#0", "9.jpg#0"], " "), "ids"),
    ],
)
def test_lines_with_numbers_and_ids_are_no_captions(tmp_path, content, what):
    sample = sample_of(tmp_path, content, name="f.txt")
    with pytest.raises(InputError, match=f"its lines begin with {what} .*#txt' reads"):
        check_plain_lines(sample)


@pytest.mark.parametrize(
    "content",
    [
        "3 dogs run\n2 cats sleep\n4 men talk\n",  # numbers of no order
        "1 dog runs\n2 cats sleep\na bus\n",
        "1. a dog\n2. a cat\n",  # too few to show a pattern
        "100 people run\n200 cats sleep\n300 men talk\n",
        "dog.\ncat.\nbus.\n",
    ],
)
def test_captions_with_numbers_are_captions(tmp_path, content):
    check_plain_lines(sample_of(tmp_path, content, name="f.txt"))


def test_a_header_above_captions_has_two_readings_and_both_can_be_typed(tmp_path):
    content = "caption\na dog runs\na cat sleeps\n"
    sample = sample_of(tmp_path, content, name="f.txt")
    with pytest.raises(InputError, match="f.txt#csv' reads a table, .*f.txt#txt' capt"):
        check_plain_lines(sample)

    texts = {}
    for part in ("csv", "txt"):
        form = read_form(PartPath.of(sample.path, part), "candidates")
        texts[part] = [row.fields["caption"] for row in form.rows]
    assert texts["csv"] == ["a dog runs", "a cat sleeps"]
    assert texts["txt"] == ["caption", "a dog runs", "a cat sleeps"]


def test_two_texts_a_line_are_no_id_and_caption(tmp_path):
    check_pairs(sample_of(tmp_path, joined([1, 2, 3, 4], "\t")))
    check_pairs(
        sample_of(tmp_path, joined([f"my own photo {k}.jpg" for k in "1234"], "\t"))
    )
    with pytest.raises(InputError, match="hold two texts each .*#pairs' reads the fir"):
        check_pairs(sample_of(tmp_path, joined(TEXTS, "\t", TEXTS[::-1])))


@pytest.mark.parametrize(
    ("header", "is_header"),
    [
        ("image_id,caption", True),
        ("photo,said by Ann", True),
        ("key,12", False),
        ("391895,a dog", False),
        ("a/1.jpg,a dog", False),
        ("caption,2024", True),  # a usual name
    ],
)
def test_a_table_begins_with_names_of_columns(tmp_path, header, is_header):
    sample = sample_of(tmp_path, f"{header}\n1,a cat\n", name="f.csv")
    if is_header:
        check_header(sample)
        return
    with pytest.raises(InputError, match="its first line is no header"):
        check_header(sample)


def test_a_name_that_the_user_gives_makes_a_header(tmp_path):
    check_header(sample_of(tmp_path, "key,12\n1,a cat\n", names=["12"], name="f.csv"))
