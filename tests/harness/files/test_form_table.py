"""The table of forms: each form in two layouts of its kind, and what all forms have in
common.
"""

from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.errors import InputError
from harness.files.forms import FORM_TABLE, Sample, existing_captions, read_form
from tests.support.form_content import BOTH, captions, gemini, lines, message_of, task

BY_POSITION = {None: ["a dog", "a cat"]}


CASES = [
    (
        "lm-eval",
        lines({"doc_id": 1, "resps": [["a dog"]]}, {"doc_id": 2, "resps": [["a cat"]]}),
        BOTH,
    ),
    (
        "inspect",
        {
            "samples": [
                {"id": k, "output": {"completion": v}} for k, v in BOTH.items()
            ],
            "eval": {},
            "x": 1,
        },
        BOTH,
    ),
    (
        "vlmevalkit",
        "index\tcategory\tquestion\tprediction\n1\tx\t?\ta dog\n2\tx\t?\ta cat",
        BOTH,
    ),
    (
        "vlmevalkit",
        [
            {"prediction": "a dog", "index": "1", "answer": "x"},
            {"answer": "y", "prediction": "a cat", "index": "2"},
        ],
        BOTH,
    ),
    (
        "ms-swift",
        lines(
            *(
                {"query": "?", "response": text, "label": "x", "history": []}
                for text in BOTH.values()
            )
        ),
        BY_POSITION,
    ),
    (
        "ms-swift",
        lines(
            *(
                {
                    "id": k,
                    "labels": None,
                    "response": v,
                    "messages": [{"role": "user", "content": "?"}],
                }
                for k, v in BOTH.items()
            )
        ),
        BOTH,
    ),
    (
        "llama-factory",
        lines(
            *({"label": "x", "prompt": "?", "predict": text} for text in BOTH.values())
        ),
        BY_POSITION,
    ),
    (
        "llama-factory",
        [
            {"id": k, "prompt": "?", "predict": v, "label": "x", "time": 3}
            for k, v in BOTH.items()
        ],
        BOTH,
    ),
    (
        "promptfoo",
        {
            "results": [
                {
                    "testIdx": int(k),
                    "vars": {"q": "?"},
                    "provider": "p",
                    "response": {"output": v},
                }
                for k, v in BOTH.items()
            ]
        },
        BOTH,
    ),
    (
        "promptfoo",
        lines(
            *(
                {
                    "testIdx": 9,
                    "vars": {"image_id": k},
                    "provider": {"id": "p"},
                    "response": {"output": v},
                }
                for k, v in BOTH.items()
            )
        ),
        BOTH,
    ),
    (
        "openai-batch",
        lines(
            *(
                {"response": message_of(v), "error": None, "custom_id": k, "id": "b"}
                for k, v in BOTH.items()
            )
        ),
        BOTH,
    ),
    (
        "openai-batch",
        lines(
            *(
                {
                    "custom_id": k,
                    "response": {
                        "body": {
                            "output": [
                                {"type": "reasoning"},
                                {"content": [{"type": "output_text", "text": v}]},
                            ]
                        }
                    },
                }
                for k, v in BOTH.items()
            )
        ),
        BOTH,
    ),
    (
        "anthropic-batch",
        lines(
            *(
                {
                    "result": {
                        "message": {
                            "content": [
                                {"type": "thinking", "thinking": "hm"},
                                {"type": "text", "text": v},
                            ]
                        }
                    },
                    "custom_id": k,
                }
                for k, v in BOTH.items()
            )
        ),
        BOTH,
    ),
    (
        "anthropic-batch",
        [
            {
                "custom_id": k,
                "result": {
                    "type": "succeeded",
                    "message": {"content": [{"type": "text", "text": v}]},
                },
            }
            for k, v in BOTH.items()
        ],
        BOTH,
    ),
    (
        "gemini-batch",
        lines(*({"key": k, "response": gemini(v)} for k, v in BOTH.items())),
        BOTH,
    ),
    (
        "gemini-batch",
        lines(
            *(
                {"status": "", "request": {}, "response": gemini(v, modelVersion="g")}
                for v in BOTH.values()
            )
        ),
        BY_POSITION,
    ),
    (
        "chat",
        lines(
            *(
                {"messages": [{"role": "assistant", "content": v}], "image_id": k}
                for k, v in BOTH.items()
            )
        ),
        BOTH,
    ),
    (
        "chat",
        [
            [{"role": "user", "content": "?"}, {"role": "assistant", "content": v}]
            for v in BOTH.values()
        ],
        BY_POSITION,
    ),
    (
        "chat",
        lines(
            *(
                {
                    "prompt": [{"role": "user", "content": "?"}],
                    "completion": [{"role": "model", "content": v}],
                }
                for v in BOTH.values()
            )
        ),
        BY_POSITION,
    ),
    (
        "conversations",
        [
            {
                "conversations": [
                    {"from": "human", "value": "?"},
                    {"from": "gpt", "value": v},
                ],
                "id": k,
            }
            for k, v in BOTH.items()
        ],
        BOTH,
    ),
    (
        "conversations",
        lines(
            *(
                {"conversation": [{"role": "assistant", "content": v}]}
                for v in BOTH.values()
            )
        ),
        BY_POSITION,
    ),
    ("pipeline", [[{"summary_text": v}] for v in BOTH.values()], BY_POSITION),
    (
        "pipeline",
        lines(*({"generated_text": v, "score": 1} for v in BOTH.values())),
        BY_POSITION,
    ),
    ("label-studio", [task(int(k), v) for k, v in BOTH.items()], BOTH),
    (
        "label-studio",
        lines(
            *(
                {**task(int(k), v, name="txt"), "predictions": []}
                for k, v in BOTH.items()
            )
        ),
        BOTH,
    ),
    (
        "argilla",
        [
            {
                "id": k,
                "fields": {},
                "responses": {"c": [{"value": v, "status": "submitted"}]},
                "status": "completed",
            }
            for k, v in BOTH.items()
        ],
        BOTH,
    ),
    (
        "argilla",
        lines(
            *(
                {
                    "external_id": k,
                    "fields": {"image": "a"},
                    "responses": [
                        {"values": {"c": {"value": v}}, "status": "submitted"}
                    ],
                }
                for k, v in BOTH.items()
            )
        ),
        BOTH,
    ),
    (
        "argilla",
        [
            {
                "id": k,
                "c.responses": [v],
                "c.responses.status": ["submitted"],
                "c.suggestion": None,
            }
            for k, v in BOTH.items()
        ],
        BOTH,
    ),
    (
        "mechanical-turk",
        'HITId,Input.image,Answer.taskAnswers\nH,1,"[{""caption"":""a dog""}]"\n'
        'H,2,"[{""caption"":""a cat""}]"',
        BOTH,
    ),
    (
        "mechanical-turk",
        "HITId,Input.image,Answer.description,WorkerId\nH,1,a dog,W\nH,2,a cat,W",
        BOTH,
    ),
    (
        "mechanical-turk",
        "Answer.caption,HITId,AssignmentStatus,Input.a,Input.image_id\n"
        "a dog,H,Approved,x,1\na cat,H,Submitted,y,2",
        BOTH,
    ),
    (
        "pandas",
        {
            "caption": {"0": "a dog", "1": "a cat"},
            "id": {"0": 1, "1": 2},
            "n": {"0": None, "1": 3.5},
        },
        BOTH,
    ),
    (
        "pandas",
        {"caption": {"1": "a dog", "2": "a cat"}, "split": {"1": "x", "2": "x"}},
        BOTH,
    ),
    (
        "pandas",
        {
            "3": {"caption": "a dog", "image_id": 1},
            "7": {"caption": "a cat", "image_id": 2},
        },
        BOTH,
    ),
    (
        "pandas",
        {"index": [1, 2], "data": [["a dog"], ["a cat"]], "columns": ["caption"]},
        BOTH,
    ),
    (
        "by-language",
        lines(
            *(
                {"image/key": k, "de": {"caption/tokenized": ["x"], "caption": [v]}}
                for k, v in BOTH.items()
            )
        ),
        BOTH,
    ),
    (
        "activitynet",
        {k: {"sentences": [v], "timestamps": [[0, 1]]} for k, v in BOTH.items()},
        BOTH,
    ),
    (
        "activitynet",
        {
            "database": {
                k: {"annotations": [{"segment": [0, 1], "sentence": v}]}
                for k, v in BOTH.items()
            }
        },
        BOTH,
    ),
    (
        "activitynet",
        {
            "results": {
                k: [{"timestamp": [0, 1], "sentence": v}] for k, v in BOTH.items()
            }
        },
        BOTH,
    ),
    (
        "srt",
        "\n7\n0:00:01,5 --> 0:00:02,000 X1:40\n<b>a</b>\n{\\an8}dog\n8\n"
        "00:00:02,000 --> 00:00:03,000\na cat\n\n",
        BOTH,
    ),
    (
        "webvtt",
        "WEBVTT - x\n\nNOTE a\n\nx\n00:01.000 --> 01:00:02.000 align:left\n"
        "<v Al>a</v> <c.r>dog</c>\n\n00:02.000 --> 00:03.000\na cat\n",
        BOTH,
    ),
    (
        "video-lines",
        "a-_B_1_5 a dog\na-_B_7_9 a cat\n",
        {"a-_B_1_5": "a dog", "a-_B_7_9": "a cat"},
    ),
    ("tsv", '"id"\t"caption"\n"1"\t"a dog"\n"2"\t"a cat"\n', BOTH),
    ("csv", "sep=;\nid;caption\n1;a dog\n2;a cat\n", BOTH),
    ("csv", "Image ID,Caption\n1,a dog\n2,a cat\n", {None: ["a dog", "a cat"]}),
]


