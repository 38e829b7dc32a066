"""Editing a candidate on the report page: scores by the kernels in WebAssembly,
in Chromium.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

import harness
from harness import page
from harness.cli.main import main
from harness.page import PageOptions, assets

built = pytest.mark.skipif(
    not Path(harness.__file__)
    .parents[1]
    .joinpath("kernels/caption_kernels/browser")
    .is_dir(),
    reason="not built: make wasm",
)
REFERENCES = {
    f"e{k}": [f"a dog runs in park {k}", f"the dog {k} is running outside"]
    for k in range(12)
}
CANDIDATES = {
    key: texts[0] if k % 2 else "a cat"
    for k, (key, texts) in enumerate(REFERENCES.items())
}


@pytest.fixture
def run(tmp_path) -> Path:
    """A finished run of files by the metrics of the kernels and one that the page
    cannot compute.
    """
    for name, content in (
        ("A", CANDIDATES),
        ("B", dict.fromkeys(REFERENCES, "a dog")),
        ("R", REFERENCES),
    ):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    files = [str(tmp_path / f"{name}.json") for name in "AB"]
    metrics = "bleu1,bleu4,rouge,cider,meteor"
    arguments = [
        "score",
        *files,
        "--references",
        str(tmp_path / "R.json"),
        "-m",
        metrics,
        "--output",
        str(tmp_path / "run"),
        "--json",
    ]
    assert main(arguments) == 0
    return tmp_path / "run"


def open_editor(view):
    view.click('.tabs a[href="#examples"]')
    view.wait_for_selector("[data-browser][data-ready] .detail .system")
    view.locator(
        ".side-by-side .system", has=view.get_by_text("A", exact=True)
    ).first.wait_for()
    card = view.locator(".side-by-side .system").filter(
        has=view.get_by_role("button", name="Edit the candidate of A", exact=True)
    )
    card.get_by_role("button", name="Edit").click()
    return view.locator(".system:has(.editor)")


def edited_scores(card) -> dict[str, list[str]]:
    rows = card.locator(".editor tbody tr")
    return {
        row.locator("th").inner_text(): row.locator("td").all_inner_texts()
        for row in rows.all()
    }


@built
def test_the_scores_follow_an_edited_candidate(run, browse, violations, capsys):
    path = page.write([run], None, PageOptions(editable=True))
    capsys.readouterr()
    with browse(path, bypass_csp=False) as view:
        card = open_editor(view)
        card.locator("textarea").wait_for()
        before = edited_scores(card)
        assert list(before) == ["ROUGE-L (COCO)", "CIDEr-D", "BLEU-1", "BLEU-4"]
        assert all(
            stored == edited and change == "0.0000"
            for stored, edited, change in before.values()
        )
        assert (
            card.locator(".editor p").inner_text()
            == "Not computed on this page: METEOR 1.5."
        )
        card.locator("textarea").fill(REFERENCES["e0"][1])
        edited = [
            [{**CANDIDATES, "e0": REFERENCES["e0"][1]}[key]] for key in REFERENCES
        ]
        expected = harness.metric("cider")(
            edited, list(REFERENCES.values())
        ).per_example[0]
        after = edited_scores(card)
        assert [
            float(after[name][1]) for name in ("ROUGE-L (COCO)", "BLEU-1", "BLEU-4")
        ] == pytest.approx([1, 1, 1], abs=1e-3)
        assert (
            float(after["CIDEr-D"][1]) == pytest.approx(expected, abs=5e-3)
            and expected > 1
        )
        card.get_by_role("button", name="As run").click()
        assert view.locator(".editor").count() == 0
        assert (
            view.get_by_role(
                "button", name="Edit the candidate of A", exact=True
            ).count()
            == 1
        )
    with browse(path, bypass_csp=True) as view:
        open_editor(view).locator("textarea").wait_for()
        assert violations(view) == []


@built
def test_a_page_of_fewer_examples_leaves_out_what_depends_on_the_others(run, browse):
    path = page.write([run], None, PageOptions(editable=True, examples=5))
    with browse(path) as view:
        card = open_editor(view)
        card.locator("textarea").wait_for()
        assert "CIDEr-D" not in edited_scores(card)
        assert "CIDEr-D" in card.locator(".editor p").inner_text()


@pytest.mark.slow
def test_a_page_has_no_module_unless_it_is_asked_for(
    run, browse, monkeypatch, tmp_path, capsys
):
    plain = page.build([run])
    assert (
        "'wasm-unsafe-eval'" not in plain and 'data-block="scoring-module"' not in plain
    )
    path = tmp_path / "plain.html"
    path.write_text(plain)
    with browse(path) as view:
        view.click('.tabs a[href="#examples"]')
        view.wait_for_selector("[data-browser][data-ready] .detail .system")
        assert view.locator("button.edit").count() == 0
    monkeypatch.setattr(
        assets,
        "importlib",
        SimpleNamespace(util=SimpleNamespace(find_spec=lambda name: None)),
    )
    capsys.readouterr()
    assert main(["report", str(run), "--editable"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--editable needs the WebAssembly build of caption-kernels" in line
