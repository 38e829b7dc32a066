"""Entries of a manifest for files ``metric.toml`` of capevalkit.

    python -m caption_capevalkit.declare CHECKOUT/metrics/*/metric.toml > registry.yaml

A ``metric.toml`` does not say what its metric needs, nor the name of its score: for the
metrics of capevalkit 0.1.3 both are known here, for another one they are options.
"""

import argparse
import sys
from pathlib import Path

import yaml

from caption_capevalkit.metric_toml import SCORES, MetricFile, MetricFileError

NEEDS = ("candidate", "references", "image")
LIMITS = {
    "batch": 5000,
    "in_flight": 1,
    "start_seconds": 86400,
    "batch_seconds": 86400,
}
"""Limits of the protocol: each batch is one call of capevalkit, which loads a model."""


def entry(metric, needs, score, cost):
    """Return the entry of a metric."""
    folder = Path(__file__).parent
    found = metric.needs() or needs
    if not found:
        raise MetricFileError(
            f"{metric.path}: capevalkit 0.1.3 has no '{metric.name}', and its file "
            "does not say what it needs: --needs candidate,references"
        )
    key = SCORES.get(metric.name, score or "-")
    command = [sys.executable, str(folder / "score.py"), str(metric.path), key]
    if metric.name == "vela":
        command += ["--mode", "desc"]
    return {
        "command": command,
        "files": [str(folder / "metric_toml.py")],
        "needs": found,
        "higher_is_better": not cost,
        "display": metric.name if key == "-" else key,
        "summary": f"{metric.name} of capevalkit",
        "limits": dict(LIMITS),
    }


def main(arguments=None):
    """Print the entries of the files that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", help="files metric.toml")
    parser.add_argument(
        "--needs",
        default="",
        help="what a metric of your own needs: candidate, references, image, joined "
        "by commas",
    )
    parser.add_argument("--score", help="name of its score in its output")
    parser.add_argument("--cost", action="store_true", help="lower is better")
    given = parser.parse_args(arguments)
    needs = [name.strip() for name in given.needs.split(",") if name.strip()]
    for name in needs:
        if name not in NEEDS:
            parser.error(f"--needs has '{name}'; expected {', '.join(NEEDS)}")
    try:
        metrics = [MetricFile(path) for path in given.files]
        entries = {
            metric.name: entry(metric, needs, given.score, given.cost)
            for metric in metrics
        }
    except MetricFileError as error:
        parser.error(str(error))
    print(yaml.safe_dump({"api": 1, "metrics": entries}, sort_keys=False), end="")


if __name__ == "__main__":
    main()
