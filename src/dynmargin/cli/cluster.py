"""dynmargin train --workers, --scheduler: files as partitions, on a local cluster of processes or a running one."""

import argparse
import glob
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .options import DONE, NOT_PROVEN, at_least_one, notice

if TYPE_CHECKING:
    from ..data.dataset import Dataset

# Options of a training on one machine, by name and what they are unless they are given.
ELSEWHERE = {
    "validate": None,
    "search_C": False,
    "until_settled": None,
    "weights": None,
    "multi_class": "ovr",
    "scale": "none",
    "loss": "squared_hinge",
    "drop": None,
    "memory": None,
    "json": False,
}
ABLE = ("auto", "newton")  # algorithms

ClassWeights = Callable[..., tuple[Any, list[str]]]


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
    for option, without in ELSEWHERE.items():
        if (given := getattr(arguments, option, without)) != without and given:
            raise ValueError(f"--{option.replace('_', '-')} is for one machine; leave --workers and --scheduler out")
    if arguments.algorithm not in ABLE:
        raise ValueError(f"over a cluster only Newton's method is available, not {arguments.algorithm}")


def files_of(pattern: str) -> list[str]:
    """Return the files that a pattern stands for, in the order of their names."""
    found = sorted(glob.glob(pattern))
    if not found:
        raise ValueError(f"there is no file {pattern}")
    return found


@contextmanager
def connected(arguments: argparse.Namespace) -> Iterator[Any]:
    """Connect to the cluster that is named, or start one of processes with one thread each."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ValueError("a cluster needs dask; install it with: pip install 'dynmargin[dask]'") from None
    if arguments.scheduler:
        with Client(arguments.scheduler) as client:
            yield client
        return
    with (
        LocalCluster(
            n_workers=arguments.workers, threads_per_worker=1, dashboard_address=":0", memory_limit=0
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def train(arguments: argparse.Namespace, class_weights: ClassWeights) -> int:
    """Train over a cluster, write the model, and print what is proven."""
    from ..dask.files import read_parts

    files = files_of(arguments.data)
    with connected(arguments) as client:
        began = time.perf_counter()
        parts = read_parts(client, files, arguments.format, arguments.label)
        for message in parts.notices:
            notice(message)
        if not arguments.quiet:
            seconds = time.perf_counter() - began
            size = f"{parts.n_rows} rows, {parts.n_features} features in {len(files)} files"
            print(f"{arguments.data}: {size}, read in {seconds:.2f} s", file=sys.stderr)
        return _fit(arguments, client, parts, class_weights)


def _fit(arguments: argparse.Namespace, client: Any, parts: Any, class_weights: ClassWeights) -> int:
    from ..dask import DaskMaxMarginClassifier
    from ..model import model_file

    weights, unknown = class_weights(parts.classes, arguments.class_weights)
    for label in unknown:
        notice(f"no row has the label {label} of -w{label}")
    classifier = DaskMaxMarginClassifier(
        arguments.epsilon,
        C=arguments.C,
        fit_intercept=arguments.bias > 0,
        intercept_scaling=max(arguments.bias, 0.0) or 1.0,
        class_weight=dict(zip(parts.classes.tolist(), weights.tolist(), strict=True)),
        max_time=arguments.max_time,
        random_state=arguments.seed,
        checkpoint=arguments.checkpoint,
        checkpoint_every=arguments.checkpoint_every,
        verbose=0 if arguments.quiet else 1,
        client=client,
    )
    began = time.perf_counter()
    classifier.fit(parts.X, parts.y)
    seconds = time.perf_counter() - began
    first: Dataset = parts.first
    certificates = [certificate.to_local() for certificate in classifier.certificates_]
    parameters = {name: getattr(arguments, name) for name in ("epsilon", "C", "class_weights", "multi_class", "seed")}
    model_file.write(
        arguments.model,
        classes=classifier.classes_,
        coef=classifier.coef_,
        intercept=classifier.intercept_,
        bias=certificates[0].problem.rho,
        certificates=certificates,
        feature_names=first.feature_names,
        first_index=first.first_index,
        history=classifier.history_,
        parameters={
            "algorithm": classifier.algorithm_,
            **parameters,
            "stop_reason": classifier.stop_reason_,
            "label": first.label_name or arguments.label,
        },
    )
    arguments.code = DONE if all(certificate.achieved for certificate in certificates) else NOT_PROVEN
    if not arguments.quiet:
        piped = arguments.model == "-"
        lines = [f"{classifier.algorithm_}; {classifier.n_updates_} updates, {seconds:.2f} s"]
        if len(certificates) > 1:
            lines.append(f"{len(certificates)} classes, each against the rest; the one with the largest gap:")
        lines += [str(classifier.certificate_)]
        lines.append(f"model written to {'standard output' if piped else arguments.model}")
        print("\n".join(lines), file=sys.stderr if piped else sys.stdout)
    return int(arguments.code)
