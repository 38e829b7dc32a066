"""Result of ``harness same`` as lines and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.decisions.same.answer_kernels import KERNELS
from harness.decisions.same.effects import Effect
from harness.decisions.same.plan import Design
from harness.decisions.same.same import Feature, SourceComparison
from harness.decisions.same.statistics import Settings
from harness.errors import counted
from harness.reporting.table import Table, interval_text, number, p_text

ASSUMPTION = (
    "assumes that the answers to a prompt are independent and that the sources were "
    "asked in turn: a cache, one seed for both, or another "
    "time of day break it"
)
MOST_FEATURES = 5


def report_lines(
    result: SourceComparison, settings: Settings, prompts: int
) -> Iterator[str]:
    """Yield the lines of a comparison: verdict, p-value, effect, words,
    prompts, remarks.
    """
    a, b = result.labels
    answers = [
        sum(len(getattr(prompt, side)) for prompt in result.prompts) for side in "ab"
    ]
    yield f"{a} and {b}: {verdict_text(result, settings)}"
    sizes = (
        f"{counted(len(result.prompts), 'prompt')}, "
        f"{answers[0]:,} and {answers[1]:,} answers"
    )
    yield (
        f"  p {p_text(result.p)} ({sizes}; {_method(result)} within prompts; "
        f"smallest possible p {p_text(result.floor)})"
    )
    statistics = ", ".join(f"{name} {p_text(p)}" for name, p in result.kernels.items())
    yield f"  {statistics} (each alone, not adjusted)"
    yield (
        f"  {_measure(settings)} {effect_text(result.effect)}; "
        f"held-out accuracy {effect_text(result.accuracy)}, .5: none"
    )
    contrast = contrast_text(result, settings)
    if contrast:
        yield f"  {contrast}"

    # what differs: words and other properties, then the prompts
    for feature in list_features(result, settings):
        yield (
            f"  {feature.name}: {number(feature.a)} and {number(feature.b)} per "
            f"answer (adjusted p {p_text(feature.p)})"
        )
    if result.verdict == "different":
        for prompt in result.prompts[:prompts]:
            yield f"  prompt {prompt.id} (p {p_text(prompt.p)}, not adjusted)"
            for label, texts in ((a, prompt.a), (b, prompt.b)):
                yield f"    {label}: {' | '.join(texts[:3])}"

    for note in result.notes:
        yield f"  note: {note}"
    yield f"  {ASSUMPTION}"


def verdict_text(result: SourceComparison, settings: Settings) -> str:
    """Return the verdict with the margin or the power that belongs to it."""
    if result.verdict == "different":
        return f"different at level {settings.alpha:.3g}"
    if result.verdict == "equivalent within margin":
        return f"equivalent within margin {settings.margin:g}"
    if result.effect.reason.startswith("both "):
        return f"a difference is not shown, for {result.effect.reason}"
    if result.power is None:
        return "a difference is not shown"
    return (
        "a difference is not shown; a source with one answer in ten replaced would be "
        f"found with power {result.power:.2f}"
    )


def contrast_text(result: SourceComparison, settings: Settings) -> str:
    """Return what shows the difference of sources whose effect has an interval that
    holds 0; empty for others.
    """
    interval = result.effect.interval
    if result.verdict != "different" or interval is None:
        return ""
    if not interval[0] <= 0 <= interval[1]:
        return ""

    small = [name for name, p in result.kernels.items() if p <= settings.alpha]
    kernels = ", ".join(small) or "all statistics together"
    shown_by = f"it is shown by {kernels}"
    if list_features(result, settings):
        shown_by = "the properties below do"
    return (
        f"{_measure(settings)} alone does not show the difference, "
        f"for its interval holds 0; {shown_by}"
    )


def _measure(settings: Settings) -> str:
    """Return the name of the effect."""
    name = settings.kernels[0]
    if name in KERNELS:
        return f"MMD² of {name}"
    return f"{name} beyond its mean over relabelings"


def _method(result: SourceComparison) -> str:
    if result.exact:
        return f"all {result.relabelings:,} relabelings"
    # the observed labels are one of the relabelings that are counted
    return f"{result.relabelings - 1:,} random relabelings"


def facts_table(result: SourceComparison, settings: Settings) -> Table:
    """Return a table of the p-value, the effect and the accuracy with what they mean,
    for a page.
    """
    method = (
        f"{_method(result)} within prompts; smallest possible p {p_text(result.floor)}"
    )
    rows = [["p", p_text(result.p), "", method]]
    for name, effect, meaning in (
        (_measure(settings), result.effect, "0: no difference"),
        (
            "held-out accuracy",
            result.accuracy,
            "0.5: the sources are not told apart",
        ),
    ):
        interval = interval_text(effect.interval)
        rows.append([name, number(effect.value), interval, effect.reason or meaning])
    return Table(["quantity", "value", "95 % interval", "meaning"], rows, "lrrl")


def statistic_table(result: SourceComparison) -> Table:
    """Return a table of the p-values of the single statistics, for a page."""
    rows = [[name, p_text(p)] for name, p in result.kernels.items()]
    note = (
        "p of each statistic alone, not adjusted; "
        "the p of the test is that of all together"
    )
    return Table(["statistic", "p"], rows, "lr", notes=[note])


def effect_text(effect: Effect) -> str:
    """Return a number with its interval, or why there is none."""
    if effect.reason:
        return f"{number(effect.value)} (no interval: {effect.reason})"
    return f"{number(effect.value)} (95 % interval {interval_text(effect.interval)})"


def list_features(result: SourceComparison, settings: Settings) -> list[Feature]:
    """Return the properties that differ where the sources do,
    those of the smallest p-values.
    """
    if result.verdict != "different":
        return []
    small = [feature for feature in result.features if feature.p <= settings.alpha]
    return small[:MOST_FEATURES]


def matrix_table(results: Sequence[SourceComparison]) -> Table:
    """Return a table of all pairs of sources."""
    headers = ["A", "B", "p Holm", "effect", "95 % interval", "accuracy", "verdict"]
    rows = [
        [
            *r.labels,
            p_text(r.p),
            number(r.effect.value),
            interval_text(r.effect.interval),
            number(r.accuracy.value),
            r.verdict,
        ]
        for r in results
    ]
    return Table(
        headers,
        rows,
        "llrrrrl",
        notes=["p adjusted by Holm over the pairs"] if len(results) > 1 else [],
    )


def feature_table(result: SourceComparison, settings: Settings) -> Table:
    """Return a table of the properties with the smallest p-values."""
    a, b = result.labels
    features = result.features[: 3 * MOST_FEATURES]
    rows = [[f.name, number(f.a), number(f.b), p_text(f.p)] for f in features]
    bold = frozenset(
        (row, 3) for row, f in enumerate(features) if f.p <= settings.alpha
    )
    note = (
        "means per answer; p adjusted by the largest shift over all properties "
        "(Westfall and Young)"
    )
    return Table(["property", a, b, "p"], rows, "lrrr", notes=[note], bold=bold)


def prompt_table(
    result: SourceComparison, number_of_prompts: int = 10, answers: int = 5
) -> Table:
    """Return a table of the prompts that differ most,
    with answers of both sources side by side.
    """
    a, b = result.labels
    rows = [
        [p.id, p_text(p.p), "\n".join(p.a[:answers]), "\n".join(p.b[:answers])]
        for p in result.prompts[:number_of_prompts]
    ]
    return Table(
        ["prompt", "p", a, b],
        rows,
        "lrll",
        notes=["p of the prompt alone, not adjusted"],
    )


def plan_table(designs: Sequence[Design], power: float) -> Table:
    """Return a table of the smallest number of prompts that reaches a power,
    by change and number of answers.
    """
    rows = [
        [
            d.change,
            str(d.answers),
            str(d.prompts) if d.power >= power else f"more than {d.prompts}",
            f"{d.power:.2f}",
        ]
        for d in designs
    ]
    note = (
        f"smallest number of prompts tried with a power of {power:g}; simulated, "
        "a temperature by weights of the answers"
    )
    return Table(["change", "answers", "prompts", "power"], rows, "lrrr", notes=[note])
