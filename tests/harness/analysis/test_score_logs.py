"""Logs of scores of lm-eval, lmms-eval, inspect and every-eval-ever as runs that are
compared and gated.
"""

from __future__ import annotations

import json
import shlex
import zipfile

import numpy as np
import pyarrow as pa
import pytest

import harness
from harness.analysis.pairs import ComparedRun
from harness.analysis.score_logs import read_score_log
from harness.cli.main import main
from harness.decisions.gate.gate import gate_margins as gate
from harness.decisions.gate.margin import Margin
from harness.errors import HarnessError, InputError
from harness.files.inspect_logs import ZSTANDARD

COUNT = 60
RIGHT = {
    "old": [k % 3 != 0 for k in range(COUNT)],
    "new": [k % 3 != 0 or k % 6 == 0 for k in range(COUNT)],
}
"""Model -> its answers: correct or not."""


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def lm_eval(path, model, **fields):
    return write_lines(
        path,
        [
            {
                "doc_id": k,
                "doc": {"question": f"q{k}"},
                "target": "C",
                "resps": [["x"]],
                "filtered_resps": ["x"],
                "doc_hash": f"hash{k}",
                "filter": "none",
                "metrics": ["acc", "acc_norm"],
                "acc": float(right),
                "acc_norm": 0.5,
                **fields,
            }
            for k, right in enumerate(RIGHT[model])
        ],
    )


def lmms_eval(path, model):
    rows = [
        {
            "doc_id": k,
            "target": k % 4,
            "doc": {},
            "filtered_resps": ["x"],
            "doc_hash": f"h{k}",
            "exact_match": int(right),
            "detail": {"a": 1},
        }
        for k, right in enumerate(RIGHT[model])
    ]
    return write_lines(path, rows)


def inspect_log(path, model, epochs=1):
    samples = [
        {
            "id": k,
            "epoch": epoch,
            "scores": {
                "match": {"value": "C" if right else "I"},
                "judge": {"value": {"tone": 0.5, "fact": float(right)}},
            },
        }
        for k, right in enumerate(RIGHT[model])
        for epoch in range(1, epochs + 1)
    ]
    content = {
        "version": 2,
        "eval": {"task": "t", "model": f"openai/{model}"},
        "samples": samples,
    }
    if path.suffix == ".json":
        path.write_text(json.dumps(content), encoding="utf-8")
        return path
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps({"eval": content["eval"]}))
        for sample in samples:
            archive.writestr(
                f"samples/{sample['id']}_epoch_{sample['epoch']}.json",
                json.dumps(sample),
            )
    return path


def inspect_log_with_zstandard(path, model):
    """Write a log whose members are compressed with method 93, which the zipfile of
    Python 3.11 does not write: the methods of stored members are changed to it.
    """
    inspect_log(path, model)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, pa.compress(content, "zstd", asbytes=True))
        headers = [item.header_offset for item in archive.infolist()]
        directory = archive.start_dir

    data = bytearray(path.read_bytes())
    for header in headers:
        data[header + 8 : header + 10] = ZSTANDARD.to_bytes(2, "little")
    while (directory := data.find(b"PK\x01\x02", directory)) >= 0:
        data[directory + 10 : directory + 12] = ZSTANDARD.to_bytes(2, "little")
        directory += 4
    path.write_bytes(data)
    return path


def every_eval_ever(path, *models):
    return write_lines(
        path,
        [
            {
                "schema_version": "instance_level_eval_0.2.1",
                "model_id": model,
                "evaluation_name": "gsm8k",
                "sample_id": f"s{k}",
                "evaluation": {"score": float(right), "is_correct": right},
            }
            for model in models
            for k, right in enumerate(RIGHT[model])
        ],
    )


