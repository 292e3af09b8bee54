"""The service against what people run today, FastAPI and river (river_app.py).

    python -m benchmarks.service [--seconds 5] [--turns 3]

64 clients on connections that are kept open predict a row and send its label, one request at a time. Both servers take
turns on the same machine, beside the load generator; requests/s and the processor time of the server per request count.
Ours is durable: every answer is on the disk before it is sent. Then lines of labels, a replay, and a start.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CLIENTS = 64
LABELS = 100_000
_NAMES = ("links", "length", "dots", "age", "forms", "images", "scripts", "redirects", "popups")


def make_row(rng: random.Random) -> tuple[dict[str, float], bool]:
    """Return nine numbers and a label that mostly depends on them."""
    row = {name: round(rng.gauss(0.0, 1.0), 3) for name in _NAMES}
    return row, row["links"] + 0.5 * row["age"] + rng.gauss(0.0, 0.3) > 0.0


class Server:
    """A server as a process."""

    def __init__(self, command: list[str], port: int | None = None, **environment: str) -> None:
        began = time.monotonic()
        self._process = subprocess.Popen(
            [sys.executable, "-m", *command], stderr=subprocess.PIPE, text=True, env=os.environ | environment
        )
        self.port = self._wait(port)
        self.start_seconds = time.monotonic() - began

    def _wait(self, port: int | None) -> int:
        assert self._process.stderr is not None
        while port is None:
            line = self._process.stderr.readline()
            found = re.search(r"at http://127\.0\.0\.1:(\d+),", line)
            if found:
                return int(found[1])
            assert self._process.poll() is None, line
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return port
            except OSError:
                time.sleep(0.05)

    @property
    def cpu_seconds(self) -> float:
        """Processor time so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def megabytes(self) -> float:
        """Resident memory."""
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self._process.pid}/status").read_text())
        return 0.0 if found is None else int(found[1]) / 1024

    def stop(self) -> None:
        """Stop it cleanly."""
        self._process.terminate()
        self._process.wait()
        assert self._process.stderr is not None
        self._process.stderr.close()


