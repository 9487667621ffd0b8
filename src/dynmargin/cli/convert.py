"""dynmargin convert: between our model files and LIBLINEAR's.

for example:
  dynmargin convert a9a.npz a9a.model      # for liblinear's predict
  dynmargin convert a9a.model a9a.npz      # from liblinear's train

A model of dynmargin becomes LIBLINEAR's text; LIBLINEAR's text becomes a model of dynmargin, without a certificate.
exit codes: 0 done, 3 failed
"""

import argparse

from .options import DONE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("model", metavar="MODEL", help="a model of dynmargin or of LIBLINEAR; - for standard input")
    parser.add_argument("out", metavar="OUT", help="where to write the other one; - for standard output")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Recognise the model by its contents, and write the other kind."""
    from ..data.archives import contents, name_of
    from ..data.atomic import atomic_write, require_other_file
    from ..model import liblinear_file, model_file
    from ..model.linear_model import LinearModel

    require_other_file(arguments.out, arguments.model)
    content, name = contents(arguments.model), name_of(arguments.model)
    if liblinear_file.is_model(content):
        liblinear_file.parse(content, name).save(arguments.out)
        return DONE
    text = liblinear_file.format_model(LinearModel(**model_file.parse(content, name)))
    with atomic_write(arguments.out) as file:
        file.write(text.encode())
    return DONE
