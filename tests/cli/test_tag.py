"""novikoff tag: learn, apply, test and inspect."""

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


def run(*arguments, stdin=None):
    return CliRunner().invoke(main, ["tag", *map(str, arguments)], input=stdin)


def succeed(*arguments, stdin=None):
    found = run(*arguments, stdin=stdin)
    assert found.exit_code == 0, found.output
    return found


@pytest.fixture
def files(tmp_path):
    (tmp_path / "chunks.txt").write_text(CHUNKS)
    (tmp_path / "es.conllu").write_text(CONLLU)
    return tmp_path


@pytest.fixture
def chunker(files):
    succeed("learn", files / "chunks.txt", "--templates", "chunk", "-o", files / "chunk.nk")
    return files / "chunk.nk"


@pytest.fixture
def pos(files):
    succeed("learn", files / "es.conllu", "--dev", files / "es.conllu", "-o", files / "pos.nk")
    return files / "pos.nk"


def test_learn_reports_passes_and_keeps_the_best(files):
    found = succeed("learn", files / "es.conllu", "--dev", files / "es.conllu", "-o", files / "pos.nk", "--passes", 8)
    lines = found.stderr.splitlines()
    assert lines[0] == "2 sentences, 5 tokens; tags in column upos, templates use word."
    assert lines[1].split() == ["pass", "mistakes", "rate", "seconds", "dev"]
    best = int(lines[-1].split()[1])
    scores = {int(line.split()[0]): float(line.split()[-1].rstrip("%")) for line in lines[2:-1]}
    assert scores[best] == max(scores.values())
    assert min(number for number, score in scores.items() if score == scores[best]) == best
    assert nk.load(files / "pos.nk").ledger_.passes == best


def test_apply_to_text(pos):
    found = succeed("apply", pos, stdin="Vamos al mar\n\nSí\n")
    rows = [line.split("\t") for line in found.stdout.split("\n")]
    assert [row[0] for row in rows] == ["Vamos", "al", "mar", "", "", "Sí", "", ""]
    assert {row[1] for row in rows if len(row) == 2} <= {"VERB", "ADP", "NOUN", "PRON", "INTJ"}


def test_apply_to_conllu_changes_one_column(files, pos):
    found = succeed("apply", pos, files / "es.conllu")
    assert found.stdout == CONLLU + "\n", "all tags are right, so nothing changes"
    other = succeed("apply", pos, files / "es.conllu", "--column", "xpos").stdout
    assert "\tVERB\tVERB\t" in other


def test_apply_to_columns(files, chunker):
    found = succeed("apply", chunker, "--format", "columns", stdin="the DT\ndog NN\n\n")
    assert found.stdout == "the\tDT\tB-NP\ndog\tNN\tI-NP\n\n"


def test_evaluation(files, chunker):
    found = succeed("test", chunker, files / "chunks.txt").stdout
    assert found.startswith(
        "7 of 7 tokens right, 100.00%.\n2 of 2 sentences have no mistake.\nSpans: precision 100.00%"
    )
    assert "  NP           3     1.0000   1.0000   1.0000" in found
    (files / "more.txt").write_text("Cats NNS B-XP\n")
    more = succeed("test", chunker, files / "more.txt").stdout
    assert "Of 1 tokens whose words were never seen before, 0.00%." in more
    assert "never seen the tags B-XP" in more


def test_evaluation_as_json(files, chunker, pos):
    facts = json.loads(succeed("test", chunker, files / "chunks.txt", "--json").stdout)
    assert (facts["tokens"], facts["accuracy"], facts["span_f1"], facts["unknown_accuracy"]) == (7, 1.0, 1.0, None)
    assert "span_f1" not in json.loads(succeed("test", pos, files / "es.conllu", "--json").stdout)


def test_inspect(chunker):
    text = succeed("inspect", chunker, "--top", 3).stdout
    assert "for B-NP:" in text
    assert "pairs of tags:" in text
    facts = json.loads(succeed("inspect", chunker, "--json").stdout)
    assert facts["columns"] == ["word", "pos"]
    assert any("[0]=" in name for name in facts["heaviest"]["B-NP"])


