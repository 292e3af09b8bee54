"""Names are compared byte by byte, also crafted ones; vocabularies of old model files keep working."""

import copy
import json
import pickle
import random
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff._compiled.loops import names as loops
from novikoff.data.encoding import Features
from novikoff.data.encoding.names import NameBatch
from novikoff.data.encoding.vocabulary import Vocabulary
from novikoff.data.formats import CategoricalColumn, TableBlock, TextColumn, open_stream
from novikoff.data.formats.hash_key import KEY, Key
from novikoff.data.formats.sources import Source
from novikoff.model_files import Section
from tests.reference.names import hash_of, hash_of_ngram, mix, names_with_equal_hashes, names_with_equal_low_bits, unmix

DATA = Path(__file__).parent / "files"
INNOCENT, CRAFTED = "innocent_feature", "lrutojqjX/46jc08"  # equal under the hash of old model files

text = st.text(st.characters(codec="utf-8"), max_size=24)
sizes = st.sampled_from([0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 99, 100, 101, 132, 133, 134, 200, 1000])
long_text = st.builds(lambda start, size, end: start + "x" * size + end, text, sizes, text)


def learned(text, **options):
    chunks = iter([text, b""])
    return nk.learn(open_stream(Source("t.rows", lambda n: next(chunks)), **options), hats=False)


def raw_names(words, prefix=b""):
    """Names of any bytes, all with one prefix."""
    ends = np.cumsum([0, *map(len, words)]).astype(np.int32)
    memory, prefixes = (np.frombuffer(bytearray(b"".join(part)), np.uint8) for part in (words, [prefix]))
    spans = np.column_stack([ends[:-1], ends[1:]])
    prefix_spans = np.array([[0, len(prefix)]], np.int32)
    return NameBatch.from_spans(memory, spans, prefixes, np.zeros(len(words), np.int32), prefix_spans)


def displacements(vocabulary, names):
    """How many slots each name is away from its home slot."""
    table = vocabulary._names
    sizes, prefix_of, slot_of = (np.empty(table.count, np.int64) for _ in range(3))
    loops.read_sizes(table._slots, table._records, sizes, prefix_of, slot_of)
    indices = vocabulary.find_indices(names, learn=False)
    home = (names.hashes ^ names.hashes >> np.uint64(32)) & np.uint64(len(table._slots) - 1)
    return (slot_of[indices] - home.astype(np.int64)) % len(table._slots)


# -- exactness


def test_different_names_may_have_equal_hashes_in_old_models():
    assert hash_of(INNOCENT.encode()) == hash_of(CRAFTED.encode())
    assert all(unmix(mix(0, word)) == word for word in (0, 1, 2**63, 12345678901234567))


def test_crafted_names_are_different_features():
    model = learned(f"1 | {INNOCENT}\n-1 | {CRAFTED}\n1 |abcdefgh x\n-1 | abcdefghx\n".encode(), format="vw")
    assert model.names == [INNOCENT, CRAFTED, "abcdefgh^x", "abcdefghx"]
    model = learned(json.dumps({"y": "a", INNOCENT: 1}).encode() + b"\n" + json.dumps({"y": "b", CRAFTED: 1}).encode())
    assert model.names == [INNOCENT, CRAFTED, f"{INNOCENT} is missing"]
    model = learned(f"sky,y\n{INNOCENT},a\n{CRAFTED},b\n".encode(), format="csv", header=True)
    assert model.names == [f"sky={INNOCENT}", f"sky={CRAFTED}"]


def test_names_that_differ_by_zero_bytes_are_different():
    """In JSON a name may hold zero bytes."""
    keys = ["a", "a\0", "a\0\0", "abcdefgh", "abcdefgh\0", "\0", "ab\0c"]
    rows = [{"y": "no", **dict.fromkeys(keys, 1.0)}, {"y": "yes", **dict.fromkeys(keys, 2.0)}]
    assert set(learned("\n".join(map(json.dumps, rows)).encode(), format="jsonl").names) == set(keys)
    rows = [{"y": value + "!", "a": value} for value in keys]
    model = learned("\n".join(map(json.dumps, rows)).encode(), format="jsonl")
    assert model.names == [f"a={value}" for value in keys]
    assert model.labels == sorted(value + "!" for value in keys)
    labels = learned("\n".join(json.dumps({"y": value, "a": 1}) for value in keys).encode(), format="jsonl").labels
    assert labels == sorted(keys)


