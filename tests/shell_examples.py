"""The shell examples of the README and the docs print what the pages show: python -m tests.shell_examples [PAGE ...].

They need the paper's data sets in the folder that DYNMARGIN_DATA names, and a minute or two. Seconds and digests may
differ, and a line of dots stands for any lines. A page shows all that a command prints, or only its standard output.
Left out, and said so: what takes minutes, and what is not installed, with the rest of its block. The exit code is 1 if
anything differs.
"""

import difflib
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^(<!-- times vary -->\n)?```\n(\$ .*?)^```", flags=re.DOTALL | re.MULTILINE)
LONG = ("dynmargin paper",)
FILES = ("adult/a9a.xz", "adult/a9a.t.xz", "covertype/covtype.csv.xz")


def furnish(folder, data):
    """Put the files there that the examples use."""
    for name in FILES:
        os.symlink(data / name, folder / Path(name).name)
    for name in ("a9a", "a9a.t"):
        with lzma.open(folder / f"{name}.xz") as packed:
            (folder / name).write_bytes(packed.read())
    (folder / "broken").write_text("+1 1:1\n+1 2:x\n")
    os.symlink(data, folder / "data")


def blocks(page):
    """For each block of a page: whether its numbers vary, and its commands with what is shown below each."""
    for vary, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
        yield bool(vary), [part.partition("\n")[::2] for part in parts]


def obstacle(command):
    """Say why a command is left out, if it is."""
    if command.startswith(LONG):
        return "it takes minutes"
    programs = [part.split()[0] for part in re.split(r"[|;]", command)]
    missing = [program for program in programs if program != "echo" and not shutil.which(program)]
    return f"{missing[0]} is not installed" if missing else ""


def comparable(text, vary):
    """Leave out what may differ from run to run."""
    text = re.sub(r"\b\d+\.\d+ s\b|\b[0-9a-f]{64}\b", "VARIES", text)
    text = re.sub(r"\d[\d.]*", "0", text) if vary else text
    return [re.sub(r" +", " ", line).rstrip() for line in text.splitlines()]


def agree(shown, printed):
    """Whether each line is the same; dots stand for any lines."""
    pattern = "\n".join(".*" if line == "..." else re.escape(line) for line in shown)
    return re.fullmatch(pattern, "\n".join(printed), flags=re.DOTALL) is not None


def differs(page, command, shown, vary, folder):
    """Run a command; print and return whether it prints something else than what is shown."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as both:
        subprocess.run(["bash", "-c", command], cwd=folder, stdout=both, stderr=subprocess.STDOUT)
        both.seek(0)
        printed = comparable(both.read(), vary)
        expected = comparable(shown, vary)
        if agree(expected, printed):
            return False
        subprocess.run(["bash", "-c", command], cwd=folder, stdout=out, stderr=subprocess.DEVNULL)
        out.seek(0)
        if agree(expected, comparable(out.read(), vary)):
            return False
    print(f"{page.name}: $ {command}")
    print("\n".join(difflib.unified_diff(expected, printed, "shown", "printed", lineterm="", n=0)))
    return True


def run(page, data):
    """Run the examples of a page one after the other in one folder; return how many differ."""
    differing = 0
    with tempfile.TemporaryDirectory() as name:
        furnish(Path(name), data)
        for vary, commands in blocks(page):
            for number, (command, shown) in enumerate(commands):
                if reason := obstacle(command):
                    print(f"{page.name}: {len(commands) - number} left out, because {reason}: $ {command}")
                    break
                differing += differs(page, command, shown, vary, Path(name))
    return differing


def main():
    if "DYNMARGIN_DATA" not in os.environ:
        sys.exit("set DYNMARGIN_DATA to a folder with " + ", ".join(FILES))
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    pages = [Path(name).resolve() for name in sys.argv[1:]] or PAGES
    sys.exit(1 if sum(run(page, Path(os.environ["DYNMARGIN_DATA"]).resolve()) for page in pages) else 0)


if __name__ == "__main__":
    main()
