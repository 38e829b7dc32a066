"""Bundled libraries are those of the recorded checksums; blocks and scripts cannot end
the element that holds them.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from types import SimpleNamespace

import pytest

from harness.errors import MissingExtra
from harness.page import assets


def digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_libraries_have_the_recorded_checksums():
    folder = assets.HERE / "vendor"
    sums = [line.split() for line in (folder / "SHA256SUMS").read_text().splitlines()]
    assert [name for _, name in sums] == ["tables.js", "charts.js", "LICENSES.txt"]
    for digest, name in sums:
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, (
            f"run 'make vendor' for {name}"
        )


def test_every_library_is_pinned_and_has_its_licence():
    folder = assets.HERE / "vendor"
    package = json.loads((folder / "package.json").read_text())
    licences = assets.licences()
    for name, version in package["dependencies"].items():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version)
        assert f"{name} {version} (" in licences
    lock = json.loads((folder / "package-lock.json").read_text())["packages"]
    assert all("integrity" in entry for name, entry in lock.items() if name)


def test_the_style_sheet_is_whole():
    texts = [
        (assets.HERE / "assets" / name).read_text(encoding="utf-8")
        for name in assets.STYLES
    ]
    assert texts and assets.style() == "\n".join(texts)


def test_the_metrics_of_an_editable_page_are_those_of_the_installed_package(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(
        assets.importlib.util,
        "find_spec",
        lambda name: SimpleNamespace(origin=str(tmp_path / "__init__.py")),
    )
    with pytest.raises(MissingExtra, match="make wasm in a checkout builds it"):
        assets.scoring()
    (tmp_path / "browser").mkdir()
    (tmp_path / "browser" / "scoring.js").write_text("let é;", encoding="utf-8")
    (tmp_path / "browser" / "caption_kernels.wasm").write_bytes(b"\0asm")
    assert assets.scoring() == ("let é;", b"\0asm")


@pytest.mark.parametrize("spec", [None, SimpleNamespace(origin=None)])
def test_without_the_package_the_message_says_how_to_build_it(
    monkeypatch, tmp_path, spec
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(assets.importlib.util, "find_spec", lambda name: spec)
    with pytest.raises(
        MissingExtra,
        match="editable=True needs the WebAssembly build of caption-kernels",
    ):
        assets.scoring()


def test_scripts_end_no_element():
    for text in (assets.script(), assets.charts_library()):
        assert "</script" not in text and "<!--" not in text and "\r" not in text


def test_a_block_is_the_same_for_the_same_content():
    first, second = (
        assets.DataBlock.of_json("x", {"a": ["é", "</script>"]}) for _ in range(2)
    )
    assert first == second and re.fullmatch(r"[A-Za-z0-9+/=]+", first.data)
    assert assets.DataBlock.of_json("x", "\ud800").data, "lone surrogates are replaced"


def test_a_block_is_compressed_text_without_blanks():
    block = assets.DataBlock.of_json("x", {"a": [1, "é"], "b": None})
    assert (
        gzip.decompress(base64.b64decode(block.data)).decode("utf-8")
        == '{"a":[1,"é"],"b":null}'
    )
    assert base64.b64decode(block.data)[4:8] == bytes(4), "without a time"
    with pytest.raises(ValueError, match="not JSON compliant"):
        assets.DataBlock.of_json("x", [float("nan")])


def test_scripts_of_the_package_are_one_strict_function():
    text = assets.script_of(["address.js", "data.js"])
    assert text.startswith('(() => {\n"use strict";') and text.endswith("})();")
    sources = [
        (assets.HERE / "assets" / name).read_text(encoding="utf-8")
        for name in ("address.js", "data.js")
    ]
    assert text.index(sources[0][:40]) < text.index(sources[1][:40])
    assert assets.script().endswith(assets.script_of(assets.SCRIPTS))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"scripts": []}, "script-src 'none'; style-src"),
        (
            {"scripts": ["a", "b"]},
            f"script-src 'sha256-{digest('a')}' 'sha256-{digest('b')}'; style-src",
        ),
        (
            {"scripts": ["a"], "wasm": True},
            f"script-src 'sha256-{digest('a')}' 'wasm-unsafe-eval'; style-src",
        ),
        ({"scripts": [], "wasm": True}, "script-src 'wasm-unsafe-eval'; style-src"),
        (
            {"scripts": [], "connect": "'self'"},
            "form-action 'none'; connect-src 'self'",
        ),
    ],
)
def test_a_policy_allows_the_scripts_alone(options, expected):
    text = assets.policy(**options)
    assert text.startswith("default-src 'none'; script-src ") and expected in text
    assert ("connect-src" in text) is ("connect" in options) and text.endswith(
        "'none'"
    ) is ("connect" not in options)


def test_a_plain_page_runs_the_script_of_its_colours_alone_and_escapes_its_title():
    text = assets.plain_page("a < b", "<p>content</p>")
    assert (
        "<title>a &lt; b</title>" in text
        and ">a &lt; b</h1>" in text
        and '<main id="content"><p>content</p>' in text
    )
    script = assets.script_of(assets.PLAIN_SCRIPTS)
    assert (
        f'content="{assets.policy([assets.HEAD_SCRIPT, script])}"' in text
        and f"<style>{assets.style()}</style>" in text
    )
    assert re.findall("<script>(.*?)</script>", text, re.DOTALL) == [
        assets.HEAD_SCRIPT,
        script,
    ]


@pytest.mark.parametrize(
    "end", ["</script>", "<!--<script>", "<!-- <SCRIPT", "</script ", "a\rb"]
)
def test_no_text_of_a_script_ends_or_prolongs_its_element(tmp_path, monkeypatch, end):
    """HTML, section 13.2.5.20: behind ``<!--`` and ``<script`` the end tag of a script
    is text.

    A browser reads a carriage return as a line feed,
    so that the hash of the policy would be another one.
    """
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "one.js").write_bytes(f'const text = "{end}";\n'.encode())
    monkeypatch.setattr(assets, "HERE", tmp_path)
    script = assets.script_of(["one.js"])
    assert "const text" in script
    assert not re.search(r"</script|<!--|\r", script)
