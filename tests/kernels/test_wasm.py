"""The WebAssembly module: test vectors in node and in a browser, random draws,
statistics of sets of texts, METEOR's lexicon.
"""

from __future__ import annotations

import base64
import gzip
import json
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from caption_kernels import ParaphraseReader, TextIndex
from caption_kernels.batches import ngram
from caption_kernels.lexicon.file_format import finish_lexicon
from caption_kernels.lexicon.word_lists import read_lists
from harness.contracts import weighted_sums
from harness.stats import bootstrap, forms, permutation
from harness.stats.draws import DrawFamily
from harness_metrics.kernel import geometry, mmd
from harness_metrics.trm import statistic
from tools.score_page.__main__ import MODULE, PACKAGE, SCRIPTS, bundle

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).parent / "js"
VECTORS = ROOT / "kernels" / "vectors"
CASES = {
    "bleu": 325,
    "cider": 133,
    "math": 275,
    "meteor": 217,
    "ptb": 469,
    "rouge": 325,
    "stem": 285,
}

pytestmark = pytest.mark.skipif(
    not MODULE.is_file(),
    reason="kernels/js/caption_kernels.wasm is not built: make wasm",
)
Node = Callable[..., Any]


@pytest.fixture
def node() -> Node:
    """``node(program, *arguments, stdin=...)``:
    the JSON that a program of this folder prints.
    """
    path = shutil.which("node")
    if path is None:
        pytest.skip("no node on PATH")

    def run(program: str, *arguments: str | Path, stdin: object = None) -> Any:
        command = [path, str(PROGRAMS / program), str(MODULE), *map(str, arguments)]
        done = subprocess.run(
            command,
            input=json.dumps(stdin),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def test_the_module_imports_nothing_and_is_small(node):
    assert node("describe.mjs") == {
        "imports": [],
        "version": json.loads((PACKAGE / "package.json").read_text())["version"],
    }
    # the bound of the page is 600 KB
    assert len(gzip.compress(MODULE.read_bytes())) <= 150_000


@pytest.mark.equal_bits
def test_every_number_of_the_vectors_has_its_bits_in_node(node):
    check_report(node("run_vectors.mjs", VECTORS))


@pytest.mark.equal_bits
def test_every_number_of_the_vectors_has_its_bits_in_a_browser(browse, tmp_path):
    script = bundle([*SCRIPTS[:2], PROGRAMS / "vectors.js"])
    page = tmp_path / "vectors.html"
    page.write_text(
        "<!doctype html><link rel=icon href=data:,><script "
        f"type=module>{script}globalThis.modules = modules;</script>"
    )
    files = {
        file.stem: file.read_text(encoding="ascii") for file in VECTORS.glob("*.json")
    }
    with browse(page) as view:
        report = view.evaluate(
            """async ([module, files]) => {
              const bytes = Uint8Array.from(atob(module), (c) => c.charCodeAt(0));
              const kernels = await modules["caption_kernels.js"].load(bytes);
              const parsed = {};
              for (const [name, text] of Object.entries(files))
                parsed[name] = JSON.parse(text);
              return modules["vectors.js"].compareVectors(kernels, parsed);
            }""",
            [base64.b64encode(MODULE.read_bytes()).decode(), files],
        )
    check_report(report)


def check_report(report: dict[str, Any]) -> None:
    assert {name: entry["differing"][:3] for name, entry in report.items()} == {
        name: [] for name in CASES
    }
    assert {name: entry["cases"] for name, entry in report.items()} == CASES
    assert sum(entry["values"] for entry in report.values()) > 200_000


@pytest.mark.equal_bits
@pytest.mark.parametrize("n", [1, 7, 100, 1001])
def test_weighted_sums_of_draws_have_the_bits_of_the_harness(node, n):
    rng = np.random.default_rng(n)
    columns = np.column_stack(
        [rng.random(n), rng.integers(0, 9, n), rng.random(n) * 1e-3 - 5e-4]
    )
    family = DrawFamily(n, 300, 5)
    draws = 300
    kind = "patterns" if family.exact else "assignments"
    expected = {
        "resamples": family.resamples(),
        kind: family.assignments(),
        **({"multinomial": bootstrap.weights(n, draws, 5)} if n > 1 else {}),
    }
    counts = {"patterns": family.n_assignments}
    calls = [
        ["drawSums", columns.ravel().tolist(), 3, name, counts.get(name, draws), 5]
        for name in expected
    ]
    for name, found in zip(expected, node("run_calls.mjs", stdin=calls), strict=True):
        sums = np.concatenate(
            [weighted_sums(weights, columns) for weights in expected[name]]
        )
        assert sums.ravel().tolist() == found, name


@pytest.mark.parametrize(("n", "m"), [(1, 2), (3, 4), (4, 4), (5, 2)])
def test_trm_and_exact_p_have_the_bits_of_the_harness_and_mmd_its_digits(node, n, m):
    rng = np.random.default_rng(10 * n + m)
    distances = rng.integers(0, 6, (5, n + m, n + m)).astype(float)  # many ties
    vectors = rng.integers(0, 3, (5, n + m, 6)).astype(float)
    kernels = mmd.mmd_kernel(geometry.gram(vectors))
    flat = [values.ravel().tolist() for values in (distances, vectors, kernels)]

    rank, p_rank, lower, upper, gaussian, biased, unbiased = node(
        "run_calls.mjs",
        stdin=[
            ["triangleRank", flat[0], n, m],
            ["triangleRankP", flat[0], n, m],
            ["formP", flat[0], n, m, "lower"],
            ["formP", flat[0], n, m, "upper"],
            ["gaussianKernels", flat[1], n + m, 6],
            ["twoSample", flat[2], n, m],
            ["twoSample", flat[2], n, m, True],
        ],
    )

    assert np.asarray(statistic.triangle_rank(distances, n)).tolist() == rank
    assert statistic.exact_p_values(distances, n).tolist() == p_rank
    assert forms.exact_p_values(distances, n, "lower").tolist() == lower
    assert forms.exact_p_values(distances, n, "upper").tolist() == upper

    np.testing.assert_allclose(gaussian, kernels.ravel(), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(
        biased, geometry.two_sample(kernels, n, "biased"), rtol=1e-11, atol=1e-14
    )
    np.testing.assert_allclose(
        [np.nan if value is None else value for value in unbiased],
        geometry.two_sample(kernels, n, "unbiased"),
        rtol=1e-11,
        atol=1e-14,
    )


@pytest.mark.equal_bits
def test_statistics_under_relabelings_have_the_bits_of_the_python_package(node):
    texts = [
        "a dog runs",
        "the dog ran",
        "a dog",
        "two dogs run",
        "the cat sat on a dog",
    ]
    index = TextIndex("none")
    rows = index.add(texts)[None]

    labels = permutation.relabelings(2, 3)
    common = ngram.common_lengths(index, rows, rows)
    lengths = ngram.row_lengths(index, rows)
    bits = labels.astype(int).ravel().tolist()
    pairs = np.random.default_rng(0).random((1, 5, 5))

    rouge, best = node(
        "run_calls.mjs",
        stdin=[
            [
                "relabelRouge",
                common.ravel().tolist(),
                lengths.ravel().tolist(),
                1,
                bits,
            ],
            ["relabelBest", pairs.ravel().tolist(), 1, bits],
        ],
    )

    assert ngram.relabel_rouge(index, rows, labels).ravel().tolist() == rouge
    assert ngram.relabel_best(pairs, labels).ravel().tolist() == best


def test_the_lexicon_is_that_of_the_python_package(node, tmp_path):
    lists = {
        name: f"{word}\n"
        for name, word in (("words", "the"), ("prefixes", "Mr\nNo #NUMERIC_ONLY# x"))
    }
    lists |= {
        "exceptions": "go\nwent gone\nbe\nwent\n",
        "synsets": "dog\n30 7\ngo\n100\ndog\n9 8 9\n",
    }
    pairs = [("a dog", "dog"), ("dog", "hound"), ("café", "coffee house")]
    reader = ParaphraseReader()
    table = "".join(f"0.5\n{phrase}\n{paraphrase}\n" for phrase, paraphrase in pairs)
    reader.feed(table.encode())
    expected = bytearray(
        finish_lexicon(reader, read_lists(*(text.encode() for text in lists.values())))
    )
    expected[24:32] = bytes(8)  # the checksum of a file
    jar = tmp_path / "meteor.jar"
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as archive:
        for folder, (name, text) in zip(
            ("function", "nonbreaking", "synonym", "synonym"),
            lists.items(),
            strict=True,
        ):
            archive.writestr(f"{folder}/english.{name}", text)
    assert bytes(node("build_lexicon.mjs", jar, stdin=table)) == expected