def test_learn_options(files):
    (files / "mine.tpl").write_text("U00:%x[0,0]\nU01:%x[0,1]\nB\n")
    succeed(
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
    assert [t.text for t in tagger._require_snapshot().extractor.templates] == ["U00:%x[0,0]", "U01:%x[0,1]"]


def test_search_options(files):
    succeed(
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
    assert "triples of tags:" in succeed("inspect", files / "m.nk").stdout
    assert len(json.loads(succeed("inspect", files / "m.nk", "--json", "--top", 4).stdout)["triples"]) == 4


def train_chunker(passes):
    X = [[("He", "PRP"), ("saw", "VBD"), ("the", "DT"), ("dog", "NN")], [("Dogs", "NNS"), ("bark", "VBP"), (".", ".")]]
    y = [["B-NP", "B-VP", "B-NP", "I-NP"], ["B-NP", "B-VP", "O"]]
    tagger = nk.SequenceTagger("chunk")
    for _ in range(passes):
        tagger.partial_fit(X, y)
    return tagger


def test_stream_reads_the_files_in_every_pass(files):
    succeed("learn", files / "chunks.txt", "--stream", "--passes", 3, "--templates", "chunk", "-o", files / "m.nk")
    found, expected = nk.load(files / "m.nk"), train_chunker(3)
    assert found.heaviest() == expected.heaviest()
    assert found.ledger_.mistakes == expected.ledger_.mistakes
    piped = succeed("learn", "-", "--stream", "--passes", 1, "--templates", "chunk", "-o", files / "p.nk", stdin=CHUNKS)
    assert "B-NP" in nk.load(files / "p.nk").tags_
    assert piped.stderr.splitlines()[0].split() == ["pass", "mistakes", "rate", "seconds"]
    assert "can be read once" in run("learn", "-", "--stream", "-o", files / "p.nk", stdin=CHUNKS).output


def test_pipe_is_kept_in_memory(files):
    succeed("learn", "-", "--templates", "chunk", "-o", files / "p.nk", stdin=CHUNKS)
    succeed("learn", files / "chunks.txt", "--templates", "chunk", "-o", files / "m.nk")
    assert nk.load(files / "p.nk").heaviest() == nk.load(files / "m.nk").heaviest()


@pytest.mark.parametrize("stream", [[], ["--stream"]])
def test_continuing_equals_one_run(files, stream):
    arguments = ["learn", files / "chunks.txt", *stream]
    succeed(*arguments, "--templates", "chunk", "--passes", 2, "-o", files / "uninterrupted.nk")
    succeed(*arguments, "--templates", "chunk", "--passes", 1, "-o", files / "m.nk")
    succeed(*arguments, "--from", files / "m.nk", "--passes", 1, "-o", files / "m.nk")
    uninterrupted, parts = nk.load(files / "uninterrupted.nk"), nk.load(files / "m.nk")
    assert uninterrupted.heaviest() == parts.heaviest()
    assert uninterrupted.ledger_.mistakes == parts.ledger_.mistakes
    changed = run(*arguments, "--from", files / "m.nk", "--beam", 3, "-o", files / "m.nk")
    assert changed.exit_code == 2
    assert "--beam is for a new tagger" in changed.output


def test_model_from_before_a_bad_line_is_kept(files):
    (files / "bad.txt").write_text("a X\n\nb\n")
    (files / "good.txt").write_text("a X\nb Y\n")
    found = run("learn", files / "good.txt", files / "bad.txt", "--stream", "--templates", "pos", "-o", files / "m.nk")
    assert found.exit_code == 1
    assert "bad.txt:3: 1 column, but 2 in line 1" in found.output
    assert f"{files / 'm.nk'} has what was learned so far; to continue after correcting it:" in found.output
    assert "--templates" not in found.output
    assert nk.load(files / "m.nk").tags_ == ["X", "Y"]


def command(*arguments):
    return [sys.executable, "-m", "novikoff", "tag", *map(str, arguments)]


@pytest.mark.skipif(os.name == "nt", reason="no such signals there")
@pytest.mark.parametrize("more", [[], ["--stream"], ["--dev", "never.txt"]])
def test_ctrl_c_leaves_a_model_to_continue_from(files, more):
    """One word has two tags, so that every pass makes mistakes and learning would not end."""
    (files / "never.txt").write_text("a X\n\na Y\n\nb X\n")
    arguments = ["learn", "never.txt", *more, "--passes", 10**9, "--templates", "word[0]", "-o", "m.nk"]
    with subprocess.Popen(command(*arguments), stderr=subprocess.PIPE, text=True, cwd=files) as learning:
        timer = threading.Timer(120, learning.kill)
        timer.start()
        lines = iter(learning.stderr.readline, "")
        assert any(line.split()[:1] == ["2"] for line in lines), "the second pass has finished"
        learning.send_signal(signal.SIGINT)
        message = "".join(lines)
        timer.cancel()
    assert learning.returncode == 130, message
    *_, stopped, again = message.splitlines()
    assert re.fullmatch(r"Stopped\. m\.nk has .*, after [\d,]+ of 1,000,000,000 passes; to continue:", stopped)
    assert "--from m.nk" in again
    assert "--templates" not in again
    assert nk.load(files / "m.nk").tags_ == ["X", "Y"]


def test_apply_answers_before_the_pipe_is_closed(pos):
    """A sentence is tagged as soon as its line was written, before the pipe is closed."""
    with subprocess.Popen(command("apply", pos), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as tagging:
        timer = threading.Timer(120, tagging.kill)
        timer.start()
        for _ in range(2):
            tagging.stdin.write("Vamos al mar\n")
            tagging.stdin.flush()
            assert [tagging.stdout.readline().split("\t")[0].strip() for _ in range(4)] == ["Vamos", "al", "mar", ""]
        tagging.stdin.close()
        timer.cancel()


def test_apply_to_output_file(files, pos):
    succeed("apply", pos, files / "es.conllu", "-o", files / "out.conllu")
    assert (files / "out.conllu").read_text() == CONLLU + "\n"
    (files / "bad.conllu").write_text(CONLLU + "\n1\tx\n")
    assert run("apply", pos, files / "bad.conllu", "-o", files / "out.conllu").exit_code == 1
    assert (files / "out.conllu").read_text() == CONLLU + "\n", "the old file stays"


@pytest.mark.parametrize(
    ("arguments", "message"),
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
        (["learn", "{0}/chunks.txt", "-o", "{0}/words.txt"], "exists and is not a model file"),
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
def test_error_messages(files, pos, arguments, message):
    (files / "empty.txt").write_text("\n")
    (files / "words.txt").write_text("a\nb\n")
    (files / "ragged.txt").write_text("a X\nb\n")
    (files / "latin.txt").write_bytes("a X\ncaf\xe9 X\n".encode("latin-1"))
    (files / "broken.conllu").write_text(CONLLU.replace("\n1\t", "\nthree\t", 1))
    late = re.sub("VERB|PRON|ADP|INTJ", "O", CONLLU).replace("NOUN", "I-X")
    (files / "late.conllu").write_text(late)
    (files / "bad.tpl").write_text("word[0]\nsufix3[0]\n")
    succeed("learn", files / "chunks.txt", "--templates", "chunk", "-o", files / "chunk.nk")
    nk.Perceptron().learn_one({"a": 1}, "x").save(files / "spam.nk")
    found = run(*(argument.format(files) for argument in arguments))
    assert found.exit_code in (1, 2), found.output
    assert message in found.output


def words_of(found):
    """Return the words of each sentence of the output."""
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
def test_apply_distinguishes_columns_from_text(files, learned, form, piped):
    succeed("learn", files / learned, "--use", "word", "-o", files / "w.nk")
    (files / "in").write_bytes(FORMS[form].encode())
    found = succeed("apply", files / "w.nk", *([] if piped else [files / "in"]), stdin=FORMS[form])
    assert words_of(found) == SENTENCES
    is_known = form == "text" or (learned == "chunks.txt" and form != "words")
    assert ("read as columns" in found.stderr) is not is_known


@pytest.mark.parametrize(
    ("content", "expected", "message"),
    [
        ("The dog barks .\n", [["The", "dog", "barks", "."]], ""),
        ("The dog barks\n", [["The", "dog", "barks"]], "read as text"),  # as many words as columns, but no known tag
        ("Dogs NNS B-NP\n", [["Dogs"]], "read as columns"),
        ("a b c d\ne f g h\n", [["a", "b", "c", "d"], ["e", "f", "g", "h"]], "read as text"),
        ("a N\nb N\n", [["a", "b"]], "read as columns, a token per line: word, pos. If"),
        ("Yes\n", [["Yes"]], ""),
    ],
)
def test_ambiguous_format_is_reported(files, content, expected, message):
    succeed("learn", files / "chunks.txt", "--use", "word", "-o", files / "w.nk")
    found = succeed("apply", files / "w.nk", "--no-tokenize", stdin=content)
    assert words_of(found) == expected
    assert message in found.stderr
    assert bool(message) is bool(found.stderr)


def test_ragged_line_among_columns_is_an_error(files):
    succeed("learn", files / "chunks.txt", "--use", "word", "-o", files / "w.nk")
    found = run("apply", files / "w.nk", stdin=CHUNKS * 3 + "He PRP\n")
    assert found.exit_code == 1
    assert "2 columns, but 3 in line 1" in found.output


def test_tagger_of_several_columns_rejects_text(chunker):
    for text in ("The dog barks .\n", "The dog\nIt barks all day .\n", "\nThe dog barks all day .\n"):
        found = run("apply", chunker, stdin=text)
        assert found.exit_code == 1
        assert "this looks like text, but the tagger needs columns: word, pos;" in found.output
        assert "--format columns" in found.output
    assert "the tagger needs 2: word, pos" in run("apply", chunker, stdin="Hello\n").output
    for form in ("columns", "tabs", "untagged"):
        found = succeed("apply", chunker, stdin=FORMS[form])
        assert (words_of(found), found.stderr) == (SENTENCES, "")


def test_columns_are_named_as_in_training(files):
    """The column of tags is in the middle, and one column is not used."""
    (files / "mid.txt").write_text("x B-NP He PRP\ny B-VP ran VBD\n\nz O . .\n")
    succeed(
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
    assert succeed("test", files / "mid.nk", files / "mid.txt").stdout.startswith("3 of 3 tokens right")
    expected = ["B-NP", "B-VP", "O"]
    for text in ((files / "mid.txt").read_text(), "x He PRP\ny ran VBD\n\nz . .\n", "He PRP\nran VBD\n\n. .\n"):
        out = succeed("apply", files / "mid.nk", stdin=text).stdout
        assert [line.split("\t")[-1] for line in out.split("\n") if line] == expected


def test_tag_column_is_stored(files):
    succeed("learn", files / "es.conllu", "--column", "xpos", "--use", "word,lemma", "-o", files / "x.nk")
    assert succeed("test", files / "x.nk", files / "es.conllu").stdout.startswith("5 of 5 tokens right")
    assert succeed("apply", files / "x.nk", files / "es.conllu").stdout == CONLLU + "\n"
    assert "\tV\tV\t" in succeed("apply", files / "x.nk", files / "es.conllu", "--column", "upos").stdout
    succeed("learn", files / "es.conllu", "--from", files / "x.nk", "-o", files / "y.nk")
    tagger = nk.load(files / "y.nk")
    assert sorted(tagger.tags_) == ["A", "I", "N", "P", "V"], "it continued with the same column"
    assert (tagger.files.format, tagger.files.tag) == ("conllu", "xpos")
    tagger.files = None  # as in files written before it was stored
    tagger.save(files / "old.nk")
    assert nk.load(files / "old.nk").files is None
    assert "\tV\tV\t" in succeed("apply", files / "old.nk", files / "es.conllu").stdout
