"""From a plain text file to a model, process start included: ``dynmargin train`` beside LIBLINEAR's train."""

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .sets import OPENERS, add_data_dir, require

PYTHON_PACKAGE = """
import sys
from liblinear.liblinearutil import save_model, svm_read_problem, train
y, X = svm_read_problem(sys.argv[-2])
save_model(sys.argv[-1], train(y, X, " ".join(sys.argv[1:-2])))
"""


def add_arguments(parser):
    parser.add_argument("--runs", type=int, default=15)
    add_data_dir(parser)


def liblinear():
    """Return Debian's program if it is installed, else the Python package with its own reader."""
    if found := shutil.which("liblinear-train") or shutil.which("train-liblinear"):
        return "liblinear-train", [found]
    return "liblinear-official (Python)", [sys.executable, "-c", PYTHON_PACKAGE]


def run(arguments):
    packed = require(arguments.data_dir, "adult/a9a.xz")
    name, program = liblinear()
    ours = [str(Path(sys.executable).parent / "dynmargin"), "train", "-q"]
    with tempfile.TemporaryDirectory() as folder:
        data, model = str(Path(folder) / "a9a"), str(Path(folder) / "model")
        with OPENERS[packed.suffix](packed) as file:
            Path(data).write_bytes(file.read())
        commands = {
            "dynmargin train": [*ours, data, model],
            "dynmargin train --epsilon 0.001": [*ours, "--epsilon", "0.001", data, model],
            f"{name} (its defaults: -s 1 -B -1)": [*program, "-q", data, model],
            f"{name} -B 1": [*program, "-q", "-B", "1", data, model],
            f"{name} -s 2 -B 1": [*program, "-q", "-s", "2", "-B", "1", data, model],
            "python -c 'import numpy'": [sys.executable, "-c", "import numpy"],
        }
        times = {label: [] for label in commands}
        for _ in range(arguments.runs):
            for label, words in commands.items():
                start = time.perf_counter()
                subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
                times[label].append(time.perf_counter() - start)
    print(f"{'Adult, plain text':46} {'median ms':>9}   all runs")
    for label, runs in times.items():
        every = " ".join(f"{seconds * 1000:.0f}" for seconds in runs)
        print(f"{label:46} {statistics.median(runs) * 1000:9.0f}   {every}")
