"""From the parameters of a classifier to what is asked of every run."""

from functools import lru_cache
from numbers import Integral
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from ..training.checkpoint import Checkpoint
from ..training.request import LARGEST_COUNT, Request
from .warn_caller import once, warn_caller

# Parameters that do not decide the result of a run: a checkpoint does not depend on them. (The seed is compared.)
NOT_DECIDING = {
    "checkpoint",
    "checkpoint_every",
    "max_time",
    "n_jobs",
    "random_state",
    "verbose",
    "Cs",
    "cv",
    "scoring",
    "tolerance",
    "C_range",
    "max_fits",
}


def request_of(classifier: Any, started: float) -> Request:
    """State what is asked of every run; a parameter that the classifier does not have is at its default."""
    max_updates = getattr(classifier, "max_updates", None)
    checkpoint = _open_checkpoint(classifier)
    random_state: int | np.random.RandomState | None = classifier.random_state
    seed = seed_of(random_state) if isinstance(random_state, Integral) else draw_seed(random_state)
    if checkpoint is not None and checkpoint.seed is not None and random_state is None:
        seed = checkpoint.seed
    return Request(
        epsilon=float(classifier.epsilon),
        stop=getattr(classifier, "stop", "certificate"),
        schedule=getattr(classifier, "schedule", "fast"),
        seed=seed,
        margin_floor=float(getattr(classifier, "margin_floor", 0.0)),
        max_updates=LARGEST_COUNT if max_updates is None else min(int(max_updates), LARGEST_COUNT),
        max_time=classifier.max_time,
        n_jobs=effective_n_jobs(classifier.n_jobs),  # 1 inside another parallel loop
        only_own_updates=bool(getattr(classifier, "warm_start", False)),
        started=started,
        warn=once(warn_caller),
        checkpoint=checkpoint,
    )


def _open_checkpoint(classifier: Any) -> Checkpoint | None:
    """Open the file to continue from, if one is named."""
    if classifier.checkpoint is None:
        return None
    if getattr(classifier, "warm_start", False):
        raise ValueError("a checkpoint does not hold what warm_start=True begins with; use one of the two")
    if getattr(classifier, "stop", "certificate") == "predictions":
        raise ValueError("a checkpoint belongs to one epsilon, and stop='predictions' has many; use one of the two")
    deciding = {name: value for name, value in classifier.get_params(deep=False).items() if name not in NOT_DECIDING}
    parameters = {"estimator": type(classifier).__name__, **deciding}
    return Checkpoint(classifier.checkpoint, float(classifier.checkpoint_every), parameters)


def draw_seed(random_state: Any) -> int:
    """Draw a seed for the core from whatever scikit-learn takes as a source of randomness."""
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


seed_of = lru_cache(draw_seed)  # a fresh generator takes longer to make than a small fit does to train
