"""The pages of `docs/commands`: what each word of the command line does and takes, as it says itself."""

from __future__ import annotations

from argparse import Action, ArgumentParser

from msgspec.structs import fields

from satchel import plugins
from satchel.commands.command import Command, Group
from satchel.serving.cli_run import add_flags
from satchel.serving.command_help import first_sentence
from satchel.serving.verb import Verb

_SHARED = "every command"  # the title of the flags that all commands have
_INDEX = "README.md"


def pages() -> dict[str, str]:
    """File name → page, for all of `docs/commands/`."""
    words: list[Command | Verb] = [
        plugins.load(kind, name) for kind in ("command", "verb") for name in plugins.names(kind)
    ]
    return {_INDEX: _index(words), **{f"{word.name}.md": _page(word) for word in words}}


def _index(words: list[Command | Verb]) -> str:
    shared = _parser(next(word for word in words if isinstance(word, Command)))
    return "\n".join(
        (
            "# Commands",
            "",
            *(line for group in Group for line in _group(group, words)),
            f"## Flags of {_SHARED}",
            "",
            *_table(_flags(shared, of_all=True)),
            "",
        )
    )


def _group(group: Group, words: list[Command | Verb]) -> list[str]:
    """Return the part of the index that lists the commands of one group."""
    rows = [
        f"| [`satchel {word.name}`]({word.name}.md) | {first_sentence(word.help)} |"
        for word in sorted(words, key=lambda word: word.name)
        if word.group is group
    ]
    return [f"## {group}", "", "| command | what it does |", "|---|---|", *rows, ""]


def _page(word: Command | Verb) -> str:
    taken = _flags(_parser(word), of_all=False)
    lines = [f"# satchel {word.name}", "", *_quoted(word.help), "", *(_table(taken) if taken else ())]
    if isinstance(word, Command):
        lines += [f"\nAnother name for it, on every surface: {name}." for name in _aliases(word)]
        contract = f"../../contracts/v1/{word.name}"
        lines += [
            "",
            f"Besides, it takes the [flags of {_SHARED}]({_INDEX}). On the wire: "
            f"[request]({contract}.request.schema.json), [answer]({contract}.response.schema.json).",
        ]
    return "\n".join((*lines, ""))


def _aliases(command: Command) -> list[str]:
    """The further names of a command, each with the arguments that it cannot do without."""
    named: list[Command] = [plugins.load("command", name) for name in plugins.aliases("command")]
    return [
        f"`{other.name}({', '.join(field.name for field in fields(other.request) if field.required)})`"
        for other in named
        if other.response is command.response
    ]


def _quoted(text: str) -> list[str]:
    """A help text as Markdown: lines of the command line are examples."""
    return [f"    {line}" if line.startswith("satchel ") else line for line in text.split("\n")]


def _parser(word: Command | Verb) -> ArgumentParser:
    parser = ArgumentParser(prog=f"satchel {word.name}", add_help=False)
    add_flags(parser, word)
    return parser


def _flags(parser: ArgumentParser, *, of_all: bool) -> list[Action]:
    """What a parser takes: what all commands do, or what this one does."""
    return [
        action
        for group in parser._action_groups
        for action in group._group_actions
        if (group.title == _SHARED) == of_all
    ]


def _table(flags: list[Action]) -> list[str]:
    rows = [f"| {_written(flag)} | {(flag.help or '').replace('|', chr(92) + '|')} |" for flag in flags]
    return ["| flag | what it says |", "|---|---|", *rows]


def _written(flag: Action) -> str:
    value = f" {flag.metavar}" if flag.option_strings and flag.nargs != 0 and flag.metavar else ""
    names = [f"`{name}{value}`" for name in flag.option_strings]
    return ", ".join(names) or f"`{flag.metavar}`"
