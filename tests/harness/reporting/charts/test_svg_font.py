"""The font inside an SVG."""

from __future__ import annotations

import base64
import hashlib
import re
from xml.etree import ElementTree

from harness.reporting.charts.svg_font import FOLDER, WEIGHTS, with_font

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><text font-weight="bold">a</text></svg>'


def test_the_weights_in_use_are_embedded():
    text = with_font(SVG)
    ElementTree.fromstring(text)
    fonts = re.findall(r"base64,([^)]*)\)", text)
    assert [base64.b64decode(font)[:4] for font in fonts] == [b"wOF2", b"wOF2"]
    assert len(re.findall("base64,", with_font(SVG.replace("bold", "normal")))) == 1


def test_the_files_are_those_that_the_readme_names():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for name in WEIGHTS.values():
        assert f"{hashlib.sha256((FOLDER / name).read_bytes()).hexdigest()}  {name}" in readme
    assert "SIL OPEN FONT LICENSE" in (FOLDER / "OFL.txt").read_text(encoding="utf-8")