async def call(streams: tuple, method: str, path: str, body: bytes) -> bytes:
    """Return the body of an answer."""
    reader, writer = streams
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    answer = await reader.readuntil(b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200"), answer
    length = int(re.search(rb"content-length: (\d+)", answer.lower())[1])  # type: ignore[index]
    return await reader.readexactly(length)


async def work(port: int, seed: int, is_ours: bool, stop: float) -> int:
    """Predict and label until a moment; return the number of requests."""
    rng, done = random.Random(seed), 0
    streams = await asyncio.open_connection("127.0.0.1", port)
    base = "/v2/models/m" if is_ours else ""
    while time.monotonic() < stop:
        row, label = make_row(rng)
        found = json.loads(await call(streams, "POST", f"{base}/predict", json.dumps({"features": row}).encode()))
        if is_ours:
            path, body = f"{base}/predictions/{found['id']}/label", {"label": "yes" if label else "no"}
        else:
            path, body = f"/label/{found['id']}", {"label": label}
        await call(streams, "PUT", path, json.dumps(body).encode())
        done += 2
    streams[1].close()
    return done


def generate(port: int, is_ours: bool, seconds: float) -> None:
    """Print the number of requests per second of all clients; runs in a process of its own."""

    async def run() -> int:
        stop = time.monotonic() + seconds
        return sum(await asyncio.gather(*(work(port, seed, is_ours, stop) for seed in range(CLIENTS))))

    begin = time.monotonic()
    try:
        import uvloop

        done = uvloop.run(run())
    except ImportError:
        done = asyncio.run(run())
    print(done, time.monotonic() - begin)


def measure(server: Server, is_ours: bool, seconds: float) -> tuple[float, float]:
    """Return requests/s, and microseconds of the server's processor time per request."""
    before = server.cpu_seconds
    command = [sys.executable, "-m", "benchmarks.service", "--generate", str(server.port), str(int(is_ours))]
    out = subprocess.run([*command, "--seconds", str(seconds)], stdout=subprocess.PIPE, check=True, text=True).stdout
    done, took = map(float, out.split())
    return done / took, (server.cpu_seconds - before) / done * 1e6


def compare(folder: Path, seconds: float, turns: int, rule: str) -> None:
    """Let both servers take turns, and print the best of each."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    app = ["uvicorn", "benchmarks.river_app:app", "--port", str(port), "--no-access-log", "--log-level", "error"]
    theirs = Server(app, port, MODEL=str(folder / "model.pickle"))
    ours = Server(["novikoff", "serve", "--new", "m", "--rule", rule, "--data", str(folder / rule), "--port", "0"])
    found: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for _ in range(turns):
        for is_ours, server in ((False, theirs), (True, ours)):
            found[is_ours].append(measure(server, is_ours, seconds))
    for server in (theirs, ours):
        server.stop()
    rate = {who: max(each[0] for each in own) for who, own in found.items()}
    cpu = {who: min(each[1] for each in own) for who, own in found.items()}
    print(f"predict + label, {CLIENTS} clients, rule {rule}:")
    print(f"  FastAPI + river  {rate[False]:>9,.0f} requests/s   {cpu[False]:>6.0f} us of the server per request")
    print(f"  novikoff serve   {rate[True]:>9,.0f} requests/s   {cpu[True]:>6.0f} us of the server per request")
    ratio = rate[True] / rate[False]
    print(f"  ratio            {ratio:>9.2f}              {cpu[False] / cpu[True]:>6.2f}     target 3", flush=True)


def send_lines(port: int, path: str, lines: list[bytes]) -> float:
    """Send lines and read the answers while sending; return the seconds."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"\n".join(lines))
        file.flush()
        begin = time.monotonic()
        url = f"http://localhost:{port}/v2/models/m/{path}"
        kind = "Content-Type: application/x-ndjson"
        done = subprocess.run(["curl", "-sS", "-T", file.name, "-X", "POST", "-H", kind, url], stdout=subprocess.PIPE)
        took = time.monotonic() - begin
    answers = done.stdout.splitlines()
    assert len(answers) == len(lines), (len(answers), answers[:2])
    assert all(b'"error"' not in answer for answer in answers)
    return took


def measure_lines(folder: Path, rule: str, n: int) -> None:
    """Print rows/s of lines, of a replay, and the seconds of a start that replays all labels."""
    rng = random.Random(7)
    data = folder / f"lines-{rule}"
    command = ["novikoff", "serve", "--new", "m", "--rule", rule, "--data", str(data), "--port", "0"]
    server = Server([*command, "--snapshot-labels", "100000000"])
    rows, labels = [], []
    for k in range(n):
        row, label = make_row(rng)
        rows.append(json.dumps({"id": f"r{k}", "features": row}).encode())
        labels.append(json.dumps({"id": f"r{k}", "label": "yes" if label else "no"}).encode())
    memory = [server.megabytes]
    predicted = send_lines(server.port, "predict", rows)
    memory.append(server.megabytes)
    cpu = server.cpu_seconds
    labelled = send_lines(server.port, "labels", labels)
    cpu = server.cpu_seconds - cpu
    memory.append(server.megabytes)
    server.stop()
    print(f"lines, rule {rule}, {n:,} rows:")
    print(f"  predictions      {n / predicted:>9,.0f} acknowledged rows/s")
    print(f"  labels           {n / labelled:>9,.0f} acknowledged rows/s, {n / cpu:,.0f} per second of processor time "
          "(target 40,000)")  # fmt: skip
    print("  memory           " + ", ".join(f"{each:,.0f} MB" for each in memory))
    out = subprocess.run([sys.executable, "-m", "novikoff", "replay", data], capture_output=True, text=True, check=True)
    print(f"  replay           {out.stderr.strip()} (target 100,000 labels/s)")
    for path in (data / "m").glob("snapshot-*.nk"):
        path.unlink()
    again = Server(command)
    print(f"  start            {again.start_seconds:.2f} s from the command to ready, with {n:,} labels to replay "
          "(target 3 s)", flush=True)  # fmt: skip
    again.stop()
    shutil.rmtree(data)


def main() -> int:
    """Run all measurements, or generate load."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--labels", type=int, default=LABELS)
    parser.add_argument("--rule", action="append")
    parser.add_argument("--generate", nargs=2, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.generate:
        generate(options.generate[0], bool(options.generate[1]), options.seconds)
        return 0
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print(f"{os.cpu_count()} processors, load averages {load}", flush=True)
    for rule in options.rule or ("auto", "perceptron"):
        with tempfile.TemporaryDirectory() as folder:
            compare(Path(folder), options.seconds, options.turns, rule)
            measure_lines(Path(folder), rule, options.labels)
    return 0


if __name__ == "__main__":
    sys.exit(main())
