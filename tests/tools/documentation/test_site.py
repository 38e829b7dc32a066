"""Pages and navigation of the documentation site."""

from __future__ import annotations

from pathlib import Path

from tools.documentation.site import (
    SECTIONS,
    guide_nav,
    in_both_schemes,
    relinked,
    title_of,
)


def test_every_page_is_in_the_navigation_and_the_tabs_are_few(root):
    nav = guide_nav(root / "docs")
    titles = [next(iter(item)) for item in nav]
    assert titles[:4] == ["Home", "Tutorial", "How to", "Explanation"]
    assert len(titles) + 2 <= 10, "more tabs do not fit beside one another"

    def files(value):
        if isinstance(value, str):
            return {value}
        return {
            file
            for item in (value.values() if isinstance(value, dict) else value)
            for file in files(item)
        }

    pages = {
        file.relative_to(root / "docs").as_posix()
        for file in (root / "docs").rglob("*.md")
    }
    assert files(nav) == pages
    names = [name for section in SECTIONS.values() for name in section]
    assert len(set(names)) == len(names)


def test_links_to_files_of_the_repository_lead_to_it_or_to_their_copies():
    text = (
        "[a](../CHANGELOG.md#x) [b](../examples/README.md) [c](specs.md) "
        "[d](https://x.y)"
    )
    links = relinked(text, Path("plugins.md"))
    assert "[a](CHANGELOG.md#x)" in links
    assert "/blob/main/examples/README.md)" in links
    assert links.endswith("[c](specs.md) [d](https://x.y)")


def test_the_title_of_a_page_is_its_first_heading(tmp_path):
    (tmp_path / "a.md").write_text("text\n\n# `trm`: *triangles*\n\n# other\n")
    assert title_of(tmp_path / "a.md") == "trm: triangles"


def test_pictures_with_a_dark_one_beside_them_follow_the_scheme(tmp_path):
    (tmp_path / "a-dark.png").touch()
    text = "![A](a.png) ![B](b.png)"
    assert (
        in_both_schemes(text, tmp_path)
        == "![A](a.png#only-light)![A](a-dark.png#only-dark) ![B](b.png)"
    )
