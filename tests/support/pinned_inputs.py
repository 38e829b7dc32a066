"""Small inputs of every verb, with hard cases: ties, repeated captions, sets of unequal
sizes, undefined scores, slices and clusters.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

SUBJECTS = (
    "a dog",
    "two dogs",
    "the man's cat",
    "a red bus",
    "some children",
    "an old woman",
)
VERBS = ("runs along", "sits near", "can't see", "looks at", "stands in front of")
PLACES = ("the beach", "a wooden table", "Istanbul's street", "the I-95 .", "a field")
EXAMPLES = 14
SPECS = {
    "run": """
task: pinned
dataset: {reader: jsonl, path: refs.jsonl}
models:
  - human: {label: people, held_out: 1}
  - predictions: {label: good, path: good.jsonl}
  - predictions: {label: near, path: near.jsonl}
  - predictions: {label: far, path: far.jsonl}
references: 3
metrics:
  - rouge
  - bleu: {tokenizer: none}
  - cider: {tokenizer: none}
  - trm: {distance: {rouge: {}}}
  - mmd: {embedding: bow}
  - distinct: {n: 2}
  - best: {metric: {rouge: {}}}
  - self-bleu: {n: 2, tokenizer: none}
cluster: film
significance: exact
bootstrap: {samples: 60}
views:
  - {plot: scatter, title: A plane, x: "metric:cider", y: "trm(rouge)", by: model}
  - plot: bar
    title: Bars
    x: metric
    by: model
    y: ["log p:rouge", "log p:trm(rouge)", "log p:cider"]
  - {plot: bar, title: By model, x: model, y: cider}
  - plot: table
    title: Beside published values
    x: metric
    by: model
    y: [cider, "trm(rouge)", bleu4]
    reference:
      source: A paper
      rows: [{label: good, title: theirs, values: {cider: 2.5, bleu4: 0.5}}]
  - {plot: texts, title: Captions, y: "trm(rouge)", examples: 3}
""",
    "second": """
task: pinned
dataset: {reader: jsonl, path: refs.jsonl}
models:
  - predictions: {label: few, path: few.jsonl}
  - predictions: {label: good, path: near.jsonl}
references: 3
metrics: [rouge, {cider: {tokenizer: none}}, {trm: {distance: {rouge: {}}}}]
significance: exact
bootstrap: {samples: 60}
""",
    "pilot": """
task: pilot
dataset: {reader: jsonl, path: many.jsonl}
models:
  - predictions: {label: good, path: many-good.jsonl}
  - predictions: {label: far, path: many-far.jsonl}
references: 2
metrics: [{bleu: {n: 2, tokenizer: none}}, rouge]
bootstrap: {samples: 0}
cluster: film
""",
    "sweep": """
task: swept
dataset: {reader: jsonl, path: refs.jsonl}
models:
  - mixture:
      {label: one correct, unique: 2, correct: 1, n: 2, held_out: 2, skip_small: true}
  - mixture:
      {label: both correct, unique: 2, correct: 2, n: 2, held_out: 2, skip_small: true}
  - shuffled: {label: other, n: 2}
  - central: {label: central, distance: rouge, n: 2}
references: 2
metrics: [rouge, {trm: {distance: rouge}}, {cider: {tokenizer: none}}]
significance: monte-carlo
bootstrap: {samples: 0}
views:
  - {plot: line, title: Plane, x: "metric:cider", y: "trm(rouge)",
     by: model_params.unique}
  - {plot: heatmap, title: Grid, x: model, by: model_params.unique, y: cider}
""",
    "decoded": """
task: decoded
dataset: {reader: jsonl, path: refs.jsonl}
models:
  - shuffled: {label: shuffled}
  - central: {label: central, distance: rouge}
decoding: {temperature: [0.5, 1.0], candidates: [1, 2]}
references: 2
metrics: [rouge, {cider: {tokenizer: none}}, caption-length]
bootstrap: {samples: 40}
views:
  - {plot: scatter, title: Points, x: decoding.temperature, y: rouge, by: model}
""",
    "graded": """
task: judged
judgments:
  form: captions
  path: graded.jsonl
  columns: {item: id, references: references, caption: caption, score: ratings,
            system: system}
groups: {by: category}
statistics: [kendall_c, kendall_b, pearson, spearman, kendall_within, accuracy,
             kendall_system, soft_pairwise_accuracy]
metrics: [rouge, {bleu1: {tokenizer: none}}, {cider: {tokenizer: none}},
          {self-bleu: {n: 2, tokenizer: none}}]
published: {reference: A paper, values: {rouge: 32.5, spice: 40}}
bootstrap: {samples: 60}
""",
    "pairs": """
task: preferred
judgments:
  form: pairs
  path: pairs.jsonl
  columns: {item: id, references: references, first: first, second: second,
            preference: votes}
