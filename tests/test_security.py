"""SECURITY.md says what a spec, a data set, a server and a run directory can do at
most: a test of each sentence.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from harness.cli.main import main
from tests.support.chat_server import Server, server
from tests.support.raw_server import RawServer, read_request
from tests.support.terminal import run_in_terminal

__all__ = ["server"]

pytest.importorskip("httpx2")
Image = pytest.importorskip("PIL.Image")
SECRET = "value-of-the-secret"
_sentences: list[str] = []


def holds(sentence: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Declare the sentence of SECURITY.md that a test holds."""
    _sentences.append(sentence)
    return lambda test: test


def test_every_sentence_has_a_test(root):
    text = (root / "SECURITY.md").read_text(encoding="utf-8")
    section = text.partition("## What they can do at most")[2].partition("\n## ")[0]
    items = re.findall(r"^- (.*(?:\n  .*)*)$", section, re.MULTILINE)
    assert _sentences == [" ".join(item.split()) for item in items]


@pytest.fixture
def folder(tmp_path, monkeypatch, server) -> Path:
    """A folder with a data set of one image, a private image and a private text beside
    it; the current directory.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MY_SECRET", SECRET)
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    for name in ("HARNESS_ALLOWED_SECRETS", "HARNESS_ALLOW_CODE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("data", "private"):
        (tmp_path / name).mkdir()
        Image.new("RGB", (8, 8), "red").save(tmp_path / name / "1.png")
    (tmp_path / "private" / "text").write_text("private words\n")
    return tmp_path


def run(
    server: Server,
    media: str | None = None,
    *options: str,
    dataset: str = "",
    url: str = "",
    text: str = "",
    **model: Any,
) -> int:
    """Write a spec of one model on the server, and a data set of one example; return
    the exit code of its run.
    """
    record = {
        "id": "e1",
        "references": ["a dog", "the dog"],
        "media": media,
        "source": text or None,
    }
    Path("data/set.jsonl").write_text(
        json.dumps({name: value for name, value in record.items() if value is not None})
    )
    component = {
        "base_url": url or server.url,
        "model": "m",
        "retries": 0,
        "first_wait": 0.01,
        **model,
    }
    data = dataset or "{reader: jsonl, path: data/set.jsonl}"
    Path("spec.yaml").write_text(
        f"task: t\ndataset: {data}\nmodels:\n  - openai: {json.dumps(component)}\n"
        "metrics: [distinct]\n"
    )
    return main(["run", "spec.yaml", "--output", "out", *options])


@holds(
    "It can read a text file that a reader accepts, "
    "and send its texts to the servers that it names."
)
def test_a_spec_reads_text_files(folder, server):
    assert (
        run(
            server,
            dataset="{reader: lines, path: private/text}",
            prompt="say {id}",
            image=False,
        )
        == 0
    )
    assert json.loads(Path("out/manifest.json").read_text())["data"]["examples"] == 1
    content = (folder / "private" / "text").read_text().strip()
    (folder / "private" / "table.jsonl").write_text(
        json.dumps({"id": "1", "references": ["a"], "source": content})
    )
    assert (
        run(
            server,
            None,
            "--fresh",
            dataset="{reader: jsonl, path: private/table.jsonl}",
            prompt="say {source}",
        )
        == 0
    )
    assert server.requests[-1]["messages"][0]["content"] == "say private words"


@holds(
    "It can name any folder for media, and send the images, "
    "videos and sounds in it to the servers that it names."
)
def test_a_spec_names_folders_of_media(folder, server):
    assert run(server, "1.png", images=str(folder / "private")) == 0
    assert "data:image/png;base64" in json.dumps(server.requests)


@holds(
    "It cannot send another file as media: the first bytes say what is an image, "
    "a video or a sound."
)
@pytest.mark.parametrize(
    "settings",
    [{}, {"medium": "video", "frames": 0}, {"medium": "video"}, {"medium": "audio"}],
)
def test_a_spec_sends_no_other_file(folder, server, settings, capsys):
    assert run(server, "text", images="private", **settings) == 2
    assert (
        "private/text: is no image, video or sound by its content"
        in capsys.readouterr().err
    )
    assert server.requests == []


@pytest.mark.slow
@holds(
    "It can read environment variables, and secrets among them, by name or value, "
    "only where you allow them by `--allow-secret NAME`."
)
def test_a_spec_reads_no_secret(folder, server, monkeypatch):
    monkeypatch.setenv("PLAIN", "plain-value")
    monkeypatch.setenv("DATABASE", f"db://me:{SECRET}@host")
    assert run(server, prompt="${PLAIN}") == 0 and "plain-value" in json.dumps(
        server.requests
    )
    for text, name in (
        ("${MY_SECRET}", "MY_SECRET"),
        ("${secret:PLAIN}", "PLAIN"),
        ("${DATABASE}", "DATABASE"),
    ):
        server.requests.clear()
        assert run(server, None, "--fresh", prompt=text) == 2 and server.requests == []
        server.answer = lambda body: json.loads(chat("a dog"))
        assert (
            run(server, None, "--fresh", "--allow-secret", name, prompt=text) == 0
            and server.requests != []
        )


@holds(
    "It cannot name a key for a server, except `OPENAI_API_KEY` for "
    "`https://api.openai.com`, unless you allow it by `--allow-secret NAME`."
)
def test_a_spec_names_no_key(folder, server):
    for name in ("MY_SECRET", "OPENAI_API_KEY"):
        assert run(server, api_key_env=name) == 2 and server.requests == []
    assert (
        run(server, None, "--allow-secret", "MY_SECRET", api_key_env="MY_SECRET") == 0
    )
    assert server.requests[0]["key"] == f"Bearer {SECRET}"
    run(
        server,
        url="https://api.openai.com/v1",
        api_key_env="OPENAI_API_KEY",
        proxy="http://127.0.0.1:9",
    )
    assert main(["validate", "spec.yaml"]) == 0


@holds(
    "It cannot run code: `trust_remote_code`, `jars` and `run` of a program (and "
    "parameters of plugins that are marked so) need `HARNESS_ALLOW_CODE=1`, and YAML "
    "has no tags of Python. It creates no environment of a program without "
    "`--create-environments`."
)
def test_a_spec_runs_no_code(folder, server, capsys):
    spec = "task: t\ndataset: {reader: lines, path: private/text}\n"
    for lines in (
        "models: [{transformers: {model: evil, trust_remote_code: true}}]\nmetrics: "
        "[distinct]\n",
        "models: [human]\nmetrics: [{spice: {jars: evil}}]\n",
        "models: [human]\nmetrics: [{command: {run: touch ran}}]\n",
        "models: [{command: {run: touch ran}}]\nmetrics: [distinct]\n",
        "models: [human]\nmetrics: [{mmd: {embedding: {command: {run: touch ran}}}}]\n",
        "models: [human]\nmetrics: [distinct]\nseed: "
        "!!python/object/apply:os.system ['touch ran']\n",
    ):
        Path("code.yaml").write_text(spec + lines)
        assert main(["run", "code.yaml"]) == 2
        err = capsys.readouterr().err
        assert re.search(
            "runs code that the spec names|seed: input should be a valid integer", err
        ), err

    # A manifest that the user trusts declares an environment, and the spec uses it.
    Path("registry.yaml").write_text(
        "provider: mine\nmetrics: {old: {command: [touch, ran], "
        "environment: {requirements: [evil]}}}\n"
    )
    Path("code.yaml").write_text(spec + "models: [human]\nmetrics: [old]\n")
    assert main(["run", "code.yaml"]) == 2
    assert "its environment is not created yet" in capsys.readouterr().err
    assert not Path("ran").exists()
    assert not Path("cache", "environments").exists()


@holds(
    "It cannot name the folder that is written, nor leave the folder of runs by the "
    "name of its task."
)
def test_a_spec_names_no_folder_for_writing(folder, server, capsys):
    assert run(server) == 0
    text = Path("spec.yaml").read_text()
    Path("spec.yaml").write_text(text + "output: elsewhere\n")
    assert (
        main(["run", "spec.yaml"]) == 2
        and "unknown key 'output'" in capsys.readouterr().err
    )
    before = set(folder.parent.iterdir())
    for name in ("../../outside", str(folder.parent / "outside"), ".."):
        Path("spec.yaml").write_text(text.replace("task: t", f"task: {name}"))
        main(["run", "spec.yaml"])
    assert set(folder.parent.iterdir()) == before
    assert not any(
        path.is_dir()
        for path in folder.glob("*/")
        if path.name not in ("data", "private", "cache", "out", "runs")
    )


@holds("Its prompts insert texts of the example, and can do nothing else.")
@pytest.mark.parametrize(
    "prompt", ["{id.__class__}", "{id[0]}", "{id:>3000000000}", "{id!r}", "{}"]
)
def test_a_prompt_inserts_texts(folder, server, prompt):
    assert run(server, prompt=prompt) == 2 and server.requests == []
    assert (
        run(server, prompt="{id}", text="x") == 0
        and server.requests[0]["messages"][0]["content"] == "e1"
    )


@holds(
    "It can have files opened as media only in the folders that the spec names for "
    "it, links resolved."
)
def test_a_data_set_does_not_leave_its_folders(folder, server, capsys):
    (folder / "data" / "link.png").symlink_to(folder / "private" / "1.png")
    (folder / "private" / "1.mp4").symlink_to("/etc/passwd")
    for media in (
        f"{folder}/private/1.png",
        "/etc/passwd",
        "data/../private/1.png",
        "data/link.png",
        "dataset:%2Fetc?column=image&row=0/x",
    ):
        assert run(server, media) == 2 and server.requests == []
    for media in ("link.png", "../private/1.png"):
        assert run(server, media, images="data") in (1, 2) and server.requests == []
    assert run(server, f"{folder}/data/1.png") == 0 and len(server.requests) == 1


@pytest.mark.slow
@holds(
    "Its texts are never templates, and no control character of theirs reaches a "
    "terminal."
)
def test_texts_are_texts(folder, server):
    assert run(server, prompt="{source}", text="{id} ${MY_SECRET}") == 0
    assert server.requests[0]["messages"][0]["content"] == "{id} ${MY_SECRET}"
    for name in "ab":
        lines = [
            json.dumps(
                {
                    "id": f"{k} \x1b]0;title\x07",
                    "captions": [f"a \x9b31m dog {k} {name}"],
                }
            )
            for k in range(2)
        ]
        Path(f"{name}.jsonl").write_text("\n".join(lines))
    score = [
        "score",
        "a.jsonl",
        "b.jsonl",
        "--references",
        "a.jsonl",
        "-m",
        "rouge",
        "--label",
        "\x1b[31;5m",
        "--label",
        "b",
    ]
    for command in (
        [*score, "--output", "scored"],
        [*score, "--format", "csv"],
        ["compare", "scored", "--examples", "1"],
    ):
        output = run_in_terminal(command, folder)[1].decode()
        assert (
            r"\x9b31m dog" in output
            if "--examples" in command
            else r"\x1b[31;5m" in output
        )
        assert not re.search(r"\x1b\[31;5m|\x1b\]|\x07|\x9b", output)


@holds("It receives a key only at the address of the spec: redirects are not followed.")
def test_a_server_redirects_nobody(folder, server, capsys):
    other = RawServer(lambda connection, number: None)
    server.script = [(307, {"Location": other.url}, "")]
    assert (
        run(server, None, "--allow-secret", "MY_SECRET", api_key_env="MY_SECRET") == 2
    )
    assert (
        f"the server redirects to {other.url}; give that as base_url"
        in capsys.readouterr().err
    )
    other.close()
    assert other.connections == 0


@pytest.mark.slow
@holds("It can answer with 64 MiB at most, uncompressed, and within `timeout` seconds.")
@pytest.mark.parametrize("head", ["", "Content-Encoding: gzip\r\n"])
def test_a_server_is_bounded(folder, server, head, monkeypatch, capsys):
    def play(connection: Any, number: int) -> None:
        read_request(connection)
        connection.sendall(f"HTTP/1.1 200 OK\r\n{head}\r\n".encode())
        while True:
            connection.sendall(b" ")
            time.sleep(0.05)

    raw = RawServer(play)
    started = time.monotonic()
    assert run(server, url=raw.url, timeout=1.0) == 2
    raw.close()
    assert time.monotonic() - started < 8
    assert (
        "the reply is compressed" if head else "no answer within 1 s"
    ) in capsys.readouterr().err
    monkeypatch.setattr("harness.llm.session.MAX_REPLY", 1000)
    server.script = [(200, {}, " " * 1001)]
    assert run(server) == 2 and "the reply is larger than" in capsys.readouterr().err


def chat(text: str) -> str:
    """Return the reply of a server with one answer."""
    return json.dumps(
        {
            "choices": [
                {
                    "message": {"role": "assistant", "content": text},
                    "finish_reason": "stop",
                }
            ]
        }
    )


@pytest.mark.slow
@holds(
    "It cannot have a key that it repeats, as it is, in base64 or percent-encoded, "
    "stored, scored or shown: such an answer is a failure "
    "without its text."
)
def test_a_server_repeats_no_key(folder, server, monkeypatch, capsys):
    key = "key/of+the-server=0123"
    monkeypatch.setenv("MY_SECRET", key)
    coded = base64.b64encode(f"Bearer {key}".encode()).decode()
    spellings = [
        key,
        f"a dog {key}x",
        json.dumps({"caption": key}),
        quote(key, safe=""),
        coded,
        f"see {coded}!",
    ]
    for spelling in spellings:
        server.script = [(200, {}, chat(spelling))]
        assert (
            run(
                server,
                None,
                "--fresh",
                "--allow-secret",
                "MY_SECRET",
                api_key_env="MY_SECRET",
            )
            == 2
        )
        assert (
            "the reply holds a secret of this process; it is not kept"
            in (error := capsys.readouterr().err)
            and key not in error
        )
    server.script = [(500, {}, key), (200, {"X-Echo": key}, chat("a dog"))]
    assert (
        run(
            server,
            None,
            "--fresh",
            "--allow-secret",
            "MY_SECRET",
            api_key_env="MY_SECRET",
        )
        == 2
    )
    shown = capsys.readouterr()
    stored = b"".join(
        file.read_bytes()
        for place in ("out", "cache")
        for file in Path(place).rglob("*")
        if file.is_file()
    )
    for text in (key, coded, quote(key, safe="")):
        assert text not in shown.out + shown.err and text.encode() not in stored


@holds(
    "Its spec has the rights of a spec, and no permission that was given when it was "
    "made."
)
def test_a_run_directory_has_no_permission(folder, server, capsys):
    assert (
        run(server, None, "--allow-secret", "MY_SECRET", api_key_env="MY_SECRET") == 0
    )
    server.requests.clear()
    assert main(["rescore", "out", "-m", "rouge"]) == 2
    assert (
        "asks for the secret MY_SECRET" in capsys.readouterr().err
        and server.requests == []
    )


@holds(
    "It cannot have a verb that reads it remove, replace or write a file, "
    "but for the files that the verb names as its output, such as "
    "`comparisons.json` and `report.html`."
)
def test_a_run_directory_changes_nothing(folder, server, capsys):
    Path("theirs/src").mkdir(parents=True)
    Path("theirs/src/main.py").write_text("mine")
    Path("theirs/commit.json").write_text('{"moved": {}, "removed": ["src"]}')
    for verb in ("compare", "report", "correlate", "export"):
        options = {
            "correlate": ["--x", "a", "--y", "b"],
            "export": ["--output", "out"],
        }.get(verb, [])
        assert main([verb, "theirs", *options]) == 2
    assert (
        Path("theirs/src/main.py").read_text() == "mine"
        and len(list(Path("theirs").iterdir())) == 2
    )


@holds(
    "It cannot have a component created with a key or with code that you have not "
    "allowed, whichever verb reads it; nor can a judge file."
)
def test_a_run_directory_and_a_judge_file_create_nothing(folder, server, capsys):
    assert (
        run(server, None, "--allow-secret", "MY_SECRET", api_key_env="MY_SECRET") == 0
    )
    manifest = json.loads(Path("out/manifest.json").read_text())
    judge = {"base_url": server.url, "model": "m", "api_key_env": "MY_SECRET"}
    manifest["metrics"] = [
        *manifest["metrics"],
        {
            **manifest["metrics"][0],
            "label": "clair",
            "name": "clair",
            "params": {"judge": judge},
        },
    ]
    Path("out/manifest.json").write_text(json.dumps(manifest))
    server.requests.clear()
    assert (
        main(["correlate", "out", "--x", "distinct", "--y", "clair", "--strata", "2"])
        == 2
    )
    assert "--allow-secret MY_SECRET" in capsys.readouterr().err
    Path("judge.json").write_text(json.dumps(judge))
    files = [
        "data/set.jsonl",
        "data/set.jsonl",
        "--label",
        "a",
        "--label",
        "b",
        "--references",
        "data/set.jsonl",
    ]
    assert main(["arena", *files, "--judge", "judge.json"]) == 2
    assert "--allow-secret MY_SECRET" in capsys.readouterr().err
    assert server.requests == []


@holds(
    "It can have `harness report` show a local data set only where it has the hash "
    "of its content."
)
def test_a_run_directory_shows_no_file_of_yours(folder, server):
    assert run(server, text="source-before") == 0
    shutil.copytree("out", "theirs")
    record = json.loads(Path("data/set.jsonl").read_text())
    Path("data/set.jsonl").write_text(
        json.dumps({**record, "source": "source-of-mine"})
    )
    assert main(["report", "theirs"]) == 0
    assert "source-of-mine" not in Path("theirs/report.html").read_text(
        encoding="utf-8"
    )
