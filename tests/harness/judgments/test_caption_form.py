"""Rated captions in the forms that files of the field have."""

import pytest

from harness.errors import InputError
from harness.judgments.source_files import read_judgments

BY_IMAGE = {
    f"{k}.jpg": {
        "image_path": f"images/{k}.jpg",
        "ground_truth": ["a dog", "the dog"],
        "human_judgement": [
            {"caption": text, "rating": rating}
            for text in ("a dog", "a cat")
            for rating in (1, 2, k)
        ],
    }
    for k in (3, 4)
}


def test_an_object_by_image_with_a_judgment_per_vote(write, source):
    judged = read_judgments(source(write(BY_IMAGE), raters="each"))
    assert [item.id for item in judged.items] == ["images/3.jpg", "images/4.jpg"]
    assert [(c.texts[0], c.ratings) for c in judged.captions] == [
        ("a dog", (1, 2, 3)),
        ("a cat", (1, 2, 3)),
        ("a dog", (1, 2, 4)),
        ("a cat", (1, 2, 4)),
    ]
    assert judged.items[0].references == ("a dog", "the dog")
    # the mean of a record is its vote
    assert len(read_judgments(source(write(BY_IMAGE))).captions) == 12


def test_systems_that_are_keys_can_be_left_out(write, source):
    rows = [
        {
            "image_id": k,
            "references": ["a dog"],
            "systems": {
                name: {"caption": f"{name} {k}", "score": k}
                for name in ("human", "init", "pre")
            },
        }
        for k in range(2)
    ]
    judged = read_judgments(source(write(rows), without={"system": ["human"]}))
    assert [caption.system for caption in judged.captions] == ["init", "pre"] * 2
    kept = read_judgments(source(write(rows), without={"score": [0]}))
    assert [caption.texts[0] for caption in kept.captions] == [
        "human 1",
        "init 1",
        "pre 1",
    ]


def test_a_system_that_is_a_key_can_mark_captions_that_are_references(write, source):
    """The person's caption as people wrote it and as it was shown to the judges."""
    references = ["A DOG on the grass.", "Two cats sit on a sofa."]
    systems = {
        "human": {"caption": "two cats sit on a sofa", "score": 1},
        "init": {"caption": "two cats sit on a sofa", "score": 0},
    }
    rows = [
        {"image_id": k, "references": references, "systems": systems} for k in range(2)
    ]
    columns = {"own_reference": {"system": "human"}}
    judged = read_judgments(source(write(rows), columns=columns))
    assert [(c.system, c.own_references) for c in judged.captions] == [
        ("human", (1,)),
        ("init", ()),
    ] * 2


def test_captions_of_videos_with_three_grades(write, source):
    """VATEX-EVAL, one caption a line."""
    rows = [
        {
            "video_id": f"v{k // 2}",
            "candidate": f"c{k}",
            "references": ["r"] * 9,
            "human_scores": [k, 2, 5],
        }
        for k in range(4)
    ]
    columns = {"item": "video_id", "caption": "candidate", "score": "human_scores"}
    judged = read_judgments(source(write(rows), columns=columns, raters="each"))
    assert [len(item.references) for item in judged.items] == [9, 9]
    assert [caption.ratings for caption in judged.captions[:2]] == [
        (0, 2, 5),
        (1, 2, 5),
    ]


def test_references_under_another_key(write, source):
    table = write(
        [{"image_id": 7, "caption": "a dog"}, {"image_id": 7, "caption": "the dog"}],
        "captions.json",
    )
    rows = [
        {"id": k, "image_id": 7, "caption": "a dog" if k else "a cat", "foil": not k}
        for k in range(2)
    ]
    references = {
        "path": table,
        "item": "image_id",
        "references": "caption",
        "key": "image_id",
    }
    options = {
        "columns": {"item": "id", "score": "foil", "own_reference": {"foil": False}}
    }
    judged = read_judgments(source(write(rows), references=references, **options))
    assert [item.references for item in judged.items] == [("a dog", "the dog")] * 2
    assert [caption.own_references for caption in judged.captions] == [(), (0,)]
    with pytest.raises(
        InputError, match="no column 'image_idd'; did you mean 'image_id'"
    ):
        read_judgments(
            source(
                write(rows), references={**references, "key": "image_idd"}, **options
            )
        )


