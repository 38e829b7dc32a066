"""Models of a task of human judgments (``judgments:`` in place of ``dataset:`` and
``models:``).
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, cast, get_args

from pydantic import BeforeValidator, Field, field_validator, model_validator

from harness.contracts import Values
from harness.files.yaml_source import YamlValue
from harness.spec.models import BootstrapSpec, Component, Count, Strict, TaskName

Form = Literal[
    "captions", "pairs", "foil", "keyed-pairs", "best-worst", "ranking", "mqm"
]
"""Form of a file of judgments."""
Own = Literal["caption", "pair", "item", "keep"]
"""Rule for a caption that is one of the references."""
CaptionStatistic = Literal[
    "kendall_b", "kendall_c", "spearman", "pearson", "kendall_within"
]
CORRELATIONS = ("kendall_b", "kendall_c", "spearman", "pearson")
"""Statistics that have a grouping."""
PairStatistic = Literal["accuracy"]
LabelStatistic = Literal["average_precision", "auc"]
SystemStatistic = Literal[
    "pearson_system",
    "spearman_system",
    "kendall_system",
    "accuracy_system",
    "soft_pairwise_accuracy",
]
Statistic = Literal[CaptionStatistic, PairStatistic, LabelStatistic, SystemStatistic]
CAPTION_STATISTICS: tuple[str, ...] = get_args(CaptionStatistic)
"""Statistics over rated captions."""
PAIR_STATISTICS: tuple[str, ...] = get_args(PairStatistic)
"""Statistics over pairs of captions."""
LABEL_STATISTICS: tuple[str, ...] = get_args(LabelStatistic)
"""Statistics over captions with a label."""
SYSTEM_STATISTICS: tuple[str, ...] = get_args(SystemStatistic)
"""Statistics over systems."""
_NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*")
Label = str | int | float | bool
"""Label of a preference."""


def _texts(value: YamlValue) -> YamlValue:
    """Return a mapping with its keys as texts: labels such as 1 are numbers in YAML."""
    if isinstance(value, dict):
        return {str(key): item for key, item in cast("dict[Any, Any]", value).items()}
    return value


def _as_list(value: YamlValue) -> YamlValue:
    """Return a list, or another value as the item of one."""
    return cast("list[Any]", value) if isinstance(value, list) else [value]


def _by(value: YamlValue) -> YamlValue:
    """Return the groups of a column that is named alone."""
    return {"by": value} if isinstance(value, str) else value


class JudgmentColumns(Strict):
    """Columns of a file of judgments by name; a path such as ``a.b.*.c`` leads into
    objects and lists (``*``: every item).
    """

    item: str | None = None
    """Id of the item (image, video, source text)."""
    references: str | None = None
    reference_columns: list[str] = Field(default_factory=list[str])
    """Columns with a reference each, in place of a list of them."""
    media: str | None = None
    source: str | None = None
    captions: str | None = None
    """List of caption records, or mapping system -> caption record, within the record
    of an item.
    """
    caption_columns: list[str] = Field(default_factory=list[str])
    """Columns with the caption of a system each, whose names they are; ``score`` is
    then an object system -> score, or its JSON text.
    """
    caption: str | None = None
    system: str | None = None
    score: str | Annotated[dict[str, str], Field(min_length=1)] | None = None
    """Human score, list of the raters' scores, or label (true, false); aspect -> column
    makes a task of each aspect.
    """
    own_reference: str | Values | None = None
    """Column that marks a caption as one of the references, ``{column: value}``
    (``{system: NAME}`` for a system that is a key), or ``match``: equal to a reference
    character by character.
    """
    first: str | None = None
    second: str | None = None
    preference: str | None = None
    """Votes (+1 for the first caption, -1 for the second) as a list or a sum, a label
    that ``preference`` maps, or the better system.
    """
    system_first: str | None = None
    system_second: str | None = None
    own_first: Values | None = None
    """``{column: value}`` that marks the first caption of a pair as one of the
    references.
    """
    own_second: Values | None = None
    correct: str | None = None
    foil: str | None = None
    scores: dict[str, tuple[str, str]] = Field(
        default_factory=dict[str, tuple[str, str]]
    )
    """Scores of other programs for the captions of a pair: name -> column of the first
    caption's, column of the second's.
    """
    best: str | None = None
    """Position, system or text of the best caption of an item; a list for several
    raters.
    """
    worst: str | None = None
    ranking: str | None = None
    """Positions, systems or texts of the captions of an item, the best first; a list of
    lists for several raters.
    """


class PreferenceLabels(Strict):
    """Labels of a preference: those for the first caption of a pair, for the second,
    for a tie, and for no judgment.
    """

    first: Annotated[list[Label], BeforeValidator(_as_list)] = Field(
        default_factory=list[Label]
    )
    second: Annotated[list[Label], BeforeValidator(_as_list)] = Field(
        default_factory=list[Label]
    )
    tie: Annotated[list[Label], BeforeValidator(_as_list)] = Field(
        default_factory=list[Label]
    )
    skip: Annotated[list[Label], BeforeValidator(_as_list)] = Field(
        default_factory=list[Label]
    )

    @property
    def lists(self) -> tuple[list[Label], ...]:
        """The labels of ``first``, ``second``, ``tie`` and ``skip``."""
        return self.first, self.second, self.tie, self.skip

    @model_validator(mode="after")
    def _distinct(self) -> PreferenceLabels:
        labels = [str(label) for labels in self.lists for label in labels]
        twice = next((label for label in labels if labels.count(label) > 1), None)
        if twice is not None:
            raise ValueError(f"a label has one meaning; found '{twice}' twice")
        return self


class ReferenceTable(Strict):
    """A file with the references of the items, where the judgments have none."""

    path: str
    item: str | None = None
    references: str | None = None
    key: str | None = None
    """Column of the judgments with the item of this file; default: the item of the
    judgments.
    """


class SystemScores(Strict):
    """A file with one human score per system."""

    path: str
    system: str = "system"
    score: str = "score"


class HuggingFaceSource(Strict):
    """A Hugging Face data set, by hub name or local path."""

    name: str
    config: str | None = None
    split: str | None = None
    revision: str | None = None


class JudgmentSource(Strict):
    """Files of judgments and their form."""

    form: Form
    path: str | list[str] = Field(default_factory=list[str])
    """One or several files: CSV, TSV, JSON, JSON Lines, Parquet, gzipped or not."""
    hf: HuggingFaceSource | None = None
    references: ReferenceTable | None = None
    system_scores: SystemScores | None = None
    columns: JudgmentColumns = JudgmentColumns()
    preference: PreferenceLabels = PreferenceLabels()
    """Labels of the column ``preference`` in words of the file, for pairs without
    signed votes.
    """
    keys: list[str] = Field(default_factory=list[str])
    """Keys of the pairs in a record of ``keyed-pairs``; ``MM_*`` stands for all that
    begin so, and ``MM`` is the category.
    """
    where: Annotated[dict[str, str | int | bool], BeforeValidator(_texts)] = Field(
        default_factory=dict[str, "str | int | bool"]
    )
    """Column -> value: only these records are read."""
    without: dict[str, list[str | int | bool | None]] = Field(
        default_factory=dict[str, "list[str | int | bool | None]"]
    )
    """Column -> values: records with one of these are left out; null stands for no
    value.
    """
    raters: Literal["mean", "each"] = "mean"
    """``mean``: one row per caption; ``each``: one row per rating."""
    mean_of: Count | None = None
    """Number of raters whose whole-number votes a score is the mean of; the votes
    closest to each other with this mean are used.
    """
    higher_is_better: bool = True
    """False where a high score or a true label means a bad caption."""
    media_root: str | None = None
    get: str = ""
    """Text that tells how to get the files."""

    @model_validator(mode="after")
    def _one_source(self) -> JudgmentSource:
        if bool(self.path) == (self.hf is not None):
            sources = "both" if self.path else "neither"
            raise ValueError(f"judgments take either 'path' or 'hf'; found {sources}")
        if self.form == "keyed-pairs" and not self.keys:
            raise ValueError("form: keyed-pairs needs 'keys', such as [HC, HI, 'MM_*']")
        if any(self.preference.lists) and self.form not in ("pairs", "keyed-pairs"):
            raise ValueError(
                "'preference' is for the forms pairs and keyed-pairs; found form: "
                f"{self.form}"
            )
        if self.columns.scores and self.form not in ("pairs", "foil"):
            raise ValueError(
                "columns.scores is for the forms pairs and foil; found form: "
                f"{self.form}"
            )
        return self

    @property
    def paths(self) -> list[str]:
        """The files as a list."""
        return [self.path] if isinstance(self.path, str) else list(self.path)


class ReferencePolicy(Strict):
    """References with which a judged caption is scored."""

    own: Own | dict[str, Own] = "caption"
    """A caption that is one of the references: the reference is removed for this
    caption alone (``caption``), for both captions of a pair (``pair``), for all
    captions of the item (``item``), or not at all (``keep``). A mapping chooses by
    category.
    """
    sample: Count | None = None
    """Number of references that are sampled for each caption or pair; the statistic is
    the mean over ``draws`` samples.
    """
    draws: Count = 1
    rotate: Count | None = None
    """Number of references: every selection of so many consecutive left-out ones is
    scored in turn, and the mean score is used; fewer references are filled up from the
    first.
    """
    corpus: Literal["items", "sets"] | list[list[str]] = "items"
    """Corpus on which document frequencies are counted: the references of the items
    (``items``), or the reference lists as they are scored (``sets``). Lists of
    categories: the pairs of the categories of one list, and each side of these pairs,
    have a corpus of their own, as when a toolkit is called once for the first captions
    and once for the second ones.
    """

    @model_validator(mode="after")
    def _one_choice(self) -> ReferencePolicy:
        if self.sample is not None and self.rotate is not None:
            raise ValueError(
                "references are sampled or rotated; found both 'sample' and 'rotate'"
            )
        if self.draws > 1 and self.sample is None:
            raise ValueError(
                f"draws belongs to 'sample'; found draws: {self.draws} without it"
            )
        return self

    def describe(self) -> str:
        """Return the policy as part of a signature.

        >>> ReferencePolicy(own="item", sample=5, draws=3).describe()
        'own:item,sample:5x3'
        """
        if isinstance(self.own, str):
            rule = self.own
        else:
            rule = "+".join(f"{name}={own}" for name, own in sorted(self.own.items()))
        settings = [f"own:{rule}"]
        if self.sample is not None:
            settings.append(f"sample:{self.sample}x{self.draws}")
        if self.rotate is not None:
            settings.append(f"rotate:{self.rotate}")
        if self.corpus != "items":
            corpus = self.corpus
            if not isinstance(corpus, str):
                corpus = "/".join("+".join(names) for names in corpus)
            settings.append(f"corpus:{corpus}")
        return ",".join(settings)


class GroupsSpec(Strict):
    """Groups of judgments that get statistics of their own."""

    by: str
    """Column of the records."""
    labels: Annotated[dict[str, str], BeforeValidator(_texts)] = Field(
        default_factory=dict[str, str]
    )
    """Value -> name of the group."""
    headline: Literal["all", "mean"] = "all"
    """Group that stands for the set in the league table: all judgments, or the mean of
    the groups.
    """


class PublishedSpec(Strict):
    """Published values beside ours."""

    reference: Annotated[str, Field(min_length=1)]
    """Source of the values."""
    values: dict[str, float | tuple[float, float]]
    """Metric label -> value times 100, as it is printed; two numbers are the range over
    papers.
    """
    statistic: Statistic | None = None
    """Default: the first statistic of the task."""
    group: str | None = None
    """Default: the headline group."""
    note: str = ""


class AlternativeSpec(Strict):
    """The alternative annotator test of judges
    (:func:`harness.judgments.alternative_annotator.judge_against_people`).
    """

    epsilon: Annotated[float, Field(ge=0, lt=1)] = 0.2
    """Advantage that is given to a judge: 0.2 against experts, 0.15 against skilled
    annotators, 0.1 against crowd workers.
    """
    alignment: Literal["rmse", "accuracy"] = "rmse"
    """Closeness to the other people: of grades, or of labels."""
    scale: tuple[float, float] | None = None
    """Rating that corresponds to the lowest score of a metric with bounds, and to the
    highest; default: the range of the ratings.
    """


class MetricTestsSpec(Strict):
    """Tests between metrics; 0 draws: none."""

    unit: Literal["item", "record", "system"] = "item"
    """Rows whose scores are exchanged together: all captions of an item (PERM-INPUT), a
    caption (PERM-BOTH), a system (PERM-SYS).
    """
    draws: Annotated[int, Field(ge=0)] = 1000
    level: Annotated[float, Field(gt=0, lt=1)] = 0.05
    alternative: AlternativeSpec | None = None
    """The alternative annotator test of each metric, for sets with ratings of several
    people.
    """


class JudgmentSpec(Strict):
    """One task of human judgments: a judgment set, the references that a caption is
    scored with, statistics, metrics.
    """

    task: TaskName
    description: str = ""
    notice: str = ""
    judgments: JudgmentSource
    references: ReferencePolicy = ReferencePolicy()
    statistics: Annotated[list[Statistic], Field(min_length=1)]
    """The first one is the headline of the task."""
    grouping: Literal["none", "item", "system"] = "none"
    """Correlations over all rows, or the mean over items or systems of those of their
    rows.
    """
    ties: Literal["half", "wrong", "skip", "epsilon"] = "half"
    """Credit of a tie of the metric in ``accuracy``."""
    groups: Annotated[GroupsSpec | None, BeforeValidator(_by)] = None
    metrics: Annotated[list[Component], Field(min_length=1)]
    published: Annotated[list[PublishedSpec], BeforeValidator(_as_list)] = Field(
        default_factory=list[PublishedSpec]
    )
    bootstrap: BootstrapSpec = BootstrapSpec()
    tests: MetricTestsSpec = MetricTestsSpec()
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    limit: Annotated[int, Field(ge=0)] | None = None
    """Number of items that are used, from the first; None: all."""
    variant: str = ""

    @field_validator("statistics")
    @classmethod
    def _distinct(cls, value: list[str]) -> list[str]:
        return list(dict.fromkeys(value))

    @property
    def headline(self) -> tuple[str, str]:
        """Statistic and group that stand for the set."""
        return self.statistics[0], self.groups.headline if self.groups else "all"

    def grouping_of(self, statistic: str) -> Literal["none", "item", "system"]:
        """Return the rows within which a statistic is a correlation."""
        if statistic == "kendall_within":
            return "item"
        return self.grouping if statistic in CORRELATIONS else "none"

    def label(self, statistic: str) -> str:
        """Return the name of a statistic with its grouping, such as ``pearson by
        item``.
        """
        if self.grouping == "none" or statistic not in CORRELATIONS:
            return statistic
        return f"{statistic} by {self.grouping}"


def looks_like_number(label: str) -> bool:
    """Return True for a label that reads as a number.

    >>> looks_like_number("1"), looks_like_number("2.0"), looks_like_number("HC")
    (True, True, False)
    """
    return _NUMBER.fullmatch(label) is not None
