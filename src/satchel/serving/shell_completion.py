"""Shell completion: one script for each shell, made of the words of the command line and their flags.

A script is plain text that runs nothing of Satchel, so that a key press costs no start of Python. The library
for this would be shtab: its version 1.13 makes scripts of the same kind (17.6, 35.7 and 50.5 kB for bash, zsh
and fish). This file is dropped when shtab becomes a dependency of the core.
"""

from __future__ import annotations

from enum import StrEnum

from satchel._version import __version__
from satchel.serving.cli_flags import first_sentence
from satchel.serving.word_arguments import Takes, WordArgument, all_words, arguments_of


class Shell(StrEnum):
    """The shells that a script can be made for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


class _CompletedWord:
    """A word with what the scripts say about it."""

    def __init__(self, name: str, told: str, arguments: list[WordArgument]) -> None:
        self.name = name
        self.told = told
        self.flags = [argument for argument in arguments if argument.names]
        self.places = [argument for argument in arguments if not argument.names]
        self.flag_names = [name for flag in self.flags for name in flag.names]


def completion_script(shell: Shell) -> str:
    """Return the script that completes `satchel` in a shell."""
    words = [_CompletedWord(word.name, first_sentence(word.help), arguments_of(word)) for word in all_words()]
    head = f"completion of satchel {__version__} for {shell}"
    return {Shell.BASH: _bash, Shell.ZSH: _zsh, Shell.FISH: _fish}[shell](words, head)


def _bash(words: list[_CompletedWord], head: str) -> str:
    """Return the script for bash 3.2 or newer."""
    flags = [f"        {word.name}) takes='{' '.join(word.flag_names)}' ;;" for word in words]
    places = [
        f"        {word.name}) takes='{_bash_taken(word.places[0])}' ;;" for word in words if word.places
    ]
    values = [
        f"        {_bash_pattern(word, flag)}) takes='{_bash_taken(flag)}' ;;"
        for word in words
        for flag in word.flags
        if flag.takes is not Takes.NOTHING
    ]
    names = " ".join(word.name for word in words)
    parts = {"flags": flags, "places": places, "values": values}
    return _BASH.format(head=head, names=names, **{name: "\n".join(lines) for name, lines in parts.items()})


def _bash_pattern(word: _CompletedWord, flag: WordArgument) -> str:
    return "|".join(f"'{word.name} {name}'" for name in flag.names)


def _bash_taken(argument: WordArgument) -> str:
    """Return the words that an argument takes, `-f` or `-d` for paths, or a blank for any text."""
    if argument.takes is Takes.VALUE:
        return " ".join(argument.values)
    return {Takes.FILE: "-f", Takes.FOLDER: "-d"}.get(argument.takes, " ")


# `--flag=value` arrives as three words, because `=` separates words in bash.
_BASH = """\
# {head}
_satchel() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
    local word="${{COMP_WORDS[1]}}" takes=''
    if [ "$current" = '=' ]; then
        current=''
    elif [ "$before" = '=' ]; then
        before="${{COMP_WORDS[COMP_CWORD-2]}}"
    fi
    if [ "$COMP_CWORD" -eq 1 ]; then
        takes='{names} help --help --version'
    else
        case "$word $before" in
{values}
        esac
    fi
    if [ -z "$takes" ] && [ "${{current:0:1}}" = '-' ]; then
        case "$word" in
{flags}
        esac
    elif [ -z "$takes" ]; then
        case "$word" in
        help) takes='{names}' ;;
{places}
        esac
    fi
    COMPREPLY=()
    if [ "$takes" = '-f' ] || [ "$takes" = '-d' ]; then
        local IFS=$'\\n'
        compopt -o filenames 2>/dev/null
        COMPREPLY=($(compgen "$takes" -- "$current"))
    else
        COMPREPLY=($(compgen -W "$takes" -- "$current"))
    fi
}}
complete -F _satchel satchel
"""


def _zsh(words: list[_CompletedWord], head: str) -> str:
    """Return the script for zsh, to be sourced, or to be found as `_satchel` on its function path."""
    names = [f"        {_quoted(f'{word.name}:{word.told}')}" for word in words]
    cases = [
        "\n".join(
            (f"        {word.name})", "            _arguments -S \\", *_zsh_specs(word), "            ;;")
        )
        for word in words
    ]
    return _ZSH.format(head=head, names="\n".join(names), cases="\n".join(cases))


def _zsh_specs(word: _CompletedWord) -> list[str]:
    """Return the lines of `_arguments` for the flags and places of a word."""
    specs = [
        f"{'*' if flag.is_repeatable else ''}{name}{_zsh_equals(flag, name)}[{_zsh_told(flag.help)}]"
        + _zsh_taken(flag)
        for flag in word.flags
        for name in flag.names
    ]
    # The message that zsh shows for a place of any text keeps it from completing a flag there.
    places = [place for place in word.places if place.takes is not Takes.TEXT]
    specs += [f"{'*' if place.is_repeatable else ''}:{_zsh_taken(place).lstrip(':')}" for place in places]
    lines = [f"                {_quoted(spec)}" for spec in specs]
    return [*(f"{line} \\" for line in lines[:-1]), *lines[-1:]]


def _zsh_equals(flag: WordArgument, name: str) -> str:
    """Return the mark of a long flag whose value may follow a `=`."""
    return "=" if flag.takes is not Takes.NOTHING and name.startswith("--") else ""


def _zsh_told(text: str) -> str:
    """Return a description for a specification, in which brackets and colons have a meaning."""
    return "".join(f"\\{sign}" if sign in "[]:\\" else sign for sign in text)


def _zsh_taken(argument: WordArgument) -> str:
    """Return the part of a specification that says what follows; empty for a flag that stands alone."""
    if argument.takes is Takes.NOTHING:
        return ""
    actions = {Takes.FILE: "_files", Takes.FOLDER: "_files -/", Takes.TEXT: " "}
    action = actions.get(argument.takes) or f"({' '.join(argument.values)})"
    return f"{'::' if argument.is_optional else ':'}{_zsh_told(argument.metavar.lower())}:{action}"


_ZSH = """\
#compdef satchel
# {head}
_satchel() {{
    local -a names=(
{names}
    )
    if (( CURRENT == 2 )); then
        _describe -t commands command names
        return
    fi
    shift words
    (( CURRENT-- ))
    case ${{words[1]}} in
        help) _describe -t commands command names ;;
{cases}
    esac
}}
if [ "${{funcstack[1]}}" = _satchel ]; then
    _satchel "$@"
