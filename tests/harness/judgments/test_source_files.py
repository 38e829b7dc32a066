"""Judgments as they are read from the files of a source."""

import pytest

from harness.errors import InputError
from harness.judgments.source_files import (
    missing_files,
    read_judgments,
    source_fingerprint,
)
from tests.support.judged_sets import REFERENCES, THREE_RATED, two


def test_wmt_style_tables(tmp_path, source):
    path = tmp_path / "wmt.tsv"
    head = "lp\tseg_id\tsystem\tsource\treference\thypothesis\tscore\n"
    lines = [
        f'{lp}\t{seg}\t{s}\tsrc {seg}\tref {seg}\t"{s} {seg}\t{len(s) * 10}\n'
        for lp in ("en-de", "de-en")
        for seg in (1, 2)
        for s in ("A", "BB")
    ]
    path.write_text(head + "".join(lines))
    columns = {
        "item": "seg_id",
        "references": "reference",
        "caption": "hypothesis",
        "source": "source",
    }
    judged = read_judgments(source(str(path), columns=columns, where={"lp": "en-de"}))
    assert [
        (judged.items[c.item].id, c.system, c.texts[0], c.ratings)
        for c in judged.captions
    ][:2] == [
        ("1", "A", '"A 1', (10.0,)),
        ("1", "BB", '"BB 1', (20.0,)),
    ]
    assert judged.items[0].source == "src 1" and judged.items[0].references == (
        "ref 1",
    )
    assert judged.captions[0].meta["lp"] == "en-de"
    with pytest.raises(InputError, match="holds no judgments with lp: fr-en"):
        read_judgments(source(str(path), columns=columns, where={"lp": "fr-en"}))


def test_summeval_style_annotations(jsonl, source):
    votes = [{"coherence": 2, "relevance": 5}, {"coherence": 4, "relevance": 4}]
    record = {"decoded": "a dog", "model_id": "M0", "expert_annotations": votes}
    columns = {"caption": "decoded", "score": "expert_annotations.*.coherence"}
    judged = read_judgments(source(jsonl(two(record)), columns=columns))
    assert (
        judged.captions[0].ratings == (2.0, 4.0) and judged.captions[0].system == "M0"
    )


def test_ids_that_look_like_numbers(jsonl, source):
    record = {"caption": "a", "human_score": 1, "references": REFERENCES}
    judged = read_judgments(
        source(
            jsonl(
                [
                    {"image_id": i, **record}
                    for i in (7, "7.0", "007", 12345678901234567890)
                ]
            )
        )
    )
    assert [item.id for item in judged.items] == [
        "7",
        "7.0",
        "007",
        "12345678901234567890",
    ]


def test_sets_of_captions_and_nested_systems(jsonl, source):
    systems = {
        "x": {"caption": ["a dog", "the dog"], "human_score": 3, "kind": "set"},
        "y": {"caption": "a cat", "human_score": 1},
    }
    judged = read_judgments(source(jsonl(two({"systems": systems}))))
    assert (
        judged.captions[0].texts == ("a dog", "the dog")
        and judged.captions[0].system == "x"
    )
    assert judged.captions[0].meta["kind"] == "set"


def test_the_limit_counts_items(jsonl, source):
    records = [
        {"id": i, "caption": f"{i}{k}", "human_score": k, "references": ["r"]}
        for k in (1, 2)
        for i in range(5)
    ]
    judged = read_judgments(source(jsonl(records)), limit=2)
    assert [c.texts[0] for c in judged.captions] == ["01", "11", "02", "12"]


