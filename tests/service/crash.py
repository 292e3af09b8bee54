"""The crash test: clients keep journals of what they have sent and what was acknowledged, while the server is killed.

Run by itself, `python -m tests.service.crash --rounds 1000`; `make crash-test` does so.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import sys
import tempfile
import time
from pathlib import Path

from novikoff.service.records import decode
from novikoff.service.sqlite_log import SqliteLog
from tests.service.process import Client, ForkedServer, ServerProcess, get

CLIENTS = 8
LABELS = "ham", "spam"
PREDICT, LABEL, LEARN = "predict", "label", "learn"


class Journal:
    """What one client has sent, and what was acknowledged."""

    def __init__(self, name):
        self.name, self.made = name, 0
        self.predicted = {}  # id: answer
        self.labelled = {}  # id: (label, answer)
        self.sent = {}  # id: (call, label) of requests without an answer
        self.open = []  # ids whose label is to come
        self.broken = []  # answers that may not be

    def features(self, rng):
        row = {"links": rng.randint(0, 5), "size": rng.gauss(0.0, 3.0), "from": rng.choice("abcdef")}
        if rng.random() < 0.1:
            row[f"late {rng.randint(0, 20)}"] = rng.random()
        return row


class Rig:
    """A data folder, the journals of its clients, and what must hold for them.

    Parameters
    ----------
    folder : Path
    seed : int
    launcher : tuple of str
        What follows `python`, before `serve`.
    fork : bool
        Whether servers are forked from a process that has imported and compiled everything, which takes less time.
    """

    def __init__(self, folder, seed, launcher=("-m", "novikoff"), fork=False):
        self.folder, self.rng, self.launcher, self.fork = folder, random.Random(seed), launcher, fork
        self.journals = [Journal(f"c{n}") for n in range(CLIENTS)]
        self.arguments = ["--new", "m", "--labels", ",".join(LABELS), "--rule", "perceptron", "--data", folder]
        self.arguments += ["--snapshot-labels", "300"]

    def start(self, failpoint=""):
        if self.fork:
            return ForkedServer(*self.arguments)
        return ServerProcess(*self.arguments, failpoint=failpoint, launcher=self.launcher)

    # -- load

    def run_load(self, port, seconds):
        """Let all clients work until the server dies, or for some seconds; their calls may then be cut."""
        asyncio.run(self._run_load(port, seconds))

    async def _run_load(self, port, seconds):
        tasks = [asyncio.ensure_future(self._work(port, journal)) for journal in self.journals]
        _, running = await asyncio.wait(tasks, timeout=seconds)
        for task in running:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0.01)  # connections are closed in the next turn of the loop
        for task in tasks:
            if not task.cancelled() and task.exception() is not None:
                raise task.exception()

    async def _work(self, port, journal):
        client, rng = Client(port), random.Random(self.rng.random())
        with contextlib.suppress(ConnectionError):
            try:
                for id, (call, label) in list(journal.sent.items()):
                    await self._send(client, journal, call, id, label, rng)
                while True:
                    await self._step(client, journal, rng)
            finally:
                client.close()

    async def _step(self, client, journal, rng):
        kind = rng.random()
        if kind < 0.4:
            journal.made += 1
            await self._send(client, journal, PREDICT, f"{journal.name}-{journal.made}", None, rng)
        elif kind < 0.7 and journal.open:
            id = journal.open.pop(rng.randrange(len(journal.open)))
            await self._send(client, journal, LABEL, id, rng.choice(LABELS), rng)
        elif kind < 0.8:
            journal.made += 1
            await self._send(client, journal, LEARN, f"{journal.name}-{journal.made}", rng.choice(LABELS), rng)
        elif kind < 0.9 and len(journal.open) > 5:
            await self._send_lines(client, journal, rng)
        elif journal.labelled:  # once more, or with another label
            id = rng.choice(list(journal.labelled))
            label, answer = journal.labelled[id]
            other = rng.choice(LABELS)
            status, found = await client.call("PUT", f"/v2/models/m/predictions/{id}/label", {"label": other})
            if status == 503:
                raise ConnectionError("stopping")
            expected = (200, True, answer["seq"]) if other == label else (409, None, None)
            if (status, found.get("duplicate"), found.get("seq")) != expected:
                journal.broken.append((id, label, other, status, found))

    async def _send(self, client, journal, call, id, label, rng):
        journal.sent[id] = call, label
        base = "/v2/models/m"
        if call == PREDICT:
            status, found = await client.call("POST", f"{base}/predict", {"id": id, "features": journal.features(rng)})
        elif call == LABEL:
            status, found = await client.call("PUT", f"{base}/predictions/{id}/label", {"label": label})
        else:
            body = {"id": id, "features": journal.features(rng), "label": label}
            status, found = await client.call("POST", f"{base}/learn", body)
        if status == 503:
            raise ConnectionError("stopping")
        if status != 200:
            journal.broken.append((call, id, label, status, found))
            return
        self._acknowledge(journal, call, id, label, found)

    async def _send_lines(self, client, journal, rng):
        ids, journal.open = journal.open[:5], journal.open[5:]
        given = {id: rng.choice(LABELS) for id in ids}
        journal.sent |= {id: (LABEL, label) for id, label in given.items()}
        lines = "\n".join(json.dumps({"id": id, "label": label}) for id, label in given.items())
        status, content = await client.call_raw("POST", "/v2/models/m/labels", lines.encode(), "application/x-ndjson")
        if status == 503:
            raise ConnectionError("stopping")
        for line in content.splitlines():
            found = json.loads(line)
            if found["status"] == 503:
                raise ConnectionError("stopping")
            if found["status"] != 200:
                journal.broken.append(found)
            else:
                self._acknowledge(journal, LABEL, found["id"], given[found["id"]], found)

    def _acknowledge(self, journal, call, id, label, found):
        del journal.sent[id]
        if call == PREDICT:
            journal.predicted[id] = found
            journal.open.append(id)
            return
        if call == LEARN:
            journal.predicted[id] = {name: found[name] for name in ("id", "label", "scores", "version")}
        journal.labelled[id] = label, found

    # -- what must hold

    def check(self, port):
        """Compare the journals, the log, and what the server says."""
        log = SqliteLog(self.folder / "m" / "log.sqlite", read_only=True)
        try:
            events = log.labels(0, 1 << 40)
            stored = {}
            for row in log._execute("SELECT id FROM predictions"):
                stored |= log.find([row[0]])
        finally:
            log.close()
        assert [event.seq for event in events] == list(range(1, len(events) + 1)), "seq has gaps"
        by_id = {event.id: event for event in events}
        assert len(by_id) == len(events), "a label is there twice"
        allowed = set()
        for journal in self.journals:
            assert not journal.broken, journal.broken[:3]
            allowed |= journal.labelled.keys() | journal.sent.keys()
            for id, answer in journal.predicted.items():
                assert id in stored, f"the prediction {id} was acknowledged and is lost"
                logged = decode(stored[id].prediction.answer)
                assert {**logged, "version": stored[id].prediction.version, "id": id} == answer
            for id, (label, answer) in journal.labelled.items():
                assert id in by_id, f"the label of {id} was acknowledged and is lost"
                assert decode(by_id[id].label) == label
                assert by_id[id].seq == answer["seq"], (id, by_id[id].seq, answer)
        assert by_id.keys() <= allowed, "a label that nobody has sent"
        mistakes = [decode(stored[event.id].prediction.answer)["label"] != decode(event.label) for event in events]
        assert mistakes == [event.mistake for event in events]
        ledger = self._ask(port, "/v2/models/m/ledger")
        assert ledger["seq"] == ledger["served"] == ledger["examples"] == len(events)
        assert ledger["mistakes_served"] == sum(mistakes)
        assert ledger["windows"]["100"]["mistakes"] == sum(mistakes[-100:])
        assert ledger["pending"] == len(stored) - len(events)
        some = [id for journal in self.journals for id in list(journal.predicted)[-2:]]
        for id in some:
            assert self._ask(port, f"/v2/models/m/predictions/{id}")["id"] == id
        return len(events)

    def _ask(self, port, path):
        status, found = asyncio.run(get(port, path))
        assert status == 200, found
        return found

    def run_round(self, failpoint=""):
        """Start, check, work, die."""
        server = self.start(failpoint)
        try:
            assert server.wait_until_ready(), server.lines
            n = self.check(server.port) if (self.folder / "m" / "log.sqlite").exists() else 0
            self.run_load(server.port, 60.0 if failpoint else self.rng.uniform(0.005, 0.5))
        finally:
            server.kill()
        return n

    def finish(self):
        """Start once more, check, stop cleanly, and learn the whole log again."""
        server = self.start()
        assert server.wait_until_ready(), server.lines
        n = self.check(server.port)
        assert server.terminate() == 0, server.lines
        verify(self.folder)
        return n


def verify(folder):
    """Learn the whole log again; the snapshots must be the same, byte for byte."""
    from novikoff.service.replaying import learn_log_again, open_existing_log

    log = open_existing_log(folder / "m", None, "m")
    try:
        result = learn_log_again(folder / "m", log, verify=True)
    finally:
        log.close()
    assert not result.different, result.different
    assert result.equal or not result.labels


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    seed = random.randrange(1 << 32) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    done, total, begin = 0, 0, time.time()
    while done < options.rounds:
        with tempfile.TemporaryDirectory() as folder:
            rig = Rig(Path(folder) / "data", seed + done, fork=True)
            for _ in range(min(50, options.rounds - done)):  # the check of a round takes as long as the log is
                rig.run_round()
                done += 1
            total += rig.finish()
        print(f"{done} rounds, {total:,} labels, {time.time() - begin:,.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
