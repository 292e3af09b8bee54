"""The structured perceptron as Collins 2002 prints it, by enumeration of all chains; imports nothing of novikoff."""

from itertools import product


def cell(sentence, i, kind, offset):
    """Return the value of one cell of a template at token i, as text."""
    j = i + offset
    if j < 0:
        return f"_B-{-j}"
    if j >= len(sentence):
        return f"_B+{j - len(sentence) + 1}"
    row = sentence[j] if isinstance(sentence[j], tuple) else (sentence[j],)
    return {
        "word": lambda: row[0],
        "pos": lambda: row[1],
        "lower": lambda: row[0].lower(),
        "suffix2": lambda: row[0][-2:],
        "is_digit": lambda: row[0].isdigit() or None,
    }[kind]()


def token_features(sentence, i, templates):
    """Return the names of the features of token i; templates are tuples of (kind, offset)."""
    found = []
    for number, template in enumerate(templates):
        values = tuple(cell(sentence, i, kind, offset) for kind, offset in template)
        if None not in values:
            found.append((number, *values))
    return found


def phi(sentence, tags, templates, pairs=True, transitions=(), triples=False):
    """Count each feature with its tag, and each pair of neighbouring tags.

    The features of the templates in `transitions` are counted with the previous tag as well; with `triples`, three tags
    in a row are counted too.
    """
    counts = {}
    for i, tag in enumerate(tags):
        names = [(name, tag) for name in token_features(sentence, i, templates)]
        if pairs and i:
            names.append((tags[i - 1], tag))
        if i:
            names += [("transition", name, tags[i - 1], tag) for name in token_features(sentence, i, transitions)]
        if triples and i > 1:
            names.append((tags[i - 2], tags[i - 1], tag))
        for name in names:
            counts[name] = counts.get(name, 0) + 1
    return counts


def dot(w, features):
    return sum(w.get(name, 0) * count for name, count in features.items())


def every_chain(w, sentence, tagset, templates, allowed=lambda tags: True, **kinds):
    """Return all allowed chains with their scores, best first; all chains if none is allowed. Of equal chains the one
    whose last tag comes first in the tag set is first, then the last but one decides."""
    chains = [[tagset[t] for t in c] for c in product(range(len(tagset)), repeat=len(sentence))]
    ranks = {tag: rank for rank, tag in enumerate(tagset)}
    chains = [c for c in chains if allowed(c)] or chains
    ranked = [(-dot(w, phi(sentence, c, templates, **kinds)), [ranks[tag] for tag in reversed(c)], c) for c in chains]
    return [(c, -score) for score, _, c in sorted(ranked)]


def best(w, sentence, tagset, templates, **kinds):
    """Return the argmax over all chains."""
    return every_chain(w, sentence, tagset, templates, **kinds)[0][0]


def beam(w, sentence, tagset, templates, width, y=None, **kinds):
    """Beam search as in Collins & Roark 2004: return the best chain found, or, once no prefix of y is in the beam, the
    best prefix. Of prefixes with the same last tag, or the same last two with `triples`, only the best is kept."""
    ranks = {tag: rank for rank, tag in enumerate(tagset)}
    memory = 2 if kinds.get("triples") else 1

    def tie_break(c):
        return [ranks[tag] for tag in reversed(c)]

    kept = [[]]
    for i in range(len(sentence)):
        longer = [[*c, tag] for c in kept for tag in tagset]
        score = {tuple(c): dot(w, phi(sentence, c, templates, **kinds)) for c in longer}
        longer.sort(key=lambda c: (-score[tuple(c)], tie_break(c)[:memory], tie_break(c)))
        firsts = {}
        for c in sorted(longer, key=lambda c: (-score[tuple(c)], tie_break(c))):
            firsts.setdefault(tuple(c[-memory:]), c)
        kept = [c for c in longer if firsts[tuple(c[-memory:])] == c][:width]
        if y is not None and list(y[: i + 1]) not in kept:
            break
    return kept[0]


def difference(right, wrong):
    delta = dict(right)
    for name, count in wrong.items():
        delta[name] = delta.get(name, 0) - count
    return {name: count for name, count in delta.items() if count}


def squared(delta):
    return sum(count * count for count in delta.values())


def train(sentences, tags, templates, passes, width=None, allowed=lambda tags: True, **kinds):
    """Return the weights after each example, phi(x, y) - phi(x, y^) of each mistake, and the tag set. With a beam of
    this width, y and y^ are prefixes."""
    tagset = list(dict.fromkeys(tag for own in tags for tag in own))
    w, history, mistakes = {}, [], []
    for _ in range(passes):
        is_right = True
        for x, y in zip(sentences, tags, strict=True):
            if width is None:
                guess = best(w, x, tagset, templates, allowed=allowed, **kinds)
            else:
                guess = beam(w, x, tagset, templates, width, y, **kinds)
            y = list(y)[: len(guess)]
            if guess != y:
                delta = difference(phi(x, y, templates, **kinds), phi(x, guess, templates, **kinds))
                w = {name: w.get(name, 0) + delta.get(name, 0) for name in {**w, **delta}}
                mistakes.append(delta)
                is_right = False
            history.append(w)
        if is_right:
            break
    return history, mistakes, tagset


def averaged(history):
    names = {name for w in history for name in w}
    return {name: sum(w.get(name, 0) for w in history) / len(history) for name in names}
