"""The figures of the concepts page, as SVG files;
``python -m tools.documentation.drawing`` draws them into docs/figures.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.registry.display_names import display_name
from tools.documentation import figure_values

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
"""Four of the colours of Okabe and Ito, which differ for any vision."""
MARKERS = "os^D"
STYLE = {
    "font.size": 9,
    "svg.hashsalt": "harness",
    "svg.fonttype": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
}
"""Text stays text, and equal values give equal files."""


def draw_all(folder: Path) -> list[Path]:
    """Draw every figure into ``folder`` and return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    with matplotlib.rc_context(cast(Any, STYLE)):
        for name, draw in FIGURES.items():
            files.append(folder / f"{name}.svg")
            draw().savefig(
                files[-1], format="svg", bbox_inches="tight", metadata={"Date": None}
            )
    return files


def triangles() -> Figure:
    """Draw the three kinds of triangles of TRM with two samples that agree and two that
    do not.
    """
    rng = np.random.default_rng(3)
    figure = Figure(figsize=(7, 2.9))
    for axes, shift, title in zip(
        figure.subplots(1, 2), (0.0, 4.0), ("one distribution", "two distributions")
    ):
        first = rng.uniform(-1, 1, size=(6, 2))
        second = rng.uniform(-1, 1, size=(6, 2)) + np.array([shift, 0])

        # The triangle has two corners of one sample and one of the other.
        corners = np.array(
            [
                first[first[:, 1].argmin()],
                first[first[:, 1].argmax()],
                second[second[:, 0].argmax()],
            ]
        )

        for one, two, style in ((0, 1, "-"), (0, 2, "--"), (1, 2, "--")):
            axes.plot(*corners[[one, two]].T, style, color="0.4", linewidth=1)

        for points, colour, marker, label in zip(
            (first, second), COLOURS, MARKERS, ("candidates", "references")
        ):
            axes.plot(*points.T, marker, color=colour, label=label)

        axes.set(title=title, xticks=[], yticks=[])
        axes.set_aspect("equal")
        axes.margins(0.15)

    figure.legend(
        *figure.axes[0].get_legend_handles_labels(),
        loc="lower center",
        ncols=2,
        frameon=False,
    )
    return figure


def preferences() -> Figure:
    """Draw four metrics of people, of a bland caption and of captions of another
    scene.
    """
    values = figure_values.preferences()
    figure = Figure(figsize=(7, 2.4))
    arrows = {True: "lower is better", False: "higher is better"}
    for axes, (metric, by_model) in zip(
        figure.subplots(1, len(values)), values.items()
    ):
        for place, (model, colour) in enumerate(zip(by_model, COLOURS)):
            axes.bar(place, by_model[model], color=colour, label=model)
        axes.set_title(
            f"{display_name(metric)}\n{arrows[metric.startswith('trm')]}", fontsize=9
        )
        axes.set_xticks([])
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(),
        loc="lower center",
        ncols=3,
        frameon=False,
    )
    figure.subplots_adjust(bottom=0.18, wspace=0.5)
    return figure


def sensitivity() -> Figure:
    """Draw log p against the number of candidates for captions of another scene."""
    figure = Figure(figsize=(4.6, 3))
    axes = figure.subplots()
    for (metric, (sizes, logs)), colour, marker in zip(
        figure_values.sensitivity().items(), COLOURS, MARKERS
    ):
        axes.plot(
            sizes,
            logs,
            marker=marker,
            color=colour,
            label=display_name(metric),
            linewidth=1,
        )
    axes.axhline(math.log(0.05), color="0.6", linewidth=0.8, linestyle=":")
    axes.text(5.05, math.log(0.05), "p = .05", va="center", color="0.4", fontsize=8)
    axes.set(
        xlabel="candidates per scene",
        ylabel="log of the harmonic mean of p",
        xticks=[1, 2, 3, 4, 5],
    )
    axes.legend(frameon=False)
    return figure


def correctness() -> Figure:
    """Draw METEOR and TRM by the numbers of unique and of correct captions."""
    figure = Figure(figsize=(7, 3))
    for axes, metric in zip(figure.subplots(1, 2), ("meteor", "trm(meteor)")):
        unique, values = figure_values.diversity_and_correctness(metric)
        _grid(axes, values, reverse=metric.startswith("trm"))
        better = "lower" if metric.startswith("trm") else "higher"
        axes.set(
            title=f"{display_name(metric)}: {better} is better",
            xlabel="unique captions of five",
            ylabel="correct ones",
        )
        axes.set_xticks(range(len(unique)), [str(value) for value in unique])
    figure.tight_layout()
    return figure


def _grid(axes: Axes, values: np.ndarray, *, reverse: bool) -> None:
    axes.imshow(
        values,
        cmap="cividis_r" if reverse else "cividis",
        aspect="auto",
        origin="lower",
    )
    middle = (np.nanmin(values) + np.nanmax(values)) / 2
    for (row, column), value in np.ndenumerate(values):
        if not math.isnan(value):
            light = (value < middle) != reverse
            text = f"{value:.2f}".removeprefix("0")
            axes.text(
                column,
                row,
                text,
                ha="center",
                va="center",
                color="white" if light else "black",
                fontsize=8,
            )


def noise() -> Figure:
    """Draw quality against diversity of noisy copies of the references,
    for two pairs of measures.
    """
    values = figure_values.noise()
    figure = Figure(figsize=(7, 3))
    pairs = (
        ("corpus-bleu2", "nsbleu2", "BLEU and NSBLEU"),
        ("cr2", "nrr2", "CR and NRR"),
    )
    for axes, (quality, diversity, title) in zip(figure.subplots(1, 2), pairs):
        copies = [value for model, value in values.items() if model != "real text"]
        axes.plot(
            [value[diversity] for value in copies],
            [value[quality] for value in copies],
            "o-",
            color=COLOURS[0],
            label="copies of the references with noise",
            linewidth=1,
        )
        real = values["real text"]
        axes.plot(
            real[diversity], real[quality], "D", color=COLOURS[1], label="real text"
        )
        axes.set(title=title, xlabel="diversity", ylabel="quality")
    figure.axes[0].legend(frameon=False, fontsize=8, loc="lower left")
    figure.tight_layout()
    return figure


def calibration() -> Figure:
    """Draw the exact p-values of people against people beside the uniform
    distribution.
    """
    p = figure_values.null_p_values()
    figure = Figure(figsize=(3.6, 3.2))
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, linestyle=":")
    axes.step(
        np.r_[0, p, 1],
        np.r_[0, np.arange(1, len(p) + 1) / len(p), 1],
        where="post",
        color=COLOURS[0],
    )
    axes.set(
        xlabel=f"p of {display_name('trm(meteor)')}",
        ylabel="share of scenes with at most this p",
        xlim=(0, 1),
        ylim=(0, 1),
    )
    axes.set_aspect("equal")
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "triangles": triangles,
    "preferences": preferences,
    "sensitivity": sensitivity,
    "correctness": correctness,
    "noise": noise,
    "calibration": calibration,
}

if __name__ == "__main__":
    draw_all(Path(__file__).parents[2] / "docs" / "figures")
