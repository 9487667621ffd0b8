"""dynmargin data: which of the paper's data are here; data convert: between the formats of data.

for example:
  dynmargin data --data-dir FOLDER      # which of the paper's data are here
  dynmargin data convert a9a.xz a9a/    # a folder, which needs no parsing
  dynmargin data convert covtype.csv.xz covtype.libsvm --label -1

The format follows from the name: .csv, .tsv, .parquet, .npz, a name that ends with / for a folder, else LIBSVM text;
.gz, .bz2 or .xz after it compresses. LIBSVM text is written one-based.
exit codes: 0 done, 3 failed
"""

import argparse

from ..data import FORMATS
from .options import DONE, FILE_HELP, LABEL, notice, read_data


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of both commands."""
    where = "the folder to search (default: DYNMARGIN_DATA, or the user's cache folder)"
    parser.add_argument("--data-dir", metavar="FOLDER", help=where)
    parser.set_defaults(run=run_listing)
    actions = parser.add_subparsers(metavar="ACTION", dest="action")
    help_text = "read one format and write another"
    convert = actions.add_parser("convert", help=help_text, epilog=parser.epilog, parents=[LABEL])
    convert.add_argument("data", metavar="IN", help=FILE_HELP)
    convert.add_argument("out", metavar="OUT", help="what to write; - for standard output")
    convert.add_argument("--from", choices=FORMATS, dest="format", help="format of IN (default: by its name)")
    convert.add_argument("--to", choices=FORMATS, help="format of OUT (default: by its name)")
    convert.add_argument("-q", "--quiet", action="store_true", help="print nothing but notices and errors")
    convert.set_defaults(run=run_conversion)


def run_listing(arguments: argparse.Namespace) -> int:
    """List the paper's problems and stand-ins: the files that were found, or where to get them."""
    from ..paper.problems import PROBLEMS, data_folder

    folder = data_folder(arguments.data_dir)
    print(f"searched {folder}{'' if folder.is_dir() else ', which does not exist'}\n")
    print(f"{'set':26} {'rows':>7} {'columns':>8} {'Delta':>5}  files")
    missing = []
    for problem in PROBLEMS.values():
        found = problem.find(folder)
        where = "not here"
        if found is None:
            missing.append(f"{problem.title}: {problem.wanted}\n  {problem.source}")
        if found is not None:
            where = ", ".join(str(path.relative_to(folder)) for path in found) or "generated"
        print(f"{problem.title:26} {problem.shape[0]:>7} {problem.shape[1]:>8} {problem.delta:>5g}  {where}")
    if missing:
        print("\nwhere to get those that are not here:", *missing, sep="\n")
    return DONE


def run_conversion(arguments: argparse.Namespace) -> int:
    """Read one format and write another."""
    from ..data.archives import name_of
    from ..data.atomic import require_other_file
    from ..data.formats import convert_to_folder, format_of, write_dataset
    from ..training.phases import enter

    require_other_file(arguments.out, arguments.data)
    if (arguments.to or format_of(arguments.out)) == "folder":
        enter(f"reading {name_of(arguments.data)}")  # and writing, piece by piece
        labelled, notices = convert_to_folder(
            arguments.data, arguments.out, arguments.format, label=arguments.label, drop=arguments.drop
        )
        for message in (*notices, *(() if labelled else (no_labels(arguments.data),))):
            notice(message)
        return DONE
    dataset = read_data(arguments)
    if dataset.y is None:
        notice(no_labels(arguments.data))
    write_dataset(dataset, arguments.out, arguments.to)
    return DONE


def no_labels(path: str) -> str:
    """Say that a file has no labels."""
    return f"{path} has no labels; in a table --label names their column, in an .npz file they are the array y"
