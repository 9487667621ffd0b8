"""dynmargin convert: between our model files and LIBLINEAR's."""

import argparse
from typing import Any

from .exit_codes import DONE

EPILOG = """example:
  dynmargin convert a9a.npz a9a.model      # for liblinear's predict
  dynmargin convert a9a.model a9a.npz      # from liblinear's train

A model of ours becomes LIBLINEAR's text, a text becomes a model of ours, which has no certificate then.
exit codes: 0 done, 3 failed"""


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("convert", help="convert a model to or from LIBLINEAR's text", epilog=EPILOG)
    parser.add_argument("model", metavar="MODEL", help="a model of ours or of LIBLINEAR; - for standard input")
    parser.add_argument("out", metavar="OUT", help="where to write the other one; - for standard output")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Tell which it is and write the other."""
    from .. import liblinear_file, model_file
    from ..data.archives import contents, name_of
    from ..whole_file import require_other_file, whole_file

    require_other_file(arguments.out, arguments.model)
    content, name = contents(arguments.model), name_of(arguments.model)
    if liblinear_file.is_model(content):
        model_file.save(liblinear_file.parse(content, name), arguments.out)
        return DONE
    text = liblinear_file.format_model(model_file.parse(content, name))
    with whole_file(arguments.out) as file:
        file.write(text.encode())
    return DONE