@given(st.lists(st.tuples(text | long_text, text | long_text), max_size=40), st.lists(st.integers(0, 40), max_size=3))
def test_every_pair_of_prefix_and_name_has_an_index(pairs, cuts):
    """A vocabulary equals a Python dict, wherever blocks end, and after it was written and read."""
    vocabulary, found, index_of = Vocabulary(), [], {}
    edges = [0, *sorted(cut % (len(pairs) + 1) for cut in cuts), len(pairs)]
    for start, stop in pairwise(edges):
        part = NameBatch.with_prefixes([(prefix, [name]) for prefix, name in pairs[start:stop]])
        found += vocabulary.find_indices(part, learn=True).tolist()
    expected = [index_of.setdefault(pair, len(index_of)) for pair in pairs]
    assert found == expected
    section = Section("").add_part("vocabulary")
    vocabulary.write_to(section)
    again = Vocabulary.read_from(section)
    every = NameBatch.with_prefixes([(prefix, [name]) for prefix, name in pairs])
    for other in (again, pickle.loads(pickle.dumps(vocabulary)), copy.deepcopy(vocabulary)):
        assert other.find_indices(every, learn=False).tolist() == expected
        assert other.names == vocabulary.names
        assert other.find_indices(NameBatch.with_prefix("another", ["one"]), learn=True).tolist() == [len(index_of)]


def test_long_names_are_shortened_and_stay_different():
    names = ["x" * 10_000 + str(k) for k in range(300)]
    vocabulary = Vocabulary()
    assert vocabulary.find_indices(NameBatch.with_prefix("y" * 5000, names), learn=True).tolist() == list(range(300))
    backwards = NameBatch.with_prefix("y" * 5000, names[::-1])
    assert vocabulary.find_indices(backwards, learn=False).tolist() == list(range(299, -1, -1))
    other = NameBatch.with_prefix("y" * 4999, names)
    assert vocabulary.find_indices(other, learn=False).tolist() == [-1] * 300
    assert vocabulary._names._records.nbytes + vocabulary._prefixes._records.nbytes < 300 * 400
    assert set(vocabulary.names) == {"y" * 100}
    cut = bytes(NameBatch.with_prefix("", names[:1]).shorten().memory[-133:])
    assert vocabulary.find_indices(raw_names([cut]), learn=False).tolist() == [-1]


def test_names_with_equal_hashes_are_compared():
    rng = random.Random(0)
    names = ["".join(rng.choices("ab", k=rng.choice([1, 3, 8, 9, 16, 17, 40]))) for _ in range(400)]
    parts = NameBatch.with_prefixes([(rng.choice(["", "u", "user"]), [name]) for name in names])
    pairs = [(parts.prefix_spans[prefix].tolist(), name) for prefix, name in zip(parts.prefix_of, names, strict=True)]
    prefixes = parts.prefixes.tobytes()
    pairs = [(prefixes[begin:end], name) for (begin, end), name in pairs]
    vocabulary, index_of = Vocabulary(), {}
    vocabulary._names._slots = np.zeros((1 << 11, 2), np.uint64)  # large enough, so that no name is hashed again
    parts.hashes[:] = 7
    expected = [index_of.setdefault(pair, len(index_of)) for pair in pairs]
    assert vocabulary.find_indices(parts, learn=True).tolist() == expected
    assert vocabulary.find_indices(parts, learn=False).tolist() == expected


