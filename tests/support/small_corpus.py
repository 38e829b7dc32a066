"""A small corpus, and metrics whose corpus state is fitted on it."""

from __future__ import annotations

from harness.contracts import CaptionSet, Example, OnePassFit
from harness.registry import current
from harness.run.metric_plan import metric_plan

TEXTS = [
    ("a dog runs", "the dog runs fast"),
    ("a cat", "the black cat sleeps"),
    ("a bus", "a red bus stops"),
    ("a dog", "dogs run"),
] * 3
EXAMPLES = [Example(f"e{k}", texts) for k, texts in enumerate(TEXTS)]
SETS = [
    CaptionSet(f"e{k}", (f"{texts[0]} today",), texts) for k, texts in enumerate(TEXTS)
]


def plans(*specs):
    """Return plans of metrics, given by name and parameters."""
    return [
        metric_plan(name, params, current().create("metrics", name, params))
        for name, params in specs
    ]


class Counting:
    """A metric whose corpus state is the number of references; ``failing``: one example
    is too little for its fit.
    """

    def __init__(self, name="counting", *, failing=False, one_pass=False):
        self.spec = current().create("metrics", "bleu4", {}).spec
        self.name = name
        self.failing = failing
        self.fitted = []
        if one_pass:
            self.merge = self.refuse

    def signature(self):
        return self.name

    def fit(self, references, features):
        self.fitted.append(len(references))
        if self.failing and len(references) == 1:
            raise ValueError("too few")
        return len(references)

    def refuse(self, first, second):
        raise OnePassFit(self.name)