def zstandard_bytes(data):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    CASES,
    ids=[f"{name}-{k}" for k, (name, _, _) in enumerate(CASES)],
)
def test_files_of_a_form_under_any_name(tmp_path, name, content, expected):
    data = (content if isinstance(content, str) else json.dumps(content)).encode()
    for file, written in (
        ("f.out", data),
        ("f.gz", gzip.compress(data)),
        ("f.zst", zstandard_bytes(data)),
    ):
        (tmp_path / file).write_bytes(written)
        form = read_form(tmp_path / file, "candidates")
        assert form.name == name
        assert captions(form) == expected


@pytest.mark.parametrize(
    "name", ["chat", "openai-batch", "ms-swift", "vlmevalkit", "label-studio"]
)
def test_records_of_a_form_are_found_in_parquet_too(tmp_path, name):
    content = next(content for form, content, _ in CASES if form == name)
    (tmp_path / "f").write_text(
        content if isinstance(content, str) else json.dumps(content)
    )
    rows = [dict(row) for row in Sample(tmp_path / "f").records]
    for row in rows:
        row.pop("error", None)
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "f.parquet")
    assert read_form(tmp_path / "f.parquet", "candidates").name == name


def test_ids_that_a_form_knows(tmp_path):
    def ids(content, role="candidates"):
        (tmp_path / "f").write_text(
            content if isinstance(content, str) else json.dumps(content)
        )
        return read_form(tmp_path / "f", role).ids

    assert ids([task(1, "a dog")]) == ("id", "image")
    assert ids(
        lines(
            {"doc_id": 0, "doc": {"image_id": 7, "x": 1}, "resps": ["a"]},
            {"doc_id": 1, "resps": ["b"]},
        )
    ) == (
        "id",
        "doc.image_id",
    )
    assert ids(
        {
            "eval": {},
            "samples": [
                {"id": 1, "metadata": {"video_id": 3}, "output": {"completion": "a"}}
            ],
        }
    ) == (
        "id",
        "metadata.video_id",
    )
    assert (
        ids(
            lines(
                {"custom_id": "1", "response": message_of("a"), "id": "x"},
                {"custom_id": "2", "response": message_of("b")},
            )
        )[0]
        == "id"
    )
    assert ids("HITId,Input.image,Answer.caption\nH,1,a dog") == (
        "id",
        "image",
        "HITId",
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            lines(
                {
                    "messages": [
                        {"role": "assistant", "content": "hi"},
                        {"role": "user", "content": "more?"},
                    ]
                },
                {"messages": [{"role": "user", "content": "?"}]},
            ),
            "the last turn is the user's; expected the model's answer",
        ),
        (
            [
                {
                    "id": 1,
                    "conversations": [
                        {"from": "gpt", "value": "hi"},
                        {"from": "human", "value": "?"},
                    ],
                }
            ],
            "record 1: the last turn is the user's",
        ),
        (
            [[{"generated_text": [{"role": "tool", "content": "3"}]}]],
            "record 1: the last turn is of the role 'tool'",
        ),
        (
            [[1, "a dog"], [2, "a cat"]],
            "holds rows without names of columns, .* write it with orient='records'",
        ),
        (
            lines(
                {"custom_id": "1", "method": "POST", "url": "/v1", "body": {}},
                {"custom_id": "2", "body": {}},
            ),
            ":1: is a request; expected the answers that the server wrote",
        ),
        (
            lines(
                *(
                    {"id": k, "en": {"caption": ["a"]}, "zh-Hans": {"caption": ["x"]}}
                    for k in (1, 2)
                )
            ),
            "has captions in 2 languages: 'en', 'zh-Hans'; name one of them: .*/f#en",
        ),
        (
            {"en": {"1": ["a dog"]}, "de": {"1": ["ein Hund"]}},
            "has captions in 2 languages: 'en', 'de'",
        ),
        (
            {"v1": {"sentences": ["a", "b"], "timestamps": [[0, 1]]}},
            "'v1': 2 captions and 1 times; expected one time each",
        ),
        ("WEBVTT\n\nNOTE nothing\n", "holds no cues"),
        (
            "x_1_2 a dog\n" * 60 + "a cat\n",
            ":61: found 'a cat'; expected an id such as vid_1_5",
        ),
        ("WEBVTT\0", "holds bytes that are zero; expected text in UTF-8"),
    ],
)
def test_mistakes_of_forms_are_one_line(tmp_path, content, message):
    (tmp_path / "f").write_text(
        content if isinstance(content, str) else json.dumps(content)
    )
    with pytest.raises(InputError, match=message) as caught:
        list(read_form(tmp_path / "f", "candidates").rows)
    text = str(caught.value)
    assert text.startswith(str(tmp_path / "f")) and "\n" not in text