def test_columns_named_like_features_of_others_are_different_features():
    block = TableBlock(
        "t.csv",
        np.arange(2),
        np.array(["a", "b"], object),
        {
            "age": np.array([1.0, np.nan]),
            "age is missing": np.array([5.0, 6.0]),
            "sky": CategoricalColumn.from_cells(["x", "y"]),
            "sky=x": np.array([3.0, 4.0]),
        },
    )
    model = nk.StreamModel(nk.Learner(), Features(scale=False))
    model.learn(block)
    assert sorted(model.names) == sorted(["age", "age is missing", "sky=x", "sky=x", "sky=y", "age is missing"])
    rows = model.rows_of(block)
    assert sorted(rows.data[rows.indptr[1] :].tolist()) == [1.0, 1.0, 4.0, 6.0]


def test_ngrams_of_words_do_not_depend_on_what_separates_the_words():
    texts = TextColumn.from_cells(["call now", "call, now!", "call\n\n-- now", "callnow", "call" + " ." * 500 + "now"])
    block = TableBlock("t", np.arange(5), np.array(list("ababa"), object), {"t": texts})
    model = nk.StreamModel(nk.Learner(), Features(char_ngrams=(0, 0)))
    model.learn(block)
    assert model.names == ["t:call", "t:call now", "t:now", "t:callnow"]


# -- crafted names are found as fast as others


@pytest.mark.parametrize("prefix", [b"", b"user"])
def test_crafted_names_take_no_more_probes(prefix):
    rng = np.random.default_rng(0)
    crafted = names_with_equal_low_bits(rng, 4000, 20) + names_with_equal_hashes(rng, INNOCENT.encode(), 4000)
    vocabulary = Vocabulary()
    names = raw_names(crafted, prefix)
    assert vocabulary.find_indices(names, learn=True).tolist() == list(range(8000))
    steps = displacements(vocabulary, names)
    assert steps.mean() < 2.0  # 0.5 is expected if half of the slots are used (Knuth)
    assert steps.max() < 200


def test_the_key_changes_every_hash():
    names = NameBatch.with_prefix("user", [INNOCENT, CRAFTED, "a", ""])
    other = names.rehash(Key(KEY.seed, KEY.factor ^ np.uint64(2)))
    another = names.rehash(Key(KEY.seed ^ np.uint64(1), KEY.factor))
    every = [*names.hashes.tolist(), *other.hashes.tolist(), *another.hashes.tolist()]
    assert len(set(every)) == len(every)


