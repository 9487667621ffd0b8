"""Training on data four times the memory budget, beside training on the same data in memory; and the conversion.

Everything is generated in a temporary folder. Each run is a process of its own, whose address space is limited to the
budget beyond what the interpreter and its libraries take. By --cgroup it is put into a memory cgroup instead, which
counts the interpreter and the pages of files too. Pages of files are dropped before a run, and in a run with limited
addresses after every block, so that each pass reads from the disk. Every model is verified by the ordinary command in
memory.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def resident(name):
    """Return a figure of Linux's account of this process, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def add_arguments(parser):
    from .sets import add_data_dir  # not above: what a measured process loads counts

    add_data_dir(parser)
    parser.add_argument("--sets", default="covertype,rcv1-like:200000", help="separated by commas")
    parser.add_argument("--copies", type=int, default=20, help="of covertype, one after the other")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--share", type=float, default=0.25, help="of the size on the disk: the budget")
    parser.add_argument("--cgroup", help="an empty memory cgroup of yours to run in; its limit is set to the budget")
    parser.add_argument("--scratch", help="where to make the temporary folder")


def write_text(name, copies, folder, path):
    """Write a set as LIBSVM text; return C."""
    from sklearn.datasets import dump_svmlight_file

    from .sets import load

    X, y, C = load(name, folder)
    once = path.with_suffix(".once")
    with once.open("wb") as file:
        dump_svmlight_file(X, y, file, zero_based=False)
    with path.open("wb") as whole:
        for _ in range(copies if name == "covertype" else 1):
            with once.open("rb") as part:
                shutil.copyfileobj(part, whole, 1 << 24)
    return C


def forget(*paths):
    """Drop the pages of files from memory."""
    for path in paths:
        for file in path.rglob("*") if path.is_dir() else [path]:
            handle = os.open(file, os.O_RDONLY)
            os.fsync(handle)
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(handle)


def limit(cgroup, budget):
    """Set the limit of a memory cgroup, of either version."""
    for name in ("memory.max", "memory.limit_in_bytes"):
        if (cgroup / name).exists():
            return (cgroup / name).write_text(str(budget))
    raise SystemExit(f"{cgroup} is not a memory cgroup")


def child(words, budget=None, cgroup=None):
    """Run a command in a process of its own; return its time, its peak of memory and its output."""
    options = [
        *(() if budget is None else ("--budget", str(budget))),
        *(() if cgroup is None else ("--cgroup", cgroup)),
    ]
    line = [sys.executable, "-m", "benchmarks.larger_than_memory", *options, "--", *map(str, words)]
    # Each thread's arena would reserve 64 MB of addresses, most of which are never used.
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
    done = subprocess.run(line, capture_output=True, text=True, env=env)
    *said, figures = done.stdout.splitlines() or [""]
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))} failed: {done.stdout}{done.stderr}")
    return {**json.loads(figures), "said": said}


def measure():
    """Run a command in this process, and print what it took."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--budget", type=int)
    parser.add_argument("--cgroup")
    parser.add_argument("words", nargs="+")
    arguments = parser.parse_args()
    if arguments.cgroup:
        Path(arguments.cgroup, "cgroup.procs").write_text(str(os.getpid()))
    from dynmargin.cli.main import main
    from dynmargin.data.binary import Folder, block_name
    from dynmargin.data.formats import read_dataset  # noqa: F401  # loaded before memory is limited
    from dynmargin.shards import disk_fit  # noqa: F401

    if arguments.budget:
        taken = resident("VmSize")
        resource.setrlimit(resource.RLIMIT_AS, (taken + arguments.budget,) * 2)
        read = Folder.read

        def read_and_forget(self, i):
            found = read(self, i)
            handle = os.open(Path(self.path, block_name(i)), os.O_RDONLY)
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(handle)
            return found

        Folder.read = read_and_forget
    before = resident("VmRSS")
    start = time.perf_counter()
    code = main(arguments.words)
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "code": code, "peak": resident("VmHWM") - before}))
    sys.exit(code)


def converted(text, folder):
    """Convert a text and print how fast, and in how much memory, beside reading it; from a quarter of it too."""
    quarter = text.with_suffix(".quarter")
    with text.open("rb") as whole, quarter.open("wb") as part:
        part.write(whole.read(text.stat().st_size // 4))
        part.write(whole.readline())
    print(f"{'':10} {'MB of text':>10} {'seconds':>8} {'MB/s':>6} {'peak MB':>8}")
    code = "import sys, time; from dynmargin.data.libsvm import parse; from dynmargin.data.archives import contents;"
    code += "s = time.perf_counter(); parse(contents(sys.argv[1]), ''); print(time.perf_counter() - s)"
    for path in (quarter, text):
        size = path.stat().st_size / 1e6
        if path is quarter:
            done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
            print(f"{'read':10} {size:10.0f} {float(done.stdout):8.2f} {size / float(done.stdout):6.0f}")
        target = folder if path is text else folder.with_suffix(".quarter")
        found = child(["data", "convert", path, f"{target}/", "--from", "libsvm"])
        seconds = found["seconds"]
        print(
            f"{'convert':10} {size:10.0f} {seconds:8.2f} {size / seconds:6.0f} {found['peak'] / 1e6:8.0f}", flush=True
        )
    shutil.rmtree(folder.with_suffix(".quarter"))
    quarter.unlink()


def run(arguments):
    for name in arguments.sets.split(","):
        with tempfile.TemporaryDirectory(dir=arguments.scratch) as scratch:
            place = Path(scratch)
            C = write_text(name, arguments.copies, arguments.data_dir, place / "text")
            print(f"\n{name}{f' x {arguments.copies}' if name == 'covertype' else ''}, C = {C:g}")
            converted(place / "text", place / "rows.dm")
            rows = place / "rows.dm"
            size = sum(file.stat().st_size for file in rows.iterdir())
            budget = int(size * arguments.share)
            print(f"on the disk {size / 1e6:.0f} MB, budget {budget / 1e6:.0f} MB")
            if arguments.cgroup:
                limit(Path(arguments.cgroup), budget)
            compare(rows, place, C, budget, arguments)


def compare(rows, place, C, budget, arguments):
    train = ["train", rows, "--epsilon", "0.01", "-c", repr(float(C))]
    times = {"in memory": [], "on the disk": []}
    print(f"{'':12} {'seconds':>8} {'peak MB':>8}  result")
    for _ in range(arguments.runs):
        for kind, runs in times.items():
            limited = kind == "on the disk"
            options = ["--memory", budget] if limited else []
            forget(rows)
            found = child(
                [*train, place / f"{kind}.npz", *options],
                budget if limited and not arguments.cgroup else None,
                arguments.cgroup if limited else None,
            )
            runs.append(found["seconds"])
            print(f"{kind:12} {found['seconds']:8.2f} {found['peak'] / 1e6:8.0f}  {found['said'][0]}", flush=True)
    for kind in times:
        (said, *_) = child(["verify", place / f"{kind}.npz", rows, "-c", repr(float(C))])["said"]
        print(f"verify, {kind}: {said}")
    ratio = statistics.median(times["on the disk"]) / statistics.median(times["in memory"])
    print(f"on the disk / in memory: {ratio:.2f}", flush=True)


if __name__ == "__main__":
    measure()
