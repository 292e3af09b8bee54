"""The service, with handwritten digits: each is predicted when it comes, and its label comes 20 digits later.

    python -m examples.serving        as `make serve` does; needs the extra "serve"

Starts `novikoff serve` with a new model in a temporary folder, sends digits and late labels to it, and prints its
ledger. The server goes on until Ctrl-C.
"""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
import tempfile
from collections import deque

from novikoff.estimators.datasets import load_digit_images

DIGITS = 600
DELAY = 20  # digits between a prediction and its label
BASE = "/v2/models/digits"


def main() -> int:
    """Run the example; return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        labels = ",".join(map(str, range(10)))
        command = ["serve", "--new", "digits", "--labels", labels, "--data", folder, "--port", "0"]
        server = subprocess.Popen([sys.executable, "-m", "novikoff", *command], stderr=subprocess.PIPE, text=True)
        try:
            print("novikoff " + " ".join(command))
            port = wait_for_port(server)
            if port is None:
                return 1
            send_digits(port)
            print(f"\nThe ledger as it changes:  http://127.0.0.1:{port}{BASE}/live")
            print(f"All calls:                 http://127.0.0.1:{port}/docs\n\nCtrl-C stops the server.", flush=True)
            server.wait()
        except KeyboardInterrupt:
            print("\nStopped.")
        finally:
            server.terminate()
            server.wait()
            assert server.stderr is not None
            server.stderr.close()
    return 0


def wait_for_port(server: subprocess.Popen[str]) -> int | None:
    """Return the port that the server listens on, when it is ready; None if it has ended."""
    assert server.stderr is not None
    for line in server.stderr:
        print(line, end="")
        found = re.search(r"at http://127\.0\.0\.1:(\d+),", line)
        if found:
            return int(found[1])
    return None


def send_digits(port: int) -> None:
    """Predict digits one after the other; send the label of each when 20 more have been predicted."""
    names, images, digits = load_digit_images()
    connection = http.client.HTTPConnection("127.0.0.1", port)
    waiting: deque[tuple[str, int]] = deque()
    mistakes = labelled = 0
    print("\n predicted  labelled  mistakes served")
    for n in range(DIGITS + DELAY):
        if n < DIGITS:
            features = dict(zip(names, map(float, images[n]), strict=True))
            answer = call(connection, "POST", f"{BASE}/predict", {"features": features})
            waiting.append((answer["id"], int(digits[n])))
        if n >= DELAY:
            id, digit = waiting.popleft()
            mistakes += call(connection, "PUT", f"{BASE}/predictions/{id}/label", {"label": digit})["mistake"]
            labelled += 1
        if (n + 1) % 100 == 0:
            print(f"{min(n + 1, DIGITS):>10,}{labelled:>10,}{mistakes:>17,}", flush=True)
    ledger = call(connection, "GET", f"{BASE}/ledger")
    connection.close()
    last = ledger["windows"]["100"]
    wrong, candidate = ledger["mistakes_served"], ledger["best_candidate"]
    print(f"\n{ledger['seq']:,} labels learned, {wrong:,} answers were wrong, {last['mistakes']} of the last 100.")
    print(f"By the weights at the time of each label {ledger['mistakes_learned']:,} are mistakes; the best candidate,")
    print(f"{candidate}, made {ledger['best_candidate_mistakes']:,}: at most {ledger['vote_bound']:,.1f} by theorem.")


def call(connection: http.client.HTTPConnection, method: str, path: str, body: object = None) -> dict:
    """Return the answer to a request, as JSON."""
    connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
    response = connection.getresponse()
    content = response.read()
    if response.status != 200:
        raise SystemExit(f"{method} {path}: {content.decode()}")
    return json.loads(content)


if __name__ == "__main__":
    sys.exit(main())