def test_captions_of_an_item_in_one_record(write, source):
    rows = [
        {
            "id": k,
            "lang": "de",
            "split": "dev",
            "references": ["r"],
            "candidates": [
                {"text": f"{k}{n}", "rating": n, "model_id": f"m{n}", "lang": "en"}
                for n in (1, 2)
            ],
        }
        for k in range(2)
    ]
    judged = read_judgments(source(write(rows)))
    assert [(c.item, c.texts, c.system, c.ratings) for c in judged.captions[:3]] == [
        (0, ("01",), "m1", (1.0,)),
        (0, ("02",), "m2", (2.0,)),
        (1, ("11",), "m1", (1.0,)),
    ]
    assert judged.captions[0].meta == {
        "split": "dev",
        "lang": "en",
    } and judged.captions[0].scores == {"rating": 1.0}
    flat = [
        {"id": k, "candidates": "a dog", "references": ["r"], "score": k, "systems": 3}
        for k in range(2)
    ]
    assert [
        c.texts
        for c in read_judgments(
            source(write(flat), columns={"caption": "candidates"})
        ).captions
    ] == [("a dog",)] * 2


def test_captions_that_are_no_records_are_one_line(write, source):
    for value, text in (
        (3, "'systems' is the number 3; expected a list or an object of captions"),
        (["a"], "'systems' holds text; expected an object with a caption"),
    ):
        rows = [{"id": k, "references": ["r"], "systems": value} for k in range(2)]
        with pytest.raises(InputError, match=f"j\\.json: record 1: {text}"):
            read_judgments(source(write(rows), columns={"captions": "systems"}))


def test_the_name_of_a_system_and_the_flag_of_a_reference(write, source):
    rows = [
        {
            "id": k,
            "caption": "a dog",
            "score": k,
            "references": ["a cat", "a dog"],
            "system": name,
            "is_own_reference": own,
            "good": not k,
        }
        for k, (name, own) in enumerate((("s", True), (None, "no"), (7, False)))
    ]
    judged = read_judgments(source(write(rows)))
    assert [c.system for c in judged.captions] == ["s", "", "7"]
    assert [c.own_references for c in judged.captions] == [(1,), (), ()]
    assert [c.scores for c in judged.captions] == [
        {"id": 0, "score": 0},
        {"id": 1, "score": 1},
        {"id": 2, "score": 2, "system": 7},
    ]
    assert [c.meta.get("good") for c in judged.captions] == [True, False, False]


def test_a_mean_is_that_of_whole_votes(write, source):
    rows = [
        {"id": k, "caption": "a", "score": score, "references": ["r"]}
        for k, score in enumerate((2.667, 1))
    ]
    assert [
        c.ratings for c in read_judgments(source(write(rows), mean_of=3)).captions
    ] == [(2.0, 3.0, 3.0), (1.0, 1.0, 1.0)]


def test_captions_need_no_score(write, source):
    rows = [{"id": k, "caption": "a dog", "references": ["r"]} for k in range(2)]
    assert [c.ratings for c in read_judgments(source(write(rows))).captions] == [(), ()]


def test_a_mean_of_votes_needs_its_column(write, source):
    rows = [{"id": k, "caption": "a", "references": ["r"]} for k in range(2)]
    with pytest.raises(
        InputError,
        match=r"j\.json: record 1: no column for the score; the record has id, "
        r"caption, references",
    ):
        read_judgments(source(write(rows), mean_of=3))
