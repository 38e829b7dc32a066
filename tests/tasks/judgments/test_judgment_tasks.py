"""Every shipped judgment task runs on a small file of its form; the suite skips what is
not there; pages and second looks.
"""

from __future__ import annotations

import gzip
import json
import math
import shutil
from pathlib import Path

import pytest
import scipy.stats

import harness
from harness import api
from harness.cli.main import main
from harness.errors import InputError
from harness.judgments.raters import ONE_PERSON
from harness.judgments.source_files import read_judgments
from harness.rundir.format import run_folders
from harness.spec.loading import LoadedTask, load_specs
from tests.support.pinned import as_text, assert_pinned
from tests.tasks.judgments.conftest import BAD, SCENES, VOTES, indented, votes_by_image

TASKS = Path(__file__).resolve().parents[3] / "tasks" / "harness_tasks" / "judgments"
SUITES = {"all", "reference-free"}
REFERENCE_FREE = {"caparena", "llmbar", "mqm-ted-ende", "rewardbench", "tifa"}
ASPECTS = {"summeval", "where-image"}
GERMAN = {"wmt22-ende"}  # the metrics of the suite are those of English captions
NAMES = sorted(
    {path.stem for path in TASKS.glob("*.yaml")} - SUITES - REFERENCE_FREE - ASPECTS
)
LISTED = {
    "flickr8k-expert",
    "composite-coco",
    "composite-flickr8k",
    "composite-flickr30k",
    "pascal50s",
    "abstract50s",
    "capeval1k",
    "thumb",
    "nocaps-foil",
    "hat",
    "fense-audiocaps",
    "fense-clotho",
}
FAST = {"metrics": [{"bleu2": {"tokenizer": "none"}}, {"bleu1": {"tokenizer": "none"}}]}


def run(name, **more):
    return api.evaluate(f"judgments/{name}", **{**FAST, **more})


