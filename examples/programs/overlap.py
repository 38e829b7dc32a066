#!/usr/bin/env python3
"""Share of a candidate's words that occur in a reference: a metric as a program.

Python 3.8 and nothing else. Requests come on standard input, answers go to standard
output, a line each (docs/protocol.md of the harness).
"""

import json
import os
import sys

# Answers keep descriptor 1 for themselves: whatever a library prints goes to standard
# error from here on, also from C.
ANSWERS = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
os.dup2(2, 1)


def answer(message):
    """Write a message; the line feed flushes it."""
    ANSWERS.write(json.dumps(message, separators=(",", ":")) + "\n")


def greet(hello):
    """Return the greeting, before anything slow such as loading a model."""
    if hello.get("kind") != "metric":
        return {"error": "overlap.py is a metric"}
    return {
        "protocol": 1,
        "name": "overlap",
        "version": "1.0",
        "needs": ["candidate", "references"],
        "higher_is_better": True,
        "bounds": [0, 1],
    }


def words(text, lower):
    """Return the words of a text."""
    return (text.lower() if lower else text).split()


def score(candidate, references, lower):
    """Return the share of the candidate's words that a reference has; None for a
    candidate without words.
    """
    found = words(candidate, lower)
    known = {word for text in references for word in words(text, lower)}
    return sum(word in known for word in found) / len(found) if found else None


def main():
    """Answer requests until the end of the input."""
    hello = json.loads(sys.stdin.readline())
    answer(greet(hello))
    lower = hello["parameters"].get("lower", False)
    for line in sys.stdin:
        request = json.loads(line)
        if "end" in request:
            break
        if "id" not in request:  # the announcement of a batch
            continue
        try:
            value = score(request["candidate"], request["references"], lower)
            answer({"id": request["id"], "value": value})
        except Exception as error:  # of this item; the others are scored
            answer({"id": request["id"], "error": repr(error)})


if __name__ == "__main__":
    main()
