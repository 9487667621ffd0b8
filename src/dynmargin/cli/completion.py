"""dynmargin completion: a script that completes commands, options and their values in a shell.

for example:
  eval "$(dynmargin completion bash)"             # in ~/.bashrc
  dynmargin completion zsh > ~/.zfunc/_dynmargin  # a folder of $fpath
  dynmargin completion fish > ~/.config/fish/completions/dynmargin.fish

exit codes: 0 done, 3 failed
"""

import argparse
from collections.abc import Iterator

from .options import DONE, Names
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


def listed(action: argparse.Action) -> list[str]:
    """Return the words that an option takes several of, with commas between them, where they are known."""
    return list(action.type.known()) if isinstance(action.type, Names) else []


def takes_files(command: Command) -> bool:
    """Whether a word that is not an option may be a file."""
    with_values = command.arguments() + [one for one in command.options() if one.nargs != 0]
    return any(not values(one) and not listed(one) for one in with_values)


# In bash: the columns of the first table among the words, where none needs quotes; and one of some words, or the last
# of several between commas. compgen would run commands that it finds in words, and those of a file may be anything.
BASH_LISTS = r"""_dynmargin_columns() {
  local word names=
  for word in "${COMP_WORDS[@]}"; do
    [ -f "$word" ] || continue
    case "$word" in
      *.csv) IFS= read -r names < "$word"; names=${names//,/$'\n'} ;;
      *.tsv) IFS= read -r names < "$word"; names=${names//$'\t'/$'\n'} ;;
      *) continue ;;
    esac
    break
  done
  local number=$'(^|\n)[-+]?[0-9]*\\.?[0-9]+([eE][-+]?[0-9]+)?($|\n)'  # a table without a header
  names=${names%$'\r'}
  [[ $names =~ $number || $names == *'"'* ]] || printf '%s' "$names"
}
_dynmargin_one_of() {
  local word current=$2 before=$3
  while IFS= read -r word; do
    case "$word" in "$current"*) ;; *) continue ;; esac
    case ",$before" in *",$word,"*) ;; *) [ -z "$word" ] || COMPREPLY+=("$before$word") ;; esac
  done <<< "$1"
}
_dynmargin_list() {
  local before=
  case "$2" in *,*) before=${2%,*}, ;; esac
  _dynmargin_one_of "$1" "${2##*,}" "$before"
  compopt -o nospace 2>/dev/null  # a comma may follow
}"""
COLUMNS_OF_TABLES = {"--label": "_dynmargin_one_of", "--drop": "_dynmargin_list"}


def spelled(command: Command) -> list[str]:
    """Return all its options as they are typed; -wLABEL is none without its label."""
    return [option for one in command.options() for option in one.option_strings if option != "-wLABEL"]


def bash(whole: Command) -> Iterator[str]:
    """Return a function for bash: words of the command so far decide what may follow."""
    yield BASH_LISTS
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
            pattern = "|".join(f'"{name}|{one}"' for one in option.option_strings)
            if option.choices:
                yield f'    {pattern}) COMPREPLY=($(compgen -W "{values(option)}" -- "$current")); return ;;'
            elif words := listed(option):
                lines = r"\n".join(words)
                yield f"""    {pattern}) COMPREPLY=(); _dynmargin_list $'{lines}' "$current"; return ;;"""
            elif complete := COLUMNS_OF_TABLES.get(option.option_strings[0]):
                yield f'    {pattern}) COMPREPLY=(); {complete} "$(_dynmargin_columns)" "$current"; return ;;'
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
        if words := listed(one):
            value = f":names:_values -s , names {' '.join(words)}"
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
                if words := listed(one):
                    lines = r"\n".join(words)
                    value = " -x -a " + quoted(f'(__fish_complete_list , "echo {lines}")')
                yield f"complete -c dynmargin -n {quoted(here)} {names}{value} -d {quoted(help_text(one))}"
        for one in command.arguments():
            if values(one):
                yield f"complete -c dynmargin -f -n {quoted(here)} -a {quoted(values(one))}"


def quoted(text: str) -> str:
    """Quote a word for any shell."""
    return "'" + text.replace("'", "'\\''") + "'"


SHELLS = {"bash": bash, "zsh": zsh, "fish": fish}
