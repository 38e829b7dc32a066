"""Token scores from files: formats, and errors with line numbers."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.contracts import Decoding, Example, Scorer, TaskView
from harness.errors import HarnessError, InputError
from harness_metrics.pregen.metric import Pregen
from harness_models.token_scores.adapter import TokenScoresFile, read_token_scores

GOOD = [
    {
        "id": "a",
        "probabilities": [0.5, 0.25],
        "ranks": [0, 3],
        "tokens": ["cat", "END"],
    },
    {"id": "a", "reference": 1, "log_probs": [-1.0], "ranks": [0]},
    {"id": 7, "references": [{"probabilities": [1.0], "ranks": [0]}]},
]
EXAMPLES = [Example("7", ("x",)), Example("a", ("cat", ""))]
LINE = b'{"id": "a", "probabilities": [0.5, 1.0], "ranks": [0, 0]}\n'


def write(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return TokenScoresFile(path=str(path))


def test_jsonl(tmp_path):
    adapter = write(tmp_path / "s.jsonl", GOOD)
    assert isinstance(adapter, Scorer)
    scores = list(adapter.score_references(EXAMPLES))
    assert [len(item) for item in scores] == [1, 2]
    assert scores[1][0].tokens == ("cat", "END")
    np.testing.assert_allclose(np.exp(scores[1][0].log_probs), [0.5, 0.25])
    assert Pregen().evaluate_scores(scores) == {"mean_max_normcount_prefix0": 1.0}


def test_parquet(tmp_path):
    path = tmp_path / "s.parquet"
    rows = [
        {"id": "a", "probabilities": [0.5, 0.25], "ranks": [0, 3]},
        {"id": "a", "probabilities": [0.1], "ranks": [9]},
    ]
    pq.write_table(pa.Table.from_pylist(rows), path)
    ((first, second),) = TokenScoresFile(path=str(path)).score_references(
        [Example("a", ("x", "y"))]
    )
    assert (first.ranks.tolist(), second.ranks.tolist()) == ([0, 3], [9])
    pq.write_table(
        pa.Table.from_pylist(
            [*rows, {"id": "b", "probabilities": [2.0], "ranks": [0]}]
        ),
        path,
    )
    with pytest.raises(
        InputError, match=r"s\.parquet: record 3: probability 2.0 of token 0"
    ):
        list(TokenScoresFile(path=str(path)).score_references([]))


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (
            {"id": "b", "probabilities": [0.5, 1.5], "ranks": [0, 0]},
            r"s\.jsonl:4: probability 1.5 of token 1, expected a number in",
        ),
        ({"id": "b", "probabilities": [float("nan")], "ranks": [0]}, "probability nan"),
        ({"id": "b", "log_probs": [0.5], "ranks": [0]}, "log-probability 0.5"),
        ({"id": "b", "probabilities": [0.5], "ranks": [-1]}, "rank -1.0 of token 0"),
        ({"id": "b", "probabilities": [0.5], "ranks": [0.5]}, "rank 0.5"),
        (
            {"id": "b", "probabilities": [0.5], "ranks": ["0"]},
            "'ranks' is not a flat list of numbers",
        ),
        ({"id": "b", "probabilities": [], "ranks": []}, "no tokens"),
        (
            {"id": "b", "probabilities": [0.5], "ranks": [0, 1]},
            "1 probabilities, 2 ranks",
        ),
        ({"id": "b", "ranks": [0]}, "expected one of"),
        (
            {"id": "b", "probabilites": [0.5], "ranks": [0]},
            "unknown field 'probabilites'; did you mean 'probabilities'",
        ),
        ({"id": None, "probabilities": [0.5], "ranks": [0]}, "'id' is None"),
        ({"id": "b", "references": []}, "has no references"),
        (
            {"id": "a", "reference": 1, "probabilities": [0.5], "ranks": [0]},
            "reference 1 of the example 'a' occurs twice",
        ),
        (
            {"id": "b", "reference": 2, "probabilities": [0.5], "ranks": [0]},
            "reference 0 of the example 'b' is missing",
        ),
        ([1], "found a list; expected an object"),
    ],
)
def test_the_message_gives_the_line_of_an_invalid_record(tmp_path, record, message):
    adapter = write(tmp_path / "s.jsonl", [*GOOD, record])
    with pytest.raises(InputError, match=message):
        list(adapter.score_references(EXAMPLES))


def test_files_that_do_not_fit_the_task_are_refused(tmp_path):
    adapter = write(tmp_path / "s.jsonl", GOOD)
    with pytest.raises(
        InputError, match="no token scores for the example 'aa'; did you mean 'a'"
    ):
        list(adapter.score_references([Example("aa", ("x",))]))
    with pytest.raises(
        InputError, match="2 scored references for the example 'a', which has 1"
    ):
        list(adapter.score_references([Example("a", ("x",))]))
    with pytest.raises(HarnessError, match="contains token scores and no captions"):
        adapter.generate(EXAMPLES, Decoding(), [0, 0])
    with pytest.raises(InputError, match="no such file"):
        TokenScoresFile(path=str(tmp_path / "none.jsonl"))
    (tmp_path / "bad.jsonl").write_text("{\n")
    with pytest.raises(InputError, match=r"bad\.jsonl:1: not JSON"):
        list(
            TokenScoresFile(path=str(tmp_path / "bad.jsonl")).score_references(EXAMPLES)
        )


class Captions:
    """An adapter that requires :meth:`prepare`."""

    prepared = False

    def fingerprint(self):
        return "captions"

    def prepare(self, task):
        self.prepared = True

    def generate(self, examples, decoding, seeds):
        assert self.prepared
        return [("a caption",) for _ in examples]


def test_captions_of_the_same_model_come_from_another_adapter(tmp_path):
    write(tmp_path / "s.jsonl", GOOD)
    captions = Captions()
    adapter = TokenScoresFile(path=str(tmp_path / "s.jsonl"), captions=captions)
    adapter.prepare(TaskView(EXAMPLES, Decoding()))
    assert list(adapter.generate(EXAMPLES, Decoding(), [0, 0])) == [("a caption",)] * 2
    assert (
        adapter.fingerprint()
        == f"{TokenScoresFile(path=str(tmp_path / 's.jsonl')).fingerprint()}+captions"
    )


def test_gzipped_files_are_read(tmp_path):
    plain = write(tmp_path / "s.jsonl", GOOD)
    (tmp_path / "s.jsonl.gz").write_bytes(
        gzip.compress((tmp_path / "s.jsonl").read_bytes())
    )
    zipped = TokenScoresFile(path=str(tmp_path / "s.jsonl.gz"))
    for one, other in zip(
        plain.score_references(EXAMPLES), zipped.score_references(EXAMPLES), strict=True
    ):
        for left, right in zip(one, other, strict=True):
            assert np.array_equal(left.log_probs, right.log_probs) and np.array_equal(
                left.ranks, right.ranks
            )


def test_the_content_decides_whether_a_file_is_gzipped(tmp_path):
    (tmp_path / "scores.jsonl").write_bytes(gzip.compress(LINE, mtime=0))
    (tmp_path / "scores.jsonl.gz").write_bytes(LINE)
    for name in ("scores.jsonl", "scores.jsonl.gz"):
        assert list(read_token_scores(tmp_path / name)) == ["a"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(LINE, mtime=0)[:-6], "the gzip file is broken or cut off"),
        (LINE.replace(b"a", b"\xff", 1), "scores.jsonl:1: not UTF-8 at byte"),
        (b"[" * 100_000, "scores.jsonl:1: not readable as JSON"),
        (LINE.replace(b"0.5", b"1" * 5000), "scores.jsonl:1: not readable as JSON"),
        (
            LINE.replace(b"0.5", b"1" * 400),
            "'probabilities' is not a flat list of numbers",
        ),
        (
            LINE.replace(b'"ranks"', b'"tokens": 3, "ranks"'),
            "'tokens' is 3, expected a list of texts",
        ),
        (b"PAR1" + LINE, "not readable as Parquet"),
        (b"\x00" * 40, "not JSON"),
    ],
)
def test_a_file_of_another_kind_is_one_line(tmp_path, content, message):
    (tmp_path / "scores.jsonl").write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_token_scores(tmp_path / "scores.jsonl")
    assert "\n" not in str(caught.value)