def test_lines_of_lm_eval(tmp_path):
    run = read_score_log(lm_eval(tmp_path / "samples_t.jsonl", "old"))
    assert run.samples.metrics == ("acc", "acc_norm")
    assert [(r.model, r.metric, r.n, r.higher_is_better) for r in run.records] == [
        ("samples_t", "acc", COUNT, True),
        ("samples_t", "acc_norm", COUNT, True),
    ]
    assert run.records[0].value == pytest.approx(np.mean(RIGHT["old"]))
    assert run.samples["example"][:2] == ["0:hash0", "1:hash1"], (
        "documents of other data do not pair by their numbers"
    )
    assert run.provenance.data["reader"] == "lm-eval"


def test_filters_of_lm_eval_are_metrics_of_their_own(tmp_path):
    run = read_score_log(
        lm_eval(tmp_path / "s.jsonl", "old", filter="flexible-extract")
    )
    assert run.samples.metrics == ("acc/flexible-extract", "acc_norm/flexible-extract")
    rows = [
        {"doc_id": k, "filter": name, "acc": value}
        for name, value in (("strict", 0), ("loose", 1))
        for k in range(3)
    ]
    run = read_score_log(write_lines(tmp_path / "t.jsonl", rows))
    assert {record.metric: record.value for record in run.records} == {
        "acc/strict": 0.0,
        "acc/loose": 1.0,
    }


def test_lines_of_lmms_eval_whose_targets_are_no_scores(tmp_path):
    run = read_score_log(lmms_eval(tmp_path / "s.jsonl", "new"))
    assert run.samples.metrics == ("exact_match",)
    rows = [
        json.loads(line)
        for line in lm_eval(tmp_path / "t.jsonl", "new").read_text().splitlines()
    ]
    for row in rows:
        del row["metrics"]
    assert read_score_log(write_lines(tmp_path / "u.jsonl", rows)).samples.metrics == (
        "acc",
        "acc_norm",
    ), "the target 'C' is no score"


@pytest.mark.parametrize("suffix", [".json", ".eval"])
def test_logs_of_inspect(tmp_path, suffix):
    run = read_score_log(inspect_log(tmp_path / f"log{suffix}", "old", epochs=2))
    assert run.samples.metrics == ("judge/fact", "judge/tone", "match")
    assert {r.model for r in run.records} == {"openai/old"}
    assert {r.metric: r.value for r in run.records}["match"] == pytest.approx(
        np.mean(RIGHT["old"])
    )
    assert len(run.samples["example"]) == COUNT, "epochs of a sample are averaged"


def test_the_letters_of_inspect(tmp_path):
    samples = [
        {"id": k, "scores": {"m": {"value": value}}}
        for k, value in enumerate(["C", "P", "I", "N", True, 0.25, "other", None])
    ]
    (tmp_path / "l.json").write_text(
        json.dumps({"eval": {"model": "m"}, "samples": samples})
    )
    run = read_score_log(tmp_path / "l.json")
    np.testing.assert_array_equal(
        run.samples["m"], [1.0, 0.5, 0.0, 0.0, 1.0, 0.25, np.nan, np.nan]
    )
    assert run.contents["m"].remarks == {
        "m": "1 of 8 values is no score: 'other'; 1 of 8 values is unscored"
    }


def test_lines_of_every_eval_ever(tmp_path):
    run = read_score_log(every_eval_ever(tmp_path / "e.jsonl", "old", "new"))
    assert [(r.model, r.metric, r.n) for r in run.records] == [
        ("old", "gsm8k", COUNT),
        ("new", "gsm8k", COUNT),
    ]
    (row,) = harness.compare(run, draws=200)
    assert row.difference == pytest.approx(
        np.mean(RIGHT["old"]) - np.mean(RIGHT["new"])
    )


def test_a_model_that_lacks_a_metric_has_no_record_of_it(tmp_path):
    rows = [
        {
            "sample_id": "a",
            "model_id": model,
            "evaluation_name": name,
            "evaluation": {"score": 1.0},
        }
        for model, name in (("x", "p"), ("y", "q"))
    ]
    run = read_score_log(write_lines(tmp_path / "e.jsonl", rows))
    assert {(r.model, r.metric): r.n for r in run.records} == {
        ("x", "p"): 1,
        ("y", "q"): 1,
    }


