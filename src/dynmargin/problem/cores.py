"""How many threads a call may use: ``n_jobs`` as scikit-learn's users know it, without scikit-learn."""

import os


def cores() -> int:
    """Return how many threads this process may run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads_of(n_jobs: int | None) -> int:
    """Return the number of threads: one for None, all cores for -1, all but one for -2, and so on."""
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0; 1 is one thread, -1 all cores")
    return n_jobs if n_jobs > 0 else max(1, cores() + 1 + n_jobs)
