"""dynmargin train --workers, --scheduler: files as partitions, on a local cluster of processes or a running one."""

import argparse
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .options import at_least_one, notice, say

if TYPE_CHECKING:
    from ..dask.files import FileParts

# Options of a training on one machine: what they are unless they are given, and what to do instead.
ELSEWHERE = {
    "validate": (None, "-v"),
    "search_C": (False, "-C"),
    "multi_class": ("ovr", "--multi-class joint"),
    "memory": (None, "--memory"),
}
ABLE = ("auto", "newton")  # algorithms
CONNECT_SECONDS = 30.0  # to wait for a scheduler


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that ask for a cluster."""
    pattern = "DATA is then a file, or a pattern of files such as 'parts-*.svm.zst', each a partition"
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--workers",
        type=at_least_one,
        metavar="N",
        help=f"train over N processes of this machine (needs dask). {pattern}",
    )
    where.add_argument("--scheduler", metavar="ADDRESS", help="train over the Dask cluster at this address. The same")


def is_asked(arguments: argparse.Namespace) -> bool:
    """Whether the command line asks for a cluster."""
    return bool(arguments.workers or arguments.scheduler)


def require_possible(arguments: argparse.Namespace) -> None:
    """Refuse what a cluster cannot do."""
    for option, (without, name) in ELSEWHERE.items():
        if (given := getattr(arguments, option, without)) != without and given:
            raise ValueError(f"{name} is for one machine; leave --workers and --scheduler out")
    if arguments.algorithm not in ABLE:
        raise ValueError(f"a cluster trains by Newton's method, not by {arguments.algorithm}; leave --algorithm out")
    if arguments.algorithm == "newton" and math.isinf(arguments.C):
        raise ValueError("Newton's method needs a finite -c; leave --algorithm out")
    if arguments.data == "-":
        raise ValueError("a cluster reads files, each on a worker; standard input is for one machine")


@contextmanager
def connected(arguments: argparse.Namespace) -> Iterator[Any]:
    """Connect to the cluster that is named, or start one of processes with one thread each."""
    try:
        from ..dask.cluster import ClusterError
        from ..dask.local import local_cluster
    except ImportError:
        raise ValueError("a cluster needs dask; install it with: pip install 'dynmargin[dask]'") from None
    where = running(arguments) if arguments.scheduler else local_cluster(arguments.workers)
    try:
        with where as client:
            yield client
    except ClusterError as error:
        raise ValueError(str(error)) from error


def running(arguments: argparse.Namespace) -> Any:
    """Connect to the cluster that is named."""
    from distributed import Client

    seconds = min(CONNECT_SECONDS, arguments.max_time or CONNECT_SECONDS)
    try:
        return Client(arguments.scheduler, timeout=seconds)
    except (OSError, ValueError) as error:
        raise ValueError(f"no Dask scheduler answers at {arguments.scheduler} within {seconds:g} s") from error


def read(arguments: argparse.Namespace, client: Any) -> "FileParts":
    """Let the workers read the files, and report their size."""
    from ..dask.files import read_parts
    from ..data.several import files_of
    from ..problem.statement import counted

    files, began = files_of(arguments.data), time.perf_counter()
    parts = read_parts(client, files, arguments.format, arguments.label, arguments.drop)
    for message in parts.first.notices:
        notice(message)
    if not arguments.quiet:
        seconds = time.perf_counter() - began
        size = f"{counted(sum(parts.lengths), 'row')}, {counted(parts.n_features, 'feature')}"
        say(f"{arguments.data}: {size} in {counted(len(files), 'file')}, read in {seconds:.2f} s")
    return parts
