"""The novikoff command, also as python -m novikoff."""

from __future__ import annotations

import signal
import sys

__all__ = ["run"]


def run() -> None:
    """Import the command and run it. Ctrl-C ends it with click's message, also while it is being imported."""
    try:
        from novikoff.cli import main

        main(prog_name="novikoff")
    except KeyboardInterrupt:
        sys.stderr.write("\nAborted!\n")
        sys.exit(1)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # while the interpreter exits, Ctrl-C would print a traceback


if __name__ == "__main__":
    run()