groups: {by: kind, headline: mean}
statistics: [accuracy]
ties: half
metrics: [rouge, {bleu1: {tokenizer: none}}, {cider: {tokenizer: none}}]
bootstrap: {samples: 60}
""",
}
"""Specs of the runs, by name."""


def caption(generator: random.Random, parts: Sequence[str], noise: float) -> str:
    """Return a caption of three parts, each replaced by another one with probability
    ``noise``.
    """
    lists = (SUBJECTS, VERBS, PLACES)
    words = [
        generator.choice(choices) if generator.random() < noise else part
        for part, choices in zip(parts, lists)
    ]
    return " ".join(words)


def write_lines(path: str, rows: Sequence[object]) -> None:
    """Write records as JSON Lines."""
    Path(path).write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows),
        encoding="utf-8",
    )


def write_inputs() -> None:
    """Write references, captions of four systems, human scores, judgments of three
    forms and answers into the current folder.
    """
    generator = random.Random(20)
    scenes = [
        [generator.choice(parts) for parts in (SUBJECTS, VERBS, PLACES)]
        for _ in range(EXAMPLES)
    ]

    ids = [f"e{k}" for k in range(EXAMPLES)]
    references = [
        [caption(generator, scene, 0.25) for _ in range(4 + (k % 5 == 0))]
        for k, scene in enumerate(scenes)
    ]
    references[3][1] = references[3][0]

    write_lines(
        "refs.jsonl",
        [
            {
                "id": id_,
                "references": texts,
                "topic": "abc"[k % 3],
                "film": f"f{k // 2}",
                "length": k,
            }
            for k, (id_, texts) in enumerate(zip(ids, references))
        ],
    )

    systems: dict[str, list[list[str]]] = {}
    for name, noise in (("good", 0.2), ("near", 0.3), ("far", 0.8)):
        systems[name] = [
            [caption(generator, scene, noise) for _ in range(3)] for scene in scenes
        ]

    systems["near"][5] = systems["near"][5][:1] * 3
    systems["few"] = [texts[: 2 + k % 2] for k, texts in enumerate(systems["near"])]
    for name, rows in systems.items():
        write_lines(
            f"{name}.jsonl",
            [{"id": id_, "captions": texts} for id_, texts in zip(ids, rows)],
        )

    scores = [
        (id_, name, round(4 - 3 * noise + generator.gauss(0, 0.5), 2))
        for id_ in ids
        for name, noise in (("good", 0.2), ("near", 0.3), ("far", 0.8))
        if generator.random() < 0.6
    ]
    Path("labels.csv").write_text(
        "id,system,score\n"
        + "".join(f"{id_},{name},{score}\n" for id_, name, score in scores)
    )

    write_judgments(generator, ids, references, systems)
    for source, noise in (("before", 0.3), ("after", 0.7), ("again", 0.3)):
        rows = [
            {
                "id": id_,
                "captions": [caption(generator, scene, noise) for _ in range(6)],
            }
            for id_, scene in zip(ids, scenes)
        ]
        write_lines(f"{source}.jsonl", rows)


def write_many(count: int = 210) -> None:
    """Write references and one caption by each of two systems for many examples."""
    generator = random.Random(21)
    scenes = [
        [generator.choice(parts) for parts in (SUBJECTS, VERBS, PLACES)]
        for _ in range(count)
    ]
    rows = [
        {
            "id": f"m{k}",
            "references": [caption(generator, scene, 0.2) for _ in range(2)],
            "film": f"f{k % 105}",
        }
        for k, scene in enumerate(scenes)
    ]
    write_lines("many.jsonl", rows)
    for name, noise in (("good", 0.2), ("far", 0.4)):
        write_lines(
            f"many-{name}.jsonl",
            [
                {"id": f"m{k}", "caption": caption(generator, scene, noise)}
                for k, scene in enumerate(scenes)
            ],
        )


def write_judgments(
    generator: random.Random,
    ids: Sequence[str],
    references: Sequence[list[str]],
    systems: dict[str, list[list[str]]],
) -> None:
    """Write single captions with scores of three people,
    and pairs of captions with votes.
    """
    graded: list[dict[str, object]] = []
    pairs: list[dict[str, object]] = []
    for k, id_ in enumerate(ids):
        for name, level in (("good", 4), ("near", 3), ("far", 1)):
            raters = [
                min(5, max(1, level + generator.choice((-1, 0, 0, 1))))
                for _ in range(3)
            ]
            graded.append(
                {
                    "id": id_,
                    "caption": systems[name][k][0],
                    "references": references[k],
                    "human_score": sum(raters) / 3,
                    "ratings": raters,
                    "system": name,
                    "category": "xy"[k % 2],
                }
            )

        one, other = ("good", "far") if k % 3 else ("near", "far")
        votes = [generator.choice((-1, 1, 1)) for _ in range(5)]
        pairs.append(
            {
                "id": id_,
                "references": references[k],
                "first": systems[one][k][0],
                "second": systems[other][k][1],
                "votes": votes,
                "kind": "xyz"[k % 3],
            }
        )

    write_lines("graded.jsonl", graded)
    write_lines("pairs.jsonl", pairs)


def write_specs() -> None:
    """Write the specs into the current folder."""
    for name, text in SPECS.items():
        Path(f"{name}.yaml").write_text(text, encoding="utf-8")
