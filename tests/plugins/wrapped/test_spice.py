"""SPICE: missing parts are reported, one process serves a run;
the real program runs where its jars are.
."""

from __future__ import annotations

import os

import pytest

from caption_kernels.coco.spice import JARS
from harness.contracts import CaptionSet
from harness.errors import InputError, MissingExtra
from harness.run.features import FeatureCache
from harness_metrics.wrapped import spice


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


def test_the_installation_is_checked_without_starting_the_program(
    tmp_path, monkeypatch
):
    for name in JARS:
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
