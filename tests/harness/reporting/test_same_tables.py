"""Lines and tables of ``harness same``."""

from __future__ import annotations

from dataclasses import replace

from harness.analysis.same import Feature, Settings, Source, compare_all
from harness.analysis.same_plan import Design
from harness.reporting.same_tables import feature_table, matrix_table, plan_table, prompt_table, report_lines

SETTINGS = Settings(draws=99, power=False)
A, B = ({str(k): [text] * 2 + ["x y"] * 2 for k in range(6)} for text in ("a dog.", "a dog"))


def test_lines_of_a_difference_have_words_prompts_and_the_assumption():
    (result,) = compare_all([Source("a", A), Source("b", B)], SETTINGS)
    lines = list(report_lines(result, SETTINGS, 1))
    assert lines[0] == "a and b: different at level 0.05"
    assert any(line.startswith("  ends with a full stop: 0.5000 and 0.0000") for line in lines)
    assert any("a: a dog. | a dog. | x y" in line for line in lines) and "asked in turn" in lines[-1]


def test_lines_never_call_sources_the_same():
    (result,) = compare_all([Source("a", A), Source("b", A)], SETTINGS)
    text = "\n".join(report_lines(replace(result, notes=("one remark", "another")), SETTINGS, 2))
    assert "  note: one remark\n  note: another\n" in text
    assert "a difference is not shown" in text and "same" not in text


def test_tables():
    (result,) = compare_all([Source("a", A), Source("b", B)], SETTINGS)
    assert matrix_table([result]).rows[0][0] == "a" and matrix_table([result]).notes == []
    assert feature_table(result, SETTINGS).bold
    assert prompt_table(result, 2).rows[0][2].startswith("a dog.\na dog.")
    long = replace(result, prompts=[replace(result.prompts[0], a=("x",) * 7)] * 12)
    assert [row[2] for row in prompt_table(long).rows] == ["\n".join("x" * 5)] * 10
    rows = plan_table([Design("x", 5, 10, 0.9), Design("y", 5, 100, 0.2), Design("z", 5, 20, 0.8)], 0.8).rows
    assert [row[2] for row in rows] == ["10", "more than 100", "20"]


def test_properties_with_a_p_value_of_at_most_the_level_are_bold_and_listed():
    (result,) = compare_all([Source("a", A), Source("b", B)], SETTINGS)
    features = tuple(Feature(f"property {p}", 1.0, 2.0, p) for p in (0.01, SETTINGS.alpha, 0.06))
    result = replace(result, features=features)
    assert feature_table(result, SETTINGS).bold == {(0, 3), (1, 3)}
    assert sum("property" in line for line in report_lines(result, SETTINGS, 2)) == 2
    many = replace(result, features=tuple(Feature(f"property {k}", 1.0, 2.0, 0.001 * k) for k in range(20)))
    assert sum("property" in line for line in report_lines(many, SETTINGS, 2)) == 5
    assert len(feature_table(many, SETTINGS).rows) == 15 and len(feature_table(many, SETTINGS).bold) == 15
