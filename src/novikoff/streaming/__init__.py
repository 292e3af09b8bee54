"""Learning from streams: StreamModel, a perceptron with the encoding that makes rows of numbers of its blocks.

Readers of files are in `data.formats`; what the command prints meanwhile is in `cli`.
"""
