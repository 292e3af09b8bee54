"""novikoff tag, from files to files."""

import json
import os
import re
import signal
import subprocess
import sys
import threading

import pytest
from click.testing import CliRunner

import novikoff as nk
from novikoff.cli import main
from tests.structured.test_sentence_files import CONLLU

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
    done(
        "learn",
        files / "chunks.txt",
        "--columns",
        "form,tag,chunk",
        "--column",
        "chunk",
        "--use",
        "form,tag",
        "--templates",
        files / "mine.tpl",
        "--hypothesis",
        "last",
        "--hash-bits",
        10,
        "--seed",
        3,
        "--passes",
        2,
        "-o",
        files / "m.nk",
    )
    tagger = nk.load(files / "m.nk")
    assert (tagger.columns_, tagger.hypothesis, tagger.hash_bits) == (("form", "tag"), "last", 10)
    assert [t.text for t in tagger._known().program.templates] == ["U00:%x[0,0]", "U01:%x[0,1]"]


def test_how_it_searches(files):
    done(
        "learn",
        files / "chunks.txt",
        "--templates",
        "chunk",
        "--markov-order",
        2,
        "--beam",
        3,
        "--constraints",
        "bio",
        "-o",
        files / "m.nk",
    )
    tagger = nk.load(files / "m.nk")
    assert (tagger.markov_order, tagger.beam, tagger.constraints) == (2, 3, "bio")
    assert "three tags in a row:" in done("inspect", files / "m.nk").stdout
    assert len(json.loads(done("inspect", files / "m.nk", "--json", "--top", 4).stdout)["triples"]) == 4


def learned_by_hand(files, passes):
    X = [[("He", "PRP"), ("saw", "VBD"), ("the", "DT"), ("dog", "NN")], [("Dogs", "NNS"), ("bark", "VBP"), (".", ".")]]
    y = [["B-NP", "B-VP", "B-NP", "I-NP"], ["B-NP", "B-VP", "O"]]
    tagger = nk.SequenceTagger("chunk")
    for _ in range(passes):
        tagger.partial_fit(X, y)
    return tagger


def test_streams_are_read_in_every_pass(files):
    done("learn", files / "chunks.txt", "--stream", "--passes", 3, "--templates", "chunk", "-o", files / "m.nk")
    found, expected = nk.load(files / "m.nk"), learned_by_hand(files, 3)
    assert found.heaviest() == expected.heaviest()
    assert found.ledger_.mistakes == expected.ledger_.mistakes
    piped = done("learn", "-", "--stream", "--passes", 1, "--templates", "chunk", "-o", files / "p.nk", stdin=CHUNKS)
    assert "B-NP" in nk.load(files / "p.nk").tags_
    assert piped.stderr.splitlines()[0].split() == ["pass", "mistakes", "rate", "seconds"]
    assert "can be read once" in run("learn", "-", "--stream", "-o", files / "p.nk", stdin=CHUNKS).output


def test_a_pipe_may_be_kept_in_memory(files):
    done("learn", "-", "--templates", "chunk", "-o", files / "p.nk", stdin=CHUNKS)
    done("learn", files / "chunks.txt", "--templates", "chunk", "-o", files / "m.nk")
    assert nk.load(files / "p.nk").heaviest() == nk.load(files / "m.nk").heaviest()


@pytest.mark.parametrize("stream", [[], ["--stream"]])
def test_going_on_is_never_having_stopped(files, stream):
    words = ["learn", files / "chunks.txt", *stream]
    done(*words, "--templates", "chunk", "--passes", 2, "-o", files / "whole.nk")
    done(*words, "--templates", "chunk", "--passes", 1, "-o", files / "m.nk")
    done(*words, "--from", files / "m.nk", "--passes", 1, "-o", files / "m.nk")
    whole, parts = nk.load(files / "whole.nk"), nk.load(files / "m.nk")
    assert whole.heaviest() == parts.heaviest()
    assert whole.ledger_.mistakes == parts.ledger_.mistakes
    refused = run(*words, "--from", files / "m.nk", "--beam", 3, "-o", files / "m.nk")
    assert refused.exit_code == 2
    assert "--beam is for a new tagger" in refused.output


