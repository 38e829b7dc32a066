"""Both engines reproduce every number of every test vector,
and the generator the files.
"""

from __future__ import annotations

import json
import math
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import caption_kernels_reference as reference
from caption_kernels_reference.certify import METRICS, certify, functions
from caption_kernels_reference.ptb import tokeniser

KERNELS = Path(__file__).resolve().parents[2] / "kernels"
sys.path.append(str(KERNELS / "generators"))

import make_vectors  # noqa: E402
from vector_numbers import INPUTS  # noqa: E402

ENGINES = ("caption_kernels._compiled", "caption_kernels_reference")
FILES = sorted(INPUTS)


@cache
def vectors(name: str) -> dict[str, Any]:
    """Return the content of a file of vectors."""
    return json.loads(
        (KERNELS / "vectors" / f"{name}.json").read_text(encoding="ascii")
    )


@pytest.mark.equal_bits
@pytest.mark.parametrize(
    "engine", [ENGINES[0], pytest.param(ENGINES[1], marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("name", FILES)
def test_engine_gives_every_number_and_the_generator_every_byte_of_the_file(
    name, engine
):
    module = reference if engine.endswith("reference") else pytest.importorskip(engine)
    lines = (
        (KERNELS / "vectors" / f"{name}.json").read_text(encoding="ascii").split("\n")
    )
    # the digits of JSON hold every bit of a number
    generated = make_vectors.content(name, module).split("\n")
    differing = [
        number
        for number, (one, other) in enumerate(zip(lines, generated))
        if one != other
    ]
    assert len(lines) == len(generated)
    assert not differing, (
        "python kernels/generators/make_vectors.py; "
        f"first case: {lines[differing[0]]:.300}"
    )


@pytest.mark.equal_bits
@pytest.mark.parametrize("metric", METRICS)
def test_functions_give_the_results_of_the_files(metric):
    report = certify(getattr(functions, metric), metric, tolerance=0.0)
    assert report.passed, "\n".join(report.lines())


def test_there_are_about_two_thousand_cases_of_the_named_kinds():
    assert 1_900 <= sum(len(vectors(name)["cases"]) for name in FILES) <= 2_500
    assert (
        sum(file.stat().st_size for file in (KERNELS / "vectors").glob("*.json"))
        < 3_000_000
    )
    ngrams = {
        "plain",
        "unicode",
        "empty",
        "repeated words",
        "long",
        "punctuation",
        "numbers",
        "ties",
        "token ids",
    }
    ngrams |= {"single document", "unseen n-grams", "many references", "surrogates"}
    for name in ("bleu", "rouge", "cider"):
        assert {case["kind"] for case in vectors(name)["cases"]} == ngrams


def test_tokens_are_those_of_the_line_scanned_as_a_whole():
    """The specification scans a line; the engines split it at blanks where they may."""
    for case in vectors("ptb")["cases"]:
        tokens = list(tokeniser.scan(tokeniser.one_line(case["text"])))
        assert tokens == case["tokens"]
        assert (
            " ".join(token for token in tokens if token not in tokeniser.PUNCTUATION)
            == case["result"]
        )


def test_decimal_and_hexadecimal_numbers_agree():
    for case in vectors("math")["cases"]:
        for decimal, digits in (case["x"], case.get("y", case["x"]), case["result"]):
            assert decimal is None or decimal.hex() == digits


def test_a_case_has_numbers_of_every_step():
    case = next(case for case in vectors("cider")["cases"] if case["kind"] == "plain")
    candidate = case["texts"][case["examples"][0]["candidate"]]
    gram = candidate["grams"][0][0]
    count = candidate["counts"][0][0]
    weight = candidate["weights"][0][0]
    name, frequency, idf = case["grams"][gram]
    assert case["candidates"][0].startswith(name)
    assert frequency <= case["documents"]
    assert weight == count * idf
    assert idf == pytest.approx(math.log(case["documents"] / max(1, frequency)))