FORMS = {
    "lm-eval": (lm_eval, "jsonl", "acc"),
    "lmms-eval": (lmms_eval, "jsonl", "exact_match"),
    "inspect": (inspect_log, "json", "match"),
    "inspect-zip": (inspect_log, "eval", "match"),
    "inspect-zstandard": (inspect_log_with_zstandard, "eval", "match"),
    "every-eval-ever": (every_eval_ever, "jsonl", "gsm8k"),
}


@pytest.mark.parametrize("form", FORMS)
def test_logs_of_two_models_are_compared_and_gated(tmp_path, form):
    write, suffix, metric = FORMS[form]
    paths = [
        str(write(tmp_path / f"{model}.{suffix}", model)) for model in ("new", "old")
    ]
    rows = harness.compare(*paths, metrics=[metric], draws=2000, anytime=True)
    (row,) = rows
    assert (
        row.difference == pytest.approx(1 / 6) and row.better == "A" and row.n == COUNT
    )
    assert row.anytime.method == "asymptotic", "the range of the scores is not declared"
    assert gate(*paths, {metric: Margin(0.01)}).verdict == "passed"
    assert gate(*reversed(paths), {metric: Margin(0.01)}).verdict == "failed"


def test_other_documents_are_not_paired(tmp_path):
    lm_eval(tmp_path / "a.jsonl", "new")
    rows = [
        json.loads(line) | {"doc_hash": f"other{k}"}
        for k, line in enumerate((tmp_path / "a.jsonl").read_text().splitlines())
    ]
    write_lines(tmp_path / "b.jsonl", rows)
    with pytest.raises(HarnessError, match="share no example"):
        harness.compare(str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"))
    with pytest.raises(HarnessError):
        gate(str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"), {"acc": Margin(0.1)})


def test_logs_of_two_forms_are_not_compared(tmp_path):
    lm_eval(tmp_path / "a.jsonl", "new"), every_eval_ever(tmp_path / "b.jsonl", "new")
    with pytest.raises(
        HarnessError, match=r"read different data \(lm-eval, every-eval-ever\)"
    ):
        harness.compare(str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"))


def test_a_chosen_model_of_a_log(tmp_path):
    path = every_eval_ever(tmp_path / "e.jsonl", "old", "new")
    assert len(ComparedRun.open(f"{path}::new").systems) == 1
    with pytest.raises(HarnessError, match="no model 'nwe'; did you mean 'new'"):
        ComparedRun.open(f"{path}::nwe")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            '{"id": 1, "text": "x"}\n',
            "no log of lm-eval, lmms-eval, inspect or every-eval-ever: "
            r"a line has no 'doc_id' or 'evaluation' \(captions are scored first: ",
        ),
        (
            '{"doc_id": 1, "resps": [["x"]]}\n',
            "no score per sample; expected samples of",
        ),
        ("", "."),
        ("not json\n", "."),
    ],
)
def test_files_that_are_no_logs(tmp_path, content, message):
    (tmp_path / "f.jsonl").write_text(content)
    with pytest.raises(InputError, match=message):
        read_score_log(tmp_path / "f.jsonl")


def test_a_summary_of_inspect_without_samples(tmp_path):
    (tmp_path / "l.json").write_text(
        json.dumps({"eval": {"model": "m"}, "results": {}})
    )
    with pytest.raises(InputError, match="no log of"):
        read_score_log(tmp_path / "l.json")


def test_the_commands_read_logs(tmp_path, capsys):
    paths = [
        str(lm_eval(tmp_path / f"{model}.jsonl", model)) for model in ("new", "old")
    ]
    assert main(["compare", *paths, "-m", "acc", "--draws", "200"]) == 0
    assert "acc" in capsys.readouterr().out
    assert (
        main(
            [
                "gate",
                paths[1],
                "--baseline",
                paths[0],
                "-m",
                "acc",
                "--max-drop",
                "0.01",
            ]
        )
        == 1
    )
    assert "failed: acc worse by 0.1667" in " ".join(capsys.readouterr().out.split())


