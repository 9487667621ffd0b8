"""Help, the manual page and completion are made from the parser; nothing is wider than a terminal."""

import re
import shutil
import subprocess

import pytest

from dynmargin.cli.parser import COMMANDS, tree, walk
from dynmargin.comparison.peers import PEERS
from dynmargin.comparison.rendering import as_text

TRIED = """
try() {
  COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _dynmargin
  local IFS=${JOINED:- }; echo "${COMPREPLY[*]}"
}
try dynmargin tr
try dynmargin train --alg
try dynmargin train --algorithm mp
try dynmargin data con
try dynmargin data convert --fr
try dynmargin completion f
try dynmargin help ""
try dynmargin help data ""
try dynmargin help --
try dynmargin compare a9a --algorithms pdm,new
try dynmargin compare a9a --algorithms pdm,pd
try dynmargin compare a9a --peers ""
try dynmargin paper table1 --columns pdm,pf
try dynmargin paper table2 --sets adult,cov
JOINED="|" try dynmargin train odd.csv --drop "size in cm,"
JOINED="|" try dynmargin compare odd.csv --label k
JOINED="|" try dynmargin train other.tsv --drop ""
JOINED="|" try dynmargin train headless.csv --label ""
JOINED="|" try dynmargin train tw
JOINED="|" try dynmargin data convert tw
"""
TABLES = {"odd.csv": "size in cm,$(touch ran),kind\r\n1,2,3\r\n", "other.tsv": "a\tb\n1\t2\n"}
TABLES |= {"headless.csv": "1,3.5,5e-1\n2,4.5,5e-1\n"}
FOUND = ["train", "--algorithm", "mpu mpu-hinge", "convert", "--from", "fish"]
FOUND += [" ".join(COMMANDS), "convert", "--help --man"]
FOUND += ["pdm,newton", "pdm,pdm-succ", " ".join(PEERS), "pdm,pfm pdm,pfm-succ", "adult,covertype"]
FOUND += ["size in cm,$(touch ran)|size in cm,kind", "kind", "a|b", "", "two words", "two words"]


def test_help_is_that_of_the_command(run):
    for words in (("train",), ("data", "convert"), ()):
        assert run("help", *words) == run(*words, "--help")
    code, _, err = run("help", "trian")
    assert (code, "no command is called 'trian'; there are train, predict" in err) == (3, True)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_80_columns(name, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run("help", name)
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80


def test_examples_fit_80_columns_as_they_are():
    """What is wrapped cannot be pasted into a shell."""
    for command in walk(tree()):
        lines = (command.parser.epilog or "").splitlines()
        assert not [line for line in lines if line.startswith("  ") and "dynmargin" in line and len(line) > 78]


def test_commands_that_read_data_share_the_options_for_it():
    below = {" ".join(command.words[1:]): command for command in walk(tree())}
    for name in ("train", "predict", "verify", "report", "compare", "data convert"):
        options = {word for option in below[name].options() for word in option.option_strings}
        assert {"--label", "--drop", "-q", "--quiet", "--from" if name == "data convert" else "--format"} <= options
        assert ("--json" in options) == (name not in ("report", "data convert"))  # which print nothing


def test_a_table_that_is_too_wide_continues_below():
    record = {"algorithm": "pdm", "problem": "p", "gap": 0.01, "margin": 1.0, "updates": 10**9, "stop_reason": "x" * 20}
    whole = as_text([record, record])
    parts = as_text([record, record], 40).split("\n\n")
    assert max(len(line) for part in parts for line in part.splitlines()) <= 40
    assert len(whole.splitlines()) == 3
    assert all(part.splitlines()[1].startswith("pdm") for part in parts)
    words = [line.split() for part in parts for line in part.splitlines()]
    assert whole.splitlines()[0].split() == [*words[0], *words[3][1:]]


def test_the_manual_page_has_every_option(run):
    code, out, _ = run("help", "--man")
    assert code == 0
    plain = out.replace(r"\-", "-")
    for command in walk(tree()):
        if len(command.words) > 1:
            assert f".SH {' '.join(command.words).upper()}\n" in plain
            section = plain.partition(f".SH {' '.join(command.words).upper()}\n")[2].partition(".SH ")[0]
            for option in command.options():
                assert option.option_strings[0] in section
    if shutil.which("groff"):
        checked = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=out, capture_output=True, text=True)
        assert (checked.returncode, checked.stderr) == (0, "")
        lines = [re.sub(".\b|\x1b\\[\\d*m", "", line) for line in checked.stdout.splitlines()]
        examples = {line.strip() for one in walk(tree()) for line in (one.parser.epilog or "").splitlines()}
        assert max(len(line) for line in lines if line.strip() not in examples) <= 80


def test_bash_completes(run, tmp_path):
    script = run("completion", "bash")[1]
    for name, text in {**TABLES, "two words": ""}.items():
        (tmp_path / name).write_text(text)
    found = subprocess.run(["bash", "-c", script + TRIED], capture_output=True, text=True, cwd=tmp_path)
    assert (found.stdout.splitlines(), found.stderr) == (FOUND, "")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_other_scripts_name_every_command_and_option(shell, run):
    code, script, _ = run("completion", shell)
    assert code == 0
    for command in walk(tree()):
        for option in command.options():
            name = option.option_strings[-1]
            assert name == "-wLABEL" or (name if shell == "zsh" else name.lstrip("-")) in script
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=script, capture_output=True, text=True).stderr == ""