else
    compdef _satchel satchel
fi
"""


def _fish(words: list[_CompletedWord], head: str) -> str:
    """Return the script for fish."""
    lines = [f"# {head}", _FISH]
    for word in words:
        lines.append(
            f"complete -c satchel -n __satchel_needs_word -a {word.name} -d {_fish_quoted(word.told)}"
        )
    for word in words:
        lines += [_fish_line(word.name, argument) for argument in (*word.flags, *word.places[:1])]
    return "\n".join((*lines, ""))


def _fish_line(word: str, argument: WordArgument) -> str:
    """Return the line for one flag or place of a word."""
    parts = [f"complete -c satchel -n '__satchel_word {word}'"]
    parts += [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in argument.names]
    if argument.takes is Takes.FILE:
        parts.append("-r -F" if argument.names else "-F")
    elif argument.takes is not Takes.NOTHING:
        # An optional value must not be required; fish then offers it behind `=` alone.
        parts += ["-x"] if argument.names and not argument.is_optional else []
        parts += [f"-a {_fish_quoted(values)}"] if (values := _fish_values(argument)) else []
    return " ".join((*parts, f"-d {_fish_quoted(argument.help)}"))


def _fish_values(argument: WordArgument) -> str:
    return "(__fish_complete_directories)" if argument.takes is Takes.FOLDER else " ".join(argument.values)


_FISH = """\
function __satchel_needs_word
    test (count (commandline -opc)) -eq 1
end
function __satchel_word
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test "$words[2]" = $argv[1]
end
complete -c satchel -f"""


def _fish_quoted(text: str) -> str:
    """Return a text in single quotes, in which fish reads `\\` and `'` by a backslash."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _quoted(text: str) -> str:
    """Return a text in single quotes, as POSIX shells read them."""
    return "'" + text.replace("'", "'\\''") + "'"