def scores_of_inspect(path, values, model="m/a", scorer="acc"):
    """Write a log of inspect with a value per sample, as Python's json does:
    NaN and Infinity are constants.
    """
    samples = [
        {"id": k, "epoch": 1, "scores": {scorer: {"value": value}}}
        for k, value in enumerate(values)
    ]
    path.write_text(
        json.dumps({"eval": {"task": "t", "model": model}, "samples": samples}),
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize(
    ("values", "mean"),
    [
        (["C", "I", "1", "0.5", "yes", "no", "true", "false"], 0.5625),
        (["TRUE", "No", "0.75", "P", "1e-1", "N"], (1 + 0.75 + 0.5 + 0.1) / 6),
        (["-2", "3.5", "Yes", "FALSE"], 2.5 / 4),
    ],
)
def test_scores_as_texts_are_read_as_inspect_reads_them(tmp_path, values, mean):
    paths = [
        scores_of_inspect(tmp_path / "a.json", values),
        scores_of_inspect(tmp_path / "b.json", ["0"] * len(values), "m/b"),
    ]
    (row,) = harness.compare(*map(str, paths), draws=200)
    assert (row.a, row.b, row.n, row.left_out) == (
        pytest.approx(mean),
        0.0,
        len(values),
        0,
    ) and "score" not in row.note


@pytest.mark.parametrize(
    ("values", "mean", "note"),
    [
        (
            [1, "maybe", 0, "unclear", "maybe"],
            0.5,
            "m/a: 3 of 5 values are no scores: 'maybe', 'unclear'",
        ),
        ([1, [1, 0], 1], 1.0, "m/a: 1 of 3 values is no score: a list"),
        (
            [0.25, "75%", None, "good", "bad", "ugly"],
            0.25,
            "m/a: 4 of 6 values are no scores: '75%', 'good', 'bad', ...; "
            "1 of 6 values is unscored",
        ),
    ],
)
def test_values_that_are_no_scores_are_counted_and_named(
    tmp_path, capsys, values, mean, note
):
    a = scores_of_inspect(tmp_path / "a.json", values)
    b = scores_of_inspect(tmp_path / "b.json", [1] * len(values), "m/b")
    (row,) = harness.compare(str(a), str(b), draws=200)
    read = sum(not isinstance(value, (str, list, type(None))) for value in values)
    assert (row.a, row.n, row.left_out, row.note) == (
        mean,
        read,
        len(values) - read,
        note,
    )

    assert (
        main(
            [
                "gate",
                str(a),
                "--baseline",
                str(b),
                "-m",
                "acc",
                "--max-drop",
                "0.1",
                "--json",
            ]
        )
        == 2
    ), "the gate compares all examples"
    assert "--allow-missing" in capsys.readouterr().err
    assert main(
        [
            "gate",
            str(a),
            "--baseline",
            str(b),
            "-m",
            "acc",
            "--max-drop",
            "0.1",
            "--json",
            "--allow-missing",
        ]
    ) in (0, 1, 4)
    result = json.loads(capsys.readouterr().out)
    assert result["notes"] == [f"acc: {note}"]
    assert [(row["n"], row["left_out"]) for row in result["rows"]] == [
        (len(values), 0)
    ], "no score counts as the worst one"


@pytest.mark.parametrize(
    ("a", "b", "means"),
    [
        ([1.0, 0.0, float("nan"), 1.0], [0.0, 1.0, 1.0, 1.0], (2 / 3, 2 / 3)),
        ([0.25, 0.75, 0.5], [float("nan"), 1.0, 0.0], (0.625, 0.5)),
        ([1, 1, float("nan"), 0], [0, 1, float("nan"), 1], (2 / 3, 2 / 3)),
    ],
)
def test_nan_is_a_sample_without_a_score(tmp_path, capsys, a, b, means):
    paths = [
        str(scores_of_inspect(tmp_path / f"{name}.json", values, f"m/{name}"))
        for name, values in (("a", a), ("b", b))
    ]
    assert (
        "NaN" in (tmp_path / "a.json").read_text() + (tmp_path / "b.json").read_text()
    )
    assert main(["compare", *paths, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["comparisons"]
    assert (row["a"], row["b"], row["n"], row["left_out"]) == (
        pytest.approx(means[0]),
        pytest.approx(means[1]),
        len(a) - 1,
        1,
    )
    assert f"1 of {len(a)} values is unscored" in row["note"]
    code = main(
        ["gate", *paths[:1], "--baseline", paths[1], "-m", "acc", "--max-drop", "0.1"]
    )
    shown = capsys.readouterr()
    if np.isnan(a).tolist() == np.isnan(b).tolist():
        assert (
            "1 example has no value in the baseline, or in both versions" in shown.out
        )
    else:
        # an example that one version alone has no score for is not left out in silence
        assert (
            code == 2
            and "for 1 example (such as" in shown.err
            and "--allow-missing" in shown.err
        )


def test_nan_is_read_in_lines_and_archives(tmp_path):
    rows = [
        {"doc_id": 0, "acc": 1.0},
        {"doc_id": 1, "acc": float("nan")},
        {"doc_id": 2, "acc": "nan"},
        {"doc_id": 3, "f1": 1.0},
    ]
    run = read_score_log(write_lines(tmp_path / "s.jsonl", rows))
    assert {record.metric: (record.n, record.skipped) for record in run.records} == {
        "acc": (1, 3),
        "f1": (1, 3),
    }
    assert run.contents["acc"].remarks == {"s": "3 of 4 values are unscored"}
    with zipfile.ZipFile(tmp_path / "l.eval", "w") as archive:
        for k, value in enumerate((1.0, float("nan"))):
            archive.writestr(
                f"samples/{k}_epoch_1.json",
                json.dumps({"id": k, "scores": {"m": {"value": value}}}),
            )
    assert read_score_log(tmp_path / "l.eval").records[0].n == 1


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), "inf", 10**400])
def test_a_metric_with_an_infinite_value_is_not_compared(tmp_path, value):
    rows = [
        {"doc_id": k, "acc": k, "score": value if k == 1 else 0.5} for k in range(3)
    ]
    paths = [str(write_lines(tmp_path / f"{name}.jsonl", rows)) for name in "ab"]
    with pytest.raises(
        HarnessError,
        match=r"'score' is -?inf at .*a.jsonl:2: it has no mean, and is not compared",
    ):
        harness.compare(*paths)
    with pytest.raises(HarnessError, match="'score' is -?inf"):
        gate(*paths, {"score": Margin(0.1)})
    assert harness.compare(*paths, metrics=["acc"])[0].n == 3, (
        "the other metrics of the log are"
    )


