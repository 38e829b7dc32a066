"""Files of the field in the forms that readers know: objects by image, categories,
votes, rankings, errors, aspects.
"""

import json

import pytest

from harness import api
from harness.errors import InputError
from harness.judgments.plan import make_judgment_plan
from harness.judgments.source_files import read_judgments
from harness.spec.loading import load_specs

HEAD = "system\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
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


@pytest.fixture
def write(tmp_path):
    def dump(value, name="j.json", indent=2):
        path = tmp_path / name
        path.write_text(json.dumps(value, indent=indent))
        return str(path)

    return dump


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


def test_categories_that_hold_pairs(write, source):
    pair = {"image": "a.jpg", "captions": ["a dog", "a cat"]}
    value = {
        "HC": [{**pair, "label": 0}],
        "MM": [{**pair, "image": "b.jpg", "label": 1}],
    }
    columns = {"first": "captions.0", "second": "captions.1", "preference": "label"}
    judged = read_judgments(
        source(
            write(value),
            form="pairs",
            columns=columns,
            preference={"first": 0, "second": 1},
        )
    )
    assert [(p.preference, p.meta["group"]) for p in judged.pairs] == [
        (1, "HC"),
        (-1, "MM"),
    ]
    assert [item.id for item in judged.items] == ["a.jpg", "b.jpg"] and judged.items[
        0
    ].references == ()


def test_scores_of_other_programs_for_both_captions_of_a_pair(write, source):
    rows = [
        {
            "id": k,
            "a": "x",
            "b": "y",
            "vote": 1 - 2 * k,
            "clip": [0.5, 0.25 + k],
            "fleur_a": 1,
            "fleur_b": k,
        }
        for k in range(2)
    ]
    columns = {
        "first": "a",
        "second": "b",
        "preference": "vote",
        "scores": {"clip": ["clip.0", "clip.1"], "FLEUR": ["fleur_a", "fleur_b"]},
    }
    judgments = {"form": "pairs", "path": write(rows), "columns": columns}
    judged = read_judgments(source(judgments["path"], form="pairs", columns=columns))
    assert [caption.meta for caption in judged.captions[2:]] == [
        {"clip": 0.5, "FLEUR": 1},
        {"clip": 1.25, "FLEUR": 1},
    ]
    metrics = [{"scores": {"column": ["clip", "FLEUR"]}}]
    result = api.evaluate(
        {
            "task": "t",
            "judgments": judgments,
            "statistics": ["accuracy"],
            "metrics": metrics,
        }
    )
    # a tie counts half
    assert {r.metric: (r.value, r.n) for r in result.records} == {
        "clip": (1, 2),
        "FLEUR": (0.75, 2),
    }
    with pytest.raises(InputError, match="no column 'clip_b'"):
        read_judgments(
            source(
                judgments["path"],
                form="pairs",
                columns={**columns, "scores": {"clip": ["clip", "clip_b"]}},
            )
        )
    with pytest.raises(
        ValueError,
        match="columns.scores is for the forms pairs and foil; found form: captions",
    ):
        source(judgments["path"], columns={"scores": {"clip": ["a", "b"]}})


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


def test_chosen_and_rejected_answers(write, source):
    rows = [
        {"id": k, "prompt": "p", "chosen": "yes", "rejected": "no", "subset": "easy"}
        for k in range(2)
    ]
    judged = read_judgments(
        source(write(rows), form="foil", columns={"source": "prompt"})
    )
    assert (
        judged.items[0].source == "p"
        and "the preferred caption always stands first" in judged.notes[0]
    )


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


def ranked(write, source, ranking, captions=("a", "b", "c")):
    rows = [{"id": k, "captions": captions, "ranking": ranking} for k in range(2)]
    return read_judgments(source(write(rows), form="ranking"))


def test_rankings(write, source):
    judged = ranked(write, source, [2, 0, 1])
    assert [c.ratings[0] for c in judged.captions[:3]] == [
        0.0,
        -1.0,
        1.0,
    ] and judged.items[0].references == ()
    # a over b, c over a, c over b
    assert [p.preference for p in judged.pairs[:3]] == [1, -1, -1]
    judged = ranked(write, source, [["c", "a", "b"], ["a", "c", "b"]])
    assert [c.ratings[0] for c in judged.captions[:3]] == [0.5, -1.0, 0.5]
    assert [p.preference for p in judged.pairs[:3]] == [2, 0, -2]
    systems = ranked(write, source, ["y", "x"], {"x": "a dog", "y": "a cat"})
    assert [(c.system, c.ratings[0]) for c in systems.captions[:2]] == [
        ("x", -1.0),
        ("y", 1.0),
    ]
    for ranking, message in (
        ([0, 1], "each of the 3 captions once"),
        ([0, 0, 1], "each of the 3"),
        ([0, 1, 2, 2], "each of the 3"),
        (1, "each of the 3"),
        ([], "each"),
        (None, "is missing"),
        ([0, 1, "d"], "'ranking' is 'd'"),
    ):
        with pytest.raises(InputError, match=message):
            ranked(write, source, ranking)


