"""Choice of the column of ids by agreement with other ids."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InputError
from harness.files.id_choice import choose_example_column, choose_ids


def column_of(columns, examples, fields=None) -> str:
    return choose_ids(columns, examples, fields or {}, "p.json").column


def test_the_preferred_column_wins_where_it_matches_as_many():
    columns = {"image_id": ["3", "1", "2"], "id": ["1", "2", "3"]}
    choice = choose_ids(columns, ["1", "2", "3"], {}, "p.json")
    assert (choice.column, choice.rejected, choice.matched, choice.covered) == (
        "image_id",
        ("id",),
        3,
        3,
    )


def test_a_later_column_wins_where_it_alone_fits():
    assert (
        column_of({"image_id": ["8", "9", "1"], "id": ["1", "2", "3"]}, ["1", "2", "3"])
        == "id"
    )
    # no image at all is known
    assert (
        column_of({"image_id": ["8", "9"], "id": ["1", "7"]}, ["1", "2", "3"]) == "id"
    )


def test_two_columns_that_match_half_are_refused():
    columns = {"image_id": ["1", "2", "8", "9"], "id": ["8", "1", "2", "3"]}
    with pytest.raises(InputError) as caught:
        choose_ids(columns, ["1", "2", "3", "4"], {}, "p.json")
    assert str(caught.value) == (
        "p.json: two columns of ids pair records and examples differently: "
        "by 'image_id' 2 of 4 examples have records, by 'id' 3 of 4 "
        "examples have records (record 1 is '1' or '8'); choose the column with id: ..."
    )


def test_fields_of_both_sides_decide_between_columns_that_fit():
    columns = {"image_id": ["2", "1", "0"], "id": ["0", "1", "2"]}
    assert column_of(columns, ["0", "1", "2"]) == "image_id"
    assert column_of(columns, ["0", "1", "2"], {"image_id": ["2", "1", "0"]}) == "id"


def test_columns_that_pair_alike_are_no_alternatives():
    choice = choose_ids(
        {"image_id": ["1", "2"], "question_id": ["1", "2"]}, ["1", "2"], {}, "p.json"
    )
    assert (choice.column, choice.rejected) == ("image_id", ())


def test_names_of_files_are_tried_where_ids_do_not_fit():
    choice = choose_ids(
        {"id": ["0001", "0002"], "image": ["a.jpg", "b.jpg"]}, ["1", "2"], {}, "p.json"
    )
    assert (choice.column, choice.ids, choice.renamed) == (
        "id",
        ["1", "2"],
        ("0001", "1"),
    )
    choice = choose_ids(
        {"id": ["7", "8"], "image": ["val/COCO_2.jpg", "val/COCO_1.jpg"]},
        ["1", "2"],
        {},
        "p.json",
    )
    assert (choice.column, choice.ids) == ("image", ["2", "1"])


def test_several_records_of_an_id_count_each():
    columns = {"image_id": ["1", "1", "2", "2"], "id": ["1", "2", "3", "4"]}
    assert column_of(columns, ["1", "2"]) == "image_id"


@given(
    st.permutations(list(map(str, range(6)))), st.permutations(list(map(str, range(6))))
)
def test_two_permutations_of_the_ids_are_matched_by_the_preferred_column(first, second):
    choice = choose_ids(
        {"image_id": first, "id": second}, list(map(str, range(6))), {}, "p.json"
    )
    assert choice.ids == first and choice.fits


def test_the_column_of_references_is_that_which_files_of_candidates_have():
    references = {"image_id": ["7", "7", "8"], "id": ["a1", "a2", "a3"]}
    assert choose_example_column(references, [{"image_id": ["7", "8"]}]) is None
    assert choose_example_column(references, [{"id": ["a1", "a2", "a3"]}]) == "id"
    # the files disagree: the usual one
    assert (
        choose_example_column(references, [{"id": ["a1"]}, {"image_id": ["7"]}]) is None
    )
    assert (
        choose_example_column(
            {"index": ["0", "1"], "doc.image_id": ["5", "0"]},
            [{"image_id": ["0", "5"]}],
        )
        == "doc.image_id"
    )


def test_the_name_of_a_running_number_is_no_agreement():
    records = {"audio_id": ["11", "12", "13"], "id": ["1", "2", "3"]}
    assert (
        choose_example_column(
            {"image_id": ["11", "12", "13"], "id": ["1", "2", "3"]}, [records]
        )
        is None
    )
    assert (
        choose_example_column(
            {"image_id": ["11", "11", "12", "13"], "id": ["1", "2", "3", "4"]},
            [records],
        )
        is None
    )
    log = {"id": ["0", "1"], "doc.image_id": ["1", "0"]}
    assert choose_example_column(log, [log]) is None


def test_files_pair_several_records_of_an_example_with_numbers_of_their_own():
    references = {"id": ["0", "1", "2"], "image": ["a.jpg", "b.jpg", "c.jpg"]}
    names = ["c.jpg", "c.jpg", "a.jpg", "a.jpg", "b.jpg"]
    records = {"id": ["0", "1", "2", "3", "4"], "image": names}
    assert choose_example_column(references, [records]) == "image"
    in_folder = {**records, "image": [f"images/{name}" for name in names]}
    assert choose_example_column(references, [in_folder]) == "image"
    # the number is that of the example
    numbers = {"id": ["2", "2", "0", "0", "1"], "image": names}
    assert choose_example_column(references, [numbers]) is None
    # one image has no record, or two of different folders are one
    for own in (["c.jpg", *names[1:4], "a.jpg"], ["x/c.jpg", *names[1:]]):
        some = {"id": records["id"], "image": own}
        assert choose_example_column(references, [some]) is None


def test_a_column_without_a_usual_name_has_to_fit():
    assert (
        choose_example_column(
            {"vid": ["a", "b"], "length": ["1", "2"]},
            [{"clip": ["b", "a"]}],
            usual=False,
        )
        == "vid"
    )
    assert (
        choose_example_column({"vid": ["a", "b"]}, [{"clip": ["x", "y"]}], usual=False)
        is None
    )
