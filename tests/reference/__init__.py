"""Every algorithm once more, as its paper or format prints it: slow, obvious, and importing nothing of novikoff.

perceptron.py      online, batch, voted, averaged and pocket perceptrons; rules and bounds
kernel_methods.py  the perceptron in dual form, the Forgetron, regression by potential functions
descent.py         losses, gradient descent, Newton's method, SGD
chains.py          Viterbi by enumeration, the structured perceptron
votes.py           votes in rational arithmetic
separability.py    separability, margins and fewest errors in rational arithmetic
formats.py         readers of text formats, one character at a time
names.py           hashes of names, and names that collide
"""
