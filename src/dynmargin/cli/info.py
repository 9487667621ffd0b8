"""dynmargin info: what is in a model file.

for example:
  dynmargin info a9a.npz

The certificate is shown as it is stored; verify proves it.
exit codes: 0 done, 3 failed
"""

import argparse

from .documents import JSON, model_fields, show
from .options import DONE

OPTIONS = (JSON,)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("model", metavar="MODEL", help="what train or convert wrote; - for standard input")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print it line by line."""
    from ..certificate.certificate import problem_text
    from ..data.archives import contents, name_of
    from ..model.linear_model import LinearModel
    from ..model.model_file import digest, parse
    from ..problem.problems import label_text
    from ..problem.statement import counted, labels_text

    content, name = contents(arguments.model), name_of(arguments.model)
    model = LinearModel(**parse(content, name))
    if arguments.json:
        show("info", **model_fields(model), digest=digest(content, name))
        return DONE
    lines = [
        f"classes       {labels_text(model.classes)}",
        f"features      {model.n_features}{'' if model.feature_names is None else ', with names'}",
        f"bias          {model.bias:g}",
        f"digest        {digest(content, name) or 'none before format 3'}",
    ]
    if model.scaling is not None:
        lines.append(f"scaling       {model.scaling}")
    if model.first_index is not None:
        lines.append(f"first index   {model.first_index}")
    lines.append(f"problem       {problem_text(model.certificates)}" if model.certificates else "certificate   none")
    for certificate in model.certificates:
        counts = certificate.counts
        lines += [
            f"certificate\n  {certificate}",
            f"  counts on {len(counts.rows)} of {counted(counts.shape[0], 'row')}, {counts.sum()} in all",
            f"  digest of the data {certificate.data_digest:016x}, in any order {certificate.rows_digest:016x}",
        ]
    known = {label_text(key): value for key, value in model.parameters.items() if value not in (None, {}, [])}
    written = {
        key: labels_text(value) if isinstance(value, list) else label_text(value) for key, value in known.items()
    }
    if shown := [f"  {key:13} {text}" for key, text in written.items()]:
        lines += ["how it was trained (as stored; verify does not check it)", *shown]
    print("\n".join(lines))
    return DONE
