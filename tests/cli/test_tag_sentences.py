"""novikoff tag: tokens of plain text, sentences that break a scheme, columns without tags, templates of names."""

import json
import subprocess
import sys
import threading

import pytest
from click.testing import CliRunner

import novikoff as nk
from novikoff.cli import main
from novikoff.structured.templates import SETS, parse_templates, read_source

CHUNKS = "He PRP B-NP\nsaw VBD B-VP\nthe DT B-NP\ndog NN I-NP\n. . O\n\nDogs NNS B-NP\nbark VBP B-VP\n. . O\n"
# The second sentence begins with I, the third has a tag that is none of BIO.
BAD = f"{CHUNKS}\nCats NNS I-NP\npurr VBP B-VP\n\nWell UH INTJ\n\nCats NNS B-NP\n"
UNFILLED = "1\tdogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tbark\tbark\tVERB\t_\t_\t0\troot\t_\t_\n"


def run(*arguments, stdin=None, code=0):
    found = CliRunner().invoke(main, ["tag", *map(str, arguments)], input=stdin)
    assert found.exit_code == code, found.output
    return found


@pytest.fixture
def files(tmp_path):
    (tmp_path / "chunks.txt").write_text(CHUNKS)
    (tmp_path / "bad.txt").write_text(BAD)
    (tmp_path / "unfilled.conllu").write_text(UNFILLED)
    return tmp_path


@pytest.fixture
def words(files):
    run("learn", files / "chunks.txt", "--use", "word", "-o", files / "w.nk")
    return files / "w.nk"


