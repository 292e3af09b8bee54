"""What users pass, validated once: arrays, sparse matrices, dicts and labels become rows and codes for the loops.

Files are read in `data.formats`; scikit-learn's conventions are in `estimators.inputs`.
"""