def test_errors_are_summed_by_rater(tmp_path, source):
    path = tmp_path / "mqm.tsv"
    errors = [
        ("s", 1, "r1", "x <v>y</v>", "Accuracy/Omission", "Major"),
        ("s", 1, "r1", "<v>x</v> y", "Fluency/Punctuation", "Minor"),
        ("s", 1, "r2", "x y", "No-error", "No-error"),
        ("s", 2, "r1", "z", "Non-translation!", "Major"),
        ("t", 2, "r1", "w", "Style", "Minor"),
    ]
    path.write_text(
        HEAD
        + "".join(f"{s}\t{k}\t{r}\tq\t{t}\t{c}\t{v}\n" for s, k, r, t, c, v in errors)
    )
    judged = read_judgments(source(str(path), form="mqm", columns={"source": "source"}))
    assert [(c.system, c.texts[0], c.ratings) for c in judged.captions] == [
        ("s", "x y", (-5.1, 0.0)),
        ("s", "z", (-25.0,)),
        ("t", "w", (-1.0,)),
    ]
    assert judged.items[0].source == "q"
    path.write_text(path.read_text() + "t\t3\tr\tq\tw\tStyle\tHuge\n")
    with pytest.raises(
        InputError,
        match=r"mqm\.tsv:7: 'severity' is 'Huge'; expected one of critical, major",
    ):
        read_judgments(source(str(path), form="mqm"))


def test_every_aspect_is_a_task(write):
    rows = [
        {
            "id": k,
            "caption": "a",
            "references": ["r"],
            "fluency": k,
            "votes": [{"c": k}, {"c": 3}],
        }
        for k in range(3)
    ]
    judgments = {
        "form": "captions",
        "path": write(rows),
        "columns": {"score": {"fluency": "fluency", "coherence": "votes.*.c"}},
    }
    content = {
        "task": "s",
        "judgments": judgments,
        "statistics": ["pearson"],
        "metrics": ["novelty"],
    }
    plans = [make_judgment_plan(part) for part in load_specs(content)]
    assert [plan.spec.task for plan in plans] == ["s-fluency", "s-coherence"]
    with pytest.raises(InputError, match="at least 1 item"):
        load_specs({**content, "judgments": {**judgments, "columns": {"score": {}}}})
    assert [[c.ratings for c in plan.read().captions][2] for plan in plans] == [
        (2.0,),
        (2.0, 3.0),
    ]


def test_metrics_of_references_need_them(write):
    rows = [{"id": k, "caption": "a", "score": k} for k in range(3)]
    content = {
        "task": "s",
        "judgments": {"form": "captions", "path": write(rows)},
        "statistics": ["pearson"],
        "metrics": ["bleu1"],
    }
    (loaded,) = load_specs(content)
    with pytest.raises(
        InputError,
        match=r"no column of references, which bleu1 needs \(name it with "
        r"judgments.columns.references\)",
    ):
        make_judgment_plan(loaded).prepare()


def test_every_severity_has_its_weight(tmp_path, source):
    path = tmp_path / "mqm.tsv"
    errors = [
        ("Critical", "Style", -25.0),
        ("major", "non-translation", -25.0),
        ("minor", "Non-translation", -1.0),
        ("Major", "Style", -5.0),
        ("Major", "Fluency/Punctuation", -5.0),
        ("minor", "Fluency/Punctuation", -0.1),
        ("Minor", "Fluency/Grammar", -1.0),
        ("Neutral", "Fluency/Punctuation", 0.0),
        ("no-error", "", 0.0),
        ("No error", "", 0.0),
    ]
    path.write_text(
        HEAD
        + "".join(
            f"s\t{k}\tr\tq\tw\t{category}\t{severity}\n"
            for k, (severity, category, _) in enumerate(errors)
        )
    )
    judged = read_judgments(source(str(path), form="mqm"))
    assert [caption.ratings for caption in judged.captions] == [
        (weight,) for *_, weight in errors
    ]


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


def test_both_sides_of_a_pair_have_their_system_and_mark(write, source):
    common = {
        "first": "a dog",
        "second": "a cat",
        "y": "t",
        "references": ["a cat", "a dog"],
        "by_first": "person",
        "lang": "de",
    }
    rows = [
        {"id": 0, "votes": 1, "x": None, "by_second": "person"},
        {"id": 1, "votes": -1, "x": "s", "by_second": "model"},
    ]
    rows = [{**common, **row} for row in rows]
    columns = {
        "system_first": "x",
        "system_second": "y",
        "own_first": {"by_first": "person"},
        "own_second": {"by_second": "person"},
    }
    judged = read_judgments(source(write(rows), form="pairs", columns=columns))
    assert [c.system for c in judged.captions] == ["", "t", "s", "t"]
    assert [c.own_references for c in judged.captions] == [(1,), (0,), (1,), ()]
    assert judged.pairs[0].meta == {
        "id": 0,
        "y": "t",
        "by_first": "person",
        "by_second": "person",
        "lang": "de",
    }
    both = read_judgments(
        source(write(rows), form="pairs", columns={"own_reference": "match"})
    )
    assert [c.own_references for c in both.captions] == [(1,), (0,), (1,), (0,)]


