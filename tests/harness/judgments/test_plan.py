"""Plans and manifests of judgment tasks."""

import pytest

from harness import __version__
from harness.errors import InputError
from harness.judgments.manifest import manifest
from harness.judgments.plan import make_judgment_plan
from harness.judgments.source_files import (
    missing_files,
    read_judgments,
    source_fingerprint,
)
from harness.spec.loading import load_specs

RECORDS = [
    {"id": str(i), "caption": f"c{i}", "human_score": i, "references": ["r"]}
    for i in range(3)
]
REFERENCES = ["a dog runs", "the dog"]


def content(jsonl, **more):
    base = {
        "task": "judgments/t",
        "judgments": {"form": "captions", "path": jsonl(RECORDS)},
        "metrics": ["novelty"],
        "statistics": ["pearson"],
    }
    return {**base, **more}


def planned(task):
    (loaded,) = load_specs(task)
    return make_judgment_plan(loaded)


def test_the_digest_is_of_what_is_scored(jsonl):
    one = planned(content(jsonl))
    digests = [
        manifest(plan, plan.read())["digest"]
        for plan in (
            one,
            planned(
                content(
                    jsonl,
                    statistics=["spearman"],
                    ties="skip",
                    metrics=["novelty", "vocabulary"],
                )
            ),
            planned(content(jsonl, references={"own": "keep"})),
            planned(content(jsonl, limit=2)),
        )
    ]
    assert digests[0] == digests[1] and len(set(digests)) == 3
    described = manifest(one, one.read())
    assert described["kind"] == "judgments" and described["data"]["captions"] == 3
    assert described["signature"].startswith(
        "judgments/t|pearson|own:caption|seed:0|harness:"
    )


def test_the_manifest_counts_what_is_judged(jsonl):
    records = [
        {"id": item, "caption": text, "human_score": score, "references": references}
        for item, text, score, references in (
            ("0", "a", [1, 2], ["r"]),
            ("0", "a", 3, ["r"]),
            ("1", "b", 4, ["r", "s", "t"]),
            ("2", "c", 5, ["r"]),
        )
    ]
    plan = planned(
        content(
            jsonl,
            judgments={"form": "captions", "path": jsonl(records, "m.jsonl")},
            limit=3,
            seed=7,
        )
    )
    described = manifest(plan, plan.read())
    data = described["data"]
    assert (data["reader"], data["source"]) == (
        "judgments (captions)",
        plan.spec.judgments.path,
    )
    assert (
        data["examples"],
        data["captions"],
        data["ratings"],
        data["pairs"],
        data["references"],
    ) == (3, 3, 5, 0, [1, 3])
    assert (
        described["signature"]
        == f"judgments/t|pearson|own:caption|limit:3|seed:7|harness:{__version__}"
    )
    assert plan.describe() == {
        "reader": "judgments (captions)",
        "statistics": ["pearson"],
        "missing": "",
    }


def test_the_signature_of_pairs_has_the_tie_policy(jsonl):
    pairs = [
        {
            "id": str(k),
            "first": "a",
            "second": "b",
            "votes": 1 - 2 * k,
            "references": ["r"],
        }
        for k in range(2)
    ]
    judged = {"form": "pairs", "path": jsonl(pairs, "pairs.jsonl")}
    plan = planned(
        content(
            jsonl,
            judgments=judged,
            statistics=["pearson_system", "accuracy"],
            ties="wrong",
        )
    )
    described = manifest(plan, plan.read())
    assert described["signature"] == (
        "judgments/t|pearson_system+accuracy|own:caption|ties:wrong|seed:0|"
        f"harness:{__version__}"
    )
    assert described["data"]["pairs"] == 2 and described["data"]["ratings"] == 0


