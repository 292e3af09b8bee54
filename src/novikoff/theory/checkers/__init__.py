"""Independent checkers of certificates: exact arithmetic, and no code of the search.

Everything that `verify` runs belongs here. Nothing that looks for a certificate does, and no module here may import any
that does: `pyproject.toml` lists what is forbidden, and `make check` enforces it. The other direction is allowed: the
search calls some checkers, to learn whether a proof will be accepted.

    rows             the rows, labels and row indices that a certificate is about
    fields           the types of the fields of a certificate
    exact_numbers    doubles and Fractions as exact integers
    witness          the rows of an `Inseparable` cancel
    separator        the weights of a `Separable` have every row on its side
    support          no margin is larger, and no row is longer, than a `Separable` says
    geometric_margin both bounds of a `GeometricMargin`
    closed_half_spaces  the weights of a `ClosedSeparable`, and that a witness against it has a negative row
    fewest_errors    both bounds of a `FewestErrors`
    mistake_bounds   the theorems of a `MistakeBound`
    feature_space    `KernelSeparable`, and `Inseparable` with a kernel, on the values of kernel_values
"""