def test_only_the_caption_of_a_foil_is_a_reference(write, source):
    texts = [("a dog", "a cat"), ("a cat", "a dog")]
    rows = [
        {"id": k, "caption": caption, "foil": foil, "references": ["a cat", "a dog"]}
        for k, (caption, foil) in enumerate(texts)
    ]
    judged = read_judgments(
        source(write(rows), form="foil", columns={"own_reference": "match"})
    )
    assert [c.own_references for c in judged.captions] == [(1,), (), (0,), ()]
    assert [(pair.first, pair.second, pair.votes) for pair in judged.pairs] == [
        (0, 1, (1.0,)),
        (2, 3, (1.0,)),
    ]


def test_pairs_under_keys(write, source):
    rows = [
        {
            "id": 0,
            "HC": ["a", "b", "s", "t", [1, -1, -1]],
            "MM_1": ["c", "d", "u", "v", "unused", 1],
            "MM_2": None,
            "references": ["a"],
        },
        {
            "id": 1,
            "MM_1": ["e", "f", "s", "v", "skip"],
            "MM_2": ["g", "h", "s", "u", "unused", "u"],
            "references": ["a"],
        },
        {"id": 2, "HC": ["i", "j", "s", "t", -1], "references": ["a"]},
    ]
    options = {
        "form": "keyed-pairs",
        "keys": ["HC", "MM_*"],
        "preference": {"first": 1, "second": -1, "skip": "skip"},
    }
    judged = read_judgments(
        source(write(rows), **options, columns={"own_reference": "match"})
    )
    found = [
        (
            judged.captions[p.first].texts[0],
            judged.captions[p.second].texts[0],
            p.preference,
            p.meta,
        )
        for p in judged.pairs
    ]
    assert found == [
        ("a", "b", -1, {"key": "HC", "category": "HC"}),
        ("c", "d", 1, {"key": "MM_1", "category": "MM"}),
        ("g", "h", -1, {"key": "MM_2", "category": "MM"}),
        ("i", "j", -1, {"key": "HC", "category": "HC"}),
    ]
    assert [(c.system, c.own_references) for c in judged.captions[:4]] == [
        ("s", (0,)),
        ("t", ()),
        ("u", ()),
        ("v", ()),
    ]
    assert len(read_judgments(source(write(rows), **options), limit=2).pairs) == 3
    for value in (["a", "b", "s", "t"], "abcde"):
        with pytest.raises(
            InputError,
            match="'HC' is .*; expected .caption 1, caption 2, source 1, source 2, "
            "votes",
        ):
            read_judgments(source(write([{"id": 0, "HC": value}, rows[1]]), **options))


def test_best_and_worst_by_several_raters(write, source):
    """Captions are named by their position, system or text."""
    rows = [
        {
            "id": k,
            "captions": {"x": "a dog", "y": "a cat", "z": "a cow"},
            "best": ["x", 1],
            "worst": ["a cow", "2"],
        }
        for k in range(2)
    ]
    judged = read_judgments(source(write(rows), form="best-worst"))
    assert [(c.system, c.texts[0], c.ratings) for c in judged.captions[:3]] == [
        ("x", "a dog", (0.5,)),
        ("y", "a cat", (0.5,)),
        ("z", "a cow", (-1.0,)),
    ]
    assert [p.votes for p in judged.pairs[:3]] == [(1.0, -1.0), (1.0, 1.0), (1.0, 1.0)]
    single = [{**row, "best": "y", "worst": "x"} for row in rows]
    assert [
        p.votes
        for p in read_judgments(source(write(single), form="best-worst")).pairs[:3]
    ] == [(-1.0,), (-1.0,), (1.0,)]
    for name, message in (
        (None, "'best' is missing; expected the position"),
        ("", "'best' is ''; expected the position"),
        ("q" * 60, "'best' is 'q{39}; expected"),
    ):
        with pytest.raises(InputError, match=message):
            read_judgments(
                source(
                    write([{**row, "best": name} for row in rows]), form="best-worst"
                )
            )


def test_captions_need_no_score(write, source):
    rows = [{"id": k, "caption": "a dog", "references": ["r"]} for k in range(2)]
    assert [c.ratings for c in read_judgments(source(write(rows))).captions] == [(), ()]


def test_the_winner_under_a_key_is_named_by_its_source(write, source):
    rows = [
        {"id": k, "HC": ["a", "b", "s", "t", [vote, vote]], "references": ["r"]}
        for k, vote in enumerate("st")
    ]
    judged = read_judgments(source(write(rows), form="keyed-pairs", keys=["HC"]))
    assert [pair.votes for pair in judged.pairs] == [(1.0, 1.0), (-1.0, -1.0)]


def test_a_mean_of_votes_needs_its_column(write, source):
    rows = [{"id": k, "caption": "a", "references": ["r"]} for k in range(2)]
    with pytest.raises(
        InputError,
        match=r"j\.json: record 1: no column for the score; the record has id, "
        r"caption, references",
    ):
        read_judgments(source(write(rows), mean_of=3))
