"""dynmargin completion: a script that completes commands, options and their values in a shell.

for example:
  eval "$(dynmargin completion bash)"                          # in ~/.bashrc
  dynmargin completion zsh > ~/.zfunc/_dynmargin               # a folder of $fpath
  dynmargin completion fish > ~/.config/fish/completions/dynmargin.fish

exit codes: 0 done, 3 failed
"""

import argparse
from collections.abc import Iterator

from .options import DONE
from .parser import COMMANDS, Command, help_text, tree, walk


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("shell", choices=tuple(SHELLS), help="for which shell")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    print("\n".join(SHELLS[arguments.shell](tree())))
    return DONE


def values(action: argparse.Action) -> str:
    """Return the words that may follow an option, or be an argument."""
    return " ".join(COMMANDS if action.metavar == "COMMAND" else map(str, action.choices or ()))


def takes_files(command: Command) -> bool:
    """Whether a word that is not an option may be a file."""
    return any(not values(one) for one in command.arguments() + [one for one in command.options() if one.nargs != 0])


def spelled(command: Command) -> list[str]:
    """Return all its options as they are typed; -wLABEL is none without its label."""
    return [option for one in command.options() for option in one.option_strings if option != "-wLABEL"]


def bash(whole: Command) -> Iterator[str]:
    """Return a function for bash: words of the command so far decide what may follow."""
    yield from ("_dynmargin() {", "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}")
    yield "  local command=${COMP_WORDS[1]} words= options= files="
    yield '  case "$command ${COMP_WORDS[2]}" in'
    for command in walk(whole):
        if len(command.words) == 3:
            name = " ".join(command.words[1:])
            yield f'    "{name}") [ "$COMP_CWORD" -gt 2 ] && command="{name}" ;;'
    for command in whole.further():
        if any(command.further()):
            name = command.words[-1]
            yield f'    "help {name}") [ "$COMP_CWORD" = 3 ] && command="help {name}" ;;'
    yield from ("  esac", '  [ "$COMP_CWORD" = 1 ] && command=', '  case "$command|$before" in')
    for command in walk(whole):
        name = " ".join(command.words[1:])
        for option in command.options():
            if option.choices:
                pattern = "|".join(f'"{name}|{one}"' for one in option.option_strings)
                yield f'    {pattern}) COMPREPLY=($(compgen -W "{values(option)}" -- "$current")); return ;;'
    yield from ("  esac", '  case "$command" in')
    for command in walk(whole):
        below = [one.words[-1] for one in command.further()]
        words = [*below, *(word for one in command.arguments() for word in values(one).split())]
        named = f'words="{" ".join(words)}" options="{" ".join(spelled(command))}"'
        yield f'    "{" ".join(command.words[1:])}") {named}{" files=yes" if takes_files(command) else ""} ;;'
        if below and command is not whole:
            yield f'    "help {command.words[-1]}") words="{" ".join(below)}" ;;'
    yield from ("  esac", '  case "$current" in -*) words=$options files= ;; esac')
    yield '  COMPREPLY=($(compgen -W "$words" -- "$current"))'
    yield "  local IFS=$'\\n'  # names of files may have spaces"
    yield '  [ -z "$files" ] || COMPREPLY+=($(compgen -f -- "$current"))'
    yield from ("}", "complete -o filenames -F _dynmargin dynmargin")


def zsh(whole: Command) -> Iterator[str]:
    """Return a function for zsh, which shows the help beside each option."""
    yield from ("#compdef dynmargin", "_dynmargin() {", "  local -a commands", "  commands=(")
    for command in whole.further():
        yield f"    {quoted(f'{command.words[-1]}:{command.summary}')}"
    yield from (
        "  )",
        "  if (( CURRENT == 2 )); then",
        "    _describe command commands",
        f"    compadd -- {' '.join(spelled(whole))}",
        "    return",
        "  fi",
    )
    yield '  case "$words[2]" in'
    for command in whole.further():
        yield f"    {command.words[-1]})"
        below = [*command.further()]
        if below:
            names = " ".join(one.words[-1] for one in below)
            yield f"      if (( CURRENT == 3 )); then compadd {names}; fi"
        options = [option for one in (command, *below) for option in _of_zsh(one)]
        yield "      _arguments -S \\"
        yield from (f"        {option} \\" for option in dict.fromkeys(options))
        choices = [words for one in command.arguments() if (words := values(one))]
        yield f"        {quoted('*:argument:' + (f'({choices[0]})' if choices else '_files'))}"
        yield "      ;;"
    yield from ("  esac", "}", '_dynmargin "$@"')


def _of_zsh(command: Command) -> Iterator[str]:
    for one in command.options():
        text = help_text(one).replace("[", "(").replace("]", ")").replace(":", r"\:")
        value = "" if one.nargs == 0 else f":value:{f'({values(one)})' if one.choices else '_files'}"
        for option in one.option_strings:
            if option != "-wLABEL":
                yield quoted(f"{option}[{text}]{value}")


def fish(whole: Command) -> Iterator[str]:
    """Return declarations for fish, one per command and option."""
    for command in walk(whole):
        *_, name = command.words
        here = "__fish_use_subcommand" if command is whole else f"__fish_seen_subcommand_from {name}"
        for below in command.further():
            files = " -f" if command is whole else ""
            yield f"complete -c dynmargin{files} -n {quoted(here)} -a {below.words[-1]} -d {quoted(below.summary)}"
        for one in command.options():
            names = " ".join(
                f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
                for option in one.option_strings
                if option != "-wLABEL"
            )
            if names:
                value = "" if one.nargs == 0 else f" -x -a {quoted(values(one))}" if one.choices else " -r"
                yield f"complete -c dynmargin -n {quoted(here)} {names}{value} -d {quoted(help_text(one))}"
        for one in command.arguments():
            if values(one):
                yield f"complete -c dynmargin -f -n {quoted(here)} -a {quoted(values(one))}"


def quoted(text: str) -> str:
    """Quote a word for any shell."""
    return "'" + text.replace("'", "'\\''") + "'"


SHELLS = {"bash": bash, "zsh": zsh, "fish": fish}
