"""dynmargin help: the help of a command, or a manual page of all of them.

for example:
  dynmargin help train                    # the same as dynmargin train --help
  dynmargin help data convert
  dynmargin help --man > dynmargin.1; man ./dynmargin.1

exit codes: 0 done, 3 failed
"""

import argparse
from collections.abc import Iterator
from itertools import groupby

from .options import DONE, EXIT_CODES
from .parser import COMMANDS, Command, help_text, paragraphs, tree, walk


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("about", metavar="COMMAND", nargs="*", help="which command; none for a list of all")
    parser.add_argument("--man", action="store_true", help="print a manual page of all commands, for man or groff")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the help, or the manual page."""
    if arguments.man:
        print("\n".join(manual_page()))
        return DONE
    command = tree()
    for word in arguments.about:
        below = {one.words[-1]: one for one in command.further()}
        if word not in below:
            known = ", ".join(below or COMMANDS)
            raise ValueError(f"no command is called {' '.join(arguments.about)!r}; there are {known}")
        command = below[word]
    print(command.parser.format_help(), end="")
    return DONE


def manual_page() -> Iterator[str]:
    """Return the lines of a manual page, in the language of man."""
    from importlib.metadata import version

    whole, *commands = walk(tree())
    yield f'.TH DYNMARGIN 1 "" "dynmargin {version("dynmargin")}" "User Commands"'
    yield from (".SH NAME", f"dynmargin \\- {escaped(whole.summary.rstrip('.').lower())}")
    yield from (".SH SYNOPSIS", ".B dynmargin", r"\fICOMMAND\fR [\fIOPTION\fR...] [\fIFILE\fR...]")
    yield from (".SH COMMANDS",)
    for command in whole.further():
        yield from (".TP", f".B {command.words[-1]}", escaped(command.summary))
    for command in commands:
        yield from section(command)
    yield ".SH EXIT STATUS"
    for line in EXIT_CODES.splitlines()[1:]:
        code, meaning = line.split(maxsplit=1)
        yield from (".TP", f".B {code}", escaped(meaning))


def section(command: Command) -> Iterator[str]:
    """Return the part of the manual page about one command."""
    names = " ".join(metavar(one) if one.nargs is None else f"[{metavar(one)}]" for one in command.arguments())
    yield f".SH {' '.join(command.words).upper()}"
    yield from (
        f".B {' '.join(command.words)}",
        escaped(f"[options] {names}".rstrip()),
        ".PP",
        escaped(command.summary),
    )
    for one in [*command.arguments(), *command.options()]:
        value = "" if one.nargs == 0 else metavar(one)
        title = ", ".join(f"{option} {value}".rstrip() for option in one.option_strings) or value
        yield from (".TP", f".B {escaped(title)}", escaped(help_text(one)))
    yield from laid_out((command.parser.epilog or "").splitlines())


def laid_out(lines: list[str]) -> Iterator[str]:
    """Return prose that man breaks where its lines end, and examples, which are indented, as they are."""
    for is_example, some in groupby(paragraphs(lines), lambda line: line.startswith(" ")):
        if is_example:
            yield from (".nf", *map(escaped, some), ".fi")
        else:
            yield from (word for line in some if line for word in (".PP", escaped(line)))


def metavar(action: argparse.Action) -> str:
    """Return what stands for the value of an argument."""
    if isinstance(action.metavar, tuple):
        return " ".join(action.metavar)
    return action.metavar or "|".join(map(str, action.choices or [])) or action.dest.upper()


def escaped(text: str) -> str:
    """Return text that man shows as it is."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{text}" if text.startswith((".", "'")) else text
