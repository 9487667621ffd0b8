"""Threads for one problem: several against one, and against peers with as many threads.

Every set is trained from CSR in memory, in turn by one thread and by several, and by peers with as many threads and
their oracle tolerance. Results must be the same bit for bit for any number of threads, and every certificate is
verified. LIBLINEAR's multicore build takes part if --multicore names an interpreter that has it; its conversion counts,
and its solver alone is printed beside it.
"""

import json
import statistics
from pathlib import Path

from .adapters import Ours, SnapML, Theirs
from .compare import timed
from .multicore import Multicore
from .oracle import Rungs, oracles
from .sets import add_data_dir, load, names_of

EPSILON = 0.01
MOST_COLUMNS = 2000  # for Newton's method by itself


def add_arguments(parser):
    parser.add_argument("--sets", default="covertype,newsgroups,rcv1-like:300000")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for a fit of a peer")
    parser.add_argument("--out", default="benchmark-results", help="folder for raw figures")
    parser.add_argument("--multicore", metavar="PYTHON", help="an interpreter that has liblinear-multicore")
    parser.add_argument("--no-peers", action="store_true", help="only ours")
    add_data_dir(parser)


def peers_of(arguments):
    threads = arguments.threads
    peers = [Theirs(f"snapml, {threads} threads", SnapML(threads=threads))]
    if arguments.multicore:
        peers += [
            Theirs(f"multicore -s {solver}, {threads} threads", Multicore(arguments.multicore, solver, threads))
            for solver in (1, 2)
        ]
    return [peer for peer in peers if peer.peer.available()]


def witness(adapter):
    certificate = adapter.classifier.certificate_
    return certificate.witness_digest, certificate.margin, certificate.upper_bound


def run_set(name, arguments, rungs):
    X, y, C = load(name, arguments.data_dir)
    algorithms = {"front door": "auto"} | ({"Newton": "newton"} if X.shape[1] <= MOST_COLUMNS else {})
    contestants = [
        (Ours(f"{title}, {n} thread{'s' * (n > 1)}", algorithm, n_jobs=n), None)
        for title, algorithm in algorithms.items()
        for n in (1, arguments.threads)
    ]
    for ours, _ in contestants:
        ours.prepare(X, y, C)
    if not arguments.no_peers:
        problem, peers = f"{name} C={C:g}", peers_of(arguments)
        best, _ = rungs.best_margin(problem, X, y, C, arguments.limit)
        settings = oracles(peers, problem, X, y, C, (1 - EPSILON) * best, arguments.limit, rungs)
        for peer in peers:
            found, _ = settings[peer.name]
            if found is None:
                print(f"  {peer.name:28} does not reach it, or takes far longer than another", flush=True)
            else:
                contestants.append((peer, found[0]))
    walls, solvers, witnesses = ({adapter.name: [] for adapter, _ in contestants} for _ in range(3))
    for seed in range(arguments.runs):
        for adapter, setting in contestants:
            adapter.seed = seed
            wall, _, _, _ = timed(adapter, setting)
            walls[adapter.name].append(wall)
            if isinstance(adapter, Ours):
                witnesses[adapter.name].append(witness(adapter))
                certificate = adapter.classifier.certificate_
                assert certificate.achieved
                assert certificate.verify(adapter.X, y, n_jobs=arguments.threads)
            else:
                solvers[adapter.name].append(getattr(adapter.peer, "seconds", wall))
    print(f"\n{name}: {X.shape[0]} x {X.shape[1]}, C={C:.4g}; medians of {arguments.runs} rounds")
    for adapter, setting in contestants:
        found = walls[adapter.name]
        alone = (
            f", solver alone {statistics.median(solvers[adapter.name]) * 1e3:.1f} ms" if solvers[adapter.name] else ""
        )
        raw = " ".join(f"{wall * 1e3:.0f}" for wall in found)
        print(f"  {adapter.name:28} {statistics.median(found) * 1e3:9.1f} ms{alone}  setting {setting}  [{raw}]")
    return summarise(name, list(algorithms), walls, witnesses, arguments.threads)


def summarise(name, titles, walls, witnesses, threads):
    """Print the ratios of a set, and return them."""
    median = {name: statistics.median(found) for name, found in walls.items()}
    row = {"set": name, "walls": walls}
    for title in titles:
        one, several = f"{title}, 1 thread", f"{title}, {threads} threads"
        assert witnesses[one] == witnesses[several], "the result depends on the number of threads"
        row[title] = median[several] / median[one]
        print(f"  {title}: {threads} threads / one {row[title]:.3f}")
    theirs = {name: wall for name, wall in median.items() if not name.startswith(tuple(titles))}
    if theirs:
        fastest = min(theirs, key=lambda name: theirs[name])
        row["peers"] = median[f"front door, {threads} threads"] / theirs[fastest]
        print(f"  front door, {threads} threads / {fastest}: {row['peers']:.3f}", flush=True)
    return row


def run(arguments):
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    rungs, rows = Rungs(folder), []
    for name in names_of(arguments.sets):
        rows.append(run_set(name, arguments, rungs))
        (folder / "threads.json").write_text(json.dumps(rows, indent=1))
    for ratio, words in {
        "front door": f"{arguments.threads} threads / one",
        "peers": "front door / fastest peer",
    }.items():
        found = [row[ratio] for row in rows if ratio in row]
        if found:
            print(f"{words}: geometric mean {statistics.geometric_mean(found):.3f}, worst {max(found):.3f}")
    print(f"raw figures: {folder / 'threads.json'}")
