"""Test sets in the folders of mt-metrics-eval."""

import pytest

from harness import api
from harness.errors import InputError
from harness.judgments.mt_metrics_eval import (
    is_segment_file,
    list_text_files,
    read_segments,
)
from harness.judgments.source_files import (
    missing_files,
    read_judgments,
    source_fingerprint,
)

FILES = {
    "sources/de-en.txt": "ein Hund\neine Katze\nein Haus\n",
    "references/de-en.refA.txt": "a dog\na cat\na house\n",
    "references/de-en.refB.txt": "the dog\nthe cat\nthe house\n",
    "documents/de-en.docs": "news\tn1\nnews\tn1\nchat\tc1\n",
    "system-outputs/de-en/refB.txt": "the dog\nthe cat\nthe house\n",
    "system-outputs/de-en/On-line.1.txt": "one dog\n\none house\n",
    "human-scores/de-en.mqm.merged.seg.score": "refB -1\nrefB None\nrefB 0\n"
    "On-line.1\t-5\nOn-line.1\t-0.1\nOn-line.1\t-25\n",
    "human-scores/de-en.mqm.merged.sys.score": "refB\t-0.5\nother\tNone\n"
    "On-line.1\t-10\n",
}
GOLDEN = {"pearson": 0.8929420728129062, "kendall_b": 0.7676549717391222}
"""Values of mt-metrics-eval (google-research/mt-metrics-eval),
stats.Correlation of the same scores.
"""


@pytest.fixture
def wmt(tmp_path):
    def write(**changed):
        for name, text in {**FILES, **changed}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return str(tmp_path / "human-scores/de-en.mqm.merged.seg.score")

    return write


def test_segments_of_a_test_set(wmt):
    path = wmt()
    assert is_segment_file(path) and list(list_text_files(path)) == [
        "source",
        "documents",
        "reference refA",
        "reference refB",
        "system On-line.1",
        "system refB",
    ]
    records = [record.fields for record in read_segments(path)]
    assert records[4] == {
        "id": "2",
        "system": "On-line.1",
        "score": "-0.1",
        "caption": "",
        "source": "eine Katze",
        "domain": "news",
        "document": "n1",
        "references": {"refA": "a cat", "refB": "the cat"},
    }
    assert records[1]["score"] is None and len(records) == 6


def test_judgments_of_a_test_set(wmt, source):
    path = wmt()
    columns = {"source": "source", "references": "references.refA"}
    judged = read_judgments(
        source(path, columns=columns, without={"score": [None], "system": ["refB"]})
    )
    assert [(item.id, item.source, item.references) for item in judged.items][2] == (
        "3",
        "ein Haus",
        ("a house",),
    )
    assert [(c.system, c.texts, c.ratings) for c in judged.captions][1] == (
        "On-line.1",
        ("",),
        (-0.1,),
    )
    assert (
        judged.captions[2].meta["domain"] == "chat"
        and judged.captions[2].meta["document"] == "c1"
    )
    both = {
        "source": "source",
        "reference_columns": ["references.refA", "references.refB"],
        "own_reference": "match",
    }
    options = {
        "without": {"score": [None]},
        "system_scores": {"path": path.replace(".seg.", ".sys.")},
    }
    judged = read_judgments(source(path, columns=both, **options))
    assert judged.captions[0].system == "refB" and judged.captions[
        0
    ].own_references == (1,)
    assert judged.systems == {"refB": -0.5, "On-line.1": -10}


def test_the_texts_of_a_test_set_are_its_data(wmt, source, tmp_path):
    judgments = source(wmt())
    before = source_fingerprint(judgments)
    wmt(**{"system-outputs/de-en/On-line.1.txt": "two dogs\n\none house\n"})
    assert source_fingerprint(judgments) != before and missing_files(judgments) == []
    (tmp_path / "sources/de-en.txt").unlink()
    assert missing_files(judgments) == [str(tmp_path / "sources/de-en.txt")]
    with pytest.raises(
        InputError,
        match=r"de-en.txt: no such file of a test set in the folders of mt-metrics-",
    ):
        list(read_segments(judgments.paths[0]))


