"""Scores of one system or of several, of files or of captions in memory, with the
comparisons of several.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from harness import api
from harness.contracts import Parameters
from harness.errors import InputError
from harness.files.rows import rows_of
from harness.run.file_labels import SUFFIXES
from harness.run.text_scores import SAMPLES, Scores
from harness.run.text_sets import are_paths

if TYPE_CHECKING:  # scoring two lists needs neither specs nor runs
    from harness.rundir.directory_check import Mode


def score(
    candidates: object,
    references: object = None,
    metrics: str | Parameters | Sequence[Any] | None = None,
    *,
    images: str | Path | None = None,
    p_value: str | None = None,
    seed: int = 0,
    bootstrap: int = SAMPLES,
    allow_missing: bool = False,
    allow_unknown: bool = False,
    allow_empty: bool = False,
    id: str | None = "",
    column: str | Sequence[str] = "",
    system: str | Sequence[str] = (),
    reference_id: str | None = "",
    reference_column: str | Sequence[str] = (),
    split: str = "",
    events: str = "",
    time_unit: str = "",
    fps: float | None = None,
    clean: str | Sequence[str] = (),
    labels: Sequence[str] = (),
    baseline: str | None = None,
    equalise: bool = False,
    by: Sequence[str] = (),
    draws: int = 10_000,
    limit: int | None = None,
    output: str | Path | None = None,
    mode: Mode = "auto",
    show: bool = False,
) -> Scores | Any:
    """Score one system, or several with their comparisons, against references.

    One system, in memory or in a file, gives :class:`~harness.run.text_scores.Scores`:
    label of the metric -> result. Several systems, and files with ``labels``, ``by``,
    ``limit`` or ``output``, give :class:`~harness.verbs.scored_systems.ScoredSystems`:
    label of the system -> label of the metric -> record, with ``comparisons``. Both
    print as ``harness score`` does.

    >>> import harness
    >>> references = [["a cat sits"], ["a dog runs"]]
    >>> one = harness.score(["a cat", "a dog runs"], references, "rouge")
    >>> round(one["rouge"].value, 3)
    0.886
    >>> systems = {"old": ["a cat", "a bird"], "new": ["a cat sits", "a dog"]}
    >>> result = harness.score(systems, references, "rouge")
    >>> [(row.system_a, row.system_b) for row in result.comparisons]
    [('new', 'old')]

    Parameters
    ----------
    candidates : object
        Of one system: a path, a mapping id -> text or texts, or a list of one text or
        of one list of texts per example, as in :func:`harness.api.score`. Of several: a
        list of paths, or a mapping of labels to paths, mappings or lists.
    references, metrics, p_value, seed, bootstrap, allow_missing, allow_unknown,
        allow_empty, id, column, system, reference_id, reference_column, split, events,
        time_unit, fps, clean
        As for :func:`harness.api.score`. Several columns, of several files too, are
        several systems.
    images : str or Path, optional
        Folder of the images, for metrics that read them: the image of an example is the
        file whose name, stem, or number at the end of the stem is its id. With files of
        candidates no references are needed then.
    labels : sequence of str
        Names of the systems of files, in their order.
    baseline : str, optional
        System that the others are compared with; default: the first.
    equalise : bool
        Compare systems whose set sizes differ on random subsets of equal size.
    by : sequence of str
        Columns of the references' records: numbers by slice too.
    draws : int
        Random draws of each comparison.
    limit : int, optional
        Use only the first examples.
    output : str or Path, optional
        Also write a run directory.
    mode : {"auto", "resume", "fresh", "extend"}
        Treatment of a run that ``output`` holds, as for :func:`harness.evaluate`.
    show : bool
        Draw progress bars on stderr.

    Returns
    -------
    Scores or ScoredSystems
        As above; the second is ``Any`` for type checkers, which cannot tell a list of
        files from one of texts.

    Raises
    ------
    HarnessError
        A mistake in the input.
    """
    if isinstance(metrics, str) and _ends_as_file(metrics):
        raise InputError(
            f"the metrics are '{metrics}', the name of a file; several files of "
            "candidates are a list: harness.score([A, B], REFERENCES)"
        )
    options: dict[str, Any] = {
        "p_value": p_value,
        "seed": seed,
        "bootstrap": bootstrap,
        "allow_missing": allow_missing,
        "allow_unknown": allow_unknown,
        "allow_empty": allow_empty,
        "id": id,
        "system": system,
        "reference_id": reference_id,
        "reference_column": reference_column,
        "split": split,
        "events": events,
        "time_unit": time_unit,
        "fps": fps,
        "clean": clean,
    }
    if references is None and images is None:
        raise InputError(
            "no references; expected them, or images=FOLDER for metrics that read "
            "images alone",
            parameter="references",
        )
    systems = _systems(candidates, references)
    several_columns = not isinstance(column, str) and len(column) > 1
    of_run = any((labels, by, limit is not None, output, several_columns, images))
    of_run = of_run or equalise or baseline is not None
    if systems is None and not of_run:
        first = column if isinstance(column, str) else "".join(column)
        return api.score(candidates, references, metrics, column=first, **options)

    if systems is None and not isinstance(candidates, (str, Path)):
        raise InputError(
            "images, labels, baseline, equalise, by, limit, output and several columns "
            "belong to files, or to a mapping of names of systems to captions"
        )

    # imports specs and runs
    from harness.verbs.scored_systems import score_systems

    columns = (column,) if isinstance(column, str) else tuple(column)
    return score_systems(
        systems or candidates,
        references,
        metrics,
        images=images,
        columns=tuple(name for name in columns if name),
        labels=labels,
        baseline=baseline,
        equalise=equalise,
        by=by,
        draws=draws,
        limit=limit,
        output=output,
        mode=mode,
        show=show,
        **options,
    )


def _systems(
    candidates: object, references: object
) -> list[str] | Mapping[str, object] | None:
    """Return the files or the captions of several systems by their labels; None for one
    system.
    """
    if isinstance(candidates, (list, tuple)):
        items = cast("Sequence[object]", candidates)
        return [str(item) for item in items] if _are_files(items, references) else None
    if not isinstance(candidates, Mapping) or not candidates:
        return None
    by_label = cast("Mapping[object, object]", candidates)
    if rows_of(by_label) is not None:  # columns of one table
        return None
    # numbers are ids of examples rather than names of systems
    if any(isinstance(key, int) or str(key).isdigit() for key in by_label):
        return None
    values = list(by_label.values())
    if references is None or isinstance(references, (str, Path)):
        is_labelled = all(map(_names_file, values))
    elif isinstance(references, Mapping):
        of_examples = cast("Mapping[object, object]", references)
        is_labelled = all(_is_system(value, of_examples) for value in values)
    else:
        is_labelled = all(
            not isinstance(value, (str, Path)) and hasattr(value, "__len__")
            for value in values
        )
    if not is_labelled:
        return None
    return {str(label): value for label, value in by_label.items()}


def _is_system(value: object, references: Mapping[object, object]) -> bool:
    """Return True for the captions of a system by id, unlike one text with a key
    ``caption``.
    """
    if not isinstance(value, Mapping):
        return False
    return any(key in references for key in cast("Mapping[object, object]", value))


def _are_files(items: Sequence[Any], references: object) -> bool:
    """Return True for a list of files, unlike one of texts; raise :class:`InputError`
    for names of files beside references that are none.
    """
    if not items or not all(isinstance(item, (str, Path)) for item in items):
        return False
    if references is None or isinstance(references, (str, Path)):
        return all(map(_names_file, items))
    if not all(isinstance(item, Path) or _ends_as_file(item) for item in items):
        return False
    if not are_paths(references):
        raise InputError(
            f"the candidates are names of files, such as {str(items[0])!r}; expected "
            "references in files that are there; texts that end so are given as lists "
            "of one text"
        )
    return True


def _names_file(value: object) -> bool:
    """Return True for a path, a name that is there, or one that ends as a file of
    captions does.
    """
    if isinstance(value, str):
        return _ends_as_file(value) or os.path.exists(value)
    return isinstance(value, Path)


def _ends_as_file(name: str) -> bool:
    return Path(name).suffix in SUFFIXES
