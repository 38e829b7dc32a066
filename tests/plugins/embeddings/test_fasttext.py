"""fastText needs a file."""

from __future__ import annotations

import pytest

from harness.errors import HarnessError
from harness_metrics.embeddings.fasttext import FastText


def test_a_path_is_required(tmp_path):
    with pytest.raises(HarnessError, match=r"embedding 'fasttext' needs path: a \.vec file of fastText"):
        FastText()
    (tmp_path / "v.vec").write_text("1 2\ndog 1 2\n")
    embedding = FastText(path=str(tmp_path / "v.vec"))
    assert embedding.encode(["dog"]).tolist() == [[1.0, 2.0]]
    assert embedding.signature().startswith("fasttext|v.vec:")