def test_what_was_learned_before_a_bad_line_is_kept(files):
    (files / "bad.txt").write_text("a X\n\nb\n")
    (files / "good.txt").write_text("a X\nb Y\n")
    found = run("learn", files / "good.txt", files / "bad.txt", "--stream", "--templates", "pos", "-o", files / "m.nk")
    assert found.exit_code == 1
    assert "bad.txt:3: 1 column, but 2 in line 1" in found.output
    assert f"{files / 'm.nk'} has what was learned so far; to go on then:" in found.output
    assert "--templates" not in found.output
    assert nk.load(files / "m.nk").tags_ == ["X", "Y"]


def command(*words):
    return [sys.executable, "-m", "novikoff", "tag", *map(str, words)]


@pytest.mark.skipif(os.name == "nt", reason="no such signals there")
@pytest.mark.parametrize("more", [[], ["--stream"], ["--dev", "never.txt"]])
def test_ctrl_c_leaves_a_model_to_go_on_from(files, more):
    """The same words with different tags: there would be no end."""
    (files / "never.txt").write_text("a X\n\na Y\n\nb X\n")
    words = ["learn", "never.txt", *more, "--passes", 10**9, "--templates", "word[0]", "-o", "m.nk"]
    with subprocess.Popen(command(*words), stderr=subprocess.PIPE, text=True, cwd=files) as learning:
        waking = threading.Timer(120, learning.kill)
        waking.start()
        lines = iter(learning.stderr.readline, "")
        assert any(line.split()[:1] == ["2"] for line in lines), "the second pass has ended"
        learning.send_signal(signal.SIGINT)
        said = "".join(lines)
        waking.cancel()
    assert learning.returncode == 130, said
    *_, stopped, again = said.splitlines()
    assert stopped.removeprefix("Error: ").startswith("Stopped after ")
    assert "--from m.nk" in again
    assert "--templates" not in again
    assert nk.load(files / "m.nk").tags_ == ["X", "Y"]


