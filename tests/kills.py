"""Kill training at random moments and continue it, until it is complete: the model must be that of a quiet run.

``python -m tests.kills --kills 200`` prints a line per command; the exit code is 1 if any model differs.
"""

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

COMMANDS = (
    "pdm --epsilon 1e-4 -c 100",
    "pdm --multi-class joint",
    "pdm -w1 3",
    "pdm-succ --epsilon 1e-4",
    "pfm --epsilon 0.05",
    "dcd --epsilon 1e-6 -c 100",
    "newton --epsilon 1e-9",
    "mpu",
    "margitron --epsilon 0.1",
    "romma --epsilon 0.1",
    "auto",
    "auto -v 3",
)


def write_rows(path, n_rows=4000, n_columns=30, seed=0):
    """Write rows of three classes with much overlap, as LIBSVM text of whole numbers and eighths."""
    generator = np.random.RandomState(seed)
    X, W = generator.randint(-16, 17, (n_rows, n_columns)) / 8, generator.randint(-8, 9, (n_columns, 3))
    labels = (X @ W + generator.randint(-40, 41, (n_rows, 3))).argmax(axis=1)
    rows = (" ".join(f"{j + 1}:{value}" for j, value in enumerate(row) if value) for row in X)
    path.write_text("".join(f"{label} {row}\n" for label, row in zip(labels, rows, strict=True)))


def start(command, data, model, *options):
    words = [sys.executable, "-m", "dynmargin", "train", str(data), str(model), "--algorithm", *command, *options]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def outcome(process, model):
    """Return what a run that has ended has left, bit for bit."""
    printed = process.communicate()[0]
    if process.returncode not in (0, 1):
        raise RuntimeError(f"exit code {process.returncode}: {printed}")
    if not model.exists():  # cross-validation leaves no model
        return [line for line in printed.splitlines() if "Accuracy" in line]
    with np.load(model) as archive:
        return {name: archive[name].tobytes() for name in archive.files}


def kill_and_resume(command, kills, seed, folder):
    """Kill a run again and again; return how often it had a checkpoint by then, and whether it ended as if undisturbed.

    A run that is complete before it is killed begins anew, without its checkpoint.
    """
    moments, data = random.Random(seed), folder / "rows.txt"
    write_rows(data)
    began = time.perf_counter()
    quiet = outcome(start(command, data, folder / "quiet.npz"), folder / "quiet.npz")
    seconds = time.perf_counter() - began
    model, checkpoint = folder / "killed.npz", folder / "run"
    snapshots = ["--checkpoint", str(checkpoint), "--checkpoint-every", "0.005"]
    killed, same = 0, True
    while killed < kills:
        process = start(command, data, model, *snapshots)
        while process.poll() is None and not checkpoint.exists():  # before that there is nothing to continue from
            time.sleep(0.001)
        try:
            process.wait(moments.uniform(0, 0.2 * seconds))
            same &= outcome(process, model) == quiet
            checkpoint.unlink(missing_ok=True)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            killed += 1
    return killed, same and outcome(start(command, data, model, *snapshots), model) == quiet


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    survived, failed = 0, 0
    for number, command in enumerate(COMMANDS):
        share = arguments.kills * (number + 1) // len(COMMANDS) - arguments.kills * number // len(COMMANDS)
        with tempfile.TemporaryDirectory() as folder:
            killed, same = kill_and_resume(command.split(), share, arguments.seed + number, Path(folder))
        print(f"{command:32} {killed} kills, {'the same model' if same else 'ANOTHER MODEL'}", flush=True)
        survived, failed = survived + same * killed, failed + (not same)
    print(f"{survived} of {arguments.kills} kills survived, bit for bit; {failed} commands failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
