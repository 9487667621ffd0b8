"""dynmargin data: which of the paper's data are here; data convert: between the formats of data."""

import argparse
from typing import Any

from .exit_codes import DONE
from .reading import DATA_HELP, FORMATS, notice

LIST_EPILOG = """examples:
  dynmargin data                                            # which of the paper's data are here
  dynmargin data --data-dir FOLDER
  dynmargin data convert a9a.xz a9a/

exit codes: 0 done, 3 failed"""

EPILOG = """examples:
  dynmargin data convert a9a.xz a9a/                        # a folder that opens at once
  dynmargin data convert covtype.csv.xz covtype.libsvm --label -1

The format is told by the name: .csv, .tsv, .parquet, .npz, a name that ends with / for a folder, else LIBSVM text; .gz,
.bz2 or .xz after it compresses. LIBSVM text is written one-based.
exit codes: 0 done, 3 failed"""


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("data", help="list the paper's data; convert between formats", epilog=LIST_EPILOG)
    parser.add_argument("--data-dir", help="the folder to look in; default: DYNMARGIN_DATA, ../shared/data, the cache")
    parser.set_defaults(run=run_listing)
    actions = parser.add_subparsers(metavar="ACTION", dest="action")
    convert = actions.add_parser("convert", help="read one format and write another", epilog=EPILOG)
    convert.add_argument("data", metavar="IN", help=DATA_HELP)
    convert.add_argument("out", metavar="OUT", help="what to write; - for standard output")
    convert.add_argument("--from", choices=FORMATS, dest="format", help="of IN; by default told by its name")
    convert.add_argument("--to", choices=FORMATS, help="of OUT; by default told by its name")
    convert.add_argument(
        "--label", help="name or number (1 is the first, -1 the last) of the label's column in a table"
    )
    convert.set_defaults(run=run)


def run_listing(arguments: argparse.Namespace) -> int:
    """List the paper's problems and stand-ins: the files that were found, or where to get them."""
    from ..experiments.problems import PROBLEMS, data_folder

    folder = data_folder(arguments.data_dir)
    print(f"looked in {folder}{'' if folder.is_dir() else ', which is not there'}\n")
    print(f"{'set':26} {'rows':>7} {'columns':>8} {'Delta':>5}  files")
    for problem in PROBLEMS.values():
        found = problem.find(folder)
        where = f"not here: {problem.wanted} from {problem.source}"
        if found is not None:
            where = ", ".join(str(path.relative_to(folder)) for path in found) or "generated"
        print(f"{problem.title:26} {problem.shape[0]:>7} {problem.shape[1]:>8} {problem.delta:>5g}  {where}")
    return DONE


def run(arguments: argparse.Namespace) -> int:
    """Read and write."""
    from ..data.formats import read_dataset, write_dataset
    from ..whole_file import require_other_file

    require_other_file(arguments.out, arguments.data)
    dataset = read_dataset(arguments.data, arguments.format, label=arguments.label)
    for message in dataset.notices:
        notice(message)
    if dataset.y is None:
        notice(f"{arguments.data} has no labels; in a table --label names their column")
    write_dataset(dataset, arguments.out, arguments.to)
    return DONE