def test_a_file_that_fits_two_forms_is_refused_unless_one_is_named(tmp_path):
    both = {
        "id": 1,
        "messages": [{"role": "assistant", "content": "a dog"}],
        "conversations": [{"from": "gpt", "value": "a cat"}],
    }
    (tmp_path / "f").write_text(json.dumps([both]))
    with pytest.raises(
        InputError,
        match="fits 2 forms: 'chat', 'conversations'; name the one that it has after "
        "the path: '.*/f#chat'",
    ):
        read_form(tmp_path / "f", "candidates")
    for name, text in (("chat", "a dog"), ("conversations", "a cat")):
        assert captions(
            read_form(existing_captions(f"{tmp_path}/f#{name}"), "candidates")
        ) == {"1": text}
        assert captions(read_form(tmp_path / "f", "candidates", form=name)) == {
            "1": text
        }


def test_files_that_only_look_like_a_specific_form(tmp_path):
    """Columns of captions win over conversations and nested answers beside them."""
    looks = {
        "jsonl": lines(
            *(
                {
                    "id": k,
                    "caption": "a",
                    "messages": [{"role": "user", "content": "?"}],
                }
                for k in (1, 2)
            )
        ),
        "json": [{"id": 1, "response": "a dog", "label": 3}],
        "mapping": {
            "1": {"image_id": 1, "caption": "a dog"},
            "b": {"image_id": 2, "caption": "a cat"},
        },
        "csv": "id,caption,index\n1,a,2",
        "txt": "vid_1_5 a dog\na cat",
        "list": [["1", "a dog"], ["2", "a cat"]],
    }

    for name, content in looks.items():
        (tmp_path / "f").write_text(
            content if isinstance(content, str) else json.dumps(content)
        )
        assert read_form(tmp_path / "f", "candidates").name == name

    for text in ("1\na dog\n00:00 --> x\n", "10\n20\n", "WEBVTTX\n"):
        (tmp_path / "f").write_text(text)
        assert read_form(tmp_path / "f", "candidates").name == "txt"


