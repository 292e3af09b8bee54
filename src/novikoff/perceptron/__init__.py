"""The perceptron and its family: learner, state, ledger; passes over rows; single examples.

Rules and hypotheses, with their theorems, are in `novikoff.rules` and `novikoff.hypotheses`; the compiled loops are in
`_compiled.loops.additive`. Kernels K(x, z) are in `kernel_methods`.
"""
