"""Models by name: fetched from a local server with the hub's interface,
then from the cache; messages.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from harness.contracts import Decoding, Example
from harness.encoders.model_folders import check_config, model_folder
from harness.errors import InputError
from harness.registry.torchvision_guard import guard_torchvision

guard_torchvision()
pytest.importorskip("transformers")
constants = pytest.importorskip("huggingface_hub").constants

from harness_models.transformers.adapter import Transformers  # noqa: E402
from tests.support import tiny_models  # noqa: E402
from tests.support.hub_server import COMMIT, hub  # noqa: E402


@pytest.fixture
def published(tmp_path, monkeypatch):
    """Folder of the model on the server; address and requests of the server;
    an empty cache.
    """
    tiny_models.gpt2(tmp_path / "model")
    (tmp_path / "model" / "pytorch_model.bin").write_bytes(b"a pickle")
    (tmp_path / "model" / "code.py").write_text("raise SystemExit")
    with hub(tmp_path / "model") as (address, requests):
        monkeypatch.setattr(constants, "ENDPOINT", address)
        monkeypatch.setattr(
            constants,
            "HUGGINGFACE_CO_URL_TEMPLATE",
            address + "/{repo_id}/resolve/{revision}/{filename}",
        )
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        yield tmp_path / "model", requests


def test_a_model_is_fetched_once_and_used_by_its_name(published, monkeypatch):
    folder, requests = published
    adapter = Transformers(
        model="tiny/model", prompt="{source}", chat=False, max_length=4
    )
    assert adapter.describe() == {
        "model": "tiny/model",
        "commit": COMMIT,
        "dtype": "float32",
        "devices": ["cpu"],
    }
    example = Example("e", ("a",), source="the dog")
    local = Transformers(model=str(folder), prompt="{source}", chat=False, max_length=4)
    assert list(adapter.generate([example], Decoding(), [0])) == list(
        local.generate([example], Decoding(), [0])
    )
    fetched = {
        path.partition("/resolve/")[2].partition("/")[2]
        for path in requests
        if "/resolve/" in path
    }
    assert (
        "model.safetensors" in fetched
        and not {"pytorch_model.bin", "code.py"} & fetched
    )
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    count = len(requests)
    again = Transformers(
        model="tiny/model", prompt="{source}", chat=False, max_length=4
    )
    assert again.fingerprint() == adapter.fingerprint() and len(requests) == count


def test_code_is_fetched_only_when_trusted(published):
    _, requests = published
    model_folder("tiny/model", code=True)
    assert any(path.endswith("code.py") for path in requests)


def test_a_model_that_is_not_in_the_cache_says_how_to_fetch_it(published, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(
        InputError,
        match=r"tiny/model: no such folder; HF_HUB_OFFLINE is set .* 'hf download "
        r"tiny/model --revision v1'",
    ):
        model_folder("tiny/model", "v1")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(
        InputError,
        match="tiny/model: no such folder; the hub cannot be reached and the model is "
        "not in its cache",
    ):
        model_folder("tiny/model")


def test_missing_and_gated_models_are_one_line(published):
    with pytest.raises(
        InputError, match="other/model: no such folder, and no such model on the hub"
    ):
        model_folder("other/model")
    with pytest.raises(
        InputError,
        match="gated/model: the model is gated: accept its conditions on the hub",
    ):
        model_folder("gated/model")
    with pytest.raises(
        InputError,
        match="tiny/model: the hub has no revision 'no-revision' of this model",
    ):
        model_folder("tiny/model", "no-revision")


def test_pickled_weights_and_paths_are_refused(published):
    folder, _ = published
    (folder / "model.safetensors").unlink()
    with pytest.raises(
        InputError, match="tiny/model: the model has no weights as safetensors"
    ):
        model_folder("tiny/model")
    with pytest.raises(
        InputError, match="revision is for models of the hub; this is a path"
    ):
        model_folder(str(folder), "main")
    with pytest.raises(InputError, match=r"no such folder, and not a name on the hub"):
        Transformers(model=str(folder / "a" / "b" / "c"))


def test_the_message_of_a_missing_name_comes_from_a_fresh_process(tmp_path):
    """The hub's package loads its parts on first use."""
    code = (
        "from harness.encoders.model_folders import model_folder; "
        "model_folder('owner/nothing')"
    )
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}
    result = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (
        "InputError: owner/nothing: no such folder; HF_HUB_OFFLINE is set"
        in result.stderr
    )


def test_a_similar_folder_is_named(tmp_path):
    (tmp_path / "gpt2").mkdir()
    with pytest.raises(
        InputError,
        match=r"no such folder; did you mean 'gpt2'\?, and not a name on the hub",
    ):
        model_folder(str(tmp_path / "gpt22"))


def test_a_folder_that_is_not_there_has_its_neighbour(tmp_path):
    (tmp_path / "grader").mkdir()
    with pytest.raises(InputError, match="the judge: no such folder; did you mean"):
        check_config(tmp_path / "gradr", "the judge")
    with pytest.raises(InputError, match=r"the judge: the folder has no config\.json"):
        check_config(tmp_path / "grader", "the judge")
    (tmp_path / "grader" / "config.json").write_text("{}")
    check_config(tmp_path / "grader", "the judge")