def test_captions_that_look_like_paths_and_numbers_are_texts(tmp_path):
    (tmp_path / "f.csv").write_text("id,caption\n1,42\n2,C:/dogs/a.jpg\n3,1e5\n")
    assert captions(read_form(tmp_path / "f.csv", "candidates")) == {
        "1": "42",
        "2": "C:/dogs/a.jpg",
        "3": "1e5",
    }


def test_a_caption_column_that_the_user_names_is_no_column_of_ids(tmp_path):
    answer = {"prompt": "?", "label": "x"}
    records = [{**answer, "predict": text, "key": k} for k, text in BOTH.items()]
    (tmp_path / "f").write_text(lines(*records))
    assert not read_form(tmp_path / "f", "candidates", ["predict"]).numbered

    records = [{**answer, "predict": text, "n": k} for k, text in BOTH.items()]
    (tmp_path / "f").write_text(lines(*records))
    assert read_form(tmp_path / "f", "candidates", ["predict"]).numbered
    form = read_form(tmp_path / "f", "candidates", ["n", "predict"])
    assert (form.numbered, form.ids) == (False, ("n",))


def test_every_form_has_a_name_of_its_own_and_the_generic_ones_are_last():
    assert len({form.name for form in FORM_TABLE}) == len(FORM_TABLE)
    generic = [form.generic for form in FORM_TABLE]
    assert generic == sorted(generic)
