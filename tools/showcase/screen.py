"""Commands as a terminal of 80 columns prints them,
and pages as a browser shows them.
"""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HARNESS = [sys.executable, "-m", "harness"]
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--hide-scrollbars",
)


def environment(data: str = "") -> dict[str, str]:
    """Return the variables of a command: without colours,
    and with the folder of real data or without one.
    """
    return {
        **os.environ,
        "TERM": "dumb",
        "COLUMNS": "80",
        "HARNESS_DATA": data,
        "PYTHONPATH": str(ROOT),
    }


def printed(command: Sequence[str], folder: Path) -> str:
    """Return what ``harness COMMAND`` prints on the stdout of a terminal of 80 columns;
    lines without spaces at their ends.
    """
    reader, writer = pty.openpty()
    process = subprocess.Popen(
        [*HARNESS, *command],
        cwd=folder,
        env=environment(),
        stdout=writer,
        stderr=subprocess.PIPE,
    )
    os.close(writer)
    out = bytearray()
    while True:
        try:
            part = os.read(reader, 65536)
        except OSError:  # Linux: the other end is closed
            break
        if not part:
            break
        out += part
    os.close(reader)
    errors = process.communicate()[1].decode()
    if process.returncode:
        raise SystemExit(f"harness {' '.join(command)}\n{errors}")
    return "\n".join(line.rstrip() for line in out.decode().splitlines()).strip("\n")


def run(command: Sequence[str], folder: Path, data: str = "") -> None:
    """Run ``harness COMMAND`` and show what it says; a failure ends the program."""
    print("harness", " ".join(command), flush=True)
    subprocess.run(
        [*HARNESS, *command],
        cwd=folder,
        env=environment(data),
        check=True,
        stdout=subprocess.DEVNULL,
    )


def photograph(
    pages: Mapping[Path, Path],
    width: int = 1440,
    height: int = 900,
    scale: float = 1.25,
    dark: bool = False,
) -> None:
    """Write pictures of the first screens of pages;
    ``pages`` is page -> PNG of 128 colours.
    """
    from PIL import Image
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        context = browser.new_context(
            viewport={"width": width, "height": height},
            device_scale_factor=scale,
            color_scheme="dark" if dark else "light",
        )
        context.set_default_timeout(180_000)
        for page, picture in pages.items():
            view = context.new_page()
            view.goto(page.resolve().as_uri())
            view.wait_for_timeout(1500)
            picture.parent.mkdir(parents=True, exist_ok=True)
            view.screenshot(path=str(picture))
            Image.open(picture).convert("RGB").quantize(
                128, dither=Image.Dither.NONE
            ).save(picture, optimize=True)
        browser.close()
