"""The hf reader and a hub on the loopback interface: pinned commits, offline use,
gated and missing names.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.support.dataset_hub import Hub, hub

pytest.importorskip("datasets")
__all__ = ["hub"]

READ = """
import json, sys
from harness.errors import InputError
from harness_tasks.readers.hf import HuggingFaceDataset
out = []
for params in json.loads(sys.argv[1]):
    try:
        reader = HuggingFaceDataset(**params)
        texts = [example.references for example in reader]
        out.append([texts, dict(reader.describe()), reader.fingerprint()])
    except InputError as error:
        out.append(str(error))
print("RESULT" + json.dumps(out))
"""


@pytest.fixture
def environment(hub: Hub, tmp_path) -> dict[str, str]:
    """Environment of a process that knows this hub alone."""
    left_out = (
        "HF_HUB_OFFLINE",
        "HF_DATASETS_OFFLINE",
        "TRANSFORMERS_OFFLINE",
        "HF_TOKEN",
    )
    inherited = {
        name: value for name, value in os.environ.items() if name not in left_out
    }
    return {
        **inherited,
        "HF_ENDPOINT": hub.url,
        "HF_HOME": str(tmp_path / "home"),
        "NO_PROXY": "127.0.0.1",
    }


def read(environment: dict[str, str], *params: dict, **variables: str) -> list:
    """Read data sets in a new process and return one result or message per parameter
    set.
    """
    reply = subprocess.run(
        [sys.executable, "-c", READ, json.dumps(params)],
        env={**environment, **variables},
        capture_output=True,
        text=True,
    )
    assert "RESULT" in reply.stdout, reply.stderr[-2000:]
    return json.loads(reply.stdout.split("RESULT")[1])


def line(text: str) -> bytes:
    return json.dumps({"id": 1, "captions": [text]}).encode() + b"\n"


@pytest.mark.slow
def test_the_commit_is_pinned_recorded_and_found_offline(hub, environment):
    first = hub.add("owner/name", **{"train.jsonl": line("a dog")})
    hub.add("owner/name", **{"train.jsonl": line("a cat")})
    source = {"path": "owner/name", "split": "train"}
    ((texts, description, fingerprint),) = read(environment, source)
    second = description["commit"]
    assert (
        texts == [["a cat"]]
        and second != first
        and description == {**source, "commit": second}
    )

    ((texts, description, offline),) = read(environment, source, HF_HUB_OFFLINE="1")
    assert (texts, description["commit"], offline) == ([["a cat"]], second, fingerprint)

    (message,) = read(environment, {**source, "revision": first}, HF_HUB_OFFLINE="1")
    assert message == (
        f"owner/name: the cache holds the commit {second}, "
        f"and the spec names {first}. Fetch it before, with network: "
        "HF_HUB_OFFLINE=0 "
        "python -c \"import datasets; datasets.load_dataset('owner/name', "
        f"revision='{first}')\""
    )
    command = message.partition("with network: ")[2].replace(
        "python", sys.executable, 1
    )
    subprocess.run(
        command,
        shell=True,
        check=True,
        capture_output=True,
        env={**environment, "HF_HUB_OFFLINE": "1"},
    )
    ((texts, description, other),) = read(
        environment, {**source, "revision": first}, HF_HUB_OFFLINE="1"
    )
    assert (
        texts == [["a dog"]] and description["commit"] == first and other != fingerprint
    )


@pytest.mark.slow
def test_names_that_the_hub_does_not_give(hub, environment):
    hub.add("owner/name", **{"train.jsonl": line("a dog")})
    hub.gated.add("owner/gated")
    gated, gone, revision, split = read(
        environment,
        {"path": "owner/gated"},
        {"path": "owner/gone"},
        {"path": "owner/name", "revision": "v7"},
        {"path": "owner/name", "split": "test"},
    )

    page = f"{hub.url}/datasets/owner"
    assert gated == (
        "owner/gated: is a gated data set of the hub: "
        f"accept its terms on {page}/gated, then log in with 'hf auth login' or set "
        "HF_TOKEN"
    )
    assert gone.startswith(
        "owner/gone: the hub has no such data set, or it is private: check the name"
    )
    assert revision.startswith(
        "owner/name: has no revision 'v7' on the hub; expected a branch, "
        "a tag or a commit of"
    )
    assert "owner/name: " in split and "test" in split and "train" in split


@pytest.mark.slow
def test_no_connection(environment):
    """One request tells that there is no connection;
    the library would repeat its own for a minute.
    """
    (message,) = read(
        {**environment, "HF_ENDPOINT": "http://127.0.0.1:9"}, {"path": "owner/name"}
    )
    assert message.startswith(
        "owner/name: no such file or folder, the hub cannot be reached, "
        "and the data set is not in the cache. "
    )
    assert message.endswith(
        "python -c \"import datasets; datasets.load_dataset('owner/name')\""
    )
