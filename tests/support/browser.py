"""Fixtures of a real browser; a conftest imports them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

Browse = Callable[..., AbstractContextManager]
_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
AXE = Path(__file__).resolve().parents[1] / "harness" / "page" / "vendor" / "axe.min.js"


@pytest.fixture
def browse() -> Browse:
    """``with browse(file) as view``: the page in Chromium; at the end it must have had
    no error and asked for nothing but itself.

    In place of a file, the address of a page that asks for further things under its
    address alone.

    Further arguments are those of a browser context of Playwright, such as
    ``color_scheme`` or ``java_script_enabled``.
    """
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        if os.environ.get("HARNESS_BROWSER_REQUIRED"):
            pytest.fail("no chromium found")
        pytest.skip("no chromium on PATH")
    from playwright.sync_api import sync_playwright

    @contextmanager
    def opened(file: Path | str, **options: object) -> Iterator:
        errors: list[str] = []
        requests: list[str] = []
        url = file if isinstance(file, str) else file.resolve().as_uri()

        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=chromium, args=list(_FLAGS)
            )
            view = browser.new_context(**options).new_page()  # type: ignore[arg-type]
            view.on("pageerror", lambda error: errors.append(str(error)))
            view.on(
                "console",
                lambda message: (
                    errors.append(message.text)
                    if message.type in ("error", "warning")
                    else None
                ),
            )
            view.on("request", lambda request: requests.append(request.url))
            view.goto(url)
            yield view
            browser.close()

        assert errors == []
        # A page's own memory, from which it starts workers, has addresses of the form
        # blob:.
        pages = [
            request.partition("#")[0]
            for request in requests
            if not request.startswith("blob:")
        ]

        assert (
            all(page.startswith(url) for page in pages)
            if isinstance(file, str)
            else set(pages) == {url}
        )

    return opened


@pytest.fixture
def violations() -> Callable[..., list[str]]:
    """``violations(view)``: the accessibility rules (axe) that the page violates, with
    the first element of each.
    """

    def find(view) -> list[str]:
        view.evaluate(AXE.read_text(encoding="utf-8"))
        rules = view.evaluate("axe.run(document, {resultTypes: ['violations']})")[
            "violations"
        ]
        return [f"{rule['id']}: {rule['nodes'][0]['html'][:200]}" for rule in rules]

    return find
