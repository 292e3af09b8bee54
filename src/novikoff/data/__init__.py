"""From files to rows of numbers, and back.

`formats` reads files, `encoding` turns their columns into rows of numbers, `writing` writes files. Models are in
`perceptron` and its siblings; their files are in `model_files`.
"""
