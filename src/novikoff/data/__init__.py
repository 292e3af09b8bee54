"""From files to rows of numbers, and back: `formats` reads, `encoding` makes rows of numbers, `writing` writes.

Models are in `perceptron` and its siblings; their files are in `model_files`.
"""