def test_all_tasks_are_there():
    assert set(NAMES) >= LISTED
    suite = (
        [loaded.spec.task for loaded in load_specs(TASKS / "all.yaml")]
        if "HARNESS_DATA" in __import__("os").environ
        else None
    )
    assert (
        suite is None
        or {task.removeprefix("judgments/") for task in suite} == set(NAMES) - GERMAN
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_task_runs_on_a_file_of_its_form(name, judged):
    (loaded,) = load_specs(f"judgments/{name}")
    assert isinstance(loaded, LoadedTask)
    result = run(name)
    spec = loaded.spec

    head = {r.metric: r for r in result.records if (r.details or {}).get("headline")}
    assert {(r.statistic, r.group) for r in head.values()} == {spec.headline}
    assert {r.statistic for r in result.records} == set(spec.statistics)

    bleu = head["bleu1"]
    low, high = bleu.ci95 or (bleu.value, bleu.value)
    assert bleu.ci95 is not None or bleu.interval_note, (
        "few items have no interval, and the reason"
    )

    # four bad captions among eight, all of them at the bottom
    if spec.statistics[0] == "average_precision":
        assert bleu.value == 1.0
    assert (
        0.3 < bleu.value <= 1 and low <= bleu.value + 1e-9 and high >= bleu.value - 1e-9
    )
    assert not math.isnan(head["bleu2"].value)

    record = bleu.to_dict()
    assert list(record)[4:7] == ["metric", "statistic", "group"]
    assert record["n"] > 0 and "own:" in record["signature"]

    rows = [
        {
            key: value
            for key, value in record.to_dict().items()
            if key not in ("seconds", "task", "statistics")
        }
        for record in result.records
    ]
    assert_pinned(f"judgments/{name}.txt", as_text(rows))


@pytest.mark.slow
def test_sets_without_references(judged, tmp_path, capsys):
    assert (
        main(["run", "judgments/reference-free", "--output", str(tmp_path / "r")]) == 0
    )
    records = {
        name: harness.Run.open(tmp_path / "r" / name).records
        for name in sorted(REFERENCE_FREE)
    }
    # of four battles one is a tie and one was skipped
    assert records["caparena"][0].n == 2
    assert records["llmbar"][0].n == 20
    heads = {r.metric: r for r in records["tifa"] if (r.details or {}).get("headline")}
    assert (
        len(heads) == 10
        and heads["meteor"].details["published"] == pytest.approx(0.274)
        and heads["meteor"].value > 0
    )
    assert main(["run", "judgments/tifa", "--set", "metrics=[bleu1]"]) == 2
    error = capsys.readouterr().err
    assert (
        error.count("\n") == 1 and "no column of references, which bleu1 needs" in error
    )


def test_errors_are_a_cost(judged):
    """MQM counts errors: the translation with errors is the worse one,
    whatever its length.
    """
    submission = judged / "submission.tsv"
    lines = [
        f"{system}\t{k}\t{score}\n"
        for k in range(1, 5)
        for system, score in (("right", 0.9), ("wrong", 0.1))
    ]
    submission.write_text("system\tseg_id\tscore\n" + "".join(lines))

    (record,) = api.evaluate(
        "judgments/mqm-ted-ende",
        statistics=["accuracy"],
        ties="half",
        metrics=[{"scores": {"path": str(submission), "name": "COMET"}}],
    ).records
    assert (record.metric, record.value, record.n) == ("COMET", 1.0, 4)

    (loaded,) = load_specs("judgments/mqm-ted-ende")
    captions = {
        (c.item, c.system): c for c in read_judgments(loaded.spec.judgments).captions
    }
    assert captions[0, "right"].ratings == (0.0,)
    assert captions[0, "wrong"].ratings == pytest.approx((-5.1, -1.0)) and captions[
        0, "wrong"
    ].texts == (BAD["cat"],)


def test_a_test_set_of_a_shared_task(judged):
    folder = judged / "mt-metrics-eval-v2/wmt22"
    submission = {
        "scores": {"path": str(folder / "metric-scores/en-de/COMET-22-refA.seg.score")}
    }

    result = api.evaluate(
        "judgments/wmt22-ende", metrics=[submission, {"bleu1": {"tokenizer": "none"}}]
    )
    heads = {r.metric: r for r in result.records if (r.details or {}).get("headline")}

    # one segment has no human score
    assert (
        set(heads) == {"COMET-22-refA", "bleu1"}
        and result.manifest["data"]["captions"] == 11
    )
    assert heads["COMET-22-refA"].value == 1 and "of systems over all segments" in str(
        result.provenance.spec["published"]
    )

    systems = {r.statistic: r for r in result.records if r.metric == "COMET-22-refA"}
    assert (
        systems["pearson_system"].value == pytest.approx(1)
        and systems["pearson_system"].n == 3
    )

    before = result.manifest["digest"]
    (folder / "system-outputs/en-de/Good.txt").write_text("a\nb\nc\nd\n")
    assert (
        api.evaluate("judgments/wmt22-ende", metrics=[submission]).manifest["digest"]
        != before
    )


@pytest.mark.slow
def test_aspects_of_summaries(judged):
    results = api.evaluate_all(
        "judgments/summeval", metrics=[{"bleu1": {"tokenizer": "none"}}]
    )
    assert [run.manifest["task"].rpartition("-")[2] for run in results] == [
        "coherence",
        "consistency",
        "fluency",
        "relevance",
    ]
    (record,) = [
        r
        for r in results[0].records
        if r.statistic == "kendall_b" and r.metric == "bleu1"
    ]
    assert record.value > 0.5 and results[0].manifest["data"]["ratings"] == 36


def test_votes_on_captions_of_four_architectures(judged):
    results = api.evaluate_all(
        "judgments/where-image", metrics=[{"bleu1": {"tokenizer": "none"}}]
    )
    assert [run.manifest["task"].rpartition("-")[2] for run in results] == [
        "accuracy",
        "fluency",
    ]
    accuracy = results[0]
    assert (
        accuracy.manifest["data"]["ratings"]
        == 5 * accuracy.manifest["data"]["captions"]
    )
    headline = {
        (record.metric, record.group): record
        for record in accuracy.records
        if record.statistic == "kendall_b"
    }
    assert {group for _, group in headline} == {
        "all",
        "a person",
        "four architectures",
        "mean",
    }
    # people say that the architecture of the good captions is the best one
    assert headline["bleu1", "four architectures"].value > 0.5
    assert headline[ONE_PERSON, "all"].value > 0.2


@pytest.mark.large_sets("tanti_where_image/judgments.jsonl.gz")
@pytest.mark.parametrize(
    ("corpus", "cider"),
    # one call of the COCO toolkit counts an image once for each of its captions
    [("items", 0.281), ("sets", 0.285)],
)
def test_the_published_votes(shared, monkeypatch, corpus, cider):
    """tau-b with accuracy on the 480 captions of the architectures, counted once by
    another program with all five references.
    """
    monkeypatch.setenv("HARNESS_DATA", str(shared / "data"))
    accuracy, _ = api.evaluate_all(
        "judgments/where-image",
        overrides=[
            "references.own=keep",
            f"references.corpus={corpus}",
            "judgments.without={system: [human]}",
            "groups=null",
            "tests.draws=0",
            "bootstrap.samples=0",
        ],
        metrics=["bleu4", "rouge", "meteor", "cider"],
    )
    assert taus(accuracy, "all") == {
        ONE_PERSON: 0.534,
        "bleu4": 0.194,
        "rouge": 0.186,
        "meteor": 0.252,
        "cider": cider,
    }


@pytest.mark.large_sets("tanti_where_image/judgments.jsonl.gz")
def test_the_person_s_caption_is_no_reference_of_any_image(shared, monkeypatch):
    """BLEU-4, ROUGE-L and METEOR of another program with the four other references."""
    monkeypatch.setenv("HARNESS_DATA", str(shared / "data"))
    accuracy, _ = api.evaluate_all(
        "judgments/where-image",
        overrides=["tests.draws=0", "bootstrap.samples=0"],
        metrics=["bleu4", "rouge", "meteor"],
    )
    found = taus(accuracy, "four architectures")
    assert found == {ONE_PERSON: 0.534, "bleu4": 0.205, "rouge": 0.198, "meteor": 0.264}


def taus(run, group):
    """Return the tau-b of the metrics of a run on a group, rounded."""
    return {
        record.metric: round(record.value, 3)
        for record in run.records
        if (record.statistic, record.group) == ("kendall_b", group)
    }


def test_two_labelings_of_one_set(judged):
    labels = {
        name: load_specs(f"judgments/{name}")[0].spec
        for name in ("pascal50s", "pascal50s-consensus")
    }

    sources = {
        name: [
            table.reference
            for table in spec.published
            if "CLIPScore" in table.reference
        ]
        for name, spec in labels.items()
    }
    assert {name: set(found) for name, found in sources.items()} == {
        "pascal50s": {
            "CLIPScore (Hessel et al. 2021, v3 of 2022), Table 7, 11 judgments a pair"
        },
        "pascal50s-consensus": {
            "CLIPScore (Hessel et al. 2021, v3 of 2022), Table 4, 48 judgments a pair"
        },
    }

    records = {(r.metric, r.group): r for r in run("pascal50s-consensus").records}
    assert records["bleu1", "mean"].value == 1 and records["bleu1", "HC"].n == 4


def test_systems_in_columns(judged):
    result = run("detailcaps")
    assert result.manifest["data"]["captions"] == 12 and result.manifest["data"][
        "references"
    ] == [3]


def test_single_votes_are_read_where_they_are(judged):
    indented(judged / "flickr8k/flickr8k.json", votes_by_image(VOTES))
    (loaded,) = load_specs("judgments/flickr8k-expert")
    assert (
        loaded.spec.variant == "single votes" and loaded.spec.judgments.mean_of is None
    )
    result = run("flickr8k-expert")
    assert {r.n for r in result.records if r.metric != ONE_PERSON} == {
        36
    } and result.manifest["data"]["captions"] == 12
    votes = [rating for _ in SCENES for kind in VOTES for rating in VOTES[kind]]
    scores = [value for value in result.samples.numbers("bleu1") for _ in range(3)]
    (record,) = [
        r for r in result.records if (r.metric, r.statistic) == ("bleu1", "kendall_c")
    ]
    assert record.value == pytest.approx(
        scipy.stats.kendalltau(scores, votes, variant="c").statistic, abs=1e-12
    )


def test_published_values_stand_beside_ours(judged):
    result = run("flickr8k-expert", metrics=["bleu1"])
    (record,) = [r for r in result.records if r.statistic == "kendall_c"]
    assert record.details["published"] == pytest.approx(0.323)
    assert "Hessel" in record.details["reference"]
    assert record.n == 36  # three votes for each of twelve captions


def test_pascal_leaves_out_votes_that_tie_and_its_own_captions(judged):
    result = run("pascal50s")
    by = {(r.metric, r.group): r for r in result.records}
    assert [r.group for r in result.records if r.metric == "bleu1"] == [
        "all",
        "HC",
        "HI",
        "HM",
        "MM",
        "mean",
    ]
    assert by["bleu1", "MM"].n == 3  # one pair of the four is a tie
    assert by["bleu1", "mean"].value == pytest.approx(
        sum(by["bleu1", g].value for g in ("HC", "HI", "HM", "MM")) / 4
    )
    for row in result.samples.lists("references"):
        assert len(row) == 5 and len(set(row)) == 5
    for candidates, references in zip(
        result.samples.lists("candidates"), result.samples.lists("references")
    ):
        assert candidates[0] not in references


def test_fense_scores_four_references(judged):
    result = run("fense-audiocaps")
    for candidates, references in zip(
        result.samples.lists("candidates"), result.samples.lists("references")
    ):
        assert len(references) == 4 and candidates[0] not in references
    by = {(r.metric, r.group): r.n for r in result.records}
    assert by["bleu1", "HC"] == 3 and by["bleu1", "HM"] == 3 and by["bleu1", "MM"] == 8


def test_composite_removes_the_human_caption_for_all_captions_of_its_image(judged):
    item = run("composite-coco", metrics=["bleu1"])
    assert {len(row) for row in item.samples.lists("references")} == {4}
    own = run("composite-coco", metrics=["bleu1"], references={"own": "caption"})
    assert sorted({len(row) for row in own.samples.lists("references")}) == [4, 5]
    assert item.records[0].signature != own.records[0].signature


def test_three_sets_are_one(judged):
    path = judged / "composite_flickr8k/judgments.jsonl.gz"
    with gzip.open(path, "rt") as file:
        # this file alone names images by file
        rows = [
            {k: v for k, v in json.loads(line).items() if k != "image_id"}
            for line in file
        ]
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    assert run("composite").manifest["data"]["examples"] == 12


@pytest.mark.slow
def test_the_suite_skips_what_is_not_there(judged, tmp_path, capsys):
    for folder in ("pascal50s", "aloha_hat", "composite_coco"):
        shutil.rmtree(judged / folder)

    output = tmp_path / "j"
    call = [
        "run",
        "judgments/all",
        "--limit",
        "3",
        "--output",
        str(output),
        "--set",
        "metrics=[{bleu2: {tokenizer: none}}, {bleu1: {tokenizer: none}}]",
    ]

    assert main(call) == 0
    printed = capsys.readouterr()
    lines = [line for line in printed.err.splitlines() if "not there" in line]
    # composite-coco, the three sets together, pascal50s with either labeling, hat
    assert len(lines) == 5
    assert all("how to get it" in line for line in lines)
    assert "League table" in printed.out
    folders, absent = run_folders(output)
    assert len(folders) == len(NAMES) - 6 and len(absent) == 5

    assert main(["report", str(output), "--tables", str(tmp_path / "t")]) == 0
    page = (output / "report.html").read_text()
    assert (
        "What to use when" in page
        and "because their data are not there or cannot be read" in page
        and "nocaps-foil" in page
    )
    assert (
        (tmp_path / "t/league.csv").read_text().startswith("set,statistic,metric,value")
    )


def test_the_suite_is_read_before_anything_is_scored(
    judged, tmp_path, capsys, monkeypatch
):
    pairs = judged / "abstract50s/pairs.jsonl.gz"
    with gzip.open(pairs, "wt") as file:
        for k in range(4):
            pair = {
                "image_id": f"img_{k}.jpg",
                "caption_a": "a",
                "caption_b": "b",
                "category_code": 1 + k,
                "votes": k % 2,
            }
            file.write(json.dumps(pair) + "\n")

    with gzip.open(judged / "fense_clotho/judgments.jsonl.gz", "wt") as file:
        file.write("{")

    begun: list[str] = []
    monkeypatch.setattr(
        "harness.run.tasks.execute_task",
        lambda plan, **options: begun.append(plan.spec.task),
    )

    lines: list[str] = []
    api.evaluate_all(
        "judgments/all",
        output=tmp_path / "j",
        on_absent=lambda line, absent: lines.append(f"{line} ({len(begun)})"),
    )

    assert len(begun) == len(NAMES) - 3
    abstract, clotho = lines
    assert (
        "judgments/abstract50s: left out: " in abstract
        and "'votes' holds 0, 1 and no negative vote" in abstract
    )
    assert (
        "first: [0], second: [1]" in abstract
        and "judgments/fense-clotho: left out: " in clotho
    )
    assert abstract.endswith(" (0)") and clotho.endswith(" (0)")


@pytest.mark.parametrize(("broken", "code"), [(False, 0), (True, 2)])
def test_a_set_of_a_suite_that_cannot_be_read_is_one_line_and_exit_code_2(
    judged, tmp_path, capsys, broken, code
):
    """Labels 0 and 1 say nothing about the better caption; the other sets run, and
    absent ones are no mistake.
    """
    shutil.rmtree(judged / "pascal50s")
    if broken:
        with gzip.open(judged / "abstract50s/pairs.jsonl.gz", "wt") as file:
            pair = {
                "image_id": "img_1.jpg",
                "caption_a": "a",
                "caption_b": "b",
                "category_code": 1,
            }
            file.writelines(json.dumps({**pair, "votes": k}) + "\n" for k in (0, 1))

    names = ("abstract50s", "pascal50s", "nocaps-foil")
    includes = "".join(f"  - {TASKS / name}.yaml\n" for name in names)
    (tmp_path / "suite.yaml").write_text(
        f"include:\n{includes}metrics: [caption-length]\n"
    )

    assert (
        main(["run", str(tmp_path / "suite.yaml"), "--output", str(tmp_path / "out")])
        == code
    )

    error = capsys.readouterr().err
    assert (
        error.count("judgments/pascal50s: not there") == 1
        and error.count("judgments/abstract50s: left out") == broken
    )
    finished = {path.parent.name for path in (tmp_path / "out").glob("*/results.json")}
    assert finished == {"nocaps-foil"} | ({"abstract50s"} if not broken else set())


def test_one_task_without_its_file_is_an_error(judged, capsys):
    shutil.rmtree(judged / "pascal50s")
    assert main(["run", "judgments/pascal50s"]) == 2
    error = capsys.readouterr().err
    assert (
        error.count("\n") == 1
        and "pascal50s: not there" in error
        and "how to get it: Pascal-50S" in error
    )


def test_a_suite_without_any_file_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path))
    with pytest.raises(InputError, match="no set of the suite can be read"):
        api.evaluate("judgments/all")


