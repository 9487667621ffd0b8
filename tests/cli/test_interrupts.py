"""Ctrl-C ends the command quietly, however early it comes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs signals")

# Python runs this before anything else; it presses Ctrl-C when a module is looked for.
AT_START = """
import os, signal, sys

class Interrupting:
    def find_spec(name, path=None, target=None):
        if name == os.environ["INTERRUPT_AT"]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting)
"""
# What pip writes for the command.
SCRIPT = "import sys; from dynmargin.__main__ import main; sys.exit(main())"


@pytest.mark.parametrize("program", [("-m", "dynmargin"), ("-c", SCRIPT)], ids=["module", "script"])
@pytest.mark.parametrize(
    "module", ["dynmargin.cli", "argparse", "dynmargin.cli.signals", "dynmargin.cli.info", "numpy"]
)
def test_ctrl_c_while_the_command_is_loaded(module, program, tmp_path, folder):
    (tmp_path / "sitecustomize.py").write_text(AT_START)
    where = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, *program, "info", "model.npz"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": where, "INTERRUPT_AT": module},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_the_command_is_the_function_that_ends_quietly():
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert '\ndynmargin = "dynmargin.__main__:main"\n' in text
