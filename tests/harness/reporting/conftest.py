"""A real browser for the pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

Browse = Callable[[Path], AbstractContextManager]
_FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture
def browse() -> Browse:
    """``with browse(file) as view``: the page in Chromium; at the end it must have had no error and asked for nothing but itself."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        if os.environ.get("HARNESS_BROWSER_REQUIRED"):
            pytest.fail("no chromium found")
        pytest.skip("no chromium on PATH")
    from playwright.sync_api import sync_playwright

    @contextmanager
    def opened(file: Path) -> Iterator:
        errors: list[str] = []
        requests: list[str] = []
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=list(_FLAGS))
            view = browser.new_page()
            view.on("pageerror", lambda error: errors.append(str(error)))
            view.on("request", lambda request: requests.append(request.url))
            view.goto(file.resolve().as_uri())
            yield view
            browser.close()
        assert errors == []
        assert requests == [file.resolve().as_uri()]

    return opened
