"""Feature files: formats, look-up by id, files that are refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch

from harness.contracts import Example
from harness.errors import InputError
from harness_models.shared.inputs.features import FeatureFile

ROWS = np.arange(6, dtype=np.float32).reshape(2, 3)


def example(name, media=None):
    return Example(name, ("a",), media)


def test_every_format_gives_the_same_rows(tmp_path):
    from safetensors.numpy import save_file

    np.savez(tmp_path / "one.npz", a=ROWS[0], b=ROWS[1])
    np.savez(tmp_path / "two.npz", ids=np.array(["a", "b"]), features=ROWS)
    save_file({"a": ROWS[0], "b": ROWS[1]}, str(tmp_path / "three.safetensors"))

    for protocol in (2, 4, 5):
        captions = [{"image_id": i, "clip_embedding": k} for k, i in enumerate("ab")]
        data = {"clip_embedding": torch.from_numpy(ROWS).half(), "captions": captions}
        (tmp_path / f"p{protocol}.pkl").write_bytes(
            pickle.dumps(data, protocol=protocol)
        )
    (tmp_path / "m.pkl").write_bytes(
        pickle.dumps({"a": ROWS[0], "b": torch.from_numpy(ROWS[1])})
    )

    for name in (
        "one.npz",
        "two.npz",
        "three.safetensors",
        "p2.pkl",
        "p4.pkl",
        "p5.pkl",
        "m.pkl",
    ):
        file = FeatureFile(tmp_path / name)
        np.testing.assert_array_equal(file.row(example("b")), ROWS[1])
        assert file.row(example("b")).dtype == np.float32


def test_examples_are_looked_up_by_media_stem_and_as_integers(tmp_path):
    np.savez(
        tmp_path / "f.npz", **{"391895": ROWS[0], "COCO_val2014_000000000042": ROWS[1]}
    )
    file = FeatureFile(tmp_path / "f.npz")
    np.testing.assert_array_equal(file.row(example("000000391895")), ROWS[0])
    np.testing.assert_array_equal(
        file.row(example("42", "val/COCO_val2014_000000000042.jpg")), ROWS[1]
    )


def test_missing_ids_and_nan_are_refused(tmp_path):
    np.savez(tmp_path / "f.npz", cat1=ROWS[0], bad=np.array([1.0, np.nan]))
    file = FeatureFile(tmp_path / "f.npz")
    with pytest.raises(
        InputError, match=r"f\.npz: no features for 2 of 3 examples: cat2, dog"
    ):
        file.check([example("cat1"), example("cat2"), example("dog")])
    with pytest.raises(
        InputError, match="no features for example 'cat2'; did you mean 'cat1'"
    ):
        file.row(example("cat2"))
    with pytest.raises(InputError, match="'bad' hold NaN"):
        file.row(example("bad"))


def test_files_that_cannot_be_read_are_refused(tmp_path):
    (tmp_path / "a.npz").write_bytes(b"PK\x03\x04rubbish")
    (tmp_path / "b.pkl").write_bytes(pickle.dumps([1, 2]))
    (tmp_path / "c.pkl").write_bytes(pickle.dumps({"a": ROWS})[:40])
    (tmp_path / "e.csv").write_text("a,1")
    np.savez(tmp_path / "f.npz", ids=np.array(["a", "b"]), features=ROWS[:1])
    rows = {
        "clip_embedding": ROWS,
        "captions": [{"image_id": "a", "clip_embedding": 7}],
    }
    (tmp_path / "g.pkl").write_bytes(pickle.dumps(rows))
    for name, message in [
        ("a.npz", "not a complete"),
        ("b.pkl", "found list"),
        ("c.pkl", "not a complete"),
        ("d.npz", "no such"),
        ("e.csv", "a feature file is .safetensors, .npz or .pkl"),
        ("f.npz", "2 ids for 1 rows of features"),
        ("g.pkl", "caption 0 points to row 7 of 2"),
    ]:
        with pytest.raises(InputError, match=message):
            FeatureFile(tmp_path / name)
