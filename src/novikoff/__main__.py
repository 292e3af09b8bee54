"""The novikoff command, also as python -m novikoff."""

from __future__ import annotations

import signal
import sys
from typing import NoReturn

from novikoff.system.interrupts import is_interrupt

__all__ = ["run"]


def run() -> None:
    """Import the command and run it. Ctrl-C says what it says within commands, also while they are being imported."""
    try:
        try:
            from novikoff.cli import run_main
        except (KeyboardInterrupt, RuntimeError) as error:
            if not is_interrupt(error):
                raise
            _stop("Stopped. No file was written.")
        sys.exit(run_main())
    except (KeyboardInterrupt, RuntimeError) as error:  # a second one, while the first was handled
        if not is_interrupt(error):
            raise
        _stop("Stopped.")
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # while the interpreter exits, Ctrl-C would print a traceback


def _stop(message: str) -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stderr.write(f"{message}\n")
    sys.exit(130)


if __name__ == "__main__":
    run()