class TestTokens:
    def test_text_is_said_to_be_separated_by_blanks_once(self, files, words):
        for name in "ab":
            (files / f"{name}.txt").write_text("The dog didn't bark.\n")
        found = run("apply", words, files / "a.txt", files / "b.txt")
        assert found.stderr == (
            f"{files / 'a.txt'}: blanks separate tokens. To split punctuation from words as well: --tokenize.\n"
        )
        tokens = [line.split("\t")[0] for line in found.stdout.splitlines() if line]
        assert tokens == ["The", "dog", "didn't", "bark."] * 2
        assert not run("apply", words, "--no-tokenize", files / "a.txt").stderr

    def test_tokenize_splits_punctuation(self, words):
        found = run("apply", words, "--tokenize", stdin="The dog didn't bark.\nDogs\n")
        assert found.stderr == ""
        tokens = [line.split("\t")[0] for line in found.stdout.splitlines()]
        assert tokens == ["The", "dog", "did", "n't", "bark", ".", "", "Dogs", ""]
        assert ".\tO\n" in found.stdout

    def test_nothing_is_said_of_columns(self, files, words):
        assert "blanks separate" not in run("apply", words, files / "chunks.txt").stderr

    def test_a_pipe_is_tokenized_line_by_line(self, words):
        command = [sys.executable, "-m", "novikoff", "tag", "apply", str(words), "--tokenize"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as tagging:
            timer = threading.Timer(120, tagging.kill)
            timer.start()
            for _ in range(2):
                tagging.stdin.write("Dogs bark.\n")
                tagging.stdin.flush()
                found = [tagging.stdout.readline().split("\t")[0].strip() for _ in range(4)]
                assert found == ["Dogs", "bark", ".", ""]
            tagging.stdin.close()
            timer.cancel()

    def test_columns_are_not_tokenized(self, files, words):
        found = run("apply", words, "--tokenize", "--format", "columns", files / "chunks.txt", code=2)
        assert "--tokenize is for text" in found.output

    def test_a_tagger_of_columns_names_what_helps(self, files):
        run("learn", files / "chunks.txt", "--templates", "chunk", "-o", files / "c.nk")
        found = run("apply", files / "c.nk", "--tokenize", stdin="Dogs bark.\n", code=1)
        assert "the tagger needs the columns word, pos" in found.output
        assert "--use word" in found.output


class TestBadSentences:
    @pytest.mark.parametrize("stream", [[], ["--stream"]])
    def test_they_stop_learning_and_the_option_is_named(self, files, stream):
        found = run("learn", files / "bad.txt", "--constraints", "bio", *stream, "-o", files / "m.nk", code=1)
        assert "bad.txt:11: the tag 'I-NP', which the scheme 'bio' does not allow there." in found.output
        assert "--bad-sentences skip" in found.output
        assert not (files / "m.nk").exists()

    @pytest.mark.parametrize("stream", [[], ["--stream"]])
    def test_they_are_skipped_counted_and_located(self, files, stream):
        arguments = ["--constraints", "bio", "--templates", "chunk", "--passes", 3, *stream]
        found = run("learn", files / "bad.txt", *arguments, "--bad-sentences", "skip", "-o", files / "m.nk")
        (line,) = [line for line in found.stderr.splitlines() if "left out" in line]
        assert line.startswith("2 of 5 sentences left out, whose tags break the scheme bio. The first is ")
        assert line.endswith("bad.txt:11: the tag 'I-NP', which the scheme 'bio' does not allow there.")
        (files / "good.txt").write_text(f"{CHUNKS}\nCats NNS B-NP\n")
        run("learn", files / "good.txt", *arguments, "-o", files / "good.nk")
        assert nk.load(files / "m.nk").heaviest() == nk.load(files / "good.nk").heaviest()

    @pytest.mark.parametrize("stream", [[], ["--stream"]])
    def test_all_of_them_are_bad(self, files, stream):
        (files / "all.txt").write_text("a I-X\n\nb I-X\n")
        arguments = ["--constraints", "bio", "--bad-sentences", "skip", *stream, "-o", files / "m.nk"]
        assert (
            "the tags of all sentences break the scheme" in run("learn", files / "all.txt", *arguments, code=1).output
        )

    def test_a_scheme_is_needed(self, files, words):
        found = run("learn", files / "bad.txt", "--bad-sentences", "skip", "-o", files / "m.nk", code=2)
        assert "--constraints" in found.output
        assert (
            "without --constraints" in run("test", words, files / "bad.txt", "--bad-sentences", "skip", code=2).output
        )

    def test_tests_leave_them_out(self, files):
        run("learn", files / "chunks.txt", "--constraints", "bio", "--templates", "chunk", "-o", files / "m.nk")
        counted = json.loads(run("test", files / "m.nk", files / "bad.txt", "--json").stdout)
        found = run("test", files / "m.nk", files / "bad.txt", "--json", "--bad-sentences", "skip")
        assert (counted["sentences"], json.loads(found.stdout)["sentences"]) == (5, 3)
        assert "2 of 5 sentences left out" in found.stderr


class TestOneTag:
    @pytest.mark.parametrize("stream", [[], ["--stream"]])
    def test_a_column_that_is_not_filled_in(self, files, stream):
        found = run("learn", files / "unfilled.conllu", "--column", "xpos", *stream, "-o", files / "m.nk")
        (line,) = [line for line in found.stderr.splitlines() if line.startswith("Warning")]
        assert line.startswith("Warning: every tag in column xpos of ")
        assert "is '_': there is nothing to learn. Name another column with --column: id, word, lemma, upos" in line
        if not stream:
            assert found.stderr.index("Warning") < found.stderr.index("pass ")

    def test_other_columns_give_no_warning(self, files):
        assert "Warning" not in run("learn", files / "unfilled.conllu", "-o", files / "m.nk").stderr
        assert "Warning" not in run("test", files / "m.nk", files / "unfilled.conllu").stderr
        assert "every tag" in run("test", files / "m.nk", files / "unfilled.conllu", "--column", "xpos").stderr


class TestNames:
    def test_the_column_pos_is_used_if_there_is_one(self, files):
        run("learn", files / "chunks.txt", "--templates", "ner", "-o", files / "pos.nk")
        run("learn", files / "chunks.txt", "--templates", "ner", "--use", "word", "-o", files / "word.nk")
        with_pos, without = (nk.load(files / f"{name}.nk") for name in ("pos", "word"))
        names = {name for some in with_pos.heaviest(10_000).values() for name, _ in some}
        assert {"pos[0]=VBP", "pos[-1]=NNS", "pos[0]=DT pos[1]=NN", "word[0]=bark pos[0]=VBP"} <= names
        names = {name for some in without.heaviest(10_000).values() for name, _ in some}
        assert "word[0]=bark" in names
        assert not any("pos" in name for name in names)

    def test_pos_tells_apart_what_words_do_not(self):
        """New words of one shape, whose only difference is their part of speech."""
        sentences = [[("lau", "NNP")], [("mib", "NN")]] * 3
        tagger = nk.SequenceTagger("ner").fit(sentences, [["B-PER"], ["O"]] * 3)
        assert tagger.predict([[("xoq", "NNP")], [("xoq", "NN")]]) == [["B-PER"], ["O"]]

    def test_optional_lines(self):
        def texts(lines, columns):
            return [each.text for each in parse_templates(read_source(lines), columns).every]

        lines = ["word[0]", "?pos[0]", "? shape(pos)[-1]+word[0]", "?lower[0]", "?tag[-1]+pos[0]"]
        assert texts(lines, ["word"]) == ["word[0]", "lower[0]"]
        assert texts(lines, ["word", "pos"]) == ["word[0]", "pos[0]", "shape(pos)[-1]+word[0]", "lower[0]", "pos[0]"]
        plain = [line.removeprefix("?") for line in SETS["ner"]]
        assert texts(list(SETS["ner"]), ["word", "pos"]) == texts(plain, ["word", "pos"])
        with pytest.raises(nk.errors.DataError, match="not of the form name"):
            parse_templates(read_source(["word[0]", "?pos"]), ["word"])
