"""The committed pages are those of their sources."""

from __future__ import annotations

import re
import shutil

import pytest

from tools.release import artefacts


def test_pages_are_those_of_their_sources(root):
    assert artefacts.find_problems(root, artefacts.FOLDER) == [], "make artefacts"


def test_a_changed_page_and_changed_sources_are_named(root, tmp_path, monkeypatch):
    folder = shutil.copytree(artefacts.FOLDER, tmp_path / "artefacts")
    with (folder / "report.html").open("a") as page:
        page.write(" ")
    (problem,) = artefacts.find_problems(root, folder)
    assert problem.startswith("report.html: changed since it was built")

    shutil.copyfile(artefacts.FOLDER / "report.html", folder / "report.html")
    monkeypatch.setitem(artefacts.SOURCES, "score.html", ("tools/score_page/",))
    (problem,) = artefacts.find_problems(root, folder)
    assert problem.startswith("sources of score.html: changed")


def test_pages_of_more_than_2_mb_are_refused(root, monkeypatch):
    monkeypatch.setattr(artefacts, "LARGEST", 1000)
    (problem,) = artefacts.find_problems(root, artefacts.FOLDER)
    assert "at most 1000" in problem


@pytest.mark.parametrize("page", artefacts.SOURCES)
def test_pages_name_no_folder_of_a_machine_and_ask_no_server(page):
    text = (artefacts.FOLDER / page).read_text(encoding="utf-8")
    assert not re.search(r"/(home|root|work|tmp|Users)/\w", text)
    assert "Content-Security-Policy" in text
    assert not re.search(r"(src|href)=[\"']https?://", text)
