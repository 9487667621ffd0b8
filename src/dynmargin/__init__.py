"""Maximum-margin linear classification with a proof.

Everything public is loaded when it is first used: certificates, models, readers and the theory need only NumPy, the
classifiers load scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import version

    from .certificate import Certificate, SparseCounts, Verification
    from .check_callback import CheckCallback
    from .classifiers.alma import ALMAClassifier
    from .classifiers.cramma import CRAMMAClassifier
    from .classifiers.dcd import DCDClassifier
    from .classifiers.decomposition import DecompositionSVMClassifier
    from .classifiers.margin_perceptron import MarginPerceptronClassifier
    from .classifiers.margitron import MargitronClassifier
    from .classifiers.max_margin import MaxMarginClassifier
    from .classifiers.micra import MICRAClassifier
    from .classifiers.mpu import MPUClassifier
    from .classifiers.newton import NewtonClassifier
    from .classifiers.pdm import PDMClassifier
    from .classifiers.pdm_cv import PDMClassifierCV
    from .classifiers.perceptron import PerceptronClassifier
    from .classifiers.pfm import PFMClassifier
    from .classifiers.romma import ROMMAClassifier
    from .comparison import compare
    from .data.dataset import DataError
    from .data.libsvm import read_libsvm
    from .displays.convergence import ConvergenceDisplay
    from .displays.margins import MarginDisplay
    from .joint.certificate import JointCertificate
    from .model import LinearModel
    from .model_file import ModelFileError, load
    from .online import OnlineCertificate
    from .schedule import Schedule

    __version__ = version("dynmargin")

_HOMES = {
    "ALMAClassifier": ".classifiers.alma",
    "CRAMMAClassifier": ".classifiers.cramma",
    "Certificate": ".certificate",
    "CheckCallback": ".check_callback",
    "ConvergenceDisplay": ".displays.convergence",
    "DCDClassifier": ".classifiers.dcd",
    "DecompositionSVMClassifier": ".classifiers.decomposition",
    "MPUClassifier": ".classifiers.mpu",
    "MICRAClassifier": ".classifiers.micra",
    "MarginDisplay": ".displays.margins",
    "MarginPerceptronClassifier": ".classifiers.margin_perceptron",
    "MargitronClassifier": ".classifiers.margitron",
    "DataError": ".data.dataset",
    "JointCertificate": ".joint.certificate",
    "LinearModel": ".model",
    "MaxMarginClassifier": ".classifiers.max_margin",
    "ModelFileError": ".model_file",
    "NewtonClassifier": ".classifiers.newton",
    "OnlineCertificate": ".online",
    "PDMClassifier": ".classifiers.pdm",
    "PDMClassifierCV": ".classifiers.pdm_cv",
    "PFMClassifier": ".classifiers.pfm",
    "PerceptronClassifier": ".classifiers.perceptron",
    "ROMMAClassifier": ".classifiers.romma",
    "Schedule": ".schedule",
    "SparseCounts": ".certificate",
    "Verification": ".certificate",
    "compare": ".comparison",
    "load": ".model_file",
    "read_libsvm": ".data.libsvm",
}

__all__ = [
    "ALMAClassifier",
    "CRAMMAClassifier",
    "Certificate",
    "CheckCallback",
    "ConvergenceDisplay",
    "DCDClassifier",
    "DataError",
    "DecompositionSVMClassifier",
    "JointCertificate",
    "LinearModel",
    "MICRAClassifier",
    "MPUClassifier",
    "MarginDisplay",
    "MarginPerceptronClassifier",
    "MargitronClassifier",
    "MaxMarginClassifier",
    "ModelFileError",
    "NewtonClassifier",
    "OnlineCertificate",
    "PDMClassifier",
    "PDMClassifierCV",
    "PFMClassifier",
    "PerceptronClassifier",
    "ROMMAClassifier",
    "Schedule",
    "SparseCounts",
    "Verification",
    "__version__",
    "compare",
    "load",
    "read_libsvm",
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
