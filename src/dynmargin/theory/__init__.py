"""The theory as functions: the paper's claims, and bounds for the algorithms that it is compared with.

Notation: R is the length of the longest pattern, gamma_d the maximum directional margin, both in the extended space
when the margin is soft; epsilon is the accuracy. Bounds that a float cannot hold are returned as infinity.
All functions take numbers, or arrays that are broadcast against each other.
"""

from .family import (
    alma_update_bound,
    margitron_threshold,
    margitron_update_bound,
    perceptron_update_bound,
    romma_update_bound,
)
from .margins import (
    after_run_accuracy,
    bound_decrease,
    converged_rate_bound,
    effective_rate,
    extension_margin,
    geometric_margin,
    least_decrease,
    margin_ratio_bound,
    monotone_from,
)
from .updates import lemma_bound, pdm_update_bound, pfm_update_bound, successive_log_bound, successive_update_bound

__all__ = [
    "after_run_accuracy",
    "alma_update_bound",
    "bound_decrease",
    "converged_rate_bound",
    "effective_rate",
    "extension_margin",
    "geometric_margin",
    "least_decrease",
    "lemma_bound",
    "margin_ratio_bound",
    "margitron_threshold",
    "margitron_update_bound",
    "monotone_from",
    "pdm_update_bound",
    "perceptron_update_bound",
    "pfm_update_bound",
    "romma_update_bound",
    "successive_log_bound",
    "successive_update_bound",
]
