"""What ``--json`` prints: one object per command, whose keys stay what they are (docs/commands.md)."""

import argparse
import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..certificate.certificate import Certificate
    from ..model.linear_model import LinearModel

JSON = argparse.ArgumentParser(add_help=False)
JSON.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def show(command: str, **fields: Any) -> None:
    """Print the object of a command."""
    print(json.dumps(plain({"command": command, **fields}), allow_nan=False))


def require_separate(arguments: argparse.Namespace, path: str | None, what: str) -> None:
    """Refuse to write both the object and something else to standard output."""
    if arguments.json and path == "-":
        raise ValueError(f"--json and {what} would both go to standard output; name a file for {what}")


def plain(value: Any) -> Any:
    """Return a value as JSON knows it; a number that is not finite becomes null."""
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def certificate_fields(certificate: "Certificate | None") -> dict[str, Any]:
    """Return what a certificate says; null for everything where there is none."""
    names = ("margin", "upper_bound", "gap", "epsilon", "achieved", "settled_share")
    return {name: None if certificate is None else getattr(certificate, name) for name in names}


def model_fields(model: "LinearModel") -> dict[str, Any]:
    """Return what is in a model."""
    from ..certificate.certificate import problem_text

    scaling = model.scaling
    return {
        "classes": model.classes,
        "features": model.n_features,
        "feature_names": model.feature_names,
        "bias": model.bias,
        "first_index": model.first_index,
        "scale": "none" if scaling is None else scaling.kind,
        "problem": problem_text(model.certificates) if model.certificates else None,
        "certificates": [
            {
                "class": certificate.problem.positive,
                **certificate_fields(certificate),
                "counts": int(certificate.counts.sum()),
                "rows_with_counts": len(certificate.counts.rows),
                "data_digest": f"{certificate.data_digest:016x}",
                "rows_digest": f"{certificate.rows_digest:016x}",
            }
            for certificate in model.certificates
        ],
        "parameters": model.parameters,
    }
