"""A program of the protocol with faults, for tests: ``faulty_program.py FAULT``."""

import json
import os
import signal
import subprocess
import sys
import time

fault = sys.argv[1] if len(sys.argv) > 1 else ""
answers = os.fdopen(os.dup(1), "w", buffering=1)


def answer(message):
    answers.write(json.dumps(message) + "\n")


if fault == "silent":
    time.sleep(60)
if fault == "dies-at-start":
    sys.exit("ValueError: no model")
if fault == "prints-first":
    print("Loading weights ...", flush=True)
hello = json.loads(sys.stdin.readline())
greeting = {"protocol": 1, "name": "faulty", "version": "1"}
if fault == "other-protocol":
    greeting["protocol"] = 7
if fault == "direction":
    greeting["higher_is_better"] = True
if fault == "prints-after-greeting":
    os.write(1, (json.dumps(greeting) + "\nLoading weights ...\n").encode())
    time.sleep(60)
answer(greeting)
if fault == "closes-input":
    os.close(0)
    time.sleep(60)
if fault == "latin-1":
    os.write(2, "se\xf1al\n".encode("latin-1"))
if fault == "leaves-child":
    subprocess.Popen(["sleep", "300"])
late = []
asked = 0
for line in sys.stdin:
    message = json.loads(line)
    if "end" in message:
        if fault == "ignores-end":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(60)
        print("bye", file=sys.stderr, flush=True)
        break
    if "id" not in message:
        size = message["size"]
        continue
    asked += 1
    text = message.get("candidate") or message.get("text") or ""
    reply = {"id": message["id"], "value": len(text) / 100}
    if hello["kind"] == "embedding":
        reply["value"] = [float(len(text)), 1.0]
    if fault == "print" and asked == 3:
        print("warning: deprecated", flush=True)
    if fault == "flood":
        sys.stderr.write("x" * 100_000 + "\n")
        sys.stderr.flush()
    if fault == "twice" and asked == 2:
        answer(reply)
    if fault == "unknown-id" and asked == 2:
        reply["id"] = 10**9
    if fault == "text-id" and asked == 2:
        reply["id"] = str(reply["id"])
    if fault == "nan" and asked == 2:
        reply["value"] = float("nan")
    if fault == "text" and asked == 2:
        reply["value"] = "0.5"
    if fault == "out-of-bounds" and asked == 2:
        reply["value"] = 7
    if fault == "list" and asked == 2:
        reply["value"] = [0.5]
    if fault == "no-value" and asked == 2:
        del reply["value"]
    if fault == "error" and "bad" in text:
        reply = {"id": message["id"], "error": "cannot read it"}
    if fault == "other-length" and asked == 2:
        reply["value"] = [1.0]
    if fault == "dies-at-bad" and "bad" in text:
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "memory" and "bad" in text:
        bytearray(8 * 10**9)
    if fault.startswith("dies-once:") and asked == 2:
        mark = fault.partition(":")[2]
        if not os.path.exists(mark):
            open(mark, "w").close()
            os._exit(3)
    if fault.startswith("cut-off:") and asked == 2:
        mark = fault.partition(":")[2]
        if not os.path.exists(mark):
            open(mark, "w").close()
            os.write(answers.fileno(), json.dumps(reply)[:9].encode())
            os._exit(3)
    if fault == "huge" and asked == 2:
        reply["value"] = 10**400
    if fault == "too-few" and asked == size:
        sys.exit(0)
    if fault == "stops" and asked == 2:
        time.sleep(60)
    if fault == "late":
        late.append(reply)
        if len(late) == size:
            for item in reversed(late):
                answer(item)
            late = []
            asked = 0
        continue
    answer(reply)
