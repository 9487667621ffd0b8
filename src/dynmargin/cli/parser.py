"""The command line as a tree of parsers; only the modules that a command line needs are loaded."""

import argparse
import os
import re
import stat
import textwrap
from collections.abc import Collection, Iterator
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

from .options import DONE, EXIT_CODES, FAILED

COMMANDS = {  # a module each
    "train": "train a model and prove how good it is",
    "predict": "predict labels or scores",
    "verify": "prove a model's certificate again from the data",
    "info": "show what is in a model file",
    "report": "write a page about a model, for people to read",
    "convert": "convert a model to or from LIBLINEAR's text",
    "compare": "compare algorithms and other libraries on a file",
    "data": "list the paper's data; convert between formats",
    "paper": "the paper's tables beside ours, and figures",
    "demo": "see it at work on a small real data set",
    "help": "show the help of a command, or a manual page of all",
    "completion": "print a script that completes commands in a shell",
}
FILES = {"DATA": "data", "MODEL": "model", "OUT": "out", "--weights": "weights", "--checkpoint": "checkpoint"}
OUTPUTS = ("model", "out", "csv")  # the model is written by train only
STANDARD_OUTPUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")  # other names of "-"
LONG_LINE = 100  # characters, from which on a line of a docstring is broken
DESCRIPTION = "Maximum-margin linear classification with a proof."


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of a text, but for those that the terminal is too narrow for."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = super()._fill_text(text, width, indent).splitlines()
        return "\n".join(short for line in paragraphs(lines) for short in shortened(line, width))


def paragraphs(lines: list[str]) -> list[str]:
    """Join lines of prose that were broken because they were long."""
    joined: list[str] = []
    last = ""
    for line in lines:
        if len(last) > LONG_LINE and not last.startswith(" ") and line and not line.startswith((" ", "exit codes")):
            joined[-1] += f" {line}"
        else:
            joined.append(line)
        last = line
    return joined


def shortened(line: str, width: int) -> list[str]:
    """Break a line that is too long; what follows is indented as the line is, or as what it says of an exit code."""
    spaces = len(re.match(r" *(\d+ +)?", line)[0])  # type: ignore[index]
    return textwrap.wrap(line, width, subsequent_indent=" " * spaces, break_on_hyphens=False) or [""]


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence and ends with our own code: 2 means something else here."""

    def __init__(self, **options: Any) -> None:
        options |= {"allow_abbrev": False, "formatter_class": Formatter}
        super().__init__(**options)

    def error(self, message: str) -> NoReturn:
        """End with a sentence."""
        self.exit(FAILED, f"{self.prog}: {message}; see {self.prog} --help\n")


class Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        """Print it and end."""
        from importlib.metadata import version

        print(f"dynmargin {version('dynmargin')}")
        parser.exit(DONE)


def build(wanted: Collection[str]) -> tuple[Parser, dict[str, Parser]]:
    """Return the whole parser and those of its commands; only the wanted ones know their arguments."""
    top = Parser(prog="dynmargin", description=DESCRIPTION, epilog=EXIT_CODES)
    top.add_argument("--version", action=Version, nargs=0, help="print the version")
    commands = top.add_subparsers(metavar="COMMAND", required=True, dest="command")
    found: dict[str, Parser] = {}
    for name, summary in COMMANDS.items():
        if name not in wanted:
            found[name] = commands.add_parser(name, help=summary)
            continue
        module: Any = import_module(f".{name}", __package__)
        epilog = (module.__doc__ or "").partition("\n\n")[2]
        parents = getattr(module, "OPTIONS", ())
        found[name] = commands.add_parser(name, help=summary, epilog=epilog, parents=parents)
        module.add_arguments(found[name])
    return top, found


def parse(words: list[str], arguments: argparse.Namespace) -> None:
    """Parse a command line; only the module of its command is loaded."""
    top, commands = build(words[:1])
    if words[:1] == ["train"]:
        from .train import take_class_weights

        words, class_weights = take_class_weights(words)
        commands["train"].set_defaults(class_weights=class_weights)
    _, rest = top.parse_known_args(words, arguments)
    # The last, optional file may follow options, which argparse alone would not accept.
    optional = getattr(arguments, "optional", None)
    if (
        len(rest) == 1
        and optional
        and getattr(arguments, optional) is None
        and (rest[0] == "-" or not rest[0].startswith("-"))
    ):
        setattr(arguments, optional, rest.pop())
    for place in OUTPUTS if arguments.command == "train" else OUTPUTS[1:]:
        if (path := getattr(arguments, place, None)) and is_standard_output(path):
            setattr(arguments, place, "-")
    checkpoint = getattr(arguments, "checkpoint", None)
    if checkpoint and os.path.exists(checkpoint) and not os.path.isfile(checkpoint):
        commands.get(arguments.command, top).error(f"--checkpoint {checkpoint}: it is not a file")
    for name, place in FILES.items():  # of a variable of the shell that is not set
        if getattr(arguments, place, None) == "":
            commands.get(arguments.command, top).error(f"the name of {name} is empty")
    if rest:  # files are among them only because an option before them is unknown
        unknown = [word for word in rest if word.startswith("-")] or rest
        commands.get(arguments.command, top).error(f"unrecognized arguments: {' '.join(unknown)}")


def is_standard_output(path: str) -> bool:
    """Whether a path is another name of "-"; a file that standard output goes to has a name of its own."""
    if path in STANDARD_OUTPUT:
        return True
    try:
        found, ours = os.stat(path), os.fstat(1)
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(found.st_mode) and os.path.samestat(found, ours)


class Command(NamedTuple):
    """A command as completions and manual pages show it: what is typed for it, what it does, and its parser."""

    words: tuple[str, ...]
    summary: str
    parser: argparse.ArgumentParser

    def options(self) -> list[argparse.Action]:
        """Return its options that are shown in its help."""
        actions = self.parser._actions
        return [one for one in actions if one.option_strings and one.help is not argparse.SUPPRESS]

    def arguments(self) -> list[argparse.Action]:
        """Return what is not an option, but for the names of further commands."""
        return [one for one in self.parser._actions if not one.option_strings and not _is_choice_of_commands(one)]

    def further(self) -> "Iterator[Command]":
        """Return the commands below it."""
        for action in self.parser._actions:
            if _is_choice_of_commands(action):
                choices: Any = action.choices
                summaries = {one.dest: one.help or "" for one in action._get_subactions()}  # type: ignore[attr-defined]
                for name, parser in choices.items():
                    yield Command((*self.words, name), summaries.get(name, ""), parser)


def _is_choice_of_commands(action: argparse.Action) -> bool:
    return isinstance(action, argparse._SubParsersAction)


def tree() -> Command:
    """Return the whole command, with all that is below it."""
    return Command(("dynmargin",), DESCRIPTION, build(COMMANDS)[0])


def walk(command: Command) -> Iterator[Command]:
    """Return a command and all that are below it."""
    yield command
    for one in command.further():
        yield from walk(one)


def help_text(action: argparse.Action) -> str:
    """Return the help of an argument as it is printed."""
    return (action.help or "").replace("%%", "%")
