"""Pages and commands without the extra ``figures``."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap

import pytest

BLOCKED = """
import sys
sys.modules["altair"] = sys.modules["vl_convert"] = None
from harness.cli.main import main
"""


@pytest.fixture
def bare(tmp_path):
    """``bare(code)``: the finished process that runs the code after an import of the
    command line, without altair and vl-convert.
    """

    def run(code: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", BLOCKED + textwrap.dedent(code)]
        return subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, check=False
        )

    return run


@pytest.mark.slow
def test_the_page_has_all_its_charts(bare, captions_run, tmp_path):
    done = bare(f"""
        import json
        import harness.page
        from harness.page.charts import charts_for
        code = main(["report", {str(captions_run.path)!r}, "--output", "page.html"])
        specs = [chart.spec for chart in charts_for([{str(captions_run.path)!r}])]
        print(json.dumps(specs, allow_nan=False))
        sys.exit(code)
    """)
    assert (done.returncode, done.stderr) == (0, "")
    specs = json.loads(done.stdout.splitlines()[-1])
    assert len(specs) == 7
    assert all(
        spec["datasets"] and ({"layer", "concat", "facet", "vconcat"} & spec.keys())
        for spec in specs
    )
    shown = set(
        re.findall(
            r'data-chart="([^"]+)"',
            (tmp_path / "page.html").read_text(encoding="utf-8"),
        )
    )
    assert {
        "overview",
        "differences",
        "plane-1",
        "plane-2",
        "scores",
        "p-values",
        "metric-correlations",
    } <= shown


@pytest.mark.slow
@pytest.mark.parametrize("page", [[], ["--output", "page.html"]])
def test_figures_are_one_line_that_names_the_extra(bare, captions_run, page):
    done = bare(
        f"sys.exit(main(['report', {str(captions_run.path)!r}, '--figures', "
        f"'figures', *{page!r}]))"
    )
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "harness: drawing charts needs the package 'vl_convert', "
        "which is not installed: pip install 'caption-harness[figures]'"
    ]