def test_who_waits_is_answered(pos):
    """A sentence is tagged as soon as its line is there, before the pipe is closed."""
    with subprocess.Popen(command("apply", pos), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as tagging:
        waking = threading.Timer(120, tagging.kill)
        waking.start()
        for _ in range(2):
            tagging.stdin.write("Vamos al mar\n")
            tagging.stdin.flush()
            assert [tagging.stdout.readline().split("\t")[0].strip() for _ in range(4)] == ["Vamos", "al", "mar", ""]
        tagging.stdin.close()
        waking.cancel()


def test_apply_into_a_file(files, pos):
    done("apply", pos, files / "es.conllu", "-o", files / "out.conllu")
    assert (files / "out.conllu").read_text() == CONLLU + "\n"
    (files / "bad.conllu").write_text(CONLLU + "\n1\tx\n")
    assert run("apply", pos, files / "bad.conllu", "-o", files / "out.conllu").exit_code == 1
    assert (files / "out.conllu").read_text() == CONLLU + "\n", "what was there stays"


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
        (["apply", "{0}/chunk.nk", "{0}/words.txt"], "words.txt:1: 1 column, but the tagger needs 2"),
        (["apply", "{0}/pos.nk", "{0}/latin.txt"], "latin.txt:2:4: byte 0xe9 is not UTF-8"),
        (["learn", "{0}/latin.txt", "-o", "{0}/m.nk"], "latin.txt:2:4: byte 0xe9 is not UTF-8"),
        (["learn", "{0}/chunks.txt", "-o", "{0}/chunks.txt"], "would overwrite the file which is read"),
        (["learn", "{0}/chunks.txt", "-o", "{0}/words.txt"], "is there already and is no model"),
        (["learn", "{0}/broken.conllu", "-o", "{0}/m.nk"], "broken.conllu:4: 'three' is not the number of a token"),
        (
            ["learn", "{0}/chunks.txt", "--templates", "{0}/bad.tpl", "-o", "{0}/m.nk"],
            "bad.tpl:2: there is no 'sufix3' in 'sufix3[0]'. Columns: word, pos. Attributes: lower, shape",
        ),
        (
            ["learn", "{0}/chunks.txt", "--constraints", "ioe2", "-o", "{0}/m.nk"],
            "chunks.txt:1: The tag 'B-NP' is not of the scheme 'ioe2'",
        ),
        (["learn", "{0}/late.conllu", "--constraints", "bio", "-o", "{0}/m.nk"], "late.conllu:8: the tag 'I-X', which"),
        (["learn", "{0}/late.conllu", "--constraints", "bio", "--stream", "-o", "{0}/m.nk"], "late.conllu:8: the tag"),
        (["learn", "{0}/chunks.txt", "--columns", "word,word,tag", "-o", "{0}/m.nk"], "--columns names 'word' twice"),
        (["learn", "{0}/chunks.txt", "--use", "pos,pos", "-o", "{0}/m.nk"], "--use names 'pos' twice"),
        (
            ["learn", "{0}/es.conllu", "--use", "word,upos", "--column", "upos", "-o", "{0}/m.nk"],
            "the column 'upos' holds the tags",
        ),
        (["inspect", "{0}/spam.nk"], "not a tagger. Try novikoff inspect."),
        (["test", "{0}/spam.nk", "{0}/chunks.txt"], "not a tagger. Try novikoff test."),
        (["learn", "{0}/es.conllu", "--from", "{0}/chunk.nk", "-o", "{0}/m.nk"], "there is no column 'pos' for --use"),
    ],
)
def test_what_is_wrong_is_one_line(files, pos, words, message):
    (files / "empty.txt").write_text("\n")
    (files / "words.txt").write_text("a\nb\n")
    (files / "ragged.txt").write_text("a X\nb\n")
    (files / "latin.txt").write_bytes("a X\ncaf\xe9 X\n".encode("latin-1"))
    (files / "broken.conllu").write_text(CONLLU.replace("\n1\t", "\nthree\t", 1))
    late = re.sub("VERB|PRON|ADP|INTJ", "O", CONLLU).replace("NOUN", "I-X")
    (files / "late.conllu").write_text(late)
    (files / "bad.tpl").write_text("word[0]\nsufix3[0]\n")
    done("learn", files / "chunks.txt", "--templates", "chunk", "-o", files / "chunk.nk")
    nk.Perceptron().learn_one({"a": 1}, "x").save(files / "spam.nk")
    found = run(*(word.format(files) for word in words))
    assert found.exit_code in (1, 2), found.output
    assert message in found.output


def words_of(found):
    """Of each sentence that came out its words."""
    return [[line.split("\t")[0] for line in part.split("\n")] for part in found.stdout.strip("\n").split("\n\n")]


SENTENCES = [["He", "saw", "the", "dog"], ["Dogs", "bark", "."]]
FORMS = {
    "columns": CHUNKS,
    "tabs": CHUNKS.replace(" ", "\t"),
    "returns": CHUNKS.replace("\n", "\r\n"),
    "untagged": re.sub(r" \S+$", "", CHUNKS, flags=re.M),
    "words": re.sub(r" .*$", "", CHUNKS, flags=re.M),
    "text": "He saw the dog\nDogs bark .\n",
}


@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("learned", ["es.conllu", "chunks.txt"])
def test_a_tagger_of_words_tells_columns_from_text(files, learned, form, piped):
    done("learn", files / learned, "--use", "word", "-o", files / "w.nk")
    (files / "in").write_bytes(FORMS[form].encode())
    found = done("apply", files / "w.nk", *([] if piped else [files / "in"]), stdin=FORMS[form])
    assert words_of(found) == SENTENCES
    is_known = form == "text" or (learned == "chunks.txt" and form != "words")
    assert ("taken for columns" in found.stderr) is not is_known