def test_best_and_worst(jsonl, source):
    captions = {"p": "a", "q": "b", "r": "c"}
    record = {"captions": captions, "best": ["p", "p", "q"], "worst": ["r", "q", "r"]}
    judged = read_judgments(source(jsonl(two(record)), form="best-worst"))
    assert [c.ratings[0] for c in judged.captions[:3]] == pytest.approx(
        [2 / 3, 0, -2 / 3]
    )
    assert {(p.first, p.second): p.preference for p in judged.pairs[:3]} == {
        (0, 1): 1.0,
        (0, 2): 3.0,
        (1, 2): 1.0,
    }
    sets = {
        "captions": [["a", "z"], ["b", "z"], ["c", "z"]],
        "best": ["a"],
        "worst": ["c"],
    }
    judged = read_judgments(source(jsonl(two(sets)), form="best-worst"))
    assert [c.ratings[0] for c in judged.captions[:3]] == [1, 0, -1], (
        "a set is named by its first text"
    )
    with pytest.raises(
        InputError, match="'best' is 'z'; expected the position, system or text"
    ):
        read_judgments(
            source(jsonl(two({**record, "best": "z", "worst": "p"})), form="best-worst")
        )
    with pytest.raises(InputError, match="best and worst are the same caption"):
        read_judgments(
            source(jsonl(two({**record, "best": "p", "worst": "p"})), form="best-worst")
        )
    for best, worst in ((["p", "p"], ["q"]), (["p"], ["q", "r"])):
        with pytest.raises(InputError, match="or not as many"):
            read_judgments(
                source(
                    jsonl(two({**record, "best": best, "worst": worst})),
                    form="best-worst",
                )
            )


def test_pairs_with_a_table_of_references(jsonl, source, tmp_path):
    references = jsonl(
        [{"image_id": k, "references": REFERENCES} for k in (1, 2)], "r.jsonl"
    )
    pairs = [
        {
            "image_id": k,
            "caption_a": "a dog runs",
            "caption_b": "x",
            "votes": v,
            "source_a": 6,
        }
        for k, v in ((1, [1, 1, -1]), (2, -1))
    ]
    options = {
        "form": "pairs",
        "references": {"path": references},
        "columns": {"own_first": {"source_a": 6}},
    }
    judged = read_judgments(source(jsonl(pairs), **options))
    assert [pair.preference for pair in judged.pairs] == [1.0, -1.0]
    assert (
        judged.captions[0].own_references == (0,)
        and judged.captions[1].own_references == ()
    )
    foreign = read_judgments(
        source(jsonl([{**pair, "caption_a": "zebra"} for pair in pairs]), **options)
    )
    assert foreign.captions[0].own_references == () and foreign.notes == [
        "2 captions by people are not among the references of their item"
    ]
    assert not judged.notes
    lost = jsonl([*pairs, {**pairs[0], "image_id": 3}])
    with pytest.raises(
        InputError, match=r"j\.jsonl:3: the item '3' has no references in .*r\.jsonl"
    ):
        read_judgments(source(lost, **options))
    assert missing_files(source("nowhere.jsonl", **options)) == ["nowhere.jsonl"]


def test_where_the_preferred_caption_always_stands_is_noted(jsonl, source):
    def notes(*votes):
        pairs = [
            {"id": str(k), "first": "a", "second": "b", "votes": vote}
            for k, vote in enumerate(votes)
        ]
        return read_judgments(source(jsonl(pairs), form="pairs")).notes

    assert notes(-1, -1) == [
        "the preferred caption always stands second: "
        "a judge that sees the two in the order of the file can learn it"
    ]
    assert notes(-1, 1) == notes(-1, 0) == []
    (note,) = notes([1, 1, 1, -1], [1, 1, 1, -1])
    assert note.startswith("the preferred caption always stands first"), (
        "a sum of votes above 1"
    )


def test_no_items_and_one_are_too_few(jsonl, source):
    for limit, count in ((0, "no item"), (1, "one item")):
        with pytest.raises(
            InputError,
            match=rf"j\.jsonl: holds judgments of {count}; expected at least two items",
        ):
            read_judgments(source(jsonl(THREE_RATED)), limit)
    assert len(read_judgments(source(jsonl(THREE_RATED)), 2).items) == 2


def test_a_score_of_a_system_that_is_no_number(jsonl, source, tmp_path):
    judged = jsonl(two({"caption": "a", "human_score": 1}))
    for score in (None, "good"):
        path = jsonl(
            [{"name": "A", "mean": 1}, {"name": "B", "mean": score}], "s.jsonl"
        )
        table = {"path": path, "system": "name", "score": "mean"}
        with pytest.raises(
            InputError, match=r"s\.jsonl:2: 'mean' of the system 'B' is no number"
        ):
            read_judgments(source(judged, system_scores=table))
    table = tmp_path / "s.tsv"
    table.write_text("system\tscore\nA\t1\n")
    with pytest.raises(
        InputError, match=r"s\.tsv:2: 'score\.mean' of the system 'A' is no number"
    ):
        read_judgments(
            source(judged, system_scores={"path": str(table), "score": "score.mean"})
        )
    assert read_judgments(source(judged)).systems == {}


