"""Choosing among candidates by their errors on rows that they have not learned from.

Splitting rows, counting errors and comparing candidates belong here. Candidates that are scikit-learn estimators are in
`estimators.selection`, those that learn from streams in `streaming.candidates`, and the commands in `cli`.
"""