@pytest.mark.parametrize(
    ("content", "expected", "said"),
    [
        ("The dog barks .\n", [["The", "dog", "barks", "."]], ""),
        ("The dog barks\n", [["The", "dog", "barks"]], "taken for text"),  # as many as columns, but no tag
        ("Dogs NNS B-NP\n", [["Dogs"]], "taken for columns"),
        ("a b c d\ne f g h\n", [["a", "b", "c", "d"], ["e", "f", "g", "h"]], "taken for text"),
        ("a N\nb N\n", [["a", "b"]], "taken for columns, a token per line: word, pos. If"),
        ("Yes\n", [["Yes"]], ""),
    ],
)
def test_what_may_be_both_is_said(files, content, expected, said):
    done("learn", files / "chunks.txt", "--use", "word", "-o", files / "w.nk")
    found = done("apply", files / "w.nk", stdin=content)
    assert words_of(found) == expected
    assert said in found.stderr
    assert bool(said) is bool(found.stderr)


def test_a_ragged_line_among_columns_is_told(files):
    done("learn", files / "chunks.txt", "--use", "word", "-o", files / "w.nk")
    found = run("apply", files / "w.nk", stdin=CHUNKS * 3 + "He PRP\n")
    assert found.exit_code == 1
    assert "2 columns, but 3 in line 1" in found.output


def test_a_tagger_of_columns_refuses_text(chunker):
    for text in ("The dog barks .\n", "The dog\nIt barks all day .\n", "\nThe dog barks all day .\n"):
        found = run("apply", chunker, stdin=text)
        assert found.exit_code == 1
        assert "this looks like text, but the tagger needs columns: word, pos;" in found.output
        assert "--format columns" in found.output
    assert "the tagger needs 2: word, pos" in run("apply", chunker, stdin="Hello\n").output
    for form in ("columns", "tabs", "untagged"):
        found = done("apply", chunker, stdin=FORMS[form])
        assert (words_of(found), found.stderr) == (SENTENCES, "")


def test_columns_are_known_by_the_names_they_had(files):
    """The tags in the middle, and a column that is not used."""
    (files / "mid.txt").write_text("x B-NP He PRP\ny B-VP ran VBD\n\nz O . .\n")
    done(
        "learn",
        files / "mid.txt",
        "--columns",
        "n,chunk,word,pos",
        "--column",
        "chunk",
        "--use",
        "word,pos",
        "--templates",
        "chunk",
        "-o",
        files / "mid.nk",
    )
    assert done("test", files / "mid.nk", files / "mid.txt").stdout.startswith("3 of 3 tokens right")
    expected = ["B-NP", "B-VP", "O"]
    for text in ((files / "mid.txt").read_text(), "x He PRP\ny ran VBD\n\nz . .\n", "He PRP\nran VBD\n\n. .\n"):
        out = done("apply", files / "mid.nk", stdin=text).stdout
        assert [line.split("\t")[-1] for line in out.split("\n") if line] == expected


def test_the_column_of_the_tags_is_remembered(files):
    done("learn", files / "es.conllu", "--column", "xpos", "--use", "word,lemma", "-o", files / "x.nk")
    assert done("test", files / "x.nk", files / "es.conllu").stdout.startswith("5 of 5 tokens right")
    assert done("apply", files / "x.nk", files / "es.conllu").stdout == CONLLU + "\n"
    assert "\tV\tV\t" in done("apply", files / "x.nk", files / "es.conllu", "--column", "upos").stdout
    done("learn", files / "es.conllu", "--from", files / "x.nk", "-o", files / "y.nk")
    tagger = nk.load(files / "y.nk")
    assert sorted(tagger.tags_) == ["A", "I", "N", "P", "V"], "it went on with the same column"
    assert (tagger.files.format, tagger.files.tag) == ("conllu", "xpos")
    tagger.files = None  # as in a file from before
    tagger.save(files / "old.nk")
    assert nk.load(files / "old.nk").files is None
    assert "\tV\tV\t" in done("apply", files / "old.nk", files / "es.conllu").stdout
