"""dynmargin report: one page about a model, for people who did not train it.

for example:
  dynmargin report a9a.npz -o report.html
  dynmargin report a9a.npz a9a.xz -o report.html

The page is one file that needs no network. With DATA it also shows margins, confusions, curves and the worst rows; if
they are the data that the model was trained on, the model is verified as well. It needs matplotlib.
exit codes: 0 done, 3 failed
"""

import argparse
import shlex
from typing import TYPE_CHECKING, Any

from .options import DATA_HELP, DONE, LABEL, READING, WEIGHTS, columns_text, notice, read_data, require_one_stdin
from .verify import too_many
from .weights import read_weights

if TYPE_CHECKING:
    from ..model.linear_model import LinearModel

OPTIONS = (WEIGHTS, READING, LABEL)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("model", metavar="MODEL", help="what train or convert wrote; - for standard input")
    parser.add_argument("data", metavar="DATA", nargs="?", help=DATA_HELP)
    parser.add_argument("-o", "--out", metavar="FILE", required=True, help="the page to write; - for standard output")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but notices and errors")
    parser.set_defaults(run=run, optional="data")


def run(arguments: argparse.Namespace) -> int:
    """Read model and data, write the page."""
    from ..data.archives import contents, name_of
    from ..data.atomic import require_other_file, require_writable
    from ..data.several import files_of
    from ..model.linear_model import LinearModel
    from ..model.model_file import digest, parse
    from ..report.page import write_report
    from ..report.subject import Origin

    require_one_stdin(arguments)
    require_writable(arguments.out)
    require_other_file(arguments.out, arguments.model, *files_of(arguments.data or "-"), arguments.weights)
    content, name = contents(arguments.model), name_of(arguments.model)
    model = LinearModel(**parse(content, name))
    data = "some data" if arguments.data is None else name_of(arguments.data)
    here, elsewhere = verify_command(arguments, arguments.data), verify_command(arguments, None)
    origin = Origin(name, data, (here,), (elsewhere,), digest(content, name))
    write_report(arguments.out, model, origin, **read_rows(arguments, model))
    return DONE


def read_rows(arguments: argparse.Namespace, model: "LinearModel") -> dict[str, Any]:
    """Return rows, labels and weights as far as there are any, and the verdict on data with more columns than those.

    The page shows what the model uses of the data; it must not call proven what verify takes for other data.
    """
    from ..certificate.verification import unproven
    from ..data.dataset import Csr

    if arguments.data is None:
        return {}
    dataset, verification = read_data(arguments, model), None
    if beyond := dataset.columns_beyond(model.feature_names):
        notice(f"the model does not use {columns_text(beyond)}")
        if model.certificates:
            verification = unproven("other data", too_many(beyond, labelled=dataset.y is not None))
    dataset = dataset.aligned(model.feature_names)
    X, y = dataset.X, dataset.y
    weights = read_weights(arguments.weights, X.shape[0]) if arguments.weights else None
    if isinstance(X, Csr):
        if X.shape[1] > model.n_features:
            notice(f"features beyond the model's {model.n_features} are not used")
            if model.certificates and y is not None:
                verification = model.verify(X, y, weights)
        X = X.with_columns(model.n_features)
    return {"X": X, "y": y, "sample_weight": weights, "verification": verification}


def verify_command(arguments: argparse.Namespace, data: str | None) -> str:
    """Return the command line that verifies the model; DATA where its own data were not named."""
    from ..problem.statement import among_others

    words = ["dynmargin", "verify", "MODEL" if arguments.model == "-" else arguments.model, data or "DATA"]
    if data is not None:
        drop = ",".join(map(among_others, arguments.drop)) or None
        options = {"weights": arguments.weights, "format": arguments.format, "label": arguments.label, "drop": drop}
        words += [f"--{option}={value}" for option, value in options.items() if value is not None]
    return shlex.join(words)
