"""Captions on pages that try to run code, for :mod:`benchmarks.hostile`."""

from __future__ import annotations

import json
from pathlib import Path

import harness
from benchmarks.captions import take_few
from benchmarks.hostile_trace import MARK

SET = f"window.{MARK}=1"
TEXTS = [
    f"<script>{SET}</script>",
    f"</script><script>{SET}</script>",
    f"</SCRIPT ><script>{SET}</script>",
    f"<!--</script><script>{SET}</script>-->",
    f"]]></script><script>{SET}</script>",
    f'"></script><script>{SET}</script>',
    f"</style></script><script>{SET}</script>",
    f"</textarea></title></script><script>{SET}</script>",
    f"<img src=x onerror={SET}>",
    f"<img src=x onerror='{SET}' alt=dog>",
    f'"><img src=x onerror={SET}>',
    f"'><img src=x onerror={SET}>",
    f"<svg onload={SET}>",
    f"<svg><script>{SET}</script></svg>",
    f"<svg><animate onbegin={SET} attributeName=x dur=1s>",
    f"<body onload={SET}>",
    f"<iframe srcdoc='<script>parent.{MARK}=1</script>'></iframe>",
    f"<iframe src='javascript:parent.{MARK}=1'></iframe>",
    f"<input autofocus onfocus={SET}>",
    f"<details open ontoggle={SET}>",
    f"<video><source onerror={SET}></video>",
    f"<audio src=x onerror={SET}></audio>",
    f"<style>@keyframes a{{}}</style><b style='animation:a 1s' onanimationstart={SET}>",
    f"<math><mtext></form><form><mglyph><style></math><img src=x onerror={SET}>",
]
"""Captions, ids, names of models and titles."""


def write_report(folder: Path, text: str) -> Path:
    """Run a spec whose texts are an attack, and return the path of its page."""
    folder.mkdir()
    ids = [text, "2", "3"]
    references = [
        {"id": name, "references": [text, "a dog runs", f"a {k} dog"]}
        for k, name in enumerate(ids)
    ]

    candidates = [{"id": name, "candidates": [f"{text} dog", "a dog"]} for name in ids]
    for name, rows in (("data", references), ("candidates", candidates)):
        (folder / f"{name}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows)
        )

    spec = {
        "task": "attack",
        "description": text,
        "notice": text,
        "dataset": {"reader": "jsonl", "path": "data.jsonl"},
        "models": [
            "human",
            {"predictions": {"label": text, "path": "candidates.jsonl"}},
        ],
        "metrics": ["rouge", {"trm": {"distance": "rouge"}}],
        "views": [
            {
                "plot": "table",
                "title": text,
                "note": text,
                "x": "metric",
                "by": "model",
                "y": "*",
            },
            {"plot": "bar", "title": text, "x": "model", "y": "rouge"},
            {"plot": "texts", "title": text, "examples": 2},
        ],
        "bootstrap": {"samples": 50},
    }

    (folder / "spec.yaml").write_text(json.dumps(spec))
    harness.evaluate(folder / "spec.yaml", output=folder / "out")
    harness.report(folder / "out", output=folder / "page.html")
    return folder / "page.html"


def pages(folder: Path, chromium: str) -> tuple[int, int, int]:
    """Return the numbers of attacks that work, of pages, and of pages whose code runs
    or that ask for another file.
    """
    from playwright.sync_api import sync_playwright

    working = opened = ran = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )

        for number, text in enumerate(take_few(TEXTS)):
            plain = folder / f"plain{number}.html"
            plain.write_text(
                f"<body><div>{text}</div><script type=data>{text}</script><a "
                f"title='{text}'>x</a>"
            )

            # First in a page without escapes: an attack that does nothing there says
            # nothing.
            view = browser.new_page()
            view.goto(plain.as_uri())
            view.wait_for_timeout(150)
            works = view.evaluate(f"window.{MARK} === 1")
            view.close()

            if not works:
                print(f"  text {number} does not work here: {text}")
                continue
            working += 1

            page = write_report(folder / str(number), text)
            view = browser.new_page()
            asked = list[str]()
            view.on("request", lambda request, asked=asked: asked.append(request.url))
            view.on("dialog", lambda dialog: dialog.dismiss())
            view.goto(page.as_uri())
            view.wait_for_selector(".tabs a")
            for link in view.locator(".tabs a").all():
                link.click()
                view.wait_for_timeout(250)

            opened += 1
            others = [
                url
                for url in asked
                if not url.startswith((page.as_uri(), "data:", "blob:"))
            ]
            if view.evaluate(f"window.{MARK} === 1") or others:
                ran += 1
                print(f"  page {number} runs code or asks for {others}: {text}")

            view.close()
        browser.close()
    return working, opened, ran
