"""Lines and tables of ``harness same``."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.decisions.same.effects import Effect
from harness.decisions.same.plan import Design
from harness.decisions.same.same import Feature, SourceComparison, compare_all
from harness.decisions.same.sources import Prompt, Source
from harness.decisions.same.statistics import Settings
from harness.decisions.same.tables import (
    contrast_text,
    facts_table,
    feature_table,
    matrix_table,
    plan_table,
    prompt_table,
    report_lines,
    verdict_text,
)

SETTINGS = Settings(draws=99, power=False)
A, B = (
    {str(k): [text] * 2 + ["x y"] * 2 for k in range(6)} for text in ("a dog.", "a dog")
)
RESULT = SourceComparison(
    labels=("old", "new"),
    p=0.012,
    verdict="different",
    exact=False,
    relabelings=1000,
    floor=0.001,
    kernels={"exact": 0.5, "length": 0.25},
    effect=Effect(0.125, (0.1, 0.15)),
    accuracy=Effect(0.75, reason="one prompt"),
    power=0.5,
    features=(Feature("words", 3.0, 4.5, 0.01),),
    prompts=(
        Prompt("p1", ["a", "b", "c", "d"], ["e"], 0.02),
        Prompt("p2", ["f"] * 1200, ["g"], 0.5),
    ),
    notes=("a remark",),
)


def test_lines_of_a_difference_have_words_prompts_and_the_assumption():
    (result,) = compare_all([Source("a", A), Source("b", B)], SETTINGS)
    lines = list(report_lines(result, SETTINGS, 1))
    assert lines[0] == "a and b: different at level 0.05"
    assert any(
        line.startswith("  ends with a full stop: 0.5000 and 0.0000") for line in lines
    )
    assert (
        any("a: a dog. | a dog. | x y" in line for line in lines)
        and "asked in turn" in lines[-1]
    )


def test_lines_never_call_sources_the_same():
    alike = {name: [*texts, "x"] for name, texts in A.items()}
    (result,) = compare_all([Source("a", A), Source("b", alike)], SETTINGS)
    text = "\n".join(
        report_lines(replace(result, notes=("one remark", "another")), SETTINGS, 2)
    )
    assert "  note: one remark\n  note: another\n" in text
    assert "a difference is not shown" in text and "same" not in text


def test_tables():
    (result,) = compare_all([Source("a", A), Source("b", B)], SETTINGS)
    assert (
        matrix_table([result]).rows[0][0] == "a" and matrix_table([result]).notes == []
    )
    assert feature_table(result, SETTINGS).bold
    assert prompt_table(result, 2).rows[0][2].startswith("a dog.\na dog.")
    long = replace(result, prompts=[replace(result.prompts[0], a=("x",) * 7)] * 12)
    assert [row[2] for row in prompt_table(long).rows] == ["\n".join("x" * 5)] * 10
    rows = plan_table(
        [Design("x", 5, 10, 0.9), Design("y", 5, 100, 0.2), Design("z", 5, 20, 0.8)],
        0.8,
    ).rows
    assert [row[2] for row in rows] == ["10", "more than 100", "20"]


def test_properties_with_a_p_value_of_at_most_the_level_are_bold_and_listed():
    (result,) = compare_all([Source("a", A), Source("b", B)], SETTINGS)
    features = tuple(
        Feature(f"property {p}", 1.0, 2.0, p) for p in (0.01, SETTINGS.alpha, 0.06)
    )
    result = replace(result, features=features)
    assert feature_table(result, SETTINGS).bold == {(0, 3), (1, 3)}
    assert sum("property" in line for line in report_lines(result, SETTINGS, 2)) == 2
    many = replace(
        result,
        features=tuple(
            Feature(f"property {k}", 1.0, 2.0, 0.001 * k) for k in range(20)
        ),
    )
    assert sum("property" in line for line in report_lines(many, SETTINGS, 2)) == 5
    assert (
        len(feature_table(many, SETTINGS).rows) == 15
        and len(feature_table(many, SETTINGS).bold) == 15
    )


def test_the_lines_of_a_comparison():
    settings = replace(SETTINGS, kernels=("exact", "length"))
    *lines, last = report_lines(RESULT, settings, 1)
    assert lines == [
        "old and new: different at level 0.05",
        "  p 0.0120 (2 prompts, 1,204 and 2 answers; "
        "999 random relabelings within prompts; smallest possible p 0.0010)",
        "  exact 0.5000, length 0.2500 (each alone, not adjusted)",
        "  MMD² of exact 0.1250 (95 % interval 0.1000 … 0.1500); "
        "held-out accuracy 0.7500 (no interval: one prompt), .5: none",
        "  words: 3.0000 and 4.5000 per answer (adjusted p 0.0100)",
        "  prompt p1 (p 0.0200, not adjusted)",
        "    old: a | b | c",
        "    new: e",
        "  note: a remark",
    ]
    assert last.startswith("  assumes that the answers to a prompt are independent")
    exact = list(
        report_lines(
            replace(RESULT, exact=True, prompts=RESULT.prompts[:1]),
            replace(settings, kernels=("mine",)),
            0,
        )
    )
    assert exact[1].startswith(
        "  p 0.0120 (1 prompt, 4 and 1 answers; all 1,000 relabelings within prompts"
    )
    assert exact[3].startswith("  mine beyond its mean over relabelings 0.1250 ")
    assert not any("prompt p" in line for line in exact)
    alike = list(report_lines(replace(RESULT, verdict="not shown"), settings, 2))
    assert not any("prompt p" in line or "words" in line for line in alike)


@pytest.mark.parametrize(
    ("verdict", "power", "text"),
    [
        ("different", 0.5, "different at level 0.012"),
        ("equivalent within margin", 0.5, "equivalent within margin 0.25"),
        (
            "not shown",
            0.5,
            "a difference is not shown; a source with one answer in ten replaced "
            "would be found with power 0.50",
        ),
        ("not shown", None, "a difference is not shown"),
    ],
)
def test_a_verdict_has_its_level_margin_or_power(verdict, power, text):
    assert (
        verdict_text(
            replace(RESULT, verdict=verdict, power=power),
            Settings(alpha=0.012, margin=0.25),
        )
        == text
    )


def test_pairs_of_sources_have_a_row_each():
    sheet = matrix_table(
        [
            RESULT,
            replace(
                RESULT,
                labels=("old", "third"),
                accuracy=Effect(0.5),
                verdict="not shown",
            ),
        ]
    )
    assert (sheet.headers, sheet.alignment) == (
        ["A", "B", "p Holm", "effect", "95 % interval", "accuracy", "verdict"],
        "llrrrrl",
    )
    assert sheet.rows == [
        ["old", "new", "0.0120", "0.1250", "0.1000 … 0.1500", "0.7500", "different"],
        ["old", "third", "0.0120", "0.1250", "0.1000 … 0.1500", "0.5000", "not shown"],
    ]
    assert (
        sheet.notes == ["p adjusted by Holm over the pairs"]
        and matrix_table([]).notes == []
    )


def test_tables_of_properties_prompts_and_plans():
    sheet = feature_table(RESULT, SETTINGS)
    assert (sheet.headers, sheet.rows, sheet.alignment) == (
        ["property", "old", "new", "p"],
        [["words", "3.0000", "4.5000", "0.0100"]],
        "lrrr",
    )
    sheet = prompt_table(RESULT, answers=2)
    assert (sheet.headers, sheet.alignment) == (["prompt", "p", "old", "new"], "lrll")
    assert sheet.rows == [["p1", "0.0200", "a\nb", "e"], ["p2", "0.5000", "f\nf", "g"]]
    sheet = plan_table([Design("x", 5, 10, 0.9)], 0.8)
    assert (sheet.headers, sheet.rows, sheet.alignment) == (
        ["change", "answers", "prompts", "power"],
        [["x", "5", "10", "0.90"]],
        "lrrr",
    )
    assert sheet.notes[0].startswith(
        "smallest number of prompts tried with a power of 0.8;"
    )


@pytest.mark.parametrize(
    ("verdict", "interval", "features", "text"),
    [
        (
            "different",
            (-0.1, 0.2),
            (0.01,),
            "for its interval holds 0; the properties below do",
        ),
        (
            "different",
            (-0.1, 0.2),
            (0.9,),
            "for its interval holds 0; it is shown by exact",
        ),
        ("different", (0.1, 0.2), (0.01,), ""),
        ("not shown", (-0.1, 0.2), (0.01,), ""),
        ("different", None, (0.01,), ""),
    ],
)
def test_a_difference_beside_an_interval_that_holds_0_is_explained(
    verdict, interval, features, text
):
    result = replace(
        RESULT,
        verdict=verdict,
        effect=Effect(0.02, interval),
        kernels={"exact": 0.01, "length": 0.25},
        features=tuple(Feature("words", 3.0, 4.5, p) for p in features),
    )
    contrast = contrast_text(result, SETTINGS)
    assert contrast == (
        f"MMD² of n-grams alone does not show the difference, {text}" if text else ""
    )
    assert (f"  {contrast}" in list(report_lines(result, SETTINGS, 0))) is bool(text)
    assert facts_table(result, SETTINGS).rows[1][0] == "MMD² of n-grams"


def test_capitals_differ_where_the_n_grams_of_prompts_do_not_see_them():
    words = [
        "a",
        "dog",
        "runs",
        "on",
        "grass",
        "while",
        "two",
        "cats",
        "sit",
        "near",
        "one",
        "red",
        "table",
    ]
    texts = {
        str(k): [" ".join(words[(k + j) % 9 : (k + j) % 9 + 4]) for j in range(3)]
        for k in range(20)
    }
    capitals = {
        name: [text.capitalize() for text in reversed(lines)]
        for name, lines in texts.items()
    }
    (result,) = compare_all([Source("a", texts), Source("b", capitals)], SETTINGS)
    assert result.verdict == "different"
    assert "begins with a capital" in [
        feature.name for feature in result.features if feature.p <= SETTINGS.alpha
    ]


@pytest.mark.parametrize(("kind", "name"), [("file", "files"), ("source", "sources")])
def test_equal_answers_are_named_in_the_verdict(kind, name):
    (result,) = compare_all(
        [Source("a", A, kind=kind), Source("b", dict(A), kind=kind)], SETTINGS
    )
    assert (
        verdict_text(result, SETTINGS)
        == f"a difference is not shown, for both {name} hold the same answers"
    )
