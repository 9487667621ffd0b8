"""dynmargin train --workers, --scheduler: files as partitions, on a local cluster of processes or a running one."""

import argparse
import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .options import at_least_one, mention_ignored_label, notice, say

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
    pattern = "DATA is then a file or a pattern such as 'parts-*.svm.zst'; every file is a partition"
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--workers",
        type=at_least_one,
        metavar="N",
        help=f"train on N processes of this machine (needs dask); {pattern}",
    )
    where.add_argument(
        "--scheduler", metavar="ADDRESS", help="train on the Dask cluster at this address; DATA as for --workers"
    )


def is_asked(arguments: argparse.Namespace) -> bool:
    """Whether the command line asks for a cluster."""
    return bool(arguments.workers or arguments.scheduler)


def require_possible(arguments: argparse.Namespace) -> None:
    """Refuse what a cluster cannot do."""
    for option, (without, name) in ELSEWHERE.items():
        if (given := getattr(arguments, option, without)) != without and given:
            raise ValueError(f"{name} is for one machine; leave out --workers and --scheduler")
    if arguments.algorithm not in ABLE:
        by = "Newton's method"
        if arguments.loss == "hinge" or math.isinf(arguments.C):
            by = "coordinate descent on the rows that decide, which are sent to one place"
        raise ValueError(f"for this problem a cluster trains by {by}; leave --algorithm {arguments.algorithm} out")
    if arguments.algorithm == "newton" and math.isinf(arguments.C):
        raise ValueError("Newton's method needs a finite -c; leave --algorithm out")
    if arguments.data == "-":
        raise ValueError("a cluster reads files, each on a worker; standard input is for one machine")


@contextmanager
def connected(arguments: argparse.Namespace) -> Iterator[Any]:
    """Connect to the cluster that is named, or start one of processes with one thread each."""
    from ..dask import NEEDS_DASK

    try:
        from ..dask.cluster import ClusterError
        from ..dask.local import local_cluster
    except ImportError:
        raise ValueError(NEEDS_DASK) from None
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


def files(arguments: argparse.Namespace) -> list[str]:
    """Return the files, after a check of the first one; those of --workers must be there."""
    from ..data.columns import Asked
    from ..data.formats import check_beginning, format_of
    from ..data.several import files_of

    found = files_of(arguments.data)
    if arguments.workers:  # a scheduler elsewhere may have files that this machine has not
        for path in found:
            os.stat(path)
    check_beginning(
        found[0], arguments.format or format_of(found[0]), Asked(arguments.label, arguments.drop, required=True)
    )
    mention_ignored_label(arguments)
    return found


def read(arguments: argparse.Namespace, files: "list[str]", client: Any, seconds: float) -> "FileParts":
    """Let the workers read the files, for so many seconds, and report their size."""
    from ..dask.files import read_parts
    from ..problem.statement import counted

    began = time.perf_counter()
    parts = read_parts(client, files, arguments.format, arguments.label, arguments.drop, seconds)
    for message in parts.first.notices:
        notice(message)
    if not arguments.quiet:
        seconds = time.perf_counter() - began
        size = f"{counted(sum(parts.lengths), 'row')}, {counted(parts.n_features, 'feature')}"
        say(f"{arguments.data}: {size} in {counted(len(files), 'file')}, read in {seconds:.2f} s")
    return parts
