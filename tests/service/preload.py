"""What a process has imported and compiled from which servers are forked; see `process.ForkedServer`."""

import os
import sys

import novikoff as nk
import novikoff.service.serving
from novikoff.cli import run_main
from novikoff.service.hosting import warm_up
from novikoff.service.online_model import OnlineModel


def run_forked(arguments, output):
    """Run `novikoff serve` in this process, which was forked for it."""
    file = os.open(output, os.O_WRONLY | os.O_APPEND)
    os.dup2(file, 2)
    sys.argv = ["novikoff", "serve", *arguments, "--port", "0"]
    os._exit(run_main())


if os.environ.get("NOVIKOFF_PRELOAD"):
    assert novikoff.service.serving
    warm_up(OnlineModel.untrained(nk.Learner(nk.rules.Perceptron(), nk.hypotheses.Averaged()), ["ham", "spam"]))
