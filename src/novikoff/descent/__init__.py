"""Losses made small: gradient descent, Newton's method, and both on one example at a time.

objective    the mean loss with its penalty: value, gradient, Hessian
batch        gd and newton, which look at all rows for each step
stochastic   sgd and stochastic-newton, which look at one
trace        what happened, report by report
model        LinearModel: weights that can go on, and saving.py, where they are kept
"""
