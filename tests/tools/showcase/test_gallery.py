"""The gallery: which pages can be built, and the page that leads to them."""

from __future__ import annotations

import re

from harness.spec.loading import load_written_spec
from tools.showcase.captions import COCO, SYSTEMS, data_folder
from tools.showcase.gallery import captioners, exhibits, index
from tools.showcase.screen import ROOT


def test_without_judgments_there_is_no_league_and_the_study_takes_the_sample(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("HARNESS_SHARED", str(tmp_path))
    data = data_folder()
    assert data.is_relative_to(ROOT) and (data / COCO).is_dir()
    pages = exhibits(data, 7)
    assert [(page.name, page.data, list(page.options)) for page in pages] == [
        ("captioners", str(data), ["--limit", "7"]),
        ("study", "", ["--limit", "7"]),
    ]
    (tmp_path / "flickr8k_expert").mkdir()
    assert [page.name for page in exhibits(tmp_path, None)] == [
        "captioners",
        "league",
        "study",
    ]


def test_the_run_of_the_captioners_is_a_spec_of_twelve_systems():
    assert (
        len(load_written_spec(captioners(data_folder())).spec.models)
        == len(SYSTEMS)
        == 12
    )


def test_the_index_leads_to_every_page_with_its_picture_and_loads_nothing_else(
    tmp_path,
):
    pages = exhibits(data_folder(), 7)
    files = {page.name: tmp_path / f"{page.name}.html" for page in pages}
    for file in files.values():
        file.write_bytes(b" " * 1_230_000)
    text = index(pages, files)
    assert set(re.findall(r'href="([^"]+\.html)"', text)) == {
        file.name for file in files.values()
    }
    assert set(re.findall(r'(?:src|srcset)="([^"]+)"', text)) == {
        f"{name}{dark}.png" for name in files for dark in ("", "-dark")
    }
    assert text.count("1.2 MB, one file") == len(files) and "$" not in text
