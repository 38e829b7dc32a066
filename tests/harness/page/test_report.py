"""Charts as files for papers."""

from __future__ import annotations

import pytest

from harness.errors import InputError, MissingExtra
from harness.files.outputs import OUTPUTS
from harness.page.charts import DOUBLE, SINGLE, charts_for
from harness.page.charts.drawing import width_of
from harness.page.report import report, write_figures

pytest.importorskip("vl_convert")


@pytest.fixture(scope="module")
def figures(captions_run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("figures") / "new"
    return folder, write_figures([captions_run.path], folder)


def test_every_chart_is_four_files(captions_run, figures):
    folder, files = figures
    names = {
        f"{chart.id}-{width}.{suffix}"
        for chart in charts_for([captions_run])
        for width in ("single", "double")
        for suffix in ("svg", "pdf")
    }
    assert {file.name for file in files} == {*names, "figures.md"}
    assert {file.name for file in folder.iterdir()} == {
        OUTPUTS,
        *(file.name for file in files),
    }


def test_figures_fit_their_columns(figures):
    folder, _ = figures
    for layout, name in ((SINGLE, "single"), (DOUBLE, "double")):
        for file in folder.glob(f"*-{name}.svg"):
            assert width_of(file.read_text(encoding="utf-8")) <= layout.width + 1, (
                file.name
            )


def test_the_list_has_titles_and_captions(figures):
    text = (figures[0] / "figures.md").read_text(encoding="utf-8")
    assert "## differences" in text
    assert "approximate randomisation" in text


@pytest.mark.slow
def test_files_are_the_same_when_written_again(captions_run, figures, tmp_path):
    folder, _ = figures
    for file in write_figures([captions_run.path], tmp_path):
        if file.suffix != ".pdf":
            assert file.read_bytes() == (folder / file.name).read_bytes(), file.name


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({}, ["report.html"]),
        ({"figures": "f"}, ["f"]),
        ({"figures": "f", "output": "page.html"}, ["page.html", "f"]),
    ],
)
def test_figures_alone_come_without_a_page(captions_run, monkeypatch, options, names):
    monkeypatch.setattr(
        "harness.page.report.write",
        lambda runs, target, options, overwrite: target,
    )
    monkeypatch.setattr(
        "harness.page.report.write_tables",
        lambda runs, folder, percent, overwrite: [],
    )
    monkeypatch.setattr(
        "harness.page.report.write_figures",
        lambda runs, folder, overwrite: [folder],
    )
    assert [file.name for file in report(captions_run.path, **options)] == names


def test_without_a_converter_of_figures_nothing_is_written(
    captions_run, monkeypatch, tmp_path
):
    def refuse():
        raise MissingExtra("figures need vl-convert")

    monkeypatch.setattr("harness.page.report.converter", refuse)
    with pytest.raises(MissingExtra):
        report(captions_run.path, output=tmp_path / "page.html", figures=tmp_path / "f")
    assert not list(tmp_path.iterdir())
    report(captions_run.path, output=tmp_path / "page.html", explain=0)
    assert (tmp_path / "page.html").is_file()


def test_all_comparisons_are_asked_for(captions_run, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "harness.page.report.write",
        lambda runs, target, options, overwrite: asked.append(options) or target,
    )
    report(captions_run.path)
    report(captions_run.path, compare=True, editable=True, images=False)
    assert [
        (options.compare, options.editable, options.images) for options in asked
    ] == [(False, False, True), (True, True, False)]


def test_a_folder_without_a_run_is_an_error(tmp_path):
    with pytest.raises(InputError):
        write_figures([tmp_path], tmp_path / "figures")
    assert not (tmp_path / "figures").exists()