def test_the_absence_names_the_file_and_tells_how_to_get_it(jsonl):
    whole = planned(content(jsonl))
    assert (whole.absence, whole.obstacle, whole.describe()["missing"]) == ("", "", "")
    for get, more in (
        (None, ""),
        ("ask the\n  authors", "; how to get it: ask the authors"),
    ):
        source = {
            "form": "captions",
            "path": "nowhere.jsonl",
            **({"get": get} if get else {}),
        }
        plan = planned(content(jsonl, judgments=source))
        assert (
            plan.absence
            == plan.obstacle
            == plan.describe()["missing"]
            == f"judgments/t: not there: {plan.missing[0]}{more}"
        )
        assert plan.missing[0].endswith("nowhere.jsonl")
        with pytest.raises(InputError, match="not there: "):
            plan.read()


def test_the_obstacle_of_a_set_is_the_mistake_in_it(jsonl):
    lost = jsonl(
        [*RECORDS, {"id": "3", "caption": "c3", "references": ["r"]}], "lost.jsonl"
    )
    plan = planned(content(jsonl, judgments={"form": "captions", "path": lost}))
    assert plan.absence == ""
    assert (
        plan.obstacle == f"judgments/t: left out: {lost}:4: 'human_score' is missing; "
        "expected a human score or a list of the raters' scores"
    )


def test_statistics_of_systems_need_systems(jsonl):
    plan = planned(content(jsonl, statistics=["pearson", "pearson_system"]))
    assert plan.compares_systems and not planned(content(jsonl)).compares_systems
    assert (
        planned(content(jsonl, grouping="system")).compares_systems
        and not planned(content(jsonl, grouping="item")).compares_systems
    )
    assert not planned(
        content(jsonl, statistics=["kendall_within"], grouping="system")
    ).compares_systems
    with pytest.raises(
        InputError, match="need captions of at least two systems; found none"
    ):
        plan.prepare()


def test_metrics_of_models_judge_no_captions(jsonl):
    with pytest.raises(
        InputError, match="judges token scores of a model, not captions"
    ):
        planned(content(jsonl, metrics=["pregen"]))


def test_published_values_of_a_statistic_that_is_not_computed(jsonl):
    table = {"reference": "R", "values": {"bleu1": 30}, "statistic": "kendall_c"}
    with pytest.raises(
        InputError,
        match="published values of kendall_c.*, which the task does not compute",
    ):
        planned(content(jsonl, published=table))
    computed = [{**table, "statistic": name} for name in (None, "pearson", "kendall_b")]
    with pytest.raises(
        InputError, match="published values of kendall_b; did you mean 'kendall_c'"
    ):
        planned(content(jsonl, statistics=["pearson", "kendall_c"], published=computed))
    assert (
        planned(content(jsonl, published=computed[:2])).spec.published[1].statistic
        == "pearson"
    )


@pytest.mark.parametrize("form", ["pairs", "foil", "keyed-pairs"])
def test_pairs_have_accuracy_and_statistics_of_systems(jsonl, form):
    keys = {"keys": ["HC"]} if form == "keyed-pairs" else {}
    judged = {"form": form, "path": jsonl(RECORDS), **keys}
    assert planned(
        content(jsonl, judgments=judged, statistics=["accuracy", "kendall_system"])
    ).metrics
    with pytest.raises(
        InputError,
        match=f"auc needs rated captions; judgments of form {form} have accuracy and "
        "statistics",
    ) as caught:
        planned(
            content(jsonl, judgments=judged, statistics=["accuracy", "auc", "pearson"])
        )
    assert caught.value.value == "auc"
    assert planned(
        content(
            jsonl,
            judgments={"form": "best-worst", "path": jsonl(RECORDS)},
            statistics=["accuracy", "auc"],
        )
    ).metrics


def two(record, **changes):
    """Two records of different items."""
    return [
        {"id": "1", "references": REFERENCES, **record},
        {"id": "2", "references": REFERENCES, **record, **changes},
    ]


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
            read_judgments(source(jsonl(RECORDS)), limit)
    assert len(read_judgments(source(jsonl(RECORDS)), 2).items) == 2


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
        [{**record, "cider": 0.5, "note": "3", "good": True} for record in RECORDS]
    )
    judged = read_judgments(source(path), None)
    assert [caption.scores for caption in judged.captions] == [
        {"cider": 0.5, "human_score": k} for k in range(3)
    ]