def test_the_last_segment_and_further_words_of_its_document(wmt):
    path = wmt(
        **{
            "documents/de-en.docs": "news n1\nnews n1 more\nchat c1 x y\n",
            "sources/de-en.txt": "ein Hund  \n eine Katze\nein Haus\n",
        }
    )
    records = [record.fields for record in read_segments(path)]
    assert [
        (r["source"], r["domain"], r["document"], r["caption"]) for r in records[:3]
    ] == [
        ("ein Hund", "news", "n1", "the dog"),
        (" eine Katze", "news", "n1", "the cat"),
        ("ein Haus", "chat", "c1", "the house"),
    ]
    assert not is_segment_file(path.replace(".seg.", ".sys."))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "references/de-en.refA.txt",
            "a dog\n",
            "reference refA has 1 lines; expected 3, as many as the source",
        ),
        (
            "references/de-en.refB.txt",
            "a\n" * 4,
            "reference refB has 4 lines; expected 3, as many as the source",
        ),
        (
            "documents/de-en.docs",
            "news\nnews n1\nnews n1\n",
            "a line of documents is not DOMAIN DOCUMENT",
        ),
        (
            "human-scores/de-en.mqm.merged.seg.score",
            "A 1\nA 2\n",
            "1: the system 'A' has no outputs in system-outputs",
        ),
        (
            "human-scores/de-en.mqm.merged.seg.score",
            "refB 1\n" * 4,
            "4: the system 'refB' has 3 outputs .* a score of segment 4",
        ),
        (
            "human-scores/de-en.mqm.merged.seg.score",
            "refB\n",
            "1: found 1 words; expected .DOMAIN. SYSTEM SCORE",
        ),
    ],
)
def test_mistakes_in_a_test_set(wmt, name, text, message):
    path = wmt(**{name: text})
    with pytest.raises(InputError, match=message):
        list(read_segments(path))


def test_correlations_of_mt_metrics_eval(wmt, tmp_path):
    cells = [
        (s, k, -((7 * k + 3 * s) ** 2 % 11), (5 * k + 2 * s) ** 2 % 7)
        for s in range(5)
        for k in range(12)
    ]
    texts = "".join(f"text {k}\n" for k in range(12))
    outputs = {f"system-outputs/de-en/S{s}.txt": texts for s in range(5)}
    scores = "".join(
        f"S{s}\t{'None' if (k + s) % 5 == 0 else gold}\n" for s, k, gold, _ in cells
    )
    path = wmt(
        **outputs,
        **{f"references/de-en.ref{name}.txt": texts for name in "AB"},
        **{
            "sources/de-en.txt": texts,
            "documents/de-en.docs": "news\tn\n" * 12,
            "human-scores/de-en.mqm.merged.seg.score": scores,
        },
        **{
            "system-outputs/de-en/refB.txt": texts,
            "system-outputs/de-en/On-line.1.txt": texts,
        },
        **{
            "metric-scores/de-en/M-refA.seg.score": "".join(
                f"S{s}\t{gold + noise}\n" for s, k, gold, noise in cells
            )
        },
    )
    judgments = {
        "form": "captions",
        "path": path,
        "columns": {"references": "references.refA"},
        "without": {"score": [None]},
    }
    metric = {
        "scores": {"path": str(tmp_path / "metric-scores/de-en/M-refA.seg.score")}
    }
    content = {
        "task": "t",
        "judgments": judgments,
        "statistics": list(GOLDEN),
        "metrics": [metric],
        "references": {"own": "keep"},
    }
    result = api.evaluate(content)
    assert {r.statistic: r.value for r in result.records} == pytest.approx(
        GOLDEN, abs=1e-12
    )
