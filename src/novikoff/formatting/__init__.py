"""Text for results and messages: summaries, counts with their nouns, lists of names.

Nothing here depends on learning, and nothing is printed: `cli` prints.
"""
