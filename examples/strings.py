"""Two hundred words, English or Italian? A kernel perceptron on strings as they are.

    python examples/strings.py

There is no table of features. The learner only gets a kernel, the similarity of two words: the number of substrings of
up to three letters that they share, with marks for the beginning and the end of a word, normalised to 1 for equal words
(the spectrum kernel: Leslie, Eskin & Noble 2002). Any function of two objects will do that is symmetric and an inner
product of features: here, of counts of substrings.
"""

from collections import Counter
from functools import cache

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score

import novikoff as nk

ENGLISH = """apple arm autumn bird black blood blue boat bone book bread bridge brother brown butter candle chair
cheese child church city cloud cold dance daughter day dog door dream dress ear earth egg eye farm father
feather field finger fire fish flower foot forest friend garden glass gold grass green hair hand head heart hill honey
horse house island key king knee knife lake leaf letter light milk moon morning mother mountain mouth night nose pane
pepper rain river road salt school shoe sister smile snow sole spoon spring star stone street sugar summer sun table
tongue tooth tree winter"""
ITALIAN = """acqua aglio albero allegro amico anno aprire arancia autunno azzurro bambino barca bello bicchiere bianco
bocca bosco braccio buono caldo camicia cane capello casa cavallo cena chiave chiesa cielo citta collo coltello compagno
cucchiaio cucina cuore dente dito dolce donna estate fame farfalla figlio finestra fiore fiume foglia forchetta
formaggio freddo fuoco gatto gelato genitori giallo ginocchio giocare giorno giovane giugno goccia guerra inverno isola
latte lavoro leggero letto libro lingua luglio luna macchina maggio mattina mela moglie montagna naso neve notte nuvola
occhio orecchio orso ospite pane parete parola pesce piazza pioggia ponte ragazzo scuola sedia sera sole specchio"""


@cache
def substrings(word: str) -> Counter[str]:
    """How often each substring of one to three letters occurs in a word."""
    marked = f"^{word}$"
    return Counter(marked[i : i + n] for n in (1, 2, 3) for i in range(len(marked) - n + 1))


def shared(x: str, z: str) -> int:
    """<x, z>, an inner product of counts of substrings."""
    one, other = substrings(x), substrings(z)
    return sum(count * other[part] for part, count in one.items())


def alike(x: str, z: str) -> float:
    """The inner product of normalised counts: 1 for the same word, 0 for words that share nothing."""
    return shared(x, z) / (shared(x, x) * shared(z, z)) ** 0.5


def main() -> None:
    english, italian = ENGLISH.split(), ITALIAN.split()
    words, y = english + italian, np.repeat(["English", "Italian"], [len(english), len(italian)])
    in_both = set(english) & set(italian)
    print(f"{len(words)} words; in both languages: {', '.join(sorted(in_both))}")

    folds = StratifiedKFold(n_splits=10, shuffle=True, random_state=0)
    for hypothesis in ("voted", "averaged", "last"):
        clf = nk.KernelPerceptron(alike, hypothesis=hypothesis, order="shuffled", max_iter=10, random_state=0)
        right = cross_val_score(clf, words, y, cv=folds)
        print(f"{hypothesis:>9}: {1 - right.mean():.1%} of held-out words are wrong (± {right.std() / 10**0.5:.1%})")

    clf = nk.KernelPerceptron(alike, order="shuffled", random_state=0).fit(words, y)
    for word in ("window", "tavolo", "shirt", "scarpa", "copybook", "quaderno", "guitar", "chitarra"):
        print(f"  {word:10} {clf.predict_one(word):8} {clf.decision_function([word])[0]:+.2f}")

    # Integer kernel values are exact, so the certificate is a proof. No function separates words of both languages.
    print(nk.certify(words, y, kernel=shared))
    only = [word not in in_both for word in words]
    print(nk.certify([word for word, is_one in zip(words, only, strict=True) if is_one], y[only], kernel=shared))


if __name__ == "__main__":
    main()