@pytest.mark.slow
def test_a_second_look_scores_nothing_again(judged, tmp_path, monkeypatch):
    output = tmp_path / "t"
    first = api.evaluate("judgments/thumb", output=output, **FAST)
    from harness.run import score as scoring

    def refuse(*args, **kwargs):
        raise AssertionError("scored again")

    monkeypatch.setattr(scoring, "score", refuse)
    again = api.evaluate("judgments/thumb", output=output, **FAST)
    assert [r.value for r in again.records] == [r.value for r in first.records]

    looked = api.evaluate(
        "judgments/thumb",
        output=output,
        statistics=["kendall_c", "accuracy"],
        ties="skip",
        **FAST,
    )
    assert {r.statistic for r in looked.records} == {"kendall_c", "accuracy"}
    assert json.loads((output / "manifest.json").read_text())["spec"]["ties"] == "skip"

    monkeypatch.undo()
    monkeypatch.setenv("HARNESS_DATA", str(judged))
    more = api.evaluate(
        "judgments/thumb", output=output, metrics=[*FAST["metrics"], "rouge"]
    )
    assert {r.metric for r in more.records} == {"bleu2", "bleu1", "rouge"}

    with pytest.raises(InputError, match="holds another run"):
        api.evaluate("judgments/thumb", output=output, limit=2, **FAST)


