"""Results of a gate as a table, as JUnit XML for programs of continuous integration, as
Markdown for a pull request, and as a page.
"""

from __future__ import annotations

import html
import re
from xml.etree import ElementTree

from harness.decisions.gate.result import GateResult, gate_table
from harness.page import assets
from harness.registry.display_names import display_name
from harness.reporting.formats.markdown import to_markdown
from harness.reporting.formats.web import to_html


def junit(result: GateResult, undecided_fails: bool) -> str:
    """Return JUnit XML: a test case per metric and slice; undecided ones are skipped,
    or failures where these fail the gate.
    """
    suite = ElementTree.Element(
        "testsuite", name="harness gate", tests=str(len(result.rows))
    )
    counts = {"failures": 0, "skipped": 0}
    for row in result.rows:
        name = f"{display_name(row.metric)} {row.slice or 'all'}"
        case = ElementTree.SubElement(
            suite, "testcase", classname=row.system, name=name
        )

        failed = row.verdict == "failed" or (
            row.verdict == "undecided" and undecided_fails
        )
        text = (
            f"worse by {row.worsening:.6g}, bounds {row.low:.6g} and {row.high:.6g}, "
            f"margin {row.margin:.6g}, n = {row.n}"
        )
        text += f", {row.note}" if row.note else ""
        if failed or row.verdict == "undecided":
            outcome = "failure" if failed else "skipped"
            message = f"{row.verdict}: {text}"
            ElementTree.SubElement(case, outcome, message=message)
            counts["failures" if failed else "skipped"] += 1
        ElementTree.SubElement(case, "system-out").text = text

    suite.attrib.update({name: str(count) for name, count in counts.items()})
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def gate_markdown(result: GateResult, counts_as: str = "") -> str:
    """Return the verdict in a short sentence, the table and the remarks, for the
    comment of a pull request.
    """
    headline = _escape(result.headline + counts_as)
    table = to_markdown(gate_table(result))
    remarks = "".join(f"\n- {_escape(remark)}" for remark in result.remarks)
    if remarks:
        remarks += "\n"
    return f"**harness gate {headline}**\n\n{table}{remarks}"


def gate_page(result: GateResult, counts_as: str = "") -> str:
    """Return a page with the verdict, the remarks and the table."""
    head, _, sentence = result.headline.partition(": ")
    verdict = f"{head.capitalize()}: {sentence}{counts_as}."
    remarks = "".join(f"<li>{html.escape(remark)}</li>" for remark in result.remarks)
    table = (
        '<div class="scroll" tabindex="0" role="region" '
        f'aria-label="Metrics and slices">{to_html(gate_table(result))}</div>'
    )
    listed = f'<ul class="remarks">{remarks}</ul>' if remarks else ""
    return assets.plain_page(
        f"Gate: {result.verdict}",
        f'<p class="verdict">{html.escape(verdict)}</p>{listed}{table}',
    )


def _escape(text: str) -> str:
    """Return a sentence without the characters that Markdown reads."""
    return re.sub(r"[\\*_`<\[\]|]", r"\\\g<0>", text)