def test_every_bit_of_a_name_changes_half_of_the_bits_of_its_hash():
    rng = np.random.default_rng(2)
    for size in (3, 8, 12, 16, 30):
        base = rng.integers(0, 256, (200, size)).astype(np.uint8)
        hashes = raw_names([row.tobytes() for row in base]).hashes
        for bit in rng.choice(8 * size, 10, replace=False).tolist():
            changed = base.copy()
            changed[:, bit // 8] ^= np.uint8(1 << bit % 8)
            flips = hashes ^ raw_names([row.tobytes() for row in changed]).hashes
            share = np.array([(flips >> np.uint64(k) & np.uint64(1)).mean() for k in range(64)])
            assert abs(share.mean() - 0.5) < 0.05
            assert (abs(share - 0.5) < 0.25).all()


def test_values_of_a_categorical_column_are_numbered_as_by_a_dict():
    rng = random.Random(3)
    words = ["".join(rng.choices("ab\u00e9", k=rng.choice([1, 2, 7, 8, 9, 17]))) for _ in range(3000)]
    chunks = iter([("w,y\n" + "".join(f"{word},{k % 2}\n" for k, word in enumerate(words))).encode(), b""])
    [block] = open_stream(Source("t.csv", lambda n: next(chunks)), header=True, types={"w": "word"})
    codes = {}
    assert block.columns["w"].codes.tolist() == [codes.setdefault(word, len(codes)) for word in words]
    assert block.columns["w"].values == list(codes)


# -- nothing depends on the key of the process


SCRIPT = """
import sys, pickle
import numpy as np
import novikoff as nk
from novikoff.data.encoding.names import NameBatch
from novikoff.data.encoding.vocabulary import Vocabulary
from novikoff.data.formats.hash_key import KEY
folder = sys.argv[1]
for name, bits in [("t.vw", 20), ("t.vw", 3), ("t.txt", 20), ("t.txt", 4)]:
    model = nk.learn(nk.open_stream(f"{folder}/{name}", format={"t.vw": "vw", "t.txt": "text"}[name]), hash_bits=bits)
    model.save(f"{folder}/{name}.{bits}.{sys.argv[2]}.nk")
vocabulary = Vocabulary()
vocabulary.find_indices(NameBatch.with_prefixes([("u", ["a", "b" * 20]), ("", ["a"])]), learn=True)
[block] = nk.open_stream(f"{folder}/t.vw", format="vw")
with open(f"{folder}/{sys.argv[2]}.pickle", "wb") as file:
    pickle.dump((vocabulary, block, NameBatch.with_prefix("u", ["b" * 20, "c", "a"]), KEY), file)
"""


def test_processes_with_different_keys_agree(tmp_path):
    """Equal streams give equal files, also where names share indices; and hashes of one process are not used by
    another."""
    rng = random.Random(4)
    lines = [
        f"{rng.choice([1, -1])} |{rng.choice('abc')} " + " ".join(f"name{rng.randrange(50)}" for _ in range(5))
        for _ in range(40)
    ]
    (tmp_path / "t.vw").write_text("\n".join([*lines, ""]))
    (tmp_path / "t.txt").write_text("\n".join(f"{rng.choice('xy')}\tsee you {rng.randrange(9)} now" for _ in range(30)))
    for k in "01":
        subprocess.run([sys.executable, "-c", SCRIPT, str(tmp_path), k], check=True, timeout=300)
    files = sorted(tmp_path.glob("*.nk"))
    assert len(files) == 8
    for one, other in zip(files[::2], files[1::2], strict=True):
        assert one.read_bytes() == other.read_bytes()
    keys = set()
    for k in "01":
        vocabulary, block, names, key = pickle.loads((tmp_path / f"{k}.pickle").read_bytes())
        keys.add(key)
        assert vocabulary.names == ["ua", "u" + "b" * 20, "a"]
        assert vocabulary.find_indices(names, learn=True).tolist() == [1, 3, 0]
        assert vocabulary.find_indices(NameBatch.with_prefix("u", ["c", "a", "b"]), learn=False).tolist() == [3, 0, -1]
        model = nk.StreamModel(nk.Learner())
        model.learn(block)
        [own] = open_stream(tmp_path / "t.vw", format="vw")
        model.learn(own)
        assert len(set(model.names)) == len(model.names)
    assert len({*keys, KEY}) == 3


def test_sharing_depends_on_the_first_names_and_not_on_blocks(tmp_path):
    names = [f"name{k}" for k in range(100)]
    batch, one_by_one = NameBatch.with_prefix("u", names), [NameBatch.with_prefix("u", [name]) for name in names]
    whole, cut = Vocabulary(4), Vocabulary(4)
    expected = whole.find_indices(batch, learn=True).tolist()
    assert expected[:16] == list(range(16))
    assert [int(cut.find_indices(one, learn=True)[0]) for one in one_by_one] == expected
    assert cut.names == whole.names
    assert len(set(expected[16:])) > 8
    other = Vocabulary(4)  # filled by other names
    other.find_indices(NameBatch.with_prefix("u", [f"other{k}" for k in range(16)]), learn=True)
    assert other.find_indices(batch, learn=True).tolist()[16:] != expected[16:]
    section = Section("").add_part("vocabulary")
    whole.write_to(section)
    assert Vocabulary.read_from(section).find_indices(batch, learn=False).tolist() == expected


# -- old model files


def old_block(name, text):
    chunks = iter([text.encode(), b""])
    [block] = open_stream(
        Source(name, lambda n: next(chunks)), format=name, **({"header": True} if name == "csv" else {})
    )
    return block


def indices_of(rows):
    return [rows.indices[begin:end].tolist() for begin, end in pairwise(rows.indptr.tolist())]


def test_names_of_an_old_model_are_identified_by_their_hashes(tmp_path):
    model = nk.StreamModel.load(DATA / "hashed_names_vw_20.nk")
    assert model.names == ["innocent_feature", "ad^shoes", "ad^price", "shoes", "abcdefgh^x", "old"]
    known = [
        (b"", b"innocent_feature"),
        (b"ad", b"shoes"),
        (b"ad", b"price"),
        (b"", b"shoes"),
        (b"abcdefgh", b"x"),
        (b"", b"old"),
    ]
    index_of = {hash_of(*pair): index for index, pair in enumerate(known)}
    line = f"1 | {CRAFTED} shoes never abcdefghx |ad price"
    pairs = [(b"", CRAFTED.encode()), (b"", b"shoes"), (b"", b"never"), (b"", b"abcdefghx"), (b"ad", b"price")]
    expected = [index_of[hash_of(*pair)] for pair in pairs if hash_of(*pair) in index_of]
    assert expected == [0, 3, 4, 2]
    assert indices_of(model.rows_of(old_block("vw", line))) == [expected]
    model.learn(old_block("vw", line + " brand_new_name"))
    assert model.names[6:] == ["never", "ad^brand_new_name"]
    model.save(tmp_path / "m.nk")
    again = nk.StreamModel.load(tmp_path / "m.nk")
    assert again.names == model.names
    assert indices_of(again.rows_of(old_block("vw", line)))[0] == [0, 3, 6, 4, 2]


def test_indices_of_an_old_model_are_shared_by_the_old_hash():
    model = nk.StreamModel.load(DATA / "hashed_names_vw_2.nk")
    assert model.names == ["innocent_feature", "ad^shoes, and others", "ad^price, and others", "shoes"]
    for pair in [(b"abcdefgh", b"x"), (b"", b"old"), (b"user", b"never"), (b"", b"a_longer_name_than_that")]:
        line = f"1 |{pair[0].decode()} {pair[1].decode()}"
        assert indices_of(model.rows_of(old_block("vw", line))) == [[(hash_of(*pair) >> 20) % 4]]


def test_ngrams_of_an_old_model():
    model = nk.StreamModel.load(DATA / "hashed_names_txt_20.nk")
    words = ["see you at the lake", "call now and win", "call me", "win a lake now"]
    index_of = {}
    for sentence in words:
        parts = sentence.encode().split()
        for end in range(1, len(parts) + 1):
            for run in ([parts[end - 2 : end]] if end > 1 else []) + [parts[end - 1 : end]]:
                index_of.setdefault(hash_of_ngram(b"text:", run), len(index_of))
    assert len(model.names) == len(index_of)
    found = indices_of(model.rows_of(old_block("text", "ham\tCall, now: win a wonderful_prize_of_the_lake")))
    sought = [[b"call"], [b"call", b"now"], [b"now"], [b"now", b"win"], [b"win"], [b"win", b"a"], [b"a"]]
    hashes = [hash_of_ngram(b"text:", run) for run in sought]
    assert found == [[index_of[h] for h in hashes if h in index_of]]


def test_columns_of_an_old_model():
    model = nk.StreamModel.load(DATA / "hashed_names_csv_20.nk")
    assert model.names == ["wind", "sky=sun", "sky=rain", "wind is missing"]
    rows = model.rows_of(old_block("csv", "sky,wind,sail\nrain,NA,no\nsun,3,yes\n"))
    assert sorted(indices_of(rows)[0]) == [2, 3]
    assert 1 in indices_of(rows)[1]


# -- labels


@pytest.mark.parametrize("make", [nk.Perceptron, nk.KernelPerceptron, nk.LinearClassifier])
def test_labels_that_differ_by_a_zero_byte_are_different(make, tmp_path):
    """NumPy's own strings drop zero bytes at their end."""
    X, y = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]] * 4, ["a\0", "a", "b"] * 4
    model = make().fit(X, y)
    assert model.classes_.tolist() == ["a", "a\0", "b"]
    assert set(model.predict(X).tolist()) <= {"a", "a\0", "b"}
    assert make().partial_fit(X, y, classes=["a", "a\0", "b"]).classes_.tolist() == ["a", "a\0", "b"]
    model.save(tmp_path / "m.nk")
    assert nk.load(tmp_path / "m.nk").classes_.tolist() == ["a", "a\0", "b"]