def test_samples_hold_scores_and_people(judged, tmp_path, capsys):
    run("thumb", output=tmp_path / "r")
    call = [
        "correlate",
        str(tmp_path / "r"),
        "--rows",
        "example",
        "--x",
        "*",
        "--y",
        "human",
        "--json",
    ]
    assert main(call) == 0
    rows = json.loads(capsys.readouterr().out)["correlations"]
    # no ids, no metadata, not the human score itself
    assert {row["x"] for row in rows} == {"bleu2", "bleu1"}


@pytest.mark.slow
def test_other_verbs_on_a_run_of_judgments(judged, tmp_path, capsys):
    folder = str(tmp_path / "r")
    run("thumb", output=tmp_path / "r")

    assert main(["rescore", folder, "-m", "rouge"]) == 0
    assert "ROUGE-L (COCO)" in capsys.readouterr().out

    assert main(["compare", folder, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    (row, *more) = result["comparisons"]
    assert (row["system_a"], row["system_b"], len(more)) == ("bleu2", "bleu1", 2)

    record = harness.Run.open(folder).records[0]
    assert (row["a"], row["p_holm"]) == (
        record.value,
        record.details["against"]["bleu1"]["perm_input_holm"],
    )
    assert [item.system_b for item in harness.compare(folder, baseline="rouge")] == [
        "rouge",
        "rouge",
    ]

    assert main(["compare", folder]) == 0 and "PERM-INPUT" in capsys.readouterr().out
    # its captions are those of systems
    assert main(["power", folder]) == 0 and "large" in capsys.readouterr().out

    for call, line in (
        (["compare", folder, folder], "not two runs"),
        (
            ["compare", folder, "--examples", "2"],
            "--examples belongs to systems of models",
        ),
        (
            ["compare", folder, "-m", "roug"],
            "there is no metric 'roug'; did you mean 'rouge'",
        ),
    ):
        assert main(call) == 2
        error = capsys.readouterr().err
        assert line in error and error.count("\n") == 1


def test_captions_without_systems_are_no_pilot(judged, tmp_path, capsys):
    run("capeval1k", output=tmp_path / "r")
    capsys.readouterr()
    assert main(["power", str(tmp_path / "r")]) == 2
    error = capsys.readouterr().err
    assert (
        error.count("\n") == 1
        and "name no systems; power needs a run of models" in error
    )


def test_validate_lists_statistics(judged, capsys):
    assert main(["validate", "judgments/thumb"]) == 0
    assert "statistics: pearson" in capsys.readouterr().out


def test_a_task_of_judgments_meets_the_contract_of_tasks(judged):
    from harness.testing.tasks import TASK_CHECKS, TaskSubject

    failures = [
        outcome
        for outcome in TASK_CHECKS.run(TaskSubject(TASKS / "hat.yaml"))
        if outcome.failed
    ]
    assert not failures
