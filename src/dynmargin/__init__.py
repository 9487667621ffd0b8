"""Maximum-margin linear classification with a proof.

Everything public is loaded when it is first used: certificates, models, readers and the theory need only NumPy, the
classifiers load scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .algorithms.registry import ALGORITHMS

if TYPE_CHECKING:
    from importlib.metadata import version

    from . import theory as theory
    from .certificate.ball import Ball as Ball
    from .certificate.certificate import Certificate as Certificate
    from .certificate.counts import SparseCounts as SparseCounts
    from .certificate.joint import JointCertificate as JointCertificate
    from .certificate.online import OnlineCertificate as OnlineCertificate
    from .certificate.verification import Verification as Verification
    from .classifiers.c_path import c_path as c_path
    from .classifiers.callbacks import CheckCallback as CheckCallback
    from .classifiers.cv import MaxMarginClassifierCV as MaxMarginClassifierCV
    from .classifiers.dual import DCDClassifier as DCDClassifier
    from .classifiers.dual import DecompositionSVMClassifier as DecompositionSVMClassifier
    from .classifiers.dual import MPUClassifier as MPUClassifier
    from .classifiers.front_door import MaxMarginClassifier as MaxMarginClassifier
    from .classifiers.newton import NewtonClassifier as NewtonClassifier
    from .classifiers.pdm import PDMClassifier as PDMClassifier
    from .classifiers.pdm import PFMClassifier as PFMClassifier
    from .classifiers.perceptrons import MarginPerceptronClassifier as MarginPerceptronClassifier
    from .classifiers.perceptrons import MargitronClassifier as MargitronClassifier
    from .classifiers.perceptrons import PerceptronClassifier as PerceptronClassifier
    from .classifiers.rescaling import ALMAClassifier as ALMAClassifier
    from .classifiers.rescaling import CRAMMAClassifier as CRAMMAClassifier
    from .classifiers.rescaling import MICRAClassifier as MICRAClassifier
    from .classifiers.rescaling import ROMMAClassifier as ROMMAClassifier
    from .comparison.compare import compare as compare
    from .data.dataset import DataError as DataError
    from .data.libsvm import read_libsvm as read_libsvm
    from .displays.c_path import CPathDisplay as CPathDisplay
    from .displays.convergence import ConvergenceDisplay as ConvergenceDisplay
    from .displays.error_curve import ErrorCurveDisplay as ErrorCurveDisplay
    from .displays.margins import MarginDisplay as MarginDisplay
    from .model.linear_model import LinearModel as LinearModel
    from .model.linear_model import load as load
    from .model.model_file import ModelFileError as ModelFileError
    from .path.c_path import CPath as CPath
    from .path.error_curve import ErrorCurve as ErrorCurve
    from .problem.problems import BinaryProblem as BinaryProblem
    from .problem.problems import JointProblem as JointProblem
    from .shards.rows_on_disk import RowsOnDisk as RowsOnDisk
    from .shards.rows_on_disk import open_data as open_data
    from .training.checkpoint import CheckpointError as CheckpointError
    from .training.result import Check as Check
    from .training.schedule import Schedule as Schedule

    __version__ = version("dynmargin")

_HOMES = {
    "Ball": "certificate.ball",
    "BinaryProblem": "problem.problems",
    "CPath": "path.c_path",
    "CPathDisplay": "displays.c_path",
    "Certificate": "certificate.certificate",
    "Check": "training.result",
    "CheckCallback": "classifiers.callbacks",
    "CheckpointError": "training.checkpoint",
    "ConvergenceDisplay": "displays.convergence",
    "DataError": "data.dataset",
    "ErrorCurve": "path.error_curve",
    "ErrorCurveDisplay": "displays.error_curve",
    "JointCertificate": "certificate.joint",
    "JointProblem": "problem.problems",
    "LinearModel": "model.linear_model",
    "MarginDisplay": "displays.margins",
    "MaxMarginClassifierCV": "classifiers.cv",
    "ModelFileError": "model.model_file",
    "OnlineCertificate": "certificate.online",
    "RowsOnDisk": "shards.rows_on_disk",
    "Schedule": "training.schedule",
    "SparseCounts": "certificate.counts",
    "Verification": "certificate.verification",
    "c_path": "classifiers.c_path",
    "compare": "comparison.compare",
    "load": "model.linear_model",
    "open_data": "shards.rows_on_disk",
    "read_libsvm": "data.libsvm",
    **{algorithm.estimator: f"classifiers.{algorithm.family}" for algorithm in ALGORITHMS.values()},
}

__all__ = sorted(["__version__", "theory", *_HOMES])


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    elif name == "__version__":
        value = import_module("importlib.metadata").version(__name__)
    elif name == "theory":
        value = import_module(".theory", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
