"""A metric of capevalkit as a program: ``score.py METRIC KEY [ARGUMENT ...]``.

``METRIC`` is the name of a metric, or the path of a ``metric.toml``. Each batch of
requests becomes two files of JSON Lines for ``capevalkit score``; ``KEY`` is the name
of the score in its output, or ``-`` for the only one. capevalkit has an environment of
its own for each metric, and clones its repository on first use.
"""

import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from metric_toml import MetricFile, MetricFileError

# Answers keep descriptor 1 for themselves: capevalkit prints to standard error.
ANSWERS = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
os.dup2(2, 1)


def answer(message):
    """Write a message."""
    ANSWERS.write(json.dumps(message) + "\n")


def write_lines(path, rows):
    """Write rows as JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def score(command, key, arguments, requests):
    """Return id -> score of some requests, by one call of a command."""
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
        words = [*command, "--predictions", str(folder / "predictions.jsonl")]
        words += ["--output", str(folder / "scores.json")]
        if references:
            write_lines(folder / "references.jsonl", references)
            words += ["--references", str(folder / "references.jsonl")]
        # Else it would read the requests that follow.
        done = subprocess.run(
            [*words, *(["--", *arguments] if arguments else [])],
            stdin=subprocess.DEVNULL,
        )
        if done.returncode:
            code = done.returncode
            raise SystemExit(f"Error: {' '.join(command)} ended with code {code}")
        output = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    return scores_of(output, command[-1], key)


def scores_of(output, metric, key):
    """Return id -> score of an output, which has a score for each item below its name,
    or all scores of each item below ``per_item``.
    """
    found = {
        name: value["per_item"]
        for name, value in output.items()
        if isinstance(value, dict) and isinstance(value.get("per_item"), dict)
    }
    for item, scores in output.get("per_item", {}).items():
        for name, value in scores.items() if isinstance(scores, dict) else ():
            found.setdefault(name, {})[item] = value
    if key == "-" and len(found) == 1:
        return next(iter(found.values()))
    if key in found:
        return found[key]
    names = ", ".join(found) or "none"
    raise SystemExit(f"KeyError: {metric} has no score '{key}'; its scores: {names}")


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
    command = ["capevalkit", "score", "--metric", metric]
    if metric.endswith(".toml"):
        try:
            command = MetricFile(metric).command()
        except MetricFileError as error:
            answer({"error": str(error)})
            return
    answer(
        {
            "protocol": 1,
            "name": "capevalkit:" + (command[-1] if key == "-" else key),
            "version": version(),
            "signature": " ".join([command[-1], *arguments]),
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
            scores = score(command, key, arguments, requests)
            for request in requests:
                answer({"id": request["id"], "value": scores[str(request["id"])]})


if __name__ == "__main__":
    main()
