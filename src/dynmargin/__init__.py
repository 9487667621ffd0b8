"""Maximum-margin linear classification with a proof.

Everything public is loaded when it is first used: the certificate and the theory need only NumPy, the classifiers load
scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import version

    from .certificate import Certificate, SparseCounts, Verification
    from .classifiers.dcd import DCDClassifier
    from .classifiers.decomposition import DecompositionSVMClassifier
    from .classifiers.max_margin import MaxMarginClassifier
    from .classifiers.mpu import MPUClassifier
    from .classifiers.newton import NewtonClassifier
    from .classifiers.pdm import PDMClassifier
    from .classifiers.pfm import PFMClassifier
    from .schedule import Schedule

    __version__ = version("dynmargin")

_HOMES = {
    "Certificate": ".certificate",
    "DCDClassifier": ".classifiers.dcd",
    "DecompositionSVMClassifier": ".classifiers.decomposition",
    "MPUClassifier": ".classifiers.mpu",
    "MaxMarginClassifier": ".classifiers.max_margin",
    "NewtonClassifier": ".classifiers.newton",
    "PDMClassifier": ".classifiers.pdm",
    "PFMClassifier": ".classifiers.pfm",
    "Schedule": ".schedule",
    "SparseCounts": ".certificate",
    "Verification": ".certificate",
}

__all__ = [
    "Certificate",
    "DCDClassifier",
    "DecompositionSVMClassifier",
    "MPUClassifier",
    "MaxMarginClassifier",
    "NewtonClassifier",
    "PDMClassifier",
    "PFMClassifier",
    "Schedule",
    "SparseCounts",
    "Verification",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name], __name__), name)
    elif name == "__version__":
        value = import_module("importlib.metadata").version(__name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
