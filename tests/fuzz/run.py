"""Look for an input that breaks a promise.

The search runs in a process of its own, because a broken promise may be a crash; the input that is being tried is in a
file that both map, so that it is known afterwards.
"""

import mmap
import resource
import signal
import subprocess
import sys
import time
import traceback
import warnings
from pathlib import Path
from random import Random

from .mutate import MOST_BYTES, mutate

MOST_SECONDS = 20  # for one input
MOST_MEGABYTES = 512  # beyond what the process has before the first input
LENGTH_BYTES = 8


def where(error: BaseException) -> str:
    """Name the kind of an error and the last place in the package or in the target, to tell findings apart."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "dynmargin" in frame.filename.split("/")] or frames
    frame = ours[-1]
    words = " ".join(str(error).split())[:60] if isinstance(error, AssertionError) else ""
    return f"{type(error).__name__} in {Path(frame.filename).name}:{frame.lineno} {words}".strip()


def search(
    name: str, seconds: float, seed: int, folder: Path, most: int | None = None, replay: Path | None = None
) -> int:
    """Try one input after the other in this process; return how many broken promises there are."""
    from .targets import TARGETS, scratch

    warnings.simplefilter("ignore")
    target, random = TARGETS[name], Random(f"{name} {seed}")
    seeds = [replay.read_bytes()] if replay else target.seeds(name)
    found: dict[str, bytes] = {}
    with (folder / "trying").open("r+b") as file, scratch() as place:
        trying = mmap.mmap(file.fileno(), LENGTH_BYTES + MOST_BYTES)
        begin, tried, interesting = time.monotonic(), 0, list(seeds)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        while True:
            if tried < len(seeds):
                data = seeds[tried]
            elif replay or time.monotonic() - begin > seconds or tried == most:
                break
            else:
                data = mutate(random.choice(interesting), random)
            trying[: LENGTH_BYTES + len(data)] = len(data).to_bytes(LENGTH_BYTES, "little") + data
            tried += 1
            signal.alarm(MOST_SECONDS)
            try:
                target.check(data, Path(place))
            except Exception as error:
                key = where(error)
                if key not in found:
                    found[key] = data
                    print(f"{name}: {key}\n{''.join(traceback.format_exception(error)[-4:])}", flush=True)
                    (folder / f"{name}-{len(found)}").write_bytes(data)
            else:
                # Without coverage, what still passes is what goes deepest: keep a few to change further.
                if len(interesting) < 4 * len(seeds) + 50 and random.random() < 0.01:
                    interesting.append(data)
            used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            if used - before > MOST_MEGABYTES << 10:
                key = f"{(used - before) >> 10} MB for an input of {len(data)} bytes"
                found[key], before = data, used
                print(f"{name}: {key}", flush=True)
                (folder / f"{name}-{len(found)}").write_bytes(data)
        signal.alarm(0)
        elapsed = time.monotonic() - begin
        print(
            f"{name}: {tried} inputs in {elapsed:.1f} s, {tried / elapsed:.0f} per second, {len(found)} findings",
            flush=True,
        )
    return len(found)


def guarded(
    name: str, seconds: float, seed: int, folder: Path, most: int | None = None, replay: Path | None = None
) -> int:
    """Search in a process of its own; return 0 if nothing was found, and keep the input that ended it otherwise."""
    folder.mkdir(parents=True, exist_ok=True)
    trying = folder / "trying"
    trying.write_bytes(bytes(LENGTH_BYTES + MOST_BYTES))
    package = __package__ or "fuzz"
    root = Path(__file__).parents[len(package.split("."))]
    words = [
        name,
        str(seconds),
        str(seed),
        str(folder.resolve()),
        str(most or 0),
        str(replay.resolve() if replay else ""),
    ]
    code = subprocess.run([sys.executable, "-m", f"{package}.run", *words], cwd=root).returncode
    if code not in (0, 1):
        content = trying.read_bytes()
        length = int.from_bytes(content[:LENGTH_BYTES], "little")
        crash = folder / f"{name}-crash"
        crash.write_bytes(content[LENGTH_BYTES : LENGTH_BYTES + length])
        reason = f"more than {MOST_SECONDS} s" if code == -signal.SIGALRM else f"exit code {code}"
        print(f"{name}: the process ended ({reason}); its input is {crash}", flush=True)
    trying.unlink()
    return int(code != 0)


if __name__ == "__main__":
    name, seconds, seed, folder, most, replay = sys.argv[1:]
    found = search(name, float(seconds), int(seed), Path(folder), int(most) or None, Path(replay) if replay else None)
    sys.exit(found > 0)
