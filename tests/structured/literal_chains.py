"""The structured perceptron as Collins 2002 prints it, over all chains there are; shares nothing with novikoff."""

from itertools import product


def cell(sentence, i, kind, offset):
    """The value of one cell of a template at token i, as text."""
    j = i + offset
    if j < 0:
        return f"_B-{-j}"
    if j >= len(sentence):
        return f"_B+{j - len(sentence) + 1}"
    row = sentence[j] if isinstance(sentence[j], tuple) else (sentence[j],)
    return {"word": lambda: row[0], "pos": lambda: row[1], "lower": lambda: row[0].lower(),
            "suffix2": lambda: row[0][-2:], "is_digit": lambda: row[0].isdigit() or None}[kind]()  # fmt: skip


def token_features(sentence, i, templates):
    """Names of the features of token i; templates are tuples of (kind, offset)."""
    found = []
    for number, template in enumerate(templates):
        values = tuple(cell(sentence, i, kind, offset) for kind, offset in template)
        if None not in values:
            found.append((number, *values))
    return found


def phi(sentence, tags, templates, pairs=True):
    """How often each feature goes with each tag, and each tag with the next."""
    counts = {}
    for i, tag in enumerate(tags):
        names = [(name, tag) for name in token_features(sentence, i, templates)]
        if pairs and i:
            names.append((tags[i - 1], tag))
        for name in names:
            counts[name] = counts.get(name, 0) + 1
    return counts


def dot(w, features):
    return sum(w.get(name, 0) * count for name, count in features.items())


def best(w, sentence, tagset, templates, pairs=True):
    """The argmax over all chains; of equals the one whose last tag came first in the tag set, then the last but one."""
    chains = product(range(len(tagset)), repeat=len(sentence))
    ranked = [
        (dot(w, phi(sentence, [tagset[t] for t in c], templates, pairs)), [-t for t in reversed(c)], c) for c in chains
    ]
    return [tagset[t] for t in max(ranked)[2]]


def difference(right, wrong):
    delta = dict(right)
    for name, count in wrong.items():
        delta[name] = delta.get(name, 0) - count
    return {name: count for name, count in delta.items() if count}


def squared(delta):
    return sum(count * count for count in delta.values())


def train(sentences, tags, templates, passes, pairs=True):
    """Return the list of weights after each example, and the differences of the mistakes."""
    tagset = list(dict.fromkeys(tag for own in tags for tag in own))
    w, history, mistakes = {}, [], []
    for _ in range(passes):
        clean = True
        for x, y in zip(sentences, tags, strict=True):
            guess = best(w, x, tagset, templates, pairs)
            if guess != list(y):
                delta = difference(phi(x, y, templates, pairs), phi(x, guess, templates, pairs))
                w = {name: w.get(name, 0) + delta.get(name, 0) for name in {**w, **delta}}
                mistakes.append(delta)
                clean = False
            history.append(w)
        if clean:
            break
    return history, mistakes, tagset


def averaged(history):
    names = {name for w in history for name in w}
    return {name: sum(w.get(name, 0) for w in history) / len(history) for name in names}
