"""The perceptron and its family: state, ledger and learner; passes over a set; one example at a time.

Rules and hypotheses are values with their theorems in `novikoff.rules` and `novikoff.hypotheses`; the loops that carry
them out are in `_compiled.loops.additive`. Kernels K(x, z) are in `kernel_methods`.
"""
