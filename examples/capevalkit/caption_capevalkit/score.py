"""A metric of capevalkit as a program: ``score.py METRIC KEY [ARGUMENT ...]``.

Each batch of requests becomes two files of JSON Lines for ``capevalkit score``; ``KEY``
is the name of the score in its output. capevalkit has an environment of its own for
each metric, and clones its repository on first use.
"""

import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

# Answers keep descriptor 1 for themselves: capevalkit prints to standard error.
ANSWERS = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
os.dup2(2, 1)
COMMAND = "capevalkit"


def answer(message):
    """Write a message."""
    ANSWERS.write(json.dumps(message) + "\n")


def write_lines(path, rows):
    """Write rows as JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def score(metric, key, arguments, requests):
    """Return id -> score of some requests, by one call of capevalkit."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        predictions, references = [], []
        for request in requests:
            # Its ids are texts, and sorted as such.
            row = {"id": str(request["id"]), "caption": request["candidate"]}
            if "image" in request:
                row["image"] = request["image"]
            predictions.append(row)
            if "references" in request:
                texts = request["references"]
                references.append({"id": row["id"], "references": texts})
        write_lines(folder / "predictions.jsonl", predictions)
        command = [COMMAND, "score", "--metric", metric]
        command += ["--predictions", str(folder / "predictions.jsonl")]
        command += ["--output", str(folder / "scores.json")]
        if references:
            write_lines(folder / "references.jsonl", references)
            command += ["--references", str(folder / "references.jsonl")]
        subprocess.run(
            [*command, *(["--", *arguments] if arguments else [])], check=True
        )
        output = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    return scores_of(output, metric, key)


def scores_of(output, metric, key):
    """Return id -> score of an output, which has a score for each item below its name,
    or all scores of each item below ``per_item``.
    """
    of_key = output.get(key)
    if isinstance(of_key, dict) and "per_item" in of_key:
        return of_key["per_item"]
    per_item = output.get("per_item", {})
    if per_item and all(key in scores for scores in per_item.values()):
        return {name: scores[key] for name, scores in per_item.items()}
    names = ", ".join(sorted(output))
    raise SystemExit(f"KeyError: {metric} has no score '{key}'; its output has {names}")


def version():
    """Return the version of capevalkit in this environment."""
    try:
        return importlib.metadata.version("capevalkit")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def main():
    """Answer batches until the end of the input."""
    metric, key, *arguments = sys.argv[1:]
    hello = json.loads(sys.stdin.readline())
    if hello.get("kind") != "metric":
        answer({"error": "capevalkit has metrics"})
        return
    answer(
        {
            "protocol": 1,
            "name": "capevalkit:" + key,
            "version": version(),
            "signature": " ".join([metric, *arguments]),
        }
    )
    size, requests = 0, []
    for line in sys.stdin:
        message = json.loads(line)
        if "end" in message:
            break
        if "batch" in message:
            size, requests = message["size"], []
            continue
        requests.append(message)
        if len(requests) == size:
            scores = score(metric, key, arguments, requests)
            for request in requests:
                answer({"id": request["id"], "value": scores[str(request["id"])]})


if __name__ == "__main__":
    main()
