"""The command behind `make fuzz`."""

from __future__ import annotations

import argparse
import secrets
import sys

from tests.fuzz.rounds import attacks, play, run


def main() -> int:
    """Run attacks one after the other, print what came of each, and return 1 if one found something."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Attack novikoff.")
    parser.add_argument(
        "--only", action="append", choices=attacks(), metavar="NAME", help="one attack; may be repeated"
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="time for each attack (default: 60)")
    parser.add_argument("--seed", type=int, default=None, help="default: a new one, which is printed")
    parser.add_argument("--first", type=int, default=0, help="the round to begin with (default: 0)")
    parser.add_argument("--rounds", type=int, default=None, help="stop after so many rounds")
    parser.add_argument("--play", choices=attacks(), help=argparse.SUPPRESS)
    options = parser.parse_args()
    seed = secrets.randbelow(2**32) if options.seed is None else options.seed
    limits = {"seed": seed, "first": options.first, "rounds": options.rounds, "seconds": options.seconds}
    if options.play:
        return play(options.play, **limits)
    print(f"seed {seed}", flush=True)
    failed = 0
    for name in options.only or attacks():
        report = run(name, **limits)
        verdict = "found nothing" if report.failure is None else report.failure
        print(f"{name:<20} {report.rounds:>6} rounds {report.cases:>9} cases  {verdict}", flush=True)
        failed += report.failure is not None
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
