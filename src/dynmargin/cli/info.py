"""dynmargin info: what is in a model file.

for example:
  dynmargin info a9a.npz

The certificate is shown as it is stored; verify proves it.
exit codes: 0 done, 3 failed
"""

import argparse

from .options import DONE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("model", metavar="MODEL", help="the file; - for standard input")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print it line by line."""
    from ..data.libsvm import label_text
    from ..model.linear_model import load

    model = load(arguments.model)
    print(f"classes       {' '.join(label_text(label) for label in model.classes)}")
    print(f"features      {model.n_features}{'' if model.feature_names is None else ', with names'}")
    print(f"bias          {model.bias:g}")
    if model.first_index is not None:
        print(f"first index   {model.first_index}")
    for name, value in model.parameters.items():
        if value not in (None, {}):
            print(f"{name:13} {value}")
    if not model.certificates:
        print("certificate   none")
    for certificate in model.certificates:
        counts = certificate.counts
        print(f"certificate\n  {certificate}")
        print(f"  counts on {len(counts.rows)} of {counts.shape[0]} rows, {counts.sum()} in all")
        print(f"  digest of the data {certificate.data_digest:016x}, in any order {certificate.rows_digest:016x}")
    return DONE
