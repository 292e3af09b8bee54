"""novikoff tag, from files to files."""

import json

import pytest
from click.testing import CliRunner
from test_files import CONLLU

import novikoff as nk
from novikoff.cli import main

CHUNKS = """He PRP B-NP
saw VBD B-VP
the DT B-NP
dog NN I-NP

Dogs NNS B-NP
bark VBP B-VP
. . O
"""


def run(*words, stdin=None):
    return CliRunner().invoke(main, ["tag", *map(str, words)], input=stdin)


def done(*words, stdin=None):
    found = run(*words, stdin=stdin)
    assert found.exit_code == 0, found.output
    return found


@pytest.fixture
def files(tmp_path):
    (tmp_path / "chunks.txt").write_text(CHUNKS)
    (tmp_path / "es.conllu").write_text(CONLLU)
    return tmp_path


@pytest.fixture
def chunker(files):
    done("learn", files / "chunks.txt", "--templates", "chunk", "-o", files / "chunk.nk")
    return files / "chunk.nk"


@pytest.fixture
def pos(files):
    done("learn", files / "es.conllu", "--dev", files / "es.conllu", "-o", files / "pos.nk")
    return files / "pos.nk"


def test_passes_are_told_and_the_best_is_kept(files):
    found = done("learn", files / "es.conllu", "--dev", files / "es.conllu", "-o", files / "pos.nk", "--passes", 8)
    lines = found.stderr.splitlines()
    assert lines[0] == "2 sentences, 5 tokens; tags in column upos, templates see word."
    assert lines[1].split() == ["pass", "mistakes", "rate", "seconds", "dev"]
    best = int(lines[-1].split()[1])
    shown = {int(line.split()[0]): float(line.split()[-1].rstrip("%")) for line in lines[2:-1]}
    assert shown[best] == max(shown.values())
    assert min(number for number, score in shown.items() if score == shown[best]) == best
    assert nk.load(files / "pos.nk").ledger_.passes == best


def test_apply_to_text_and_back(pos):
    found = done("apply", pos, stdin="Vamos al mar\n\nSí\n")
    words = [line.split("\t") for line in found.stdout.split("\n")]
    assert [word[0] for word in words] == ["Vamos", "al", "mar", "", "", "Sí", "", ""]
    assert {word[1] for word in words if len(word) == 2} <= {"VERB", "ADP", "NOUN", "PRON", "INTJ"}


def test_apply_to_conllu_changes_one_column(files, pos):
    found = done("apply", pos, files / "es.conllu")
    assert found.stdout == CONLLU + "\n", "all is right, so nothing changes"
    moved = done("apply", pos, files / "es.conllu", "--column", "xpos").stdout
    assert "\tVERB\tVERB\t" in moved


def test_apply_to_columns(files, chunker):
    found = done("apply", chunker, "--format", "columns", stdin="the DT\ndog NN\n\n")
    assert found.stdout == "the\tDT\tB-NP\ndog\tNN\tI-NP\n\n"


def test_test(files, chunker):
    found = done("test", chunker, files / "chunks.txt").stdout
    assert found.startswith(
        "7 of 7 tokens right, 100.00%.\n2 of 2 sentences have no mistake.\nSpans: precision 100.00%"
    )
    assert "  NP           3     1.0000   1.0000   1.0000" in found
    (files / "more.txt").write_text("Cats NNS B-XP\n")
    more = done("test", chunker, files / "more.txt").stdout
    assert "Of 1 tokens whose words were never met before, 0.00%." in more
    assert "never met the tags B-XP" in more


def test_test_as_json(files, chunker, pos):
    facts = json.loads(done("test", chunker, files / "chunks.txt", "--json").stdout)
    assert (facts["tokens"], facts["accuracy"], facts["span_f1"], facts["unknown_accuracy"]) == (7, 1.0, 1.0, None)
    assert "span_f1" not in json.loads(done("test", pos, files / "es.conllu", "--json").stdout)


def test_inspect(chunker):
    words = done("inspect", chunker, "--top", 3).stdout
    assert "for B-NP:" in words
    assert "one tag after the other:" in words
    facts = json.loads(done("inspect", chunker, "--json").stdout)
    assert facts["columns"] == ["word", "pos"]
    assert any("[0]=" in name for name in facts["heaviest"]["B-NP"])


def test_options_of_learning(files):
    (files / "mine.tpl").write_text("U00:%x[0,0]\nU01:%x[0,1]\nB\n")
    done("learn", files / "chunks.txt", "--columns", "form,tag,chunk", "--column", "chunk", "--use", "form,tag",
         "--templates", files / "mine.tpl", "--hypothesis", "last", "--hash-bits", 10, "--seed", 3, "--passes", 2,
         "-o", files / "m.nk")  # fmt: skip
    tagger = nk.load(files / "m.nk")
    assert (tagger.columns_, tagger.hypothesis, tagger.hash_bits) == (("form", "tag"), "last", 10)
    assert [t.text for t in tagger._program.templates] == ["U00:%x[0,0]", "U01:%x[0,1]"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["learn", "{0}/chunks.txt", "--column", "upos", "-o", "{0}/m.nk"], "there is no column 'upos' for --column"),
        (["learn", "{0}/chunks.txt", "--columns", "a,b", "-o", "{0}/m.nk"], "3 columns, but --columns names 2"),
        (["learn", "{0}/none.txt", "-o", "{0}/m.nk"], "no such file"),
        (["learn", "{0}/empty.txt", "-o", "{0}/m.nk"], "there are no sentences in it"),
        (["learn", "{0}/words.txt", "-o", "{0}/m.nk"], "either words or tags are missing"),
        (["learn", "{0}/ragged.txt", "-o", "{0}/m.nk"], "ragged.txt:2: 1 column, but 2 in line 1"),
        (["learn", "{0}/chunks.txt", "-o", "{0}/no/m.nk"], "there is no folder"),
        (["learn", "{0}/chunks.txt", "{0}/ragged.txt", "-o", "{0}/m.nk"], "ragged.txt:2"),
        (["learn", "{0}/chunks.txt", "--dev", "{0}/es.conllu", "-o", "{0}/m.nk"], "columns are not those of"),
        (["learn", "{0}/chunks.txt", "--templates", "x[0]", "-o", "{0}/m.nk"], "there is no 'x'"),
        (["test", "{0}/chunks.txt", "{0}/chunks.txt"], "is not a model file"),
        (["apply", "{0}/pos.nk", "{0}/es.conllu", "--column", "tag"], "no column 'tag'"),
        (["apply", "{0}/spam.nk"], "holds a Perceptron, not a tagger"),
    ],
)
def test_what_is_wrong_is_one_line(files, pos, words, message):
    (files / "empty.txt").write_text("\n")
    (files / "words.txt").write_text("a\nb\n")
    (files / "ragged.txt").write_text("a X\nb\n")
    nk.Perceptron().learn_one({"a": 1}, "x").save(files / "spam.nk")
    found = run(*(word.format(files) for word in words))
    assert found.exit_code in (1, 2), found.output
    assert message in found.output
