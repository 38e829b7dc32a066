"""Make the run directories of this folder with the harness of the Python path.

    python tests/golden/run_directories/make.py FOLDER

FOLDER becomes part of the paths in the manifests; /tmp/run_directories was used here.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HERE = Path(__file__).resolve().parent
RUNS = ("sample", "parts", "merged", "sharded", "judgments", "served")
ENVIRONMENT = {
    **{
        name: value
        for name, value in os.environ.items()
        if not name.startswith("HARNESS_")
    },
    **{f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")},
    "HF_HUB_OFFLINE": "1",
    "HARNESS_ANSWERS": "servers",
}


class Handler(BaseHTTPRequestHandler):
    """Answers every request with captions that depend on its seed and number alone."""

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def do_POST(self) -> None:
        """Return ``n`` choices."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        captions = [
            f"a {color} dog in the park" for color in ("brown", "black", "small", "old")
        ]
        choices = [
            {
                "index": k,
                "message": {"role": "assistant", "content": captions[k % 4]},
                "finish_reason": "stop",
            }
            for k in range(body.get("n", 1))
        ]
        usage = {"prompt_tokens": 12, "completion_tokens": 6 * len(choices)}
        content = json.dumps(
            {"model": body["model"], "choices": choices, "usage": usage}
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def main(folder: Path) -> None:
    """Run the specs of this folder in ``folder`` and copy the run directories here."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in (
        "captions.json",
        "judgments.jsonl",
        "sample.yaml",
        "judgments.yaml",
        "served.yaml",
    ):
        shutil.copy(HERE / name, folder)
    environment = {**ENVIRONMENT, "HARNESS_CACHE": str(folder / "cache")}

    def harness(*arguments: str) -> None:
        subprocess.run(
            [sys.executable, "-m", "harness", *arguments],
            cwd=folder,
            env=environment,
            check=True,
        )

    harness("run", "sample.yaml", "--output", "sample")
    harness("compare", "sample", "--draws", "200")
    harness("run", "sample.yaml", "--output", "sharded", "--shard-size", "3")
    for part in ("1", "2"):
        harness(
            "run", "sample.yaml", "--output", f"parts/{part}", "--shard", f"{part}/2"
        )
    harness("merge", "parts/1", "parts/2", "--output", "merged")
    harness("run", "judgments.yaml", "--output", "judgments")
    # The address of the server is part of the answers' key: a fixed port.
    server = ThreadingHTTPServer(("127.0.0.1", 18462), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    harness("run", "served.yaml", "--output", "served")
    server.shutdown()
    for name in RUNS:
        shutil.rmtree(HERE / name, ignore_errors=True)
        shutil.copytree(folder / name, HERE / name)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
