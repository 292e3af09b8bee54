"""How results and messages are put into text: summaries of results, counts with their nouns, lists of names.

No knowledge of learning belongs here, and no output: `cli` prints.
"""
