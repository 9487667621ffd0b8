"""python -m tests.fuzz [--target text] [--seconds 60] [--seed 0] [--out FOLDER] [--replay FILE]"""

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .run import guarded
from .targets import TARGETS

parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Look for inputs that break a promise.")
parser.add_argument("--target", choices=[*TARGETS, "all"], default="all")
parser.add_argument("--seconds", type=float, default=60.0, help="for each target")
parser.add_argument("--seed", type=int, default=int(time.time()), help="by default another one each time")
parser.add_argument("--jobs", type=int, default=1, help="how many targets at a time")
parser.add_argument("--out", type=Path, default=Path(".venv/fuzz"), help="where inputs that break a promise are kept")
parser.add_argument("--replay", type=Path, help="try this input alone; needs --target")
given = parser.parse_args()
names = list(TARGETS) if given.target == "all" else [given.target]
print(f"seed {given.seed}")


def attack(name: str) -> int:
    return guarded(name, given.seconds, given.seed, given.out / name, replay=given.replay)


with ThreadPoolExecutor(given.jobs) as pool:
    sys.exit(any(list(pool.map(attack, names))))
