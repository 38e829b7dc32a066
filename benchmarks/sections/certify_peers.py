"""Other implementations of the text metrics against the test vectors of the kernels:
largest error by kind of case.

    python -m benchmarks.sections.certify_peers [PEER ...] [--torch-here]

Each peer is installed into an environment of its own in a temporary folder, where
``caption_kernels_reference.certify`` calls the small functions of
``peers/peer_NAME.py``; one that cannot be installed or loaded is a row that says so.
``--torch-here`` lets the peers that need torch use the one of this environment. An
error above the tolerance is no fault as such: the peers have constants, tokenisers and
formulas of their own (NLTK and sacrebleu add no 1e-15 to the counts of BLEU,
rouge-score computes an F-measure with beta 1).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PEERS_FOLDER = Path(__file__).with_name("peers")
SECONDS = 1200
TOLERANCE = 1e-9
Record = dict[str, Any]


class Peer(NamedTuple):
    """A program to compare with."""

    packages: tuple[str, ...]
    module: str
    """Module of ``peers``, whose functions have the names of the metrics."""
    needs_torch: bool = False


PEERS = {
    "pycocoevalcap": Peer(("pycocoevalcap",), "peer_pycocoevalcap"),
    "aac-metrics": Peer(("aac-metrics",), "peer_aac_metrics", needs_torch=True),
    "torchmetrics": Peer(
        ("torchmetrics", "nltk"), "peer_torchmetrics", needs_torch=True
    ),
    "evaluate": Peer(("evaluate", "rouge-score"), "peer_evaluate"),
    "nltk": Peer(("nltk",), "peer_nltk"),
    "sacrebleu": Peer(("sacrebleu",), "peer_sacrebleu"),
    "rouge-score": Peer(("rouge-score",), "peer_rouge_score"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; return 1 when no peer could be compared."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument(
        "peers",
        nargs="*",
        choices=[*PEERS, []],
        metavar="PEER",
        help=f"among {', '.join(PEERS)} (default all)",
    )
    parser.add_argument(
        "--torch-here",
        action="store_true",
        help="use this environment's torch in place of a download",
    )
    options = parser.parse_args(arguments)

    records: dict[str, list[Record]] = {}
    failures: dict[str, str] = {}
    for name in options.peers or PEERS:
        print(f"{name} ...", file=sys.stderr, flush=True)
        try:
            records[name] = certify_peer(PEERS[name], options.torch_here)
        except PeerFailed as error:
            failures[name] = str(error)

    for metric in dict.fromkeys(
        record["metric"] for found in records.values() for record in found
    ):
        print_table(
            metric,
            {
                name: r
                for name, found in records.items()
                for r in found
                if r["metric"] == metric
            },
        )

    for name, reason in failures.items():
        print(f"\n{name}: {reason}")
    return 0 if records else 1


class PeerFailed(Exception):
    """A peer cannot be installed or run; the message is one line."""


def certify_peer(peer: Peer, torch_here: bool) -> list[Record]:
    """Return the records of a peer's metrics from an environment of its own."""
    with tempfile.TemporaryDirectory(prefix="peer-") as folder:
        python = Path(folder, "env", "bin", "python")
        _run(
            [sys.executable, "-m", "venv", str(python.parents[1])],
            "cannot be installed",
        )

        if peer.needs_torch and torch_here:
            _link_torch(python)
        _run(
            [str(python), "-m", "pip", "install", "--quiet", "numpy", *peer.packages],
            "cannot be installed",
        )

        path = os.pathsep.join(
            map(str, (ROOT / "kernels", ROOT / "kernels" / "reference", PEERS_FOLDER))
        )
        env = os.environ | {"PYTHONPATH": path, "CAPTION_KERNELS": "reference"}
        command = [
            str(python),
            "-m",
            "caption_kernels_reference.certify",
            peer.module,
            "--tolerance",
            str(TOLERANCE),
            "--json",
        ]

        result = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            env=env,
            cwd=folder,
            timeout=SECONDS,
        )

        records = [
            json.loads(line)
            for line in result.stdout.splitlines()
            if line.startswith('{"metric"')
        ]
        if not records:
            raise PeerFailed(
                _last_line(result.stderr, f"ended with exit code {result.returncode}")
            )
        return records


def _link_torch(python: Path) -> None:
    """Lay links to this environment's torch, and to nothing else, into another
    environment of the same Python.
    """
    site = _output(
        [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    )
    for pattern in ("torch", "torchgen", "functorch", "torch-*.dist-info"):
        for folder in Path(sysconfig.get_path("purelib")).glob(pattern):
            Path(site, folder.name).symlink_to(folder)


def _run(command: list[str], what: str) -> None:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise PeerFailed(
            f"{what}: {_last_line(result.stderr, f'exit code {result.returncode}')}"
        )


def _output(command: list[str]) -> str:
    return subprocess.run(
        command, capture_output=True, text=True, check=True
    ).stdout.strip()


def _last_line(text: str, otherwise: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next(
        (line for line in reversed(lines) if "ERROR" in line or "certify:" in line),
        lines[-1] if lines else otherwise,
    )


def print_table(metric: str, records: dict[str, Record]) -> None:
    """Print the largest error of each peer by kind of case,
    with the number of values beyond the tolerance.
    """
    kinds = next(iter(records.values()))["kinds"]
    print(f"\n{metric}: largest error by kind of case (values beyond {TOLERANCE:g})")
    print(
        f"  {'kind':<18}{'cases':>6}{'values':>7}"
        + "".join(f"{name:>20}" for name in records)
    )
    for kind, tally in kinds.items():
        cells = (_cell([record["kinds"][kind]]) for record in records.values())
        print(
            f"  {kind:<18}{tally['cases']:>6}{tally['numbers']:>7}"
            + "".join(f"{cell:>20}" for cell in cells)
        )
    cells = (_cell(list(record["kinds"].values())) for record in records.values())
    totals = (
        sum(tally[name] for tally in kinds.values()) for name in ("cases", "numbers")
    )
    print(
        "  {:<18}{:>6}{:>7}".format("all", *totals)
        + "".join(f"{cell:>20}" for cell in cells)
    )


def _cell(tallies: list[Record]) -> str:
    failed = any(tally["largest"] is None for tally in tallies)
    beyond = sum(tally["beyond"] for tally in tallies)
    error = "fails" if failed else f"{max(tally['largest'] for tally in tallies):.1e}"
    return f"{error} ({beyond})" if beyond else error


def report() -> bool:
    """Print the tables of all peers."""
    return main([]) == 0


if __name__ == "__main__":
    sys.exit(main())
