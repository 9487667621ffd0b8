"""Which algorithm suits the data."""

from ..task import Task

NEWTON_COLUMNS = 500  # below this many features Newton's steps are cheap


def choose(task: Task) -> tuple[str, str]:
    """Name the algorithm that suits a task, and say why."""
    columns = task.matrix.n_columns
    if task.core_problem.hard_margin:
        return "pdm", "the margin is hard"
    if columns <= NEWTON_COLUMNS:
        return "newton", f"{columns} features, at most {NEWTON_COLUMNS}"
    return "pdm", f"{columns} features, more than {NEWTON_COLUMNS}"
