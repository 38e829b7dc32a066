"""The page of a run that goes on: what it serves, to whom,
and that the report takes its place.
"""

from __future__ import annotations

import json
import re
import threading
import urllib.error
import urllib.request
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from harness.cli.main import main
from harness.contracts import Example
from harness.page import live as live_page
from harness.page.live import ADDRESS, HEADERS, LivePage
from harness.run.estimates import Watch
from harness.run.progress import bar


@pytest.fixture
def watch() -> Watch:
    watch = Watch("words", 40)
    watch.latest.append(
        (
            "one",
            Example("e1", ("a dog <b>",)),
            {"candidates": ["a <script>alert(1)</script> dog"]},
        )
    )
    return watch


def get(live: LivePage, path: str, **headers: str):
    """Status, headers and content of the answer to a request for a path."""
    address = urlsplit(live.url)
    connection = HTTPConnection(ADDRESS, address.port or 0, timeout=10)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read()


def test_page_and_state_are_served_under_the_token_alone(watch):
    with LivePage(watch) as live, bar("scores", 10, show=False) as advance:
        advance(4)
        token = urlsplit(live.url).path
        status, headers, page = get(live, token)
        assert (
            status == 200
            and b"not final" in page
            and headers.items() >= HEADERS.items()
        )
        state = json.loads(get(live, f"{token}state.json")[2])
        assert state["work"] == [
            {"name": "scores", "done": 4, "total": 10, "text": state["work"][0]["text"]}
        ]
        assert (
            state["latest"][0]["candidates"] == ["a <script>alert(1)</script> dog"]
            and not state["finished"]
        )
        for path in (
            "/",
            "/state.json",
            "/wrong/",
            f"{token}report.html",
            f"{token}../../etc/passwd",
            f"{token}state.json?x",
        ):
            assert get(live, path)[0] == 404, path
    assert len(token.strip("/")) >= 32


def test_the_page_shows_the_innermost_work_alone(watch):
    with (
        LivePage(watch) as live,
        bar("captions", 8, show=False),
        bar("scores", 10, show=False),
    ):
        assert [work["name"] for work in live.state()["work"]] == ["scores"]


def test_a_page_of_another_site_is_refused(watch):
    with LivePage(watch) as live:
        path = urlsplit(live.url).path
        port = urlsplit(live.url).port
        assert get(live, path, Host=f"localhost:{port}")[0] == 200
        for host in (
            "evil.example",
            f"evil.example:{port}",
            ADDRESS,
            f"{ADDRESS}:1",
            "",
        ):
            assert get(live, path, Host=host)[0] == 404, host
        assert urlsplit(live.url).hostname == "127.0.0.1"


def test_other_methods_are_refused(watch):
    with LivePage(watch) as live:
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(
                urllib.request.Request(live.url, method="POST", data=b"x")
            )
        assert refused.value.code == 501


@pytest.mark.slow
def test_the_report_takes_the_place_of_the_page(watch, tmp_path):
    (tmp_path / "report.html").write_text("<p>the report")
    with LivePage(watch) as live:
        path = urlsplit(live.url).path
        get(live, path)
        found: list[bytes] = []
        readers = [
            threading.Timer(delay, lambda: found.append(get(live, path)[2]))
            for delay in (0.2, 1.0)
        ]
        for reader in readers:
            reader.start()
        live.finish(tmp_path / "report.html")
        assert found == [b"<p>the report"] * 2, "two windows"
        assert json.loads(get(live, f"{path}state.json")[2])["finished"]
        assert get(live, path)[2] == b"<p>the report"


def test_a_run_with_a_page_writes_its_report_and_gives_the_same_numbers(
    project, capsys, monkeypatch
):
    states: list[dict] = []
    monkeypatch.setattr(
        live_page.LivePage,
        "finish",
        lambda self, report: states.append(self.state() | {"report": report}),
    )
    assert main(["run", "spec.yaml", "--output", "paged", "--page"]) == 0
    errors = capsys.readouterr().err
    assert (
        re.search(r"page: http://127\.0\.0\.1:\d+/[\w-]{32}/\n", errors)
        and "report: paged/report.html" in errors
    )
    assert main(["run", "spec.yaml", "--output", "plain"]) == 0
    (state,) = states
    numbers = [
        [
            row["value"]
            for row in json.loads((project / name / "results.json").read_text())[
                "results"
            ]
        ]
        for name in ("paged", "plain")
    ]
    assert numbers[0] == numbers[1]
    assert state["latest"] and set(state["latest"][0]) >= {
        "model",
        "id",
        "references",
        "candidates",
    }


def test_a_part_of_a_run_has_no_page(project, capsys):
    assert main(["run", "spec.yaml", "--output", "p", "--page", "--shard", "1/2"]) == 2
    assert "--page shows a whole run" in capsys.readouterr().err


@pytest.mark.slow
def test_the_page_follows_the_run_in_a_browser(watch, browse, tmp_path, violations):
    report = (
        "<!doctype html><html lang=en><link rel=icon "
        'href="data:,"><title>r</title><main><h1>the report</h1></main>'
    )
    (tmp_path / "report.html").write_text(report)
    with (
        LivePage(watch) as live,
        browse(live.url) as view,
        bar("captions: one", 8, show=False) as advance,
    ):
        advance(2)
        view.wait_for_selector("text=captions: one: 2 of 8")
        assert "<script>" in view.inner_text(".latest") and violations(view) == []
        live._report = (tmp_path / "report.html").read_bytes()
        view.wait_for_selector("h1:text('the report')")
