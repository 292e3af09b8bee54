"""A server as a process of its own, and a small client of HTTP for many connections."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from tests.service.preload import run_forked

START_SECONDS = 240


class ServerProcess:
    """`novikoff serve` in a process. `port` is known when it is ready.

    Parameters
    ----------
    *arguments : str
        Of the command.
    failpoint : str
        Where to be killed; see novikoff.service.failpoints.
    """

    def __init__(self, *arguments, failpoint="", launcher=("-m", "novikoff"), limits=None):
        environment = os.environ | {"NOVIKOFF_FAILPOINT": failpoint, "PYTHONUNBUFFERED": "1"}
        command = [sys.executable, *launcher, "serve", *map(str, arguments), "--port", "0"]
        self.lines = []
        self.port = None
        self._ready = threading.Event()
        self._process = subprocess.Popen(
            command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=environment, preexec_fn=limits
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self._process.stderr:
            self.lines.append(line.rstrip())
            found = re.search(r"at http://127\.0\.0\.1:(\d+),", line)
            if found:
                self.port = int(found[1])
                self._ready.set()
        self._ready.set()

    def wait_until_ready(self):
        """Wait until it answers; return whether it does, or has ended."""
        assert self._ready.wait(START_SECONDS), self.lines
        return self.port is not None

    def kill(self):
        """Kill it without warning."""
        self._process.send_signal(signal.SIGKILL)
        return self.wait()

    def terminate(self):
        """Ask it to stop; return its exit code."""
        self._process.terminate()
        return self.wait()

    def wait(self, timeout=60):
        code = self._process.wait(timeout)
        self._reader.join(10)
        self._process.stderr.close()
        return code

    @property
    def is_running(self):
        return self._process.poll() is None


class ForkedServer:
    """A server that is forked from a process without threads, which has imported and compiled everything.

    It has the methods of `ServerProcess`.
    """

    def __init__(self, *arguments):
        os.environ["NOVIKOFF_PRELOAD"] = "1"  # for the process that is forked from, which is started now
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["tests.service.preload"])
        self._output = Path(tempfile.mkstemp(prefix="novikoff-server-")[1])
        self._process = context.Process(target=run_forked, args=(list(map(str, arguments)), self._output))
        self._process.start()
        self.port = None

    @property
    def lines(self):
        return self._output.read_text().splitlines()

    @property
    def is_running(self):
        return self._process.is_alive()

    def wait_until_ready(self):
        """Wait until it answers; return whether it does, or has ended."""
        begin = time.monotonic()
        while time.monotonic() - begin < START_SECONDS:
            found = re.search(r"at http://127\.0\.0\.1:(\d+),", self._output.read_text())
            if found or not self.is_running:
                self.port = int(found[1]) if found else None
                return found is not None
            time.sleep(0.01)
        raise AssertionError(self.lines)

    def kill(self):
        """Kill it without warning."""
        os.kill(self._process.pid, signal.SIGKILL)
        return self.wait()

    def terminate(self):
        """Ask it to stop; return its exit code."""
        os.kill(self._process.pid, signal.SIGTERM)
        return self.wait()

    def wait(self, timeout=60):
        self._process.join(timeout)
        self._output.unlink()
        return self._process.exitcode


class Client:
    """A connection that is kept open. Every error of the connection is a ConnectionError."""

    def __init__(self, port):
        self._port, self._streams = port, None

    async def call(self, method, path, body=None, kind="application/json", headers=()):
        """Return (status, body) of an answer, the body as JSON if it is that."""
        status, content = await self.call_raw(method, path, None if body is None else json.dumps(body).encode(), kind)
        return status, json.loads(content)

    async def call_raw(self, method, path, content=None, kind="application/json"):
        """Return (status, content)."""
        try:
            if self._streams is None:
                self._streams = await asyncio.open_connection("127.0.0.1", self._port)
            reader, writer = self._streams
            head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
            writer.write(f"{head}Content-Length: {len(content or b'')}\r\n\r\n".encode() + (content or b""))
            return await _read_answer(reader)
        except (OSError, asyncio.IncompleteReadError) as error:
            self.close()
            raise ConnectionError(str(error)) from error

    def close(self):
        if self._streams is not None:
            self._streams[1].transport.abort()
            self._streams = None


async def get(port, path):
    """Return (status, body) of one GET."""
    client = Client(port)
    try:
        return await client.call("GET", path)
    finally:
        client.close()
        await asyncio.sleep(0.01)


async def _read_answer(reader):
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    status = int(head.split(" ", 2)[1])
    length = re.search(r"content-length: (\d+)", head)
    if length:
        return status, await reader.readexactly(int(length[1]))
    content = b""
    while True:
        size = int((await reader.readuntil(b"\r\n")).strip(), 16)
        content += (await reader.readexactly(size + 2))[:size]
        if size == 0:
            return status, content
