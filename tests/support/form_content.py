"""Content of files of several forms, for tests, and the captions read of it."""

from __future__ import annotations

import json

from harness.files.forms import Sample

BOTH = {"1": "a dog", "2": "a cat"}


def lines(*records):
    return "\n".join(map(json.dumps, records))


def message_of(text, **others):
    return {
        "status_code": 200,
        "body": {
            "choices": [{"message": {"role": "assistant", "content": text}, **others}]
        },
    }


def task(key, *texts, cancelled=False, name="caption"):
    result = [
        {
            "id": "r",
            "from_name": name,
            "to_name": "img",
            "type": "textarea",
            "value": {"text": list(texts)},
        }
    ]
    return {
        "id": key,
        "data": {"image": f"/up/{key}.png"},
        "annotations": [{"id": 5, "result": result, "was_cancelled": cancelled}],
    }


def gemini(text, **others):
    return {
        "candidates": [
            {
                "content": {"parts": [{"text": "hm", "thought": True}, {"text": text}]},
                "finishReason": "STOP",
            }
        ],
        **others,
    }


def captions(form, role="candidates"):
    """Return id -> captions, or None -> all captions of a form without ids; the only
    text of a list in place of the list.
    """
    rows = [dict(row.fields) for row in form.rows]
    column = next(
        name for name in (role, "caption", "captions", "Caption") if name in rows[0]
    )
    for row in rows:
        if isinstance(row[column], list) and len(row[column]) == 1:
            (row[column],) = row[column]
    if form.numbered or not any(name in rows[0] for name in ("id", "image_id")):
        return {None: [row[column] for row in rows]}
    name = "id" if "id" in rows[0] else "image_id"
    return {str(row[name]): row[column] for row in rows}


def sample_of(folder, content, role="candidates", names=(), name="file"):
    """Return the sample of a file with a content: text, bytes, or a JSON value."""
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return Sample(path, role, names)
