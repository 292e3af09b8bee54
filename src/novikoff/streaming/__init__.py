"""Learning from streams: StreamModel, and runs over files with checkpoints and rejects.

Readers of files are in `data.formats`, encodings in `data.encoding`; what the commands print is in `cli`.
"""
