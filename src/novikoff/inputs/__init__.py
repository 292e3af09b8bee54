"""Validated input: arrays, sparse matrices, dicts and labels become rows and class codes.

Files are read in `data.formats`; scikit-learn's conventions are in `estimators.inputs`.
"""
