"""Learning, testing and proving on a cluster, or in several processes of one machine.

`learn` mixes the weights of learners that each go through some of the files; `certify` proves whether data that no
machine can hold are separable; `test` and `predict` apply a model to many files. See docs/cluster.md.
"""

from novikoff.distributed.applying import predict, test
from novikoff.distributed.certifying import certify
from novikoff.distributed.learning import learn

__all__ = ["certify", "learn", "predict", "test"]
