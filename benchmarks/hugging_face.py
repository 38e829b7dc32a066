"""Reader of data sets, adapter of servers and wrappers of metrics:
figures of one run each.

    python -m benchmarks.hugging_face

1. ``hf`` reader: seconds for 2000 rows with images of 256 x 256, beside the
   ``datasets`` library decoding every row; then the first row opened.
2. ``openai`` adapter: 400 requests, 16 at once, to a local server that answers after 50
   ms: ratio to the time of the server alone, and number of connections.
3. ``as_torchmetric``: seconds of update and compute over the seconds of
   ``harness.metric`` on the same texts; bytes of state per example.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

import harness
from harness.contracts import Decoding, Example, Generation
from harness.files.media import open_media
from harness.wrappers import as_torchmetric
from harness_models.openai.adapter import OpenAI
from harness_tasks.readers.hf import HuggingFaceDataset

ROWS = 2000
REQUESTS = 400
CONCURRENT = 16
PAUSE = 0.05


class ChatServer:
    """Server of HTTP/1.1 in a thread that answers each request after :data:`PAUSE`
    seconds.
    """

    def __init__(self) -> None:
        self.connections = 0
        self.port = 0
        self._ready = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True).start()
        self._ready.wait()

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        async with server:
            await server.serve_forever()

    async def _connection(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.connections += 1
        body = json.dumps(
            {
                "choices": [
                    {"message": {"content": "a dog runs"}, "finish_reason": "stop"}
                ]
            }
        ).encode()
        head = (
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
            b"%d\r\n\r\n" % len(body)
        )
        try:
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    line
                    for line in request.lower().split(b"\r\n")
                    if line.startswith(b"content-length")
                )
                await reader.readexactly(int(length.split(b":")[1]))
                await asyncio.sleep(PAUSE)
                writer.write(head + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


def reader(folder: Path) -> None:
    import datasets
    from PIL import Image

    rng = np.random.default_rng(0)
    cells: list[dict[str, object]] = []
    for number in range(50):  # fifty different images, repeated
        file = io.BytesIO()
        Image.fromarray(rng.integers(0, 255, (256, 256, 3), dtype=np.uint8)).save(
            file, "JPEG"
        )
        cells.append({"bytes": file.getvalue(), "path": f"{number}.jpg"})
    columns = {
        "id": list(range(ROWS)),
        "captions": [["a dog", "one dog"]] * ROWS,
        "image": [cells[i % 50] for i in range(ROWS)],
    }
    data = datasets.Dataset.from_dict(columns).cast_column("image", datasets.Image())
    datasets.disable_progress_bars()
    data.save_to_disk(str(folder / "saved"))
    started = time.perf_counter()
    examples = list(HuggingFaceDataset(path=str(folder / "saved")))
    ours = time.perf_counter() - started
    rows: Any = datasets.load_from_disk(str(folder / "saved"))
    started = time.perf_counter()
    for row in rows:
        assert row["image"].size == (256, 256)
    theirs = time.perf_counter() - started
    started = time.perf_counter()
    assert examples[7].media is not None
    with open_media(examples[7].media) as content, Image.open(content) as image:
        image.load()
    first = time.perf_counter() - started
    print(
        f"hf reader         {ROWS} rows {ours:6.2f} s; "
        f"decoding every row {theirs:6.2f} s ({theirs / ours:.0f} x); "
        f"one image opened {first * 1e3:.1f} ms"
    )


def server() -> None:
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
    chat = ChatServer()
    model = OpenAI(
        base_url=f"http://127.0.0.1:{chat.port}/v1",
        model="m",
        prompt="describe {id}",
        concurrency=CONCURRENT,
    )
    examples = [Example(str(i), ("a dog",)) for i in range(REQUESTS)]
    # the first request is sent alone, and imports the library
    list(model.generate(examples[:1], Decoding(), [0]))
    started = time.perf_counter()
    work = time.process_time()
    results = list(model.generate(examples, Decoding("sample"), range(REQUESTS)))
    seconds = time.perf_counter() - started
    work = time.process_time() - work
    assert all(isinstance(item, Generation) for item in results)
    alone = REQUESTS / CONCURRENT * PAUSE
    print(
        f"openai adapter    {REQUESTS} requests, {CONCURRENT} at once {seconds:6.2f} "
        f"s; the server alone {alone:.2f} s "
        f"({seconds / alone:.2f} x); CPU of both {work * 1e3 / REQUESTS:.1f} ms per "
        f"request; {chat.connections - 1} connections"
    )


def wrapper() -> None:
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(300)]

    def texts(count: int) -> list[list[str]]:
        return [
            [" ".join(rng.choice(words, 10)) for _ in range(5)] for _ in range(count)
        ]

    candidates = texts(2000)
    references = texts(2000)
    harness.metric("cider")(candidates, references)
    started = time.perf_counter()
    expected = harness.metric("cider")(candidates, references).value
    plain = time.perf_counter() - started
    metric = as_torchmetric("cider")
    started = time.perf_counter()
    for start in range(0, 2000, 50):
        metric.update(candidates[start : start + 50], references[start : start + 50])
    value = float(metric.compute())
    wrapped = time.perf_counter() - started
    size = sum(len(part) for part in metric.bytes) / 2000
    print(
        f"as_torchmetric    2000 x (5 + 5) texts {wrapped:6.2f} s; "
        f"harness.metric {plain:6.2f} s ({wrapped / plain:.2f} x); "
        f"difference {abs(value - expected):.1e}; {size:.0f} bytes of state per example"
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        reader(Path(name))
    server()
    wrapper()