def test_system_scores(jsonl, source):
    path = jsonl(
        [{"system": "A", "score": "0.5"}, {"system": "B", "score": -1}], "s.jsonl"
    )
    record = {"caption": "a", "human_score": 1}
    judged = read_judgments(source(jsonl(two(record)), system_scores={"path": path}))
    assert judged.systems == {"A": 0.5, "B": -1.0}


@pytest.mark.parametrize(
    ("records", "form", "message"),
    [
        (
            two({"caption": "a"}, human_score=1),
            "captions",
            "no column 'human_score'|'human_score' is missing",
        ),
        (
            two({"caption": "a", "human_score": 1}, human_score=None),
            "captions",
            r"j\.jsonl:2: 'human_score' is missing",
        ),
        (
            two({"caption": "a", "human_score": []}),
            "captions",
            r"j\.jsonl:1: 'human_score' is a list",
        ),
        (
            two({"caption": "a", "human_score": 1}, references=[]),
            "captions",
            r"j\.jsonl:2: the item '2' has no references",
        ),
        (
            two({"caption": "a", "human_score": 1}, references=None),
            "captions",
            "the item '2' has no references",
        ),
        (
            two({"caption": "a", "human_score": 1}, id="1", references=["x"]),
            "captions",
            "differ from those in .*:1",
        ),
        (
            two({"caption": "a", "human_score": 1})[:1],
            "captions",
            "judgments of one item; expected at least two",
        ),
        (
            two({"correct": "a dog", "foil": "a dog"}),
            "foil",
            r"j\.jsonl:1: the foil equals the caption: 'a dog'",
        ),
        (
            two({"HC": ["a", "b", "x"]}),
            "keyed-pairs",
            r"j\.jsonl:1: 'HC' is a list; expected \[caption 1",
        ),
        (
            two({"captions": ["a"], "best": 0, "worst": 0}),
            "best-worst",
            "holds 1 captions; expected at least two",
        ),
        (
            two({"caption_a": "a", "caption_b": None, "votes": 1}),
            "pairs",
            "'caption_b' is missing",
        ),
        (
            two({"caption_a": "a", "caption_b": "b"}),
            "pairs",
            "no column for the preference; the record has id, references, caption_a",
        ),
        ([], "captions", "holds no judgments"),
    ],
)
def test_mistakes_are_one_line_with_their_place(jsonl, source, records, form, message):
    more = {"keys": ["HC"]} if form == "keyed-pairs" else {}
    columns = {"score": "human_score"} if form == "captions" else {}
    with pytest.raises(InputError, match=message) as caught:
        read_judgments(source(jsonl(records), form=form, columns=columns, **more))
    assert "\n" not in str(caught.value)


def test_the_fingerprint_is_of_content_and_columns(jsonl, source, tmp_path):
    record = {"caption": "a", "human_score": 1, "other": 2}
    path = jsonl(two(record))
    same = jsonl(two(record), "copy.jsonl")
    assert source_fingerprint(source(path)) == source_fingerprint(
        source(same, get="elsewhere")
    )
    assert source_fingerprint(source(path)) != source_fingerprint(
        source(path, columns={"score": "other"})
    )
    systems = [
        jsonl([{"system": "A", "score": score}], name)
        for score, name in ((1, "1.jsonl"), (1, "2.jsonl"), (2, "3.jsonl"))
    ]
    for role in ("references", "system_scores"):
        tables = [
            source_fingerprint(source(path, **{role: {"path": table}}))
            for table in systems
        ]
        assert (
            tables[0] == tables[1]
            and len({*tables, source_fingerprint(source(path))}) == 3
        ), role
    assert source_fingerprint(source(path)) != source_fingerprint(
        source(jsonl(two({**record, "other": 3}), "c.jsonl"))
    )


def test_numbers_beside_a_judgment_are_scores_and_texts_are_not(jsonl, source):
    path = jsonl(
        [{**record, "cider": 0.5, "note": "3", "good": True} for record in THREE_RATED]
    )
    judged = read_judgments(source(path), None)
    assert [caption.scores for caption in judged.captions] == [
        {"cider": 0.5, "human_score": k} for k in range(3)
    ]
