"""Choosing among candidates, and measuring how good they are, on rows that they have not learned from.

`estimators.selection` is the scikit-learn side of it, and the commands are in `cli`.
"""
