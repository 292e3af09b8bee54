"""Minimizers of regularized losses: gradient descent, Newton's method, and stochastic ones.

Here belong objectives, solvers, their traces and LinearModel, which holds the weights they find. The losses themselves
are in `novikoff.losses`, the compiled loops in `novikoff._compiled.loops.descent`, scikit-learn's interface in
`novikoff.estimators`.
"""