def test_a_metric_without_any_score_is_named(tmp_path, capsys):
    rows = [
        {"doc_id": k, "acc": k % 2, "bleu": ["a", "b"], "detail": {"pred": "x"}}
        for k in range(4)
    ]
    paths = [str(write_lines(tmp_path / f"{name}.jsonl", rows)) for name in "ab"]
    assert main(["compare", *paths]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert (
        f"{paths[0]}: no scores in 'bleu': 4 of 4 values are no scores: a list (a)"
        in out
    )
    assert (
        f"{paths[1]}: no scores in 'detail': 4 of 4 values are no scores: an object (b)"
        in out
    )
    assert main(["compare", *paths, "--format", "csv"]) == 0
    output = capsys.readouterr()
    assert (
        "no scores" not in output.out
        and f"harness: {paths[0]}: no scores in 'bleu'" in output.err
    )
    assert harness.compare(*paths, metrics=["acc"]).notes == []
    with pytest.raises(
        HarnessError, match="'bleu' has no scores: 4 of 4 values are no scores: a list"
    ):
        harness.compare(*paths, metrics=["bleu"])
    with pytest.raises(
        InputError,
        match="no score per sample.*; 'bleu': 2 of 2 values are no scores: a list",
    ):
        read_score_log(
            write_lines(
                tmp_path / "c.jsonl",
                [{"doc_id": k, "bleu": ["a", "b"]} for k in range(2)],
            )
        )


@pytest.mark.parametrize("name", ["model", "example", "meta", "events", "p:acc"])
def test_a_metric_with_the_name_of_a_column_is_refused(tmp_path, name):
    rows = [{"doc_id": k, "acc": 1, name: k} for k in range(2)]
    with pytest.raises(
        InputError,
        match=f"a metric has the name of a column, '{name}'; rename it, "
        "or list the metrics in the field",
    ):
        read_score_log(write_lines(tmp_path / "s.jsonl", rows))
    run = read_score_log(
        write_lines(tmp_path / "s.jsonl", [{**row, "metrics": ["acc"]} for row in rows])
    )
    assert run.samples.metrics == ("acc",)


def two_filters(path, first, second, **fields):
    rows = [
        {
            "doc_id": k,
            "doc_hash": f"h{k}",
            "target": "t",
            "filtered_resps": ["x"],
            "exact_match": value,
            **fields,
        }
        for k, values in enumerate(zip(first, second))
        for value in values
    ]
    return write_lines(path, rows)


@pytest.mark.parametrize(
    ("first", "second", "place", "values"),
    [
        (
            [1.0, 1.0, 0.0],
            [1.0, 1.0, 1.0],
            "s.jsonl:6: doc 2 occurs twice (first at ",
            "0.0 and 1.0",
        ),
        (
            [0.0, 1.0],
            [1.0, 1.0],
            "s.jsonl:2: doc 0 occurs twice (first at ",
            "0.0 and 1.0",
        ),
        (
            [0.25, 0.5],
            [0.25, 0.75],
            "s.jsonl:4: doc 1 occurs twice (first at ",
            "0.5 and 0.75",
        ),
    ],
)
def test_documents_that_occur_twice_are_refused(tmp_path, first, second, place, values):
    path = str(two_filters(tmp_path / "s.jsonl", first, second))
    other = str(
        write_lines(
            tmp_path / "t.jsonl",
            [
                {"doc_id": k, "doc_hash": f"h{k}", "exact_match": 1}
                for k in range(len(first))
            ],
        )
    )
    for read in (
        lambda: harness.compare(path, other),
        lambda: gate(path, other, {"exact_match": Margin(0.01)}),
    ):
        with pytest.raises(InputError) as caught:
            read()
        assert place in str(
            caught.value
        ) and f"'exact_match' is {values}; two filters or two runs in one log?" in str(
            caught.value
        )


def test_the_advice_for_two_filters_gives_two_metrics(tmp_path):
    path = two_filters(tmp_path / "s.jsonl", [1.0, 0.0, 0.0], [1.0, 1.0, 0.0])
    rows = [
        json.loads(line) | {"filter": ("strict", "loose")[k % 2]}
        for k, line in enumerate(path.read_text().splitlines())
    ]
    run = read_score_log(write_lines(tmp_path / "t.jsonl", rows))
    assert {record.metric: record.value for record in run.records} == pytest.approx(
        {"exact_match/strict": 1 / 3, "exact_match/loose": 2 / 3}
    )


def test_a_record_that_is_written_twice_counts_once_and_is_noted(tmp_path, capsys):
    rows = [{"doc_id": k, "acc": k % 2, "f1": float("nan")} for k in range(4)]
    paths = [
        str(write_lines(tmp_path / f"{name}.jsonl", [*rows, *rows[:copies]]))
        for name, copies in (("a", 2), ("b", 1))
    ]
    assert main(["compare", *paths, "-m", "acc", "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert [(row["a"], row["b"], row["n"]) for row in output["comparisons"]] == [
        (0.5, 0.5, 4)
    ]
    assert output["notes"] == [
        f"{paths[0]}: 2 records repeat earlier ones word for word and count once "
        "(doc 0)",
        f"{paths[1]}: 1 record repeats an earlier one word for word and counts once "
        "(doc 0)",
    ]
    assert output["notes"] == gate(*paths, {"acc": Margin(0.1)}).notes


def test_samples_of_inspect_that_occur_twice(tmp_path):
    samples = [
        {"id": 1, "epoch": epoch, "scores": {"m": {"value": value}}}
        for epoch, value in ((1, "C"), (2, "I"), (1, "I"))
    ]
    (tmp_path / "l.json").write_text(
        json.dumps({"eval": {"model": "m"}, "samples": samples})
    )
    with pytest.raises(
        InputError,
        match=r"record 3: sample 1 in epoch 1 occurs twice \(first at .*record 1\): "
        r"'m' is 'C' and 'I'",
    ):
        read_score_log(tmp_path / "l.json")


def test_instances_of_every_eval_ever_that_occur_twice(tmp_path):
    def instance(score, **fields):
        return {
            "model_id": "x",
            "evaluation_name": "gsm8k",
            "sample_id": "s1",
            "evaluation": {"score": score},
            **fields,
        }

    with pytest.raises(
        InputError,
        match=r":2: sample s1 of gsm8k occurs twice .* 'gsm8k' is 1.0 and 0.0; "
        r"two metrics or two runs",
    ):
        read_score_log(
            write_lines(tmp_path / "e.jsonl", [instance(1.0), instance(0.0)])
        )
    rows = [
        instance(1.0, evaluation_result_id="em"),
        instance(0.5, evaluation_result_id="f1"),
    ]
    run = read_score_log(write_lines(tmp_path / "f.jsonl", rows))
    assert {record.metric: record.value for record in run.records} == {
        "gsm8k/em": 1.0,
        "gsm8k/f1": 0.5,
    }
    rows = [
        instance(score, metadata={"epoch": str(epoch)})
        for epoch, score in enumerate((1.0, 0.0, 0.5), 1)
    ]
    run = read_score_log(write_lines(tmp_path / "g.jsonl", rows))
    assert [(record.value, record.n) for record in run.records] == [(0.5, 1)], (
        "repetitions are averaged"
    )


@pytest.mark.parametrize(
    ("values", "mean"),
    [
        (("C", None, "I"), 0.5),
        ((None, None, 0.25), 0.25),
        (("P", "maybe", "C", None), 0.75),
        ((None, None), None),
    ],
)
def test_epochs_without_a_score_are_left_out_of_the_mean_of_a_sample(
    tmp_path, values, mean
):
    samples = [
        {"id": 1, "epoch": epoch, "scores": {"m": {"value": value}}}
        for epoch, value in enumerate(values, 1)
    ]
    samples.append({"id": 2, "epoch": 1, "scores": {"m": {"value": "C"}}})
    (tmp_path / "l.json").write_text(
        json.dumps({"eval": {"task": "t", "model": "x"}, "samples": samples})
    )
    run = read_score_log(tmp_path / "l.json")
    assert run.samples["m"] == [mean, 1.0] or (
        mean is None and np.isnan(run.samples["m"][0])
    )
    (record,) = run.records
    assert (record.n, record.skipped) == ((1, 1) if mean is None else (2, 0))


@pytest.mark.parametrize(
    ("name", "old", "new", "margin"),
    [
        ("wer", 0.15, 0.45, 0.01),
        ("latency", 12.0, 13.0, 0.5),
        ("CER", 0.02, 0.03, 0.005),
    ],
)
def test_a_cost_that_grows_fails_the_gate(tmp_path, capsys, name, old, new, margin):
    paths = [
        str(
            scores_of_inspect(
                tmp_path / f"{model}.json",
                [value * (1 + k % 5 / 100) for k in range(40)],
                model,
                scorer=name,
            )
        )
        for model, value in (("new", new), ("old", old))
    ]
    result = gate(*paths, {name: Margin(margin)})
    assert (
        result.verdict != "passed"
        and result.rows[0].worsening > 0
        and not result.rows[0].higher_is_better
    )
    assert (
        result.verdict == "failed"
        or "unless bounds=(LOW, HIGH) declares a range" in result.sentence
    )
    bounded = gate(
        *paths, {name: Margin(margin)}, bounds=(0.0, 20.0 if old > 1 else 1.0)
    )
    assert bounded.verdict == ("failed" if name == "wer" else "undecided")
    assert result.notes == [f"{name}: lower is better (a known cost)"]
    (row,) = harness.compare(*paths, draws=200)
    assert (row.better, row.higher_is_better, row.note) == (
        "B",
        False,
        "lower is better (a known cost)",
    )

    assert main(["compare", *paths, "--draws", "200"]) == 0
    out = capsys.readouterr().out
    assert (
        f"{name} ↓" in out
        and "old better" in out
        and f"{name}: lower is better (a known cost)" in out
    )
    assert main(
        [
            "gate",
            *paths[:1],
            "--baseline",
            paths[1],
            "-m",
            name,
            "--max-drop",
            str(margin),
            "--higher-is-better",
            name,
        ]
    ) in (0, 4)
    assert f"{name}: higher is better (--higher-is-better)" in capsys.readouterr().out


def captions_of_lmms_eval(path, texts):
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_lines(
        path,
        [
            {
                "doc_id": k,
                "doc_hash": f"h{k}",
                "target": "['a dog runs', 'the dog']",
                "resps": [[text]],
                "filtered_resps": [text],
                "coco_CIDEr": {"answer": ["a dog runs"], "pred": text},
            }
            for k, text in enumerate(texts)
        ],
    )


@pytest.mark.parametrize("folders", [("a", "b"), ("run one", "it's")])
def test_captions_without_scores_name_the_command_that_scores_them(
    tmp_path, monkeypatch, capsys, folders
):
    monkeypatch.chdir(tmp_path)
    for folder, text in zip(folders, ("a dog runs", "a dog")):
        captions_of_lmms_eval(
            tmp_path / folder / "2026_samples_coco.jsonl", [text, "the dog", "a cat"]
        )
    paths = [f"{folder}/2026_samples_coco.jsonl" for folder in folders]
    for arguments in (
        ["compare", *paths],
        ["gate", paths[0], "--baseline", paths[1], "-m", "x", "--max-drop", "0.1"],
    ):
        assert main(arguments) == 2
        error = capsys.readouterr().err
        assert "3 of 3 values are no scores: an object" in error
        command = error.partition("captions are scored first: harness ")[2]
        assert main([*shlex.split(command), "-m", "rouge"]) == 0, (
            "the command works as it is printed"
        )
        assert "ROUGE-L" in capsys.readouterr().out


def test_choices_without_scores_have_no_such_advice(tmp_path):
    rows = [
        {
            "doc_id": k,
            "target": "C",
            "resps": [[["-1.5", "False"]]],
            "filtered_resps": [["-1.5", "False"]],
        }
        for k in range(3)
    ]
    rows[0]["filtered_resps"] = [[-1.5, False]]
    path = write_lines(tmp_path / "s.jsonl", rows)
    with pytest.raises(InputError) as error:
        harness.compare(str(path), str(path))
    assert "harness score" not in str(error.value)


@pytest.mark.parametrize(
    "name",
    [
        "samples_hellaswag_2026-01-02T03-04-05.678.jsonl",
        "m/samples_x_2026-01-02T03-04-05.6.jsonl.gz",
        "logs/a.eval",
    ],
)
def test_a_folder_of_logs_names_its_files(tmp_path, name):
    path = tmp_path / "out" / name
    path.parent.mkdir(parents=True)
    path.write_text("x")
    with pytest.raises(
        InputError, match=f"is no run, and has logs of samples: give the file: {path}$"
    ):
        ComparedRun.open(tmp_path / "out")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"has no manifest.json: no run here"):
        ComparedRun.open(tmp_path / "empty")


def test_long_labels_leave_the_column_of_verdicts_to_their_letters(tmp_path, capsys):
    folder = tmp_path / "a-folder-with-a-long-name"
    folder.mkdir()
    paths = [
        str(
            lm_eval(folder / f"samples_of_a_task_with_a_long_name_{model}.jsonl", model)
        )
        for model in ("new", "old")
    ]
    main(["compare", *paths, "-m", "acc", "--draws", "200"])
    table = capsys.readouterr().out.splitlines()
    assert any(
        line.startswith("acc ") and line.rstrip().endswith("│ A better")
        for line in table
    )
